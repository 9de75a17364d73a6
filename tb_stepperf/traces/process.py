"""Reads a trace in another process, which may be slow, greedy or dead without harm to this one."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

from tb_stepperf.errors import TraceError
from tb_stepperf.traces.summary import TraceSummary, from_json

MAX_ANSWER_BYTES = 1 << 26
"""A summary is some hundred KiB; a file that makes more of it wants to do harm."""

CHUNK_BYTES = 1 << 16
_TOLD_BYTES = 4096
_CANCELLED = "Reading was cancelled."
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")

logger = logging.getLogger("tensorboard")


@dataclasses.dataclass(frozen=True)
class Limits:
    """What reading one trace may take.

    Attributes:
        memory_mb: of the process that reads, in MiB.
        timeout_s: until there is a summary, in seconds. A file is sent as fast as its receiver takes it.
    """

    memory_mb: int = 1024
    timeout_s: float = 300.0


class ReaderProcess:
    """Reads one trace, once.

    Args:
        path: of the file.
        limits: that it may not exceed.
        command: starts the process; see `worker.py`.
    """

    def __init__(self, path: str, limits: Limits, command: Sequence[str] | None = None) -> None:
        self._path = path
        self._limits = limits
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._is_stopped = False
        self._is_late = False
        self._lock = threading.Lock()

    def stop(self) -> None:
        """Ends the process, whatever it does; `summary` and `file` then raise. For another thread."""
        with self._lock:
            self._is_stopped = True
            if self._process is not None:
                self._process.kill()

    def summary(self, report: Callable[[float], None]) -> TraceSummary:
        """Returns what the trace says.

        Args:
            report: takes the progress in [0, 1].

        Raises:
            TraceError: the file is refused, a limit is met, or the process ended without an answer.
        """
        with self._running("summary") as (process, told), self._time_limit():
            while (line := process.stdout.readline(MAX_ANSWER_BYTES)).endswith(b"\n"):
                answer = json.loads(line)
                if "progress" in answer:
                    report(float(answer["progress"]))
                elif "summary" in answer:
                    return from_json(answer["summary"])
                else:
                    raise self._refusal(answer, told)
            if len(line) == MAX_ANSWER_BYTES:
                raise TraceError(f"What there is to say of the trace takes more than {MAX_ANSWER_BYTES >> 20} MiB.")
            raise self._ended(process, told)

    def file(self) -> Iterator[bytes]:
        """Yields the bytes of the file with nothing but its events.

        Raises:
            TraceError: as `summary` does, at any place; what was yielded until then is a part of a file.
        """
        with self._running("file") as (process, told):
            while chunk := process.stdout.read1(CHUNK_BYTES):
                yield chunk
            if process.wait() != 0:
                raise self._failure(process, told)

    @contextlib.contextmanager
    def _running(self, answer: str) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
        """Runs the process for the time of the block, with what it tells on standard error."""
        with tempfile.TemporaryFile() as told:
            process = self._start(told)
            try:
                self._ask(process, answer)
                yield process, told
            finally:
                process.kill()
                process.stdout.close()
                with contextlib.suppress(BrokenPipeError):  # a request that nobody took
                    process.stdin.close()
                process.wait()

    @contextlib.contextmanager
    def _time_limit(self) -> Iterator[None]:
        timer = threading.Timer(self._limits.timeout_s, self._expire)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _start(self, told: IO[bytes]) -> subprocess.Popen[bytes]:
        if self._command is None and (getattr(sys, "frozen", False) or not sys.executable):
            raise TraceError(
                "Traces are read in a process of their own, which this TensorBoard (one frozen file) cannot start: "
                "install tb_stepperf with pip, or use `stepperf trace FILE`."
            )
        command = self._command or [sys.executable, "-m", "tb_stepperf.traces.worker"]
        with self._lock:
            if self._is_stopped:
                raise TraceError(_CANCELLED)
            try:
                # In the root directory, so that no module of the present one is imported by mistake.
                self._process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=told, env=_environment(), cwd=os.sep
                )
            except OSError as error:
                raise TraceError(
                    f"Traces are read in a process of their own, which cannot be started ({error.strerror}): "
                    "use `stepperf trace FILE`."
                ) from error
            return self._process

    def _ask(self, process: subprocess.Popen[bytes], answer: str) -> None:
        request = {"path": self._path, "memory_mb": self._limits.memory_mb, "answer": answer}
        with contextlib.suppress(BrokenPipeError):  # it is dead already, which its exit status explains
            process.stdin.write(json.dumps(request).encode("ascii") + b"\n")
            process.stdin.flush()

    def _expire(self) -> None:
        with self._lock:
            self._is_late = True
            if self._process is not None:
                self._process.kill()

    def _refusal(self, answer: dict[str, Any], told: IO[bytes]) -> TraceError:
        if "refused" in answer:
            return TraceError(str(answer["refused"]))
        if "no_memory" in answer:
            return TraceError(self._no_memory())
        if self._is_stopped or self._is_late:
            return self._cut()
        logger.warning("stepperf: a trace could not be read: %s", _tail(told))
        return TraceError(
            f"Reading the trace failed ({answer.get('fault', 'without a reason')}), which is a fault of tb_stepperf: "
            "TensorBoard's log has the traceback."
        )

    def _failure(self, process: subprocess.Popen[bytes], told: IO[bytes]) -> TraceError:
        """Why a process whose answer is a file ended early: its last line says so, where it had time for one."""
        last = _tail(told).strip().rpartition("\n")[2]
        if process.returncode > 0 and last.startswith("{"):
            return self._refusal(json.loads(last), told)
        return self._ended(process, told)

    def _ended(self, process: subprocess.Popen[bytes], told: IO[bytes]) -> TraceError:
        status = process.wait()
        if self._is_stopped or self._is_late:
            return self._cut()
        text = _tail(told)
        if "MemoryError" in text:
            return TraceError(self._no_memory())
        logger.warning("stepperf: the process that read a trace ended with status %d: %s", status, text)
        if status < 0:
            return TraceError(
                f"The process that read the trace was ended by signal {-status}: perhaps the machine has less memory "
                f"than the {self._limits.memory_mb} MiB that it may take (--stepperf_trace_memory_mb)."
            )
        return TraceError(
            f"The process that read the trace ended with status {status}: TensorBoard's log has its words."
        )

    def _cut(self) -> TraceError:
        if self._is_stopped:
            return TraceError(_CANCELLED)
        return TraceError(
            f"Reading the trace takes more than {self._limits.timeout_s:g} s: start TensorBoard with a larger "
            "--stepperf_trace_timeout_s, or trace fewer steps."
        )

    def _no_memory(self) -> str:
        return (
            f"Reading the trace needs more than {self._limits.memory_mb} MiB of memory: start TensorBoard with a "
            "larger --stepperf_trace_memory_mb, or trace fewer steps."
        )


def _environment() -> dict[str, str]:
    """That of this process, with the modules of this process and one thread for arithmetic."""
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
    return {**os.environ, **_ONE_THREAD, "PYTHONPATH": path, "MALLOC_ARENA_MAX": "1"}


def _tail(told: IO[bytes]) -> str:
    told.seek(max(0, told.seek(0, os.SEEK_END) - _TOLD_BYTES))
    return told.read().decode("utf-8", "replace")
