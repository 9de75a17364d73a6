"""Whatever goes wrong with a profiler or its file: the loop goes on, and the record says what happened."""

from __future__ import annotations

import gzip
import pathlib
import shutil
import sys
from collections.abc import Callable
from typing import Any

import fsspec
import pytest
import torch

from tb_stepperf import StepPerfWriter
from tb_stepperf.recorder.capture import captures as captures_module
from tb_stepperf.recorder.capture.profile import NullProfile
from tb_stepperf.recorder.capture.rounds import FAILED, REFERENCE, SCHEDULED, WRITTEN
from tb_stepperf.recorder.capture.slow import SlowSteps
from tests.recorder.logs import event_files, read_directory, read_log, run_python
from tests.recorder.traces import CPU, capture_records, only_record, schedule, trace_files, train, windows

MakeWriter = Callable[..., StepPerfWriter]


@pytest.mark.parametrize("method", ["prepare_trace", "start_trace", "stop_trace", "export_chrome_trace"])
@pytest.mark.parametrize("by_rule", [True, False])
def test_a_profiler_that_fails(
    make_writer: MakeWriter,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    method: str,
    by_rule: bool,
) -> None:
    def fail(*arguments: Any) -> None:
        raise RuntimeError("CUPTI_ERROR_NOT_INITIALIZED")

    monkeypatch.setattr(torch.profiler.profile, method, fail)
    with make_writer(capture="regression" if by_rule else "off") as perf:
        if by_rule:
            train(perf, 8)
        else:
            with perf.profile(schedule=schedule(active=2, repeat=1), activities=CPU):
                train(perf, 8)
    record = only_record(tmp_path)
    assert (record["state"], record["reason"]) == (FAILED, REFERENCE if by_rule else SCHEDULED)
    assert record["error"] == "RuntimeError: CUPTI_ERROR_NOT_INITIALIZED"
    assert trace_files(tmp_path) == []
    (message,) = [entry.message for entry in caplog.records]
    assert "CUPTI_ERROR_NOT_INITIALIZED" in message
    assert not torch.autograd._profiler_enabled()


