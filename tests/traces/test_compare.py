"""Two windows: the planted cause is named, on the clock that shows it."""

from __future__ import annotations

import json

import pytest

from tb_stepperf.traces.compare import MAX_OPERATORS, compare_windows, to_json
from tb_stepperf.traces.summarise import summarise
from tb_stepperf.traces.summary import BREAKDOWN, MAX_ROWS, TraceSummary
from tests.traces.build import Event, annotation, call, kernel, op, step, trace

LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def window(
    *,
    loading_us: float = 1000,
    mm_us: float = 5000,
    python_us: float = 500,
    num_mm: int = 1,
    num_steps: int = 3,
    device_mm_us: float | None = None,
    **fields: object,
) -> TraceSummary:
    """Steps that load, multiply matrices and do something else."""
    events: list[Event] = []
    at = 0.0
    for number in range(num_steps):
        length = loading_us + mm_us * num_mm + python_us
        events += [step(number, at, length), annotation(LOADER, at, loading_us)]
        for i in range(num_mm):
            begins = at + loading_us + i * mm_us
            events.append(op("aten::mm", begins, mm_us, shapes=f"[{i}]"))
            if device_mm_us is not None:
                correlation = 100 * number + i
                events.append(call("cudaLaunchKernel", begins, 5, correlation=correlation))
                events.append(kernel("gemm", begins + 5, device_mm_us, correlation=correlation))
        at += length
    return summarise(trace(*events, **fields))


def test_a_loader_that_became_slow() -> None:
    found = compare_windows(window(), window(loading_us=4300))
    assert (found.basis, found.per) == ("host", "step")
    assert (found.before_ms, found.after_ms) == (6.5, 9.8)
    assert found.change_ms == pytest.approx(3.3)
    assert found.sentence == (
        "Steps take 3.3 ms more in the second window (6.5 → 9.8 ms), most of it (100 %) in "
        f"{LOADER}: 1 → 4.3 ms a step."
    )
    first = found.operators[0]
    assert (first.name, first.is_annotation) == (LOADER, True)
    assert (first.before_ms, first.after_ms, first.before_calls, first.after_calls) == (1.0, 4.3, 1, 1)
    assert (first.before_mean_us, first.after_mean_us) == (1000, 4300)
    assert first.share == pytest.approx(1)
    assert [part.part for part in found.parts] == list(BREAKDOWN)
    changed = {part.part: round(part.change_ms, 9) for part in found.parts if abs(part.change_ms) > 1e-9}
    assert changed == {"data_loading": 3.3}
    assert found.notes == ()


def test_a_slower_loader_is_found_beside_a_device() -> None:
    found = compare_windows(window(device_mm_us=4000), window(device_mm_us=4000, loading_us=4300))
    assert found.basis == "host"
    assert f"in {LOADER}: 1 → 4.3 ms a step" in found.sentence


def test_a_slower_kernel_is_found_on_the_device() -> None:
    found = compare_windows(window(device_mm_us=2000), window(device_mm_us=6000, mm_us=9000))
    assert found.basis == "device"
    assert found.sentence == (
        "Steps take 4 ms more in the second window (6.5 → 10.5 ms), most of it (100 %) in aten::mm: 2 → 6 ms a step."
    )


def test_more_calls_of_the_same_operator_shapes_together() -> None:
    found = compare_windows(window(num_mm=1), window(num_mm=2))
    first = found.operators[0]
    assert (first.name, first.before_calls, first.after_calls) == ("aten::mm", 1, 2)
    assert (first.before_mean_us, first.after_mean_us) == (5000, 5000)
    assert found.sentence.endswith("in aten::mm: 5 → 10 ms a step, 1 → 2 calls.")


def test_plain_python_is_named_too() -> None:
    found = compare_windows(window(), window(python_us=2500))
    assert "most of it (100 %) in code outside of operators: 0.5 → 2.5 ms a step" in found.sentence


def test_an_improvement() -> None:
    found = compare_windows(window(loading_us=4300), window())
    assert found.sentence.startswith(
        "Steps take 3.3 ms less in the second window (9.8 → 6.5 ms), most of it (100 %) in"
    )
    assert found.operators[0].change_ms == pytest.approx(-3.3)
    assert found.operators[0].share == pytest.approx(1)


