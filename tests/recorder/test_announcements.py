"""Planned changes: at the step that turns out to be theirs, and harmless whatever is passed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tb_stepperf import StepPerfWriter
from tb_stepperf.analysis.events import planned_changes
from tb_stepperf.recorder import announcements as announcements_module
from tb_stepperf.recorder import pipeline as pipeline_module
from tb_stepperf.store import AttemptInfo
from tests.recorder.logs import Attempt, read_directory

MakeWriter = Callable[..., StepPerfWriter]


def planned(attempts: list[Attempt]) -> list[tuple[int, str]]:
    """(step, text) as the analysis reads them."""
    infos = []
    for attempt in attempts:
        first, *later = attempt.environment
        changes = tuple((record["step"], record) for record in later)
        infos.append(AttemptInfo(attempt.metadata.attempt, "p", 0.0, environment=first, changes=changes))
    return planned_changes(infos)


def test_each_is_a_record_at_the_next_step(make_writer: MakeWriter, tmp_path: Any) -> None:
    with make_writer() as perf:
        for step in range(10):
            if step in (3, 7):
                perf.expect_change(f"batch size {step} → {2 * step}")
            perf.step()
    (attempt,) = read_directory(tmp_path)
    assert attempt.environment[1:] == [
        {"step": 3, "planned_change": "batch size 3 → 6"},
        {"step": 7, "planned_change": "batch size 7 → 14"},
    ]
    assert "planned_change" not in attempt.environment[0]
    assert planned([attempt]) == [(3, "batch size 3 → 6"), (7, "batch size 7 → 14")]


def test_a_step_that_is_numbered_otherwise_keeps_its_announcement(make_writer: MakeWriter, tmp_path: Any) -> None:
    with make_writer() as perf:
        perf.expect_change("resumed with 8 workers")
        perf.flush()  # it has no step yet
        perf.step(step=2**60)
        perf.step(step=2**60 + 1)
        perf.expect_change("back to the checkpoint")
        perf.flush()
        perf.step(step=100)
        perf.expect_change("logged")
        perf.log_step(step=105, step_time_ms=1)
        perf.expect_change("no step comes any more")
    assert planned(read_directory(tmp_path)) == [
        (100, "back to the checkpoint"),
        (105, "logged"),
        (2**60, "resumed with 8 workers"),
    ]


def test_what_is_no_text_is_counted_and_long_texts_are_cut(
    make_writer: MakeWriter, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with make_writer() as perf:
        for text in (None, 3, b"x", ["x"], "", " \n"):
            perf.expect_change(text)  # type: ignore[arg-type]
        perf.expect_change("wide\n  model ")
        perf.expect_change("x" * 1000)
        perf.step()
    perf.expect_change("after the end")
    (attempt,) = read_directory(tmp_path)
    assert [record["planned_change"] for record in attempt.environment[1:]] == ["wide model", "x" * 199 + "…"]
    assert attempt.counters == {"num_invalid": 6}
    assert [record.message for record in caplog.records] == [
        "expect_change is a NoneType: a text that says what changes is allowed; it is left out"
    ]


def test_a_loop_that_announces_every_step_does_not_fill_the_file(
    make_writer: MakeWriter, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(announcements_module, "MAX_ANNOUNCEMENTS", 5)
    with make_writer() as perf:
        for step in range(20):
            perf.expect_change(f"step {step}")
            perf.step()
    assert [step for step, _ in planned(read_directory(tmp_path))] == [0, 1, 2, 3, 4]
    assert "expect_change('step 5') is one too many: 5 of a writer are kept" in caplog.text
    assert len(caplog.records) == 1


def test_what_could_not_be_written_is_written_later(
    make_writer: MakeWriter, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    perf = make_writer()
    perf.step()
    perf.flush()
    sink_write = pipeline_module.Pipeline._write
    perf.expect_change("a")
    perf.step()
    perf.expect_change("b")
    perf.step()

    def only_one(pipeline: Any, *arguments: Any) -> None:
        real = pipeline._sink.write
        pipeline._sink.write = lambda events: real(events[:1])
        sink_write(pipeline, *arguments)
        del pipeline._sink.write

    monkeypatch.setattr(pipeline_module.Pipeline, "_write", only_one)
    perf.flush()
    monkeypatch.setattr(pipeline_module.Pipeline, "_write", sink_write)
    perf.step()
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert planned([attempt]) == [(1, "a"), (2, "b")]
    assert len(attempt.environment) == 3
    assert attempt.steps == [0, 3]
    assert attempt.counters == {"num_rows_lost": 2}
