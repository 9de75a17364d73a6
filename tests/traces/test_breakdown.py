"""Each moment of a step goes to one part, and the parts add up to the step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_stepperf.traces.breakdown import breakdown_ns, find_activity
from tb_stepperf.traces.events import DEVICE_WORK, Category, TraceEvents
from tb_stepperf.traces.summarise import summarise
from tb_stepperf.traces.summary import BREAKDOWN
from tests.traces.build import Event, annotation, call, copy, event, fill, kernel, op, step, trace

LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def parts_us(*events: Event) -> dict[str, float]:
    """Parts of the only step of a trace that are not 0."""
    (only,) = summarise(trace(*events)).steps
    assert sum(only.breakdown_ms) == pytest.approx(only.duration_ms, abs=1e-12)
    return {part: round(ms * 1000, 6) for part, ms in zip(BREAKDOWN, only.breakdown_ms) if ms}


def test_every_part_in_the_order_of_priority() -> None:
    assert parts_us(
        step(0, 0, 100),
        op("aten::mm", 0, 80),
        annotation(LOADER, 0, 60),
        call("cudaLaunchKernel", 0, 50),
        kernel(NCCL, 0, 40, stream=20),
        fill("Memset (Device)", 0, 30),
        copy("Memcpy HtoD", 0, 20),
        kernel("gemm", 0, 10),
    ) == dict.fromkeys(BREAKDOWN[:2], 10.0) | {
        "set": 10,
        "exposed_communication": 10,
        "runtime": 10,
        "data_loading": 10,
        "cpu_operators": 20,
        "other": 20,
    }


def test_two_streams_and_threads_are_not_counted_twice() -> None:
    assert parts_us(
        step(0, 0, 100),
        kernel("a", 10, 30, stream=7),
        kernel("b", 20, 30, stream=8),
        op("aten::mm", 40, 30),
        op("aten::mm", 45, 30, thread="autograd"),
    ) == {"kernel": 40, "cpu_operators": 25, "other": 35}


def test_only_what_lies_within_the_step_counts() -> None:
    assert parts_us(step(0, 100, 100), kernel("a", 50, 60), kernel("b", 190, 500)) == {"kernel": 20, "other": 80}


def test_a_host_alone_has_no_part_of_a_device() -> None:
    summary = summarise(trace(step(0, 0, 100), op("aten::mm", 10, 50)))
    assert summary.steps[0].device_busy_ms is None
    assert summary.device_busy_share is None
    assert summary.launches is None
    assert any("holds no device work" in note for note in summary.info.notes)


@pytest.mark.parametrize("category", [Category.ANNOTATION, Category.CPU_OP, Category.OTHER])
def test_data_loading_whatever_its_category_with_its_children(category: Category) -> None:
    # torch-tb-profiler shows 0 µs where its category is user_annotation
    assert parts_us(step(0, 0, 100), event(category, LOADER, 10, 40), op("aten::stack", 20, 25)) == {
        "data_loading": 40,
        "other": 60,
    }


def test_annotations_steps_and_python_functions_take_no_time_themselves() -> None:
    assert parts_us(
        step(0, 0, 100),
        annotation("## forward ##", 0, 50),
        event(Category.PYTHON, "train.py(3): forward", 0, 90),
        event(Category.DEVICE_ANNOTATION, "ProfilerStep#0", 0, 90, stream=7),
        event(Category.SYNC, "Stream Sync", 0, 90, stream=7),
    ) == {"other": 100}


def test_communication_exposed_and_overlapped() -> None:
    summary = summarise(
        trace(
            step(0, 0, 100),
            annotation("nccl:all_reduce", 0, 90),  # on the host it is only the start of it
            kernel(NCCL, 20, 40, stream=20),
            kernel(NCCL, 50, 20, stream=21),
            kernel("gemm", 10, 25),
            copy("Memcpy DtoD", 65, 10),
        )
    )
    (only,) = summary.steps
    assert (only.communication_ms, only.overlapped_ms) == (0.05, 0.02)
    assert only.breakdown_ms[BREAKDOWN.index("exposed_communication")] == 0.03
    assert only.device_busy_ms == 0.065
    assert summary.device_busy_share == 0.65
    assert (summary.communication_ms, summary.overlapped_ms) == (0.05, 0.02)


def test_communication_of_a_host_alone_is_exposed_while_no_thread_computes() -> None:
    events = [
        step(0, 0, 100),
        annotation("gloo:all_reduce", 10, 60, thread="gloo"),
        op("autograd::engine::evaluate_function: MmBackward0", 0, 50),
        op("c10d::allreduce_", 30, 15),  # waits in it: does not compute
    ]
    assert parts_us(*events) == {"exposed_communication": 35, "cpu_operators": 35, "other": 30}
    (only,) = summarise(trace(*events)).steps
    assert (only.communication_ms, only.overlapped_ms) == (0.06, 0.025)


def test_means_are_over_the_steps_that_count() -> None:
    summary = summarise(
        trace(
            *[step(n, 100 * n, 100) for n in range(2)],
            kernel("a", 10, 20),
            kernel("a", 110, 40),
        )
    )
    assert summary.breakdown_ms == (0.03, 0, 0, 0, 0, 0, 0, 0.07)
    assert [one.num_kernels for one in summary.steps] == [1, 1]
    assert summary.device_busy_share == 0.3


CATEGORIES = st.sampled_from(
    [
        (Category.KERNEL, "gemm"),
        (Category.KERNEL, NCCL),
        (Category.COPY, "Memcpy"),
        (Category.SET, "Memset"),
        (Category.RUNTIME, "cudaLaunchKernel"),
        (Category.ANNOTATION, LOADER),
        (Category.CPU_OP, "aten::mm"),
    ]
)
ORDER = ("gemm", "Memcpy", "Memset", NCCL, "cudaLaunchKernel", LOADER, "aten::mm")
intervals = st.lists(st.tuples(CATEGORIES, st.integers(0, 30), st.integers(0, 15)), min_size=1, max_size=25)


@settings(max_examples=60)
@given(intervals)
def test_the_same_as_moment_by_moment(of: list) -> None:
    events = [
        event(
            category,
            name,
            start / 1000,
            length / 1000,
            stream=7 if category in DEVICE_WORK else None,
        )
        for (category, name), start, length in of
    ]
    events.append(kernel("gemm", 1, 0.001))  # a device there is, at a moment that no window looks at
    built: TraceEvents = trace(*events)
    found = breakdown_ns(find_activity(built), np.array([3, 10]), np.array([40, 25]))
    for row, window in zip(found, (range(3, 40), range(10, 25))):
        expected = [0] * len(BREAKDOWN)
        for moment in window:
            here = {name for (_, name), start, length in of if start <= moment < start + length}
            expected[next((i for i, name in enumerate(ORDER) if name in here), len(ORDER))] += 1
        assert row.tolist() == expected
