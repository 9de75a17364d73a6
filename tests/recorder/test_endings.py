"""How a writer ends, in processes of their own: nothing is lost but what a kill interrupts."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import threading
from typing import Any

import pytest

from tests.recorder.logs import ROOT, read_directory, run_python

LOOP = """
import os, signal, sys
from tb_stepperf import StepPerfWriter
perf = StepPerfWriter(sys.argv[1], flush_interval_s=1000)
def loop(num_steps):
    for _ in range(num_steps):
        with perf.stage("forward"):
            pass
        perf.step(num_samples=1)
"""


TERMINATE = "loop(600); signal.raise_signal(signal.SIGTERM)"
CUT = {"num_interrupted": 1}


@pytest.mark.parametrize(
    ("code", "status", "end", "counters"),
    [
        ("loop(600)", 0, "closed", {}),
        ("loop(600); perf.close()", 0, "closed", {}),
        ("loop(600); sys.exit(3)", 3, "closed", {}),
        ("loop(600); raise ValueError('x')", 1, "exception", {}),
        ("with perf:\n loop(600)\n sys.exit(3)", 3, "exception", {}),
        ("with perf:\n loop(600)\n with perf.stage('x'): raise KeyboardInterrupt", None, "exception", CUT),
        ("loop(600)\nwith perf.stage('x'): signal.raise_signal(signal.SIGINT)", None, "exception", CUT),
        ("signal.signal(signal.SIGTERM, lambda *_: sys.exit(143)); " + TERMINATE, 143, "closed", {}),
        ("signal.signal(signal.SIGTERM, lambda *_: perf.close()); " + TERMINATE, 0, "closed", {}),
        ("loop(600); del perf; import gc; gc.collect()", 0, "closed", {}),
        ("import threading; t = threading.Thread(target=loop, args=[600]); t.start(); t.join()", 0, "closed", {}),
    ],
)
def test_every_ending_in_order_loses_nothing(
    tmp_path: pathlib.Path, code: str, status: int | None, end: str, counters: dict[str, int]
) -> None:
    result = run_python(LOOP + code, tmp_path)
    assert status is None or result.returncode == status, result.stderr
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == list(range(600))
    assert attempt.end == end
    assert attempt.counters == counters


def start(code: str, *arguments: Any) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_kill_loses_what_came_after_the_last_flush(tmp_path: pathlib.Path, number: int) -> None:
    process = start(LOOP + "loop(100); perf.flush(); loop(50); print('ready', flush=True); signal.pause()", tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    assert process.wait(60) == -number  # no handler of ours: SIGTERM means what it always does
    process.stdout.close()
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == list(range(100))
    assert attempt.end is None


def test_a_forgotten_writer_ends_by_itself(make_writer: Any, tmp_path: pathlib.Path) -> None:
    """Reference counting ends it here: the fixture's list must not hold it."""
    from tb_stepperf import StepPerfWriter

    before = set(threading.enumerate())
    perf = StepPerfWriter(tmp_path, flush_interval_s=1000)
    perf.step()
    (thread,) = set(threading.enumerate()) - before
    del perf
    thread.join(60)
    assert not thread.is_alive()
    (attempt,) = read_directory(tmp_path)
    assert (attempt.steps, attempt.end) == ([0], "closed")


def test_a_writer_that_was_never_used_writes_no_attempt(make_writer: Any, tmp_path: pathlib.Path) -> None:
    num_threads = threading.active_count()
    with make_writer() as perf:
        assert threading.active_count() == num_threads
    assert perf.flush() is False
    assert read_directory(tmp_path) == []


def test_closing_while_another_thread_runs_the_loop(make_writer: Any, tmp_path: pathlib.Path) -> None:
    perf = make_writer()
    begun, stop = threading.Event(), threading.Event()

    def loop() -> None:
        while not stop.is_set():
            with perf.stage("forward"):
                perf.lap("x")
            perf.step()
            begun.set()

    thread = threading.Thread(target=loop)
    thread.start()
    assert begun.wait(60)
    perf.close()
    stop.set()
    thread.join()
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == list(range(len(attempt.steps)))
    assert attempt.end == "closed"


def test_a_thread_that_cannot_be_started_stops_nothing(
    make_writer: Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    perf = make_writer()
    monkeypatch.setattr(threading.Thread, "start", refuse)
    for _ in range(3):
        with perf.stage("forward"):
            pass
        perf.step()
    perf.close()
    assert read_directory(tmp_path) == []
    assert "steps are not recorded: RuntimeError: can't start new thread" in caplog.text