def test_after_a_failure_the_next_round_works(
    make_writer: MakeWriter, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(profiler: Any) -> None:
        raise RuntimeError("no")

    with make_writer() as perf:
        profile = perf.profile(schedule=schedule(active=1, repeat=1), activities=CPU)
        with monkeypatch.context() as broken:
            broken.setattr(torch.profiler.profile, "start_trace", fail)
            with profile:
                train(perf, 3)
        with profile:
            train(perf, 3)
    assert windows(read_directory(tmp_path)[0]) == [(FAILED, SCHEDULED, None, None), (WRITTEN, SCHEDULED, 4, 5)]


def test_a_schedule_and_a_callback_that_raise(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    def broken_schedule(step: int) -> Any:
        if step == 2:
            raise KeyError("step")
        return torch.profiler.ProfilerAction.RECORD

    def broken_callback(profiler: Any) -> None:
        raise OSError("mail server")

    with make_writer() as perf:
        with perf.profile(schedule=broken_schedule, activities=CPU):
            train(perf, 4)
        with perf.profile(activities=CPU, on_trace_ready=broken_callback):
            train(perf, 2)
    first, second, third = capture_records(read_directory(tmp_path)[0])
    assert (first["state"], first["error"]) == (FAILED, "KeyError: 'step'")
    assert sorted([second["state"], third["state"]]) == [FAILED, WRITTEN]  # the trace was there before the callback
    assert not torch.autograd._profiler_enabled()


@pytest.mark.parametrize("arguments", [{"with_stacks": True}, {"activities": ["CPU"]}, {"schedule": 7}])
def test_arguments_that_torch_does_not_know(
    make_writer: MakeWriter, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture, arguments: Any
) -> None:
    with make_writer() as perf:
        with perf.profile(**arguments) as profile:
            train(perf, 3)
        assert isinstance(profile, NullProfile)
    assert only_record(tmp_path)["state"] == FAILED
    assert caplog.records[0].message.startswith("nothing is profiled: ")


def test_a_loop_without_torch_gets_no_reference(
    make_writer: MakeWriter, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make_writer(capture="regression") as perf:
        with monkeypatch.context() as without:
            without.delitem(sys.modules, "torch")
            perf.step()
        perf.step()
    assert only_record(tmp_path)["error"] == "the loop does not use torch"


def test_a_bug_of_ours_ends_windows_only(
    make_writer: MakeWriter, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*arguments: Any) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(captures_module, "window_schedule", fail)
    monkeypatch.setattr(SlowSteps, "see", fail)
    with make_writer(capture="regression") as perf:
        train(perf, 5)
    (attempt,) = read_directory(tmp_path)
    assert (attempt.steps, attempt.counters) == (list(range(5)), {})
    assert [entry.message for entry in caplog.records] == ["no window is captured any more: ZeroDivisionError: a bug"]


# Files ----------------------------------------------------------------------------------------------------------------


def test_a_deleted_directory_is_made_anew(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    logdir = tmp_path / "run"
    with make_writer(logdir=logdir) as perf:
        train(perf, 1)
        perf.flush()
        shutil.rmtree(logdir)
        with perf.profile(activities=CPU):
            train(perf, 2)
    assert len(trace_files(logdir)) == 1
    (attempt,) = read_directory(logdir)
    assert windows(attempt) == [(WRITTEN, SCHEDULED, 1, 3)]


def test_a_directory_that_refuses(
    make_writer: MakeWriter, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make_writer() as perf:
        files = perf._captures.files
        with perf.profile(activities=CPU):
            train(perf, 2)
            (tmp_path / "file").write_text("in the way")
            monkeypatch.setattr(files, "_directory", str(tmp_path / "file" / "run"))
    record = only_record(tmp_path)
    assert (record["state"], record["start_step"], record["end_step"]) == (FAILED, 0, 2)
    assert record["error"].startswith("NotADirectoryError: ")
    assert trace_files(tmp_path) == ["file"]


def test_a_full_disk(tmp_path: pathlib.Path) -> None:
    """In the temporary directory, where torch does not say so."""
    result = run_python(
        """
import resource, signal, sys, tempfile, torch
from tb_stepperf import StepPerfWriter
tempfile.tempdir = sys.argv[1]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # write() then fails with EFBIG, as it does with ENOSPC on a full disk
perf = StepPerfWriter(sys.argv[1] + "/run")
with perf.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
    for _ in range(100):
        torch.ones(1) + 1
        perf.step()
    resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))
perf.step()
perf.close()
""",
        tmp_path,
    )
    assert result.returncode == 0, result.stderr
    record = only_record(tmp_path / "run")
    assert record["state"] == FAILED
    assert record["error"].startswith("OSError: torch exported only a part of the trace, ")
    assert "is lost: OSError: torch exported only a part" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert trace_files(tmp_path / "run") == []


def test_a_remote_directory(make_writer: MakeWriter) -> None:
    logdir = "memory://bucket/traced"
    with make_writer(logdir=logdir) as perf, perf.profile(activities=CPU):
        train(perf, 2)
    names = [path.rpartition("/")[2] for path in fsspec.filesystem("memory").ls("/bucket/traced", detail=False)]
    (events,) = [name for name in names if "tfevents" in name]
    (record,) = capture_records(read_log([f"{logdir}/{events}"])[0])
    assert (record["state"], record["file"] in names) == (WRITTEN, True)
    with fsspec.open(f"{logdir}/{record['file']}", "rb", compression="gzip") as file:
        assert b'"step_offset": 0' in file.read(200)


def test_a_remote_file_system_that_fails(
    make_writer: MakeWriter, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the trace fails; steps and records go on."""
    with make_writer() as perf:
        files = perf._captures.files
        monkeypatch.setattr(files, "_directory", "no-such-protocol://bucket/run")
        with perf.profile(activities=CPU):
            train(perf, 2)
    record = only_record(tmp_path)
    assert record["state"] == FAILED
    assert len(event_files(tmp_path)) == 1


def test_a_trace_that_is_a_list_stays_one(
    make_writer: MakeWriter, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As torch writes it when it was built without kineto."""

    def export(profiler: Any, path: str) -> None:
        pathlib.Path(path).write_text('[{"name": "aten::mm", "ph": "X", "ts": 1, "dur": 2}]\n')

    monkeypatch.setattr(torch.profiler.profile, "export_chrome_trace", export)
    with make_writer() as perf, perf.profile(activities=CPU):
        train(perf, 2)
    (record,) = capture_records(read_directory(tmp_path)[0])
    assert gzip.decompress((tmp_path / record["file"]).read_bytes()).startswith(b'[{"name": "aten::mm"')
