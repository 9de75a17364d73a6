"""Which steps a trace has, and which of them the window cut."""

from __future__ import annotations

import numpy as np

from tb_stepperf.traces.events import Category
from tb_stepperf.traces.steps import find_steps
from tb_stepperf.traces.summarise import summarise
from tests.traces.build import annotation, event, kernel, op, step, trace


def steps_with_ops(durations_us: list[float], nums_ops: list[int]) -> list:
    """Steps end to end, each with operators of 1 µs at its beginning."""
    found, at = [], 0.0
    for number, (duration, num_ops) in enumerate(zip(durations_us, nums_ops)):
        found.append(step(number, at, duration))
        found += [op("aten::add", at + 2 * i, 1) for i in range(num_ops)]
        at += duration
    return found


def test_steps_of_one_worker_keep_number_and_length() -> None:
    # the durations of one window of resnet50_num_workers_0, whose published mean is 174.8 ms
    durations = [176078, 173992, 176918, 181259, 176468, 164261]
    events, at = [], 156.0
    for number, duration in enumerate(durations, 5):
        events += [step(number, at, duration), op("aten::conv2d", at + 10, 100)]
        at += duration + 50
    summary = summarise(trace(*events))
    assert [one.step for one in summary.steps] == [5, 6, 7, 8, 9, 10]
    assert [one.cut for one in summary.steps] == [None] * 6
    assert round(summary.step_ms, 1) == 174.8
    assert (summary.info.steps_from, summary.info.numbering) == ("profiler", "profiler")


def test_the_devices_repetition_of_a_step_is_no_step() -> None:
    repeated = [event(Category.DEVICE_ANNOTATION, f"ProfilerStep#{n}", 50_000 + n, 17, stream=0) for n in range(3)]
    found = find_steps(trace(*steps_with_ops([16_000, 16_000, 16_000], [5, 5, 5]), *repeated))
    assert found.num == 3
    assert (found.end_ns - found.start_ns).tolist() == [16_000_000] * 3


def test_of_several_threads_that_repeat_the_steps_the_busiest_counts() -> None:
    events = steps_with_ops([100, 100], [10, 10])
    other = [step(n, 100 * n + 3, 80, thread="autograd") for n in range(2)]
    found = find_steps(trace(*events, *other))
    assert found.start_ns.tolist() == [0, 100_000]


def test_the_trainings_numbers() -> None:
    found = find_steps(trace(*steps_with_ops([100, 100], [3, 3]), step_offset=4198))
    assert found.number.tolist() == [4198, 4199]
    assert found.numbering == "training"


def test_an_empty_last_step_is_cut() -> None:
    found = find_steps(trace(*steps_with_ops([9288, 49], [70, 0])))
    assert found.cut == (None, "end")
    assert found.used.tolist() == [True, False]


def test_a_first_step_that_was_not_seen_whole_is_cut() -> None:
    # as in ns_resolution_trace: all operators, but four fifths of the runtime calls, and 35 ms against 72 to 96
    runtime = []
    for number, num_calls in enumerate([81, 100, 100, 100]):
        runtime += [event(Category.RUNTIME, "cudaLaunchKernel", 100 * number + 0.3 * i, 0.1) for i in range(num_calls)]
    events = [step(n, 100 * n, 35 if n == 0 else 90) for n in range(4)]
    assert find_steps(trace(*events, *runtime)).cut[0] == "start"


def test_a_good_window_of_three_steps_keeps_all() -> None:
    assert find_steps(trace(*steps_with_ops([90, 100, 95], [20, 20, 20]))).cut == (None, None, None)
    # the first is much shorter, but all of its work is there: a queue of launches that was still empty
    assert find_steps(trace(*steps_with_ops([40, 100, 95], [20, 20, 20]))).cut == (None, None, None)
    # less work, but no less time
    assert find_steps(trace(*steps_with_ops([100, 100, 95], [10, 20, 20]))).cut == (None, None, None)


def test_accumulation_of_gradients_cuts_nothing() -> None:
    assert find_steps(trace(*steps_with_ops([60, 80, 60], [20, 30, 20]))).cut == (None, None, None)
    assert find_steps(trace(*steps_with_ops([60, 80], [20, 30]))).cut == (None, None)


def test_means_leave_out_cut_steps() -> None:
    summary = summarise(trace(*steps_with_ops([10, 100, 110, 120], [2, 20, 20, 20])))
    assert summary.num_steps_used == 3
    assert summary.step_ms == 0.11
    assert "Step 0 may be cut by the start of the window and is left out of means and tables." in summary.info.notes


def test_steps_inferred_from_the_optimizer() -> None:
    events = []
    for number in range(40):
        events += [
            op("aten::linear", 100 * number, 60),
            annotation("Optimizer.zero_grad#SGD.zero_grad", 100 * number + 61, 5),
            annotation("Optimizer.step#SGD.step", 100 * number + 70, 20),
        ]
    summary = summarise(trace(*events))
    assert summary.info.steps_from == "optimizer"
    assert [one.step for one in summary.steps] == list(range(40))
    assert summary.steps[0].cut == "start"
    assert summary.num_steps_used == 39
    assert summary.step_ms == 0.1
    assert any("prof.step()" in note and "perf.profile()" in note for note in summary.info.notes)


def test_the_most_frequent_optimizer_makes_the_steps() -> None:
    events = [annotation("Optimizer.step#Adam.step", 100 * n + 50, 10) for n in range(4)]
    events += [annotation("Optimizer.step#SGD.step", 100, 10), op("aten::mm", 0, 10)]
    found = find_steps(trace(*events))
    assert (found.end_ns // 1000).tolist() == [60, 160, 260, 360]


def test_without_any_step_the_tables_are_of_the_whole_trace() -> None:
    summary = summarise(trace(op("aten::mm", 0, 60), annotation("## forward ##", 0, 100)))
    assert (summary.steps, summary.num_steps_used, summary.step_ms) == ((), 0, None)
    assert summary.info.steps_from == "none"
    assert sum(summary.breakdown_ms) == 0.1
    assert {row.name for row in summary.operators} == {"aten::mm", "## forward ##"}
    assert "No steps are marked" in summary.info.notes[0]


def test_a_step_longer_than_the_trace_is_noted() -> None:
    summary = summarise(trace(step(1, 353_821, 13_336_315.805), op("TorchDynamo Cache Lookup", 353_831, 355_494)))
    assert summary.steps[0].cut is None
    assert any("Step 1 is marked as 13,336 ms long, longer than all else" in note for note in summary.info.notes)


def test_a_host_that_runs_ahead_is_noted() -> None:
    events = [*steps_with_ops([100, 100], [3, 3]), kernel("k", 20, 250)]
    assert any("The device works on for 0.07 ms" in note for note in summarise(trace(*events)).info.notes)


def test_a_moment_belongs_to_a_step_or_to_none() -> None:
    found = find_steps(trace(step(3, 10, 10), step(4, 25, 10), op("aten::mm", 0, 1)))
    assert found.index_at(np.array([9_999, 10_000, 19_999, 20_000, 25_000, 35_000])).tolist() == [-1, 0, 0, -1, 1, -1]
