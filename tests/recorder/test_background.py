"""The background thread, blocks and tags; the writer that does nothing; and what the loop's own thread does not do."""

from __future__ import annotations

import inspect
import pathlib
import sys
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tb_stepperf import StepPerfWriter
from tb_stepperf.recorder import loop as loop_module
from tb_stepperf.recorder import pipeline as pipeline_module
from tb_stepperf.recorder.attempts import Position, ascending_runs, split
from tb_stepperf.recorder.null import NullWriter
from tb_stepperf.recorder.rows import Rows
from tb_stepperf.recorder.thread import flush_interval_s
from tests.recorder.logs import read_directory

MakeWriter = Callable[..., StepPerfWriter]


def test_the_flush_interval_grows_with_age() -> None:
    assert flush_interval_s(10, 0) == 10
    assert flush_interval_s(10, 640) == 10
    assert flush_interval_s(10, 6400) == 100
    assert flush_interval_s(10, 10**9) == 300
    assert flush_interval_s(1000, 10**9) == 1000
    age_s, num_flushes = 0.0, 0
    while age_s < 10 * 86400:
        age_s += flush_interval_s(10, age_s)
        num_flushes += 1
    assert num_flushes == 3100


def rows_of(steps: list[int]) -> Rows:
    return Rows(np.array(steps, np.int64), np.zeros(len(steps)), {})


def test_blocks_hold_what_the_format_allows() -> None:
    assert [part.num_rows for part in split(rows_of(list(range(2500))))] == [1024, 1024, 452]
    wide = [0, 1, 2**24 - 1, 2**24, 2**24 + 1, 2**62, 2**63 - 1]
    assert [part.steps.tolist() for part in split(rows_of(wide))] == [
        [0, 1, 2**24 - 1],
        [2**24, 2**24 + 1],
        [2**62],
        [2**63 - 1],
    ]


def test_ranges_in_which_steps_ascend() -> None:
    assert ascending_runs(np.array([5, 6, 6, 2, 3]), 4) == [(0, 2, True), (2, 3, False), (3, 5, False)]
    assert ascending_runs(np.array([5]), 5) == [(0, 1, False)]


def test_a_tag_is_never_too_full() -> None:
    position = Position()
    for _ in range(64):
        position = position.before(512).after(512)
    assert (position.segment, position.ordinal) == (0, 64)
    assert position.before(512).segment == 1
    position = Position(num_rows_in_segment=65_000)
    assert position.before(536).segment == 0
    assert position.before(537).segment == 1


def test_tags_rotate(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    perf = make_writer()
    for step in range(70):
        perf.step(step=step * 2**24)
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert [tag.rsplit("/", 1)[1] for tag in attempt.tags] == ["000000", "000001", "environment"]
    assert attempt.steps == [step * 2**24 for step in range(70)]
    assert attempt.metadata.segment == 0


def test_a_writer_closed_without_new_rows_still_says_how_it_ended(
    make_writer: MakeWriter, tmp_path: pathlib.Path
) -> None:
    perf = make_writer()
    perf.step(step=5)
    perf.flush()
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert [block.num_rows for block in attempt.blocks] == [1, 0]
    assert attempt.end == "closed"


def test_an_unforeseen_error_costs_rows_and_not_the_thread(
    make_writer: MakeWriter, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    perf = make_writer()
    perf.step()
    perf.flush()
    real = pipeline_module.measured_rows

    def fail(*arguments: Any, **options: Any) -> Any:
        raise ZeroDivisionError("a bug of ours")

    monkeypatch.setattr(pipeline_module, "measured_rows", fail)
    for _ in range(3):
        perf.step()
    perf.flush()
    monkeypatch.setattr(pipeline_module, "measured_rows", real)
    for _ in range(2):
        perf.step()
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == [0, 4, 5]
    assert attempt.counters == {"num_rows_lost": 3}
    assert "steps were lost: ZeroDivisionError: a bug of ours" in caplog.text


def test_a_log_directory_that_hangs_does_not_fill_the_memory(
    make_writer: MakeWriter,
    clock: Any,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(loop_module, "MAX_WAITING_ROWS", 256)
    perf = make_writer()
    stuck, go_on = threading.Event(), threading.Event()
    real = pipeline_module.Pipeline.drain

    def hang(pipeline: pipeline_module.Pipeline) -> bool:
        stuck.set()
        go_on.wait(60)
        return real(pipeline)

    monkeypatch.setattr(pipeline_module.Pipeline, "drain", hang)
    perf.step()
    assert stuck.wait(60)
    for _ in range(600):
        with perf.stage("forward"):
            clock.advance(1)
        perf.step()
    go_on.set()
    perf.close()
    (attempt,) = read_directory(tmp_path)
    lost = attempt.counters["num_rows_lost"]
    assert lost == 512
    assert len(attempt.steps) == 601 - lost
    assert attempt.column("step_time_ms") == [1000] * len(attempt.steps)
    assert "are dropped and counted as lost: 256 steps wait to be written" in caplog.text


def test_the_disabled_writer_changes_nothing(tmp_path: pathlib.Path) -> None:
    num_threads = threading.active_count()
    perf = StepPerfWriter(tmp_path / "run", enabled=False, warmup_steps="nonsense")  # type: ignore[arg-type]
    assert isinstance(perf, NullWriter)
    assert isinstance(perf, StepPerfWriter)
    loader = [1, 2, 3]
    assert perf.data(loader) is loader
    assert perf.stage("a") is perf.stage("b") is perf.exclude()
    with perf as same, same.stage("a"):
        perf.step(num_samples=1)
        perf.lap("x")
        perf.log_step(step_time_ms=1)
        perf.update_environment(a=1)
    assert perf.flush() is True
    perf.close()
    assert (perf.logdir, perf.step_number, perf.counters) == ("", 0, {})
    assert np.isnan(perf.peak_allocated_bytes_overall)
    assert not (tmp_path / "run").exists()
    assert threading.active_count() == num_threads


def test_the_disabled_writer_has_every_public_name() -> None:
    public = {name for name in vars(StepPerfWriter) if not name.startswith("_")}
    assert public <= set(vars(NullWriter))
    assert {"__enter__", "__exit__", "__init__"} <= set(vars(NullWriter))


def test_the_signature_is_keyword_only_after_logdir() -> None:
    parameters = list(inspect.signature(StepPerfWriter.__init__).parameters.values())[2:]
    assert {parameter.kind for parameter in parameters} == {inspect.Parameter.KEYWORD_ONLY}


def test_the_hot_path_touches_no_file_and_little_else(make_writer: MakeWriter) -> None:
    """Every call into C that the loop's thread makes in ten ordinary steps, by name."""
    perf = make_writer()
    batches = iter(perf.data(list(range(20))))
    for _ in range(3):
        next(batches)
        with perf.stage("forward"):
            perf.lap("backward")
        perf.step(num_samples=1)
    calls: Counter[str] = Counter()

    def profile(frame: Any, event: str, argument: Any) -> None:
        if event == "c_call":
            calls[argument.__name__] += 1

    sys.setprofile(profile)
    try:
        for _ in range(10):
            next(batches)
            with perf.stage("forward"):
                pass
            perf.lap("backward")
            perf.step(num_samples=1, num_tokens=2)
    finally:
        sys.setprofile(None)
    calls.pop("setprofile", None)
    assert set(calls) <= {"get_ident", "append", "extend", "acquire", "release", "len", "next", "__next__"}
    assert calls["acquire"] == calls["release"] == 10