def test_a_contribution_beyond_the_change() -> None:
    found = compare_windows(window(python_us=3500), window(loading_us=7000))
    assert f"more than all of it (200 %) in {LOADER}" in found.sentence


def test_no_change() -> None:
    found = compare_windows(window(), window())
    assert found.sentence == "Steps take about the same time in both windows (6.5 → 6.5 ms)."
    assert {change.share for change in found.operators} == {None}


def test_an_operator_is_named_rather_than_what_waits_for_it() -> None:
    def backward(us: float) -> TraceSummary:
        return summarise(
            trace(
                *[step(n, 10_000 * n, us + 500) for n in range(3)],
                *[annotation("## backward ##", 10_000 * n, us) for n in range(3)],
                *[op("ConvolutionBackward0", 10_000 * n, us - 30, thread="autograd") for n in range(3)],
            )
        )

    assert "in ConvolutionBackward0: 2.97 → 5.97 ms" in compare_windows(backward(3000), backward(6000)).sentence


def test_a_change_that_many_operators_share() -> None:
    def many(us: float) -> TraceSummary:
        events = [step(n, 10_000 * n, 40 * us) for n in range(3)]
        events += [op(f"op{i}", 10_000 * n + i * us, us) for n in range(3) for i in range(40)]
        return summarise(trace(*events))

    found = compare_windows(many(100), many(200))
    assert found.sentence == (
        "Steps take 4 ms more in the second window (4 → 8 ms), most of it (100 %) in operators of the host: "
        "4 → 8 ms a step."
    )


def test_the_largest_operators_are_listed_and_all_counted() -> None:
    def many(us: float) -> TraceSummary:
        events = [op(f"op{i}", 10 * i, us + i / 1000) for i in range(MAX_ROWS + 500)]
        return summarise(trace(step(0, 0, 20_000), *events))

    found = compare_windows(many(1), many(2))
    assert len(found.operators) == MAX_OPERATORS
    assert found.num_operators == MAX_ROWS - 1  # a summed rest is no operator
    assert not any("more)" in change.name for change in found.operators)


def test_windows_without_steps_are_compared_as_a_whole() -> None:
    bare = summarise(trace(op("aten::mm", 0, 9000)))
    found = compare_windows(window(), bare)
    assert (found.per, found.before_ms, found.after_ms) == ("trace", 19.5, 9.0)
    assert found.sentence.startswith("What is recorded takes 10.5 ms less in the second window (19.5 → 9 ms)")
    mm = next(change for change in found.operators if change.name == "aten::mm")
    assert (mm.before_ms, mm.after_ms) == (15.0, 9.0)
    assert any("Not both windows mark steps" in note for note in found.notes)


def test_what_makes_windows_hard_to_compare_is_said() -> None:
    found = compare_windows(
        window(rank=0, world_size=8, num_steps=2, profiler={"with_stack": True}),
        window(rank=3, world_size=16, device_mm_us=100, profiler={"record_shapes": True, "with_stack": False}),
    )
    assert found.notes == (
        "Different devices: none before, NVIDIA H100 after.",
        "Different ranks: 0 before, 3 after.",
        "Different world sizes: 8 before, 16 after.",
        "The first window holds no device work: only the host's times can be compared.",
        "Few steps: 2 before, 3 after; a single odd step may be all there is to it.",
        "Recorded with different options (record_shapes, with_stack), which cost different time themselves.",
    )
    assert any(
        note.startswith("Different numbers of steps") for note in compare_windows(window(), window(num_steps=5)).notes
    )
    inferred = summarise(
        trace(op("aten::mm", 0, 9), *[annotation("Optimizer.step#SGD.step", 10 * n, 5) for n in range(5)])
    )
    assert any("inferred from the optimizer" in note for note in compare_windows(window(), inferred).notes)


def test_as_json() -> None:
    value = json.loads(json.dumps(to_json(compare_windows(window(), window(loading_us=4300)))))
    assert set(value) == {
        "basis", "per", "before_ms", "after_ms", "change_ms", "parts", "operators", "num_operators", "sentence",
        "notes",
    }  # fmt: skip
    assert set(value["parts"][0]) == {"part", "before_ms", "after_ms", "change_ms"}
    assert set(value["operators"][0]) == {
        "name", "is_annotation", "change_ms", "share", "before_ms", "after_ms", "before_calls", "after_calls",
        "before_mean_us", "after_mean_us",
    }  # fmt: skip
