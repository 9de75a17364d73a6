"""Reading in a process of its own: what comes back, and everything that can go wrong with it."""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tb_stepperf.errors import TraceError
from tb_stepperf.traces import process
from tb_stepperf.traces.digest import read_summary
from tb_stepperf.traces.process import Limits, ReaderProcess
from tests.support import tiny_trace

DEADLINE_S = 60.0


def python(script: str) -> list[str]:
    """Returns a command that does what `script` says instead of reading a trace."""
    return [sys.executable, "-c", script]


def read(path: pathlib.Path, limits: Limits | None = None, command: list[str] | None = None) -> object:
    """Reads a summary in another process."""
    return ReaderProcess(str(path), limits or Limits(), command).summary(lambda progress: None)


def until(condition: Callable[[], object]) -> None:
    """Waits until `condition` returns something true, and fails after a while."""
    deadline_s = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def test_the_answer_is_that_of_the_same_code_in_this_process(tmp_path: pathlib.Path) -> None:
    path = tiny_trace.write(tmp_path / "ü <b>.pt.trace.json.gz")
    progress: list[float] = []
    summary = ReaderProcess(str(path), Limits()).summary(progress.append)
    assert summary == read_summary(str(path))
    assert [step.duration_ms for step in summary.steps] == [10.0, 10.0, 10.0]
    assert progress == sorted(progress)
    assert progress[-1] == 1.0


