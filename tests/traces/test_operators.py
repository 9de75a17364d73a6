"""The call trees and the table of operators, against planted times."""

from __future__ import annotations

import random

import numpy as np

from tb_stepperf.traces.events import TraceEvents
from tb_stepperf.traces.nesting import nest
from tb_stepperf.traces.operators import STEP_ROW
from tb_stepperf.traces.summarise import summarise
from tb_stepperf.traces.summary import MAX_ROWS, OperatorRow
from tests.traces.build import Event, annotation, call, kernel, op, step, trace


def rows(*events: Event) -> dict[str, OperatorRow]:
    summary = summarise(trace(*events))
    assert summary.num_operators == len(summary.operators)
    return {row.name: row for row in summary.operators}


def times_us(row: OperatorRow) -> tuple[float, ...]:
    """Calls, own and total time on the host, own and total time on the device."""
    times = (row.self_host_ms, row.total_host_ms, row.self_device_ms, row.total_device_ms)
    return (row.num_calls, *(round(ms * 1000, 6) for ms in times))


def parents(events: TraceEvents) -> dict[str, str | None]:
    tree = nest(events)
    names = [events.names[events.name[row]] for row in tree.row]
    return {name: None if parent < 0 else names[parent] for name, parent in zip(names, tree.parent.tolist())}


def test_own_time_is_without_what_is_called_total_with_it() -> None:
    found = rows(
        annotation("forward", 0, 100),
        op("aten::linear", 10, 50),
        op("aten::t", 12, 8),
        op("aten::addmm", 25, 30),
        call("cudaLaunchKernel", 40, 5, correlation=1),
        kernel("gemm", 60, 70, correlation=1),
    )
    assert times_us(found["forward"]) == (1, 50, 100, 0, 70)
    assert times_us(found["aten::linear"]) == (1, 12, 50, 0, 70)
    assert times_us(found["aten::addmm"]) == (1, 25, 30, 70, 70)
    assert times_us(found["aten::t"]) == (1, 8, 8, 0, 0)
    assert times_us(found["cudaLaunchKernel"]) == (1, 5, 5, 0, 0)
    assert found["forward"].is_annotation
    assert not found["aten::linear"].is_annotation


def test_threads_do_not_nest_in_one_another() -> None:
    found = rows(annotation("forward", 0, 100), op("aten::mm", 10, 50, thread="autograd"))
    assert times_us(found["forward"])[:3] == (1, 100, 100)


def test_an_operator_that_calls_itself_counts_every_call() -> None:
    found = rows(op("aten::to", 0, 100), op("aten::to", 10, 30), op("aten::to", 50, 20))
    assert times_us(found["aten::to"]) == (3, 100, 150, 0, 0)


def test_an_only_child_of_the_same_name_is_a_repetition() -> None:
    found = rows(
        op("aten::relu", 0, 100),
        op("aten::relu", 10, 80),
        op("aten::relu", 15, 70),
        op("aten::clamp_min", 20, 40),
        call("cudaLaunchKernel", 30, 10, correlation=1),
        kernel("relu", 60, 7, correlation=1),
    )
    assert times_us(found["aten::relu"]) == (1, 60, 100, 0, 7)
    assert times_us(found["aten::clamp_min"]) == (1, 30, 40, 7, 7)


def test_shapes_tell_rows_apart() -> None:
    summary = summarise(
        trace(op("aten::mm", 0, 10, shapes="[2, 3], [3, 4]"), op("aten::mm", 20, 5, shapes="[9, 9], [9, 9]"))
    )
    assert [(row.shapes, row.num_calls) for row in summary.operators] == [("[2, 3], [3, 4]", 1), ("[9, 9], [9, 9]", 1)]
    assert not any("No input shapes" in note for note in summary.info.notes)


def test_what_begins_outside_of_the_steps_that_count_is_left_out() -> None:
    found = rows(
        op("aten::zeros", 0, 5),
        step(0, 10, 100),
        op("aten::mm", 20, 50),
        call("cudaLaunchKernel", 30, 5, correlation=1),
        kernel("gemm", 500, 70, correlation=1),  # long after the step that started it
    )
    assert set(found) == {STEP_ROW, "aten::mm", "cudaLaunchKernel"}
    assert times_us(found["aten::mm"]) == (1, 45, 50, 70, 70)


def test_the_step_has_what_runs_outside_of_everything() -> None:
    found = rows(
        step(0, 0, 100),
        annotation("backward", 10, 20),
        op("aten::mm", 40, 20, thread="autograd"),  # meanwhile the step's own thread only waits
        step(1, 100, 100),
        op("aten::mm", 150, 10),
    )
    assert times_us(found[STEP_ROW])[:3] == (2, 150, 200)
    assert found[STEP_ROW].is_annotation


