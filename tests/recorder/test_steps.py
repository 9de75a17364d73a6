"""One row is one step: boundaries, exclusive stages, micro-steps and exclusions, with exact values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tb_stepperf import StepPerfWriter
from tb_stepperf.blocks import Flag
from tests.recorder.logs import ManualClock, read_directory

MakeWriter = Callable[..., StepPerfWriter]


def test_a_step_and_its_stages(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any) -> None:
    with make_writer() as perf:
        for batch in perf.data([1, 2, 3]):
            clock.advance(0.5)
            with perf.stage("forward"):
                clock.advance(batch)
            with perf.stage("backward"):
                clock.advance(2)
            perf.step(num_samples=32, num_tokens=4096)
            clock.advance(0.25)
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == [0, 1, 2]
    assert attempt.column("step_time_ms") == [3500, 4750, 5750]
    assert attempt.column("stage/forward_ms") == [1000, 2000, 3000]
    assert attempt.column("stage/backward_ms") == [2000, 2000, 2000]
    assert attempt.column("stage/data_ms") == [0, 0, 0]
    assert attempt.column("num_samples") == [32, 32, 32]
    assert attempt.column("num_tokens") == [4096, 4096, 4096]
    assert attempt.column("num_micro_steps") == [1, 1, 1]
    assert attempt.column("excluded_ms") == [0, 0, 0]
    assert attempt.flags == [Flag.RESTART, 0, 0]
    assert attempt.end == "closed"
    assert attempt.counters == {}


def test_a_stage_inside_another_pauses_it(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any) -> None:
    with make_writer() as perf:
        for _ in range(2):
            with perf.stage("forward"):
                clock.advance(1)
                for _ in range(2):
                    with perf.stage("forward/attn"):
                        clock.advance(10)
                clock.advance(2)
            perf.step()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("stage/forward_ms") == [3000, 3000]
    assert attempt.column("stage/forward/attn_ms") == [20000, 20000]
    assert attempt.column("step_time_ms") == [23000, 23000]
    assert attempt.column("num_micro_steps") == [1, 1]


def test_a_stage_inside_itself_counts_its_time_once(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any) -> None:
    perf = make_writer()

    def recurse(depth: int) -> None:
        with perf.stage("rec"):
            clock.advance(1)
            if depth:
                recurse(depth - 1)

    for _ in range(2):
        recurse(3)
        perf.step()
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("stage/rec_ms") == [4000, 4000]
    assert attempt.column("num_micro_steps") == [1, 1]
    assert attempt.counters == {}


def test_micro_steps_are_counted_or_given(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any) -> None:
    with make_writer() as perf:
        for _ in range(2):
            for _ in range(8):
                with perf.stage("forward"), perf.stage("inner"):
                    clock.advance(1)
            with perf.stage("optimizer"):
                clock.advance(1)
            perf.step()
        perf.step(num_micro_steps=4)
        perf.step()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("num_micro_steps") == [8, 8, 4, None]
    assert attempt.column("stage/inner_ms") == [8000, 8000, 0, 0]


def test_the_end_of_an_epoch_is_not_a_micro_step(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any) -> None:
    class Slow:
        def __iter__(self) -> Iterator[int]:
            clock.advance(4)  # as a DataLoader that starts its workers
            yield 1
            clock.advance(1)
            yield 2
            clock.advance(16)  # the wait that finds no more

        def __len__(self) -> int:
            return 2

    with make_writer() as perf:
        batches = perf.data(Slow())
        assert len(batches) == 2  # type: ignore[arg-type]
        for _ in range(2):
            assert [batch for batch in batches if perf.step() is None] == [1, 2]
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("stage/data_ms") == [4000, 1000, 20000, 1000]
    assert attempt.column("num_micro_steps") == [1, 1, 1, 1]


def test_data_is_as_much_an_iterator_as_what_it_wraps(make_writer: MakeWriter) -> None:
    perf = make_writer()
    batches: Any = perf.data(iter("abcd"))
    assert next(batches) == "a"
    iterator = iter(batches)
    assert iter(iterator) is iterator
    assert list(iterator) == ["b", "c", "d"]

    class Loader(list):
        dataset = "kept"

    assert perf.data(Loader([1])).dataset == "kept"  # type: ignore[attr-defined]


def test_excluded_time_is_no_part_of_the_step(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any) -> None:
    with make_writer() as perf:
        perf.step()
        for evaluate in (False, True, False):
            with perf.stage("forward"):
                clock.advance(1)
            if evaluate:
                with perf.exclude("evaluation"):
                    clock.advance(50)
                    with perf.stage("forward"), perf.exclude():
                        clock.advance(50)
                    perf.lap("forward")
                    clock.advance(1)
            with perf.stage("backward"):
                clock.advance(2)
            perf.step()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("step_time_ms") == [0, 3000, 3000, 3000]
    assert attempt.column("excluded_ms") == [0, 0, 101000, 0]
    assert attempt.column("stage/forward_ms") == [0, 1000, 1000, 1000]
    assert attempt.column("num_micro_steps") == [None, 1, 1, 1]
    assert attempt.flags == [Flag.RESTART, 0, Flag.EXCLUDED, 0]


def test_a_lap_labels_the_time_since_the_last_mark(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any) -> None:
    with make_writer() as perf:
        perf.step()
        for _ in range(2):
            clock.advance(1)
            perf.lap("forward")
            clock.advance(2)
            perf.lap("backward")
            with perf.stage("optimizer"):
                clock.advance(4)
                perf.lap("inside")
                clock.advance(8)
            clock.advance(16)
            perf.step()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("stage/forward_ms")[1:] == [1000, 1000]
    assert attempt.column("stage/backward_ms")[1:] == [2000, 2000]
    assert attempt.column("stage/inside_ms")[1:] == [4000, 4000]
    assert attempt.column("stage/optimizer_ms")[1:] == [8000, 8000]
    assert attempt.column("step_time_ms")[1:] == [31000, 31000]
    assert attempt.column("num_micro_steps")[1:] == [1, 1]


def test_where_the_first_step_begins(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any) -> None:
    perf = make_writer(logdir=tmp_path / "stage")
    clock.advance(100)
    with perf:
        clock.advance(10)
        with perf.stage("forward"):
            clock.advance(1)
        perf.step()
    assert read_directory(tmp_path / "stage")[0].column("step_time_ms") == [1000]

    perf = make_writer(logdir=tmp_path / "with")
    clock.advance(100)
    with perf:
        clock.advance(10)
        perf.step()
    assert read_directory(tmp_path / "with")[0].column("step_time_ms") == [10000]

    perf = make_writer(logdir=tmp_path / "construction")
    clock.advance(7)
    perf.step()
    perf.close()
    assert read_directory(tmp_path / "construction")[0].column("step_time_ms") == [7000]


def test_warm_up_and_restart_are_flagged(make_writer: MakeWriter, tmp_path: Any) -> None:
    with make_writer(warmup_steps=2) as perf:
        for _ in range(4):
            perf.step()
    (attempt,) = read_directory(tmp_path)
    assert attempt.flags == [Flag.RESTART | Flag.WARMUP, Flag.WARMUP, 0, 0]


@pytest.mark.parametrize("name", ["", "a/b/c", "Episode / total (mean)", "\u2026 \x00\ud800", "stage/x_ms", "ünï"])
def test_any_text_names_a_stage(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any, name: str) -> None:
    with make_writer() as perf:
        with perf.stage(name):
            clock.advance(1)
        perf.step()
    assert read_directory(tmp_path)[0].column(f"stage/{name}_ms") == [1000]


def test_stage_names_beyond_the_limit_are_summed(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with make_writer(max_stages=2) as perf:
        for _ in range(2):
            for name in ("a", "b", "c", "d", "c"):
                with perf.stage(name):
                    clock.advance(1)
            perf.step()
            clock.advance(1)
            perf.lap("e")
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("stage/a_ms") == [1000, 1000]
    assert attempt.column("stage/(more stages)_ms") == [3000, 4000]
    assert attempt.counters == {"num_stages_folded": 3}
    assert [record.message.partition(" is one")[0] for record in caplog.records] == ["stage 'c'"]


def test_many_more_steps_than_a_block_and_a_drain(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any) -> None:
    num_steps = 5000
    with make_writer() as perf:
        for step in range(num_steps):
            with perf.stage("even" if step % 2 == 0 else "odd"):
                clock.advance(0.25 * (step % 7))
            perf.step(num_samples=step)
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == list(range(num_steps))
    expected = [250.0 * (step % 7) for step in range(num_steps)]
    assert attempt.column("step_time_ms") == expected
    assert [value or 0 for value in attempt.column("stage/odd_ms")] == [
        time_ms if step % 2 else 0 for step, time_ms in enumerate(expected)
    ]
    assert attempt.column("num_samples") == list(range(num_steps))
    assert [block.ordinal for block in attempt.blocks] == list(range(len(attempt.blocks)))
    rows_before = np.cumsum([0] + [block.num_rows for block in attempt.blocks[:-1]])
    assert [block.first_row for block in attempt.blocks] == rows_before.tolist()
