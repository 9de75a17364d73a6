"""`perf.trace_handler`: traces of a profiler that the loop made itself, and the steps that they hold."""

from __future__ import annotations

import pathlib
import warnings
from collections.abc import Callable

import pytest
import torch

from tb_stepperf import StepPerfWriter
from tb_stepperf.recorder.capture.rounds import SCHEDULED, WRITTEN
from tests.recorder.logs import read_directory
from tests.recorder.test_profile import profiled
from tests.recorder.traces import CPU, capture_records, read_trace, schedule, steps_in, trace_files, train, windows

MakeWriter = Callable[..., StepPerfWriter]


@pytest.mark.parametrize("first", ["perf", "profiler"])
def test_a_profiler_of_the_loops_own(make_writer: MakeWriter, tmp_path: pathlib.Path, first: str) -> None:
    """Whichever `step` comes first, the training steps of the trace are right."""
    with make_writer(first_step=70) as perf:
        train(perf, 3)
        with (
            warnings.catch_warnings(),
            torch.profiler.profile(
                activities=CPU, schedule=schedule(wait=1, active=2), on_trace_ready=perf.trace_handler()
            ) as profiler,
        ):
            warnings.simplefilter("ignore")  # torch says that it keeps the last cycle only
            for _ in range(7):
                torch.ones(1) + 1
                for step in (perf.step, profiler.step) if first == "perf" else (profiler.step, perf.step):
                    step()
    (attempt,) = read_directory(tmp_path)
    assert windows(attempt) == [(WRITTEN, SCHEDULED, 75, 77), (WRITTEN, SCHEDULED, 79, 80)]
    assert [record["step_offset"] for record in capture_records(attempt)] == [73, 73]
    assert steps_in(read_trace(tmp_path, capture_records(attempt)[0])) == [75, 76]
    assert {75, 76, 79} <= set(profiled(attempt))


def test_a_profiler_without_a_schedule(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    """It marks no steps, whether or not it is advanced; the record says which ones it saw."""
    for advanced in (False, True):
        logdir = tmp_path / str(advanced)
        with make_writer(logdir=logdir) as perf:
            train(perf, 3)
            with torch.profiler.profile(activities=CPU, on_trace_ready=perf.trace_handler()) as profiler:
                for _ in range(4):
                    train(perf, 1)
                    if advanced:
                        profiler.step()
            train(perf, 2)
        (attempt,) = read_directory(logdir)
        assert windows(attempt) == [(WRITTEN, SCHEDULED, 3, 7)]
        assert profiled(attempt) == [3, 4, 5, 6, 7]


def test_a_profiler_that_counts_micro_steps_has_no_offset(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    with (
        make_writer() as perf,
        torch.profiler.profile(
            activities=CPU, schedule=schedule(wait=11, active=8, repeat=1), on_trace_ready=perf.trace_handler()
        ) as profiler,
    ):
        for _ in range(8):
            for _ in range(4):
                torch.ones(1) + 1
                profiler.step()
            perf.step()
    (attempt,) = read_directory(tmp_path)
    (record,) = capture_records(attempt)
    assert (record["start_step"], record["end_step"], "step_offset" in record) == (2, 4, False)
    assert read_trace(tmp_path, record)["stepperf"] == {"format": 1, "rank": 0, "world_size": 1}
    assert profiled(attempt) == [2, 3, 4]


def test_a_profiler_that_records_from_the_first_step_on(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    with torch.profiler.profile(activities=CPU), make_writer() as perf:
        train(perf, 3)
    assert profiled(read_directory(tmp_path)[0]) == [0, 1, 2]


def test_a_trace_that_comes_after_the_end_is_said_to_be_lost(
    make_writer: MakeWriter, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    perf = make_writer()
    with torch.profiler.profile(activities=CPU, on_trace_ready=perf.trace_handler()):
        train(perf, 2)
        perf.close()
    assert trace_files(tmp_path) == []
    (message,) = [record.message for record in caplog.records]
    assert message.startswith("a trace is lost: the writer was closed before it.")


def test_a_loop_that_goes_to_another_directory(
    make_writer: MakeWriter, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    with make_writer(logdir="run") as perf:
        train(perf, 1)
        perf.flush()
        monkeypatch.chdir(tmp_path / "elsewhere")
        with perf.profile(activities=CPU):
            train(perf, 2)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    (attempt,) = read_directory(tmp_path / "run")
    assert attempt.steps == [0, 1, 2]
    assert trace_files(tmp_path / "run") == [capture_records(attempt)[0]["file"]]