def test_an_asynchronous_collective_is_nobodys_child() -> None:
    built = trace(
        step(0, 0, 100),
        annotation("gloo:all_reduce", 50, 70),
        op("aten::mm", 60, 10),
    )
    assert parents(built) == {"ProfilerStep#0": None, "gloo:all_reduce": None, "aten::mm": "ProfilerStep#0"}


def test_rounding_to_microseconds_keeps_children_and_siblings() -> None:
    built = trace(
        op("outer", 0, 100),
        op("child", 50, 51),  # ends 1 µs after its parent
        op("first", 200, 10),
        op("next", 209, 10),  # begins 1 µs before its sibling ends
        op("empty", 219, 0),  # at the very end of it
    )
    expected = {"outer": None, "child": "outer", "first": None, "next": None, "empty": None}
    assert parents(built) == expected
    assert times_us(rows(op("outer", 0, 100), op("child", 50, 51))["outer"]) == (1, 49, 100, 0, 0)


def test_of_equal_intervals_the_one_begun_first_is_outside() -> None:
    built = trace(
        call("cudaLaunchKernel", 0, 10),
        op("aten::add_", 0, 10, external_id=6),
        op("aten::add", 0, 10, external_id=5),
        annotation("forward", 0, 10),
    )
    expected = {"forward": None, "aten::add": "forward", "aten::add_": "aten::add", "cudaLaunchKernel": "aten::add_"}
    assert parents(built) == expected


def test_random_trees_are_found_again() -> None:
    chance = random.Random(4)
    events: list[Event] = []
    expected: dict[str, str | None] = {}

    def grow(start: int, end: int, parent: str | None, depth: int) -> None:
        at = start
        while depth < 12 and end - at > 20_000 and chance.random() < 0.9:
            begins = at + chance.randrange(2000, 5000)
            ends = min(begins + chance.randrange(3000, max(end - begins, 3001)), end - 2000)
            if ends <= begins:
                return
            name = f"op{len(events)}"
            events.append(op(name, begins / 1000, (ends - begins) / 1000))
            expected[name] = parent
            grow(begins, ends, name, depth + 1)
            at = ends

    for thread in range(20):
        grow(thread * 10**7, thread * 10**7 + 3_000_000, None, 0)
    chance.shuffle(events)
    assert len(events) > 300
    assert parents(trace(*events)) == expected


def test_the_least_rows_are_summed() -> None:
    summary = summarise(trace(*[op(f"op{i}", 10 * i, 1 + (i < 5)) for i in range(MAX_ROWS + 20)]))
    assert summary.num_operators == MAX_ROWS + 20
    assert len(summary.operators) == MAX_ROWS
    assert [row.name for row in summary.operators[:5]] == [f"op{i}" for i in range(5)]
    last = summary.operators[-1]
    assert (last.name, last.num_calls) == ("(21 more)", 21)
    assert np.isclose(sum(row.self_host_ms for row in summary.operators), (MAX_ROWS + 25) / 1000)


def test_links_by_external_id_of_an_old_trace() -> None:
    # the launch is recorded on a thread of its own: only the id tells
    found = rows(
        op("aten::conv2d", 0, 50, external_id=12),
        call("cudaLaunchKernel", 60, 5, correlation=900, thread="other"),
        kernel("conv", 100, 30, correlation=901, external_id=12),
    )
    assert times_us(found["aten::conv2d"]) == (1, 50, 50, 30, 30)


def test_a_call_that_gives_its_own_number_for_the_operators_is_not_believed() -> None:
    found = rows(
        op("aten::zeros", 0, 5, external_id=77),
        op("aten::conv2d", 10, 50, external_id=12),
        call("cudaLaunchKernel", 20, 5, correlation=77, external_id=77),
        kernel("conv", 100, 30, correlation=77, external_id=77),
    )
    assert times_us(found["aten::zeros"])[3:] == (0, 0)
    assert times_us(found["aten::conv2d"])[3:] == (30, 30)


def test_a_device_without_a_host() -> None:
    summary = summarise(trace(kernel("gemm", 0, 30, correlation=5)))
    assert summary.operators == ()
    assert [(row.name, row.operator) for row in summary.kernels] == [("gemm", None)]
    assert any("No operators of the host" in note for note in summary.info.notes)


def test_calls_of_the_driver_outside_of_operators_go_to_the_step() -> None:
    found = rows(
        step(0, 0, 100), call("cuLaunchKernel", 10, 5, correlation=1), kernel("triton_poi_fused", 20, 30, correlation=1)
    )
    assert times_us(found[STEP_ROW]) == (1, 95, 100, 30, 30)


def test_runtime_calls_are_no_annotations() -> None:
    found = rows(call("cudaDeviceSynchronize", 0, 40))
    assert times_us(found["cudaDeviceSynchronize"]) == (1, 40, 40, 0, 0)
    assert found["cudaDeviceSynchronize"].is_annotation is False