def test_a_file_that_is_no_trace_is_refused_in_a_sentence(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.pt.trace.json"
    path.write_bytes(b"<html>")
    with pytest.raises(TraceError, match="HTML"):
        read(path)
    with pytest.raises(TraceError) as missing:
        read(tmp_path / "gone.json")
    assert "\n" not in str(missing.value)


def test_more_memory_than_allowed_is_a_sentence(tmp_path: pathlib.Path) -> None:
    # Names of which none repeats: unlike the events, they have to be kept as text.
    path = tmp_path / "big.pt.trace.json"
    with path.open("w", encoding="ascii") as file:
        file.write('{"schemaVersion": 1, "traceEvents": [')
        for number in range(150_000):
            name = f"{number:0600d}"
            event = f'{{"ph": "X", "cat": "cpu_op", "name": "{name}", "pid": 1, "tid": 1, "ts": {number}, "dur": 1}}'
            file.write(("," if number else "") + event)
        file.write("]}")
    with pytest.raises(TraceError) as refused:
        read(path, Limits(memory_mb=128))
    assert str(refused.value) == (
        "Reading the trace needs more than 128 MiB of memory: start TensorBoard with a larger "
        "--stepperf_trace_memory_mb, or trace fewer steps."
    )


@pytest.mark.parametrize(
    "script",
    [
        "import tb_stepperf.traces.worker as w; w.limit_memory(128); x = [0] * 10**9",
        "import sys; sys.stderr.write('numpy._core._exceptions._ArrayMemoryError: no'); sys.exit(1)",
        "print('{\"no_memory\": true}')",
    ],
)
def test_memory_that_ends_elsewhere_is_the_same_sentence(tmp_path: pathlib.Path, script: str) -> None:
    with pytest.raises(TraceError, match="needs more than 1024 MiB"):
        read(tmp_path, command=python(script))


def test_more_time_than_allowed_is_a_sentence(tmp_path: pathlib.Path) -> None:
    with pytest.raises(TraceError, match=r"takes more than 0\.2 s: start TensorBoard with a larger --stepperf_trace_t"):
        read(tmp_path, Limits(timeout_s=0.2), python("import time; time.sleep(600)"))


def test_stopping_ends_the_process(tmp_path: pathlib.Path) -> None:
    script = "import os, time; print('{\"progress\": 0.5}', flush=True); time.sleep(600)"
    reader = ReaderProcess(str(tmp_path), Limits(), python(script))
    with pytest.raises(TraceError, match="cancelled"):
        reader.summary(lambda progress: reader.stop())
    assert reader._process.poll() is not None
    stopped = ReaderProcess(str(tmp_path), Limits(), python(script))
    stopped.stop()
    with pytest.raises(TraceError, match="cancelled"):
        stopped.summary(lambda progress: None)
    assert stopped._process is None


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "was ended by signal 9: perhaps the machine has"),
        ("import os; os.abort()", "was ended by signal 6"),
        ("raise SystemExit(7)", "ended with status 7: TensorBoard's log has its words"),
        ("import nothing_of_this_name", "ended with status 1"),
        ('print(\'{"fault": "ZeroDivisionError: x"}\')', r"failed \(ZeroDivisionError: x\), which is a fault of tb_"),
        ("import sys; sys.stdout.write('{\"progress\": 0.')", "ended with status 0"),
    ],
)
def test_a_process_that_dies_is_a_sentence(
    tmp_path: pathlib.Path, script: str, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(TraceError, match=says) as dead:
        read(tmp_path, command=python(script))
    assert "\n" not in str(dead.value)
    assert "trace" in caplog.text
    if "nothing_of" in script:
        assert "ModuleNotFoundError: No module named 'nothing_of_this_name'" in caplog.text


def test_an_answer_without_end_is_cut(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MAX_ANSWER_BYTES", 1 << 20)
    with pytest.raises(TraceError, match="takes more than 1 MiB"):
        read(tmp_path, command=python("while True: print('x' * 100000, end='')"))


def test_where_no_process_can_be_started(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TraceError, match=r"cannot be started \(No such file or directory\)"):
        read(tmp_path, command=["/nowhere/python"])
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(TraceError, match="one frozen file"):
        read(tmp_path)


def test_what_a_library_prints_is_no_answer(tmp_path: pathlib.Path) -> None:
    path = tiny_trace.write(tmp_path / "x.json")
    script = (
        "import os, tb_stepperf.traces.read as r, tb_stepperf.traces.worker as w\n"
        "read = r.read_trace\n"
        "def loud(*a, **k):\n"
        "    print('not JSON', flush=True); os.write(1, b'neither'); return read(*a, **k)\n"
        "r.read_trace = loud\n"
        "w.main()\n"
    )
    assert read(path, command=python(script)) == read_summary(str(path))


def test_it_is_nice_and_starts_in_no_directory_of_a_user(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "numpy.py").write_text("raise SystemExit(9)", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    path = tiny_trace.write(tmp_path / "x.json")
    assert read(path) == read_summary(str(path))
    script = (
        "import os, tb_stepperf.traces.digest as d, tb_stepperf.traces.worker as w\n"
        "from tb_stepperf.errors import TraceError\n"
        "def tell(*a, **k): raise TraceError(f'{os.nice(0)} {os.environ[\"OPENBLAS_NUM_THREADS\"]} {os.getcwd()}')\n"
        "d.read_summary = tell\n"
        "w.main()\n"
    )
    with pytest.raises(TraceError, match=rf"^{min(os.nice(0) + 10, 19)} 1 /$"):
        read(path, command=python(script))


def test_it_ends_with_its_parent(tmp_path: pathlib.Path) -> None:
    """The parent of the worker is killed while it reads, so that nobody tells the worker."""
    parent = (
        "import sys\n"
        "from tb_stepperf.traces.process import Limits, ReaderProcess\n"
        "worker = ('import os, time, tb_stepperf.traces.digest as d, tb_stepperf.traces.worker as w\\n'\n"
        "          'def read(path, report):\\n'\n"
        "          '    open(path, \"w\").write(str(os.getpid())); time.sleep(600)\\n'\n"
        "          'd.read_summary = read\\n'\n"
        "          'w.main()\\n')\n"
        "ReaderProcess(sys.argv[1], Limits(), [sys.executable, '-c', worker]).summary(print)\n"
    )
    told = tmp_path / "pid"
    with subprocess.Popen([*python(parent), str(told)]) as running:
        until(lambda: told.exists() and told.read_text())
        worker = int(told.read_text())
        running.kill()
    until(lambda: not _is_alive(worker))


def _is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended may still wait for somebody to ask how."""
    try:
        status = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


@contextlib.contextmanager
def threads_end() -> Iterator[None]:
    """Asserts that the block leaves no thread behind."""
    before = set(threading.enumerate())
    yield
    until(lambda: set(threading.enumerate()) <= before)


def test_nothing_is_left_behind(tmp_path: pathlib.Path) -> None:
    path = tiny_trace.write(tmp_path / "x.json")
    with threads_end():
        num_files = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            read(path)
            with pytest.raises(TraceError):
                read(path, command=python("raise SystemExit(1)"))
        assert len(os.listdir("/proc/self/fd")) == num_files


def test_json_of_another_version_is_a_fault(tmp_path: pathlib.Path) -> None:
    command = python("print('{\"summary\": {}}')")
    with pytest.raises(ValueError, match="another version"):
        read(tmp_path, command=command)
