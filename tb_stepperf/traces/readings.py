"""Traces that were asked for: one is read at a time, the newest question first, and its summary remembered."""

from __future__ import annotations

import collections
import dataclasses
import json
import logging
import threading
from collections.abc import Callable
from typing import Protocol

from tb_stepperf.errors import TraceError
from tb_stepperf.traces.find import TraceFile
from tb_stepperf.traces.finder import start_thread
from tb_stepperf.traces.process import Limits, ReaderProcess
from tb_stepperf.traces.summary import TraceSummary, to_json

MAX_ENTRIES = 512
MAX_BYTES = 1 << 26
"""Of all remembered summaries, counted as twice their JSON."""

logger = logging.getLogger("tensorboard")


class Reader(Protocol):
    """Reads one trace, once."""

    def summary(self, report: Callable[[float], None]) -> TraceSummary:
        """Returns what the trace says; raises `TraceError` where it is refused."""
        ...

    def stop(self) -> None:
        """Makes `summary`, on another thread, raise soon."""
        ...


@dataclasses.dataclass(frozen=True)
class Reading:
    """How far the reading of a trace is.

    Attributes:
        state: `unread`, `queued`, `reading`, `done`, `refused` or `cancelled`.
        progress: in [0, 1].
        num_ahead: traces that are read before it.
        message: why it is refused, a sentence; else None.
        summary: once it is done; else None.
    """

    state: str
    progress: float = 0.0
    num_ahead: int = 0
    message: str | None = None
    summary: TraceSummary | None = None


_UNREAD = Reading("unread")
_Key = tuple[str, int, float]


@dataclasses.dataclass
class _Entry:
    reader: Reader | None = None
    state: str = "queued"
    progress: float = 0.0
    message: str | None = None
    summary: TraceSummary | None = None
    num_bytes: int = 0


class Readings:
    """The traces that one TensorBoard was asked for. Results are remembered by path, size and time of a file.

    Args:
        limits: of one reading.
        open_reader: makes what reads a path; by default a process with `limits`.
        start: runs the work; by default on a thread.
        max_bytes: of remembered summaries; the least recently asked for are forgotten first.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        open_reader: Callable[[str], Reader] | None = None,
        start: Callable[[Callable[[], None]], None] = start_thread,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self.limits = limits
        self._open = open_reader or (lambda path: ReaderProcess(path, limits))
        self._start = start
        self._max_bytes = max_bytes
        self._entries: collections.OrderedDict[_Key, _Entry] = collections.OrderedDict()
        self._queue: list[_Key] = []  # the next one is the last
        self._running: _Key | None = None
        self._is_working = False
        self._lock = threading.Lock()

    def look(self, file: TraceFile) -> Reading:
        """Returns how far the reading of a file is, without starting it."""
        with self._lock:
            key = _key(file)
            return self._reading(key, self._entries[key]) if key in self._entries else _UNREAD

    def ask(self, file: TraceFile) -> Reading:
        """Returns how far the reading of a file is; starts it where it was not asked for, or was cancelled."""
        key = _key(file)
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or entry.state == "cancelled":
                entry = self._entries[key] = _Entry(self._open(file.path))
                self._queue.append(key)
                self._forget(key)
            elif entry.state == "queued":
                self._queue.remove(key)
                self._queue.append(key)
            self._entries.move_to_end(key)
            reading = self._reading(key, entry)
            must_start = bool(self._queue) and not self._is_working
            self._is_working |= must_start
        if must_start:
            self._start(self._work)
        return reading

    def cancel(self, file: TraceFile) -> Reading:
        """Stops reading a file, and forgets a refusal; a summary that is there stays."""
        key = _key(file)
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            if entry.state != "done":
                if key in self._queue:
                    self._queue.remove(key)
                if entry.reader is not None:
                    entry.reader.stop()
                self._entries[key] = entry = _Entry(state="cancelled")
                self._forget(key)
            return self._reading(key, entry)

    def _reading(self, key: _Key, entry: _Entry) -> Reading:
        num_ahead = 0
        if entry.state == "queued":
            num_ahead = len(self._queue) - 1 - self._queue.index(key) + (self._running is not None)
        progress = 1.0 if entry.state == "done" else entry.progress
        return Reading(entry.state, progress, num_ahead, entry.message, entry.summary)

    def _work(self) -> None:
        while (taken := self._next()) is not None:
            key, entry = taken
            message, summary = None, None
            try:
                summary = self._read(entry)
            except TraceError as error:
                message = str(error)
            except Exception as error:
                logger.exception("stepperf: reading a trace failed")
                message = f"Reading the trace failed ({type(error).__name__}: {error}): see TensorBoard's log."
            num_bytes = 0 if summary is None else 2 * len(json.dumps(to_json(summary)))
            with self._lock:
                entry.reader, entry.message, entry.summary, entry.num_bytes = None, message, summary, num_bytes
                entry.state = "refused" if summary is None else "done"
                self._forget(key)

    def _next(self) -> tuple[_Key, _Entry] | None:
        with self._lock:
            self._running = self._queue.pop() if self._queue else None
            self._is_working = self._running is not None
            if self._running is None:
                return None
            entry = self._entries[self._running]
            entry.state = "reading"
            return self._running, entry

    def _read(self, entry: _Entry) -> TraceSummary:
        def report(progress: float) -> None:
            entry.progress = progress

        assert entry.reader is not None, "what is queued has a reader"
        return entry.reader.summary(report)

    def _forget(self, newest: _Key) -> None:
        """Forgets what was asked for longest ago, but neither what is under way nor `newest`."""
        num_bytes = sum(entry.num_bytes for entry in self._entries.values())
        for key in list(self._entries):
            if len(self._entries) <= MAX_ENTRIES and num_bytes <= self._max_bytes:
                return
            if key not in (self._running, newest):
                num_bytes -= self._entries.pop(key).num_bytes
                if key in self._queue:
                    self._queue.remove(key)


def _key(file: TraceFile) -> _Key:
    return file.path, file.num_bytes, file.modified_s
