"""Analyses in the background: one thread, the newest question first, results remembered.

A request never waits. It gets what is known, and whether something newer is coming. The thread ends when there is
nothing to do, and a new one begins with the next question.
"""

from __future__ import annotations

import collections
import dataclasses
import logging
import threading
import time
from collections.abc import Callable, Hashable

from tb_stepperf.analysis import MemberAnalysis

MAX_RESULTS = 256
"""Analyses that are remembered; one takes some tens of KiB."""

MIN_INTERVAL_S = 10.0
"""A growing run is analysed anew at most this often,"""

MIN_GROWTH = 0.02
"""once it has so many more steps, relatively,"""

MAX_INTERVAL_S = 60.0
"""or after this time, however little it has grown."""

logger = logging.getLogger("tensorboard")

Job = Callable[[Callable[[float], None]], MemberAnalysis]
"""Makes an analysis; it is given a function that takes its progress in [0, 1]."""


@dataclasses.dataclass(frozen=True)
class Known:
    """What is known of a question now.

    Attributes:
        analysis: the newest; None while there is none.
        is_pending: whether a newer one is queued or under way.
        progress: of that one, in [0, 1]; 1 where none is pending.
        num_ahead: analyses that come before it.
    """

    analysis: MemberAnalysis | None
    is_pending: bool
    progress: float
    num_ahead: int


@dataclasses.dataclass
class _Entry:
    analysis: MemberAnalysis | None = None
    finished_at_s: float = 0.0
    job: Job | None = None
    progress: float = 0.0
    error: Exception | None = None


def start_thread(work: Callable[[], None]) -> None:
    """Runs `work` on a thread that does not keep the process alive."""
    threading.Thread(target=work, name="stepperf-analyses", daemon=True).start()


class Analyses:
    """The analyses of one process.

    Args:
        clock: monotonic clock in seconds.
        start: runs the worker; by default on a thread.
        max_results: most analyses that are remembered.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        start: Callable[[Callable[[], None]], None] = start_thread,
        max_results: int = MAX_RESULTS,
    ) -> None:
        self._clock = clock
        self._start = start
        self._max_results = max_results
        self._entries: collections.OrderedDict[Hashable, _Entry] = collections.OrderedDict()
        self._queue: list[Hashable] = []  # the next one is the last
        self._running: Hashable | None = None
        self._is_working = False
        self._lock = threading.Lock()

    def ask(self, key: Hashable, version: int, num_rows: int, job: Job) -> Known:
        """Returns what is known of `key`, and queues `job` where that is not enough.

        Args:
            key: names the question.
            version: of the data, as `Table.version`.
            num_rows: rows that there are now.
            job: makes the analysis.

        Raises:
            RuntimeError: the last try failed; the next question tries again.
        """
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
            if entry.error is not None:
                error, entry.error = entry.error, None
                raise RuntimeError(f"the analysis failed: {type(error).__name__}: {error}") from error
            if entry.job is None and self._is_due(entry, version, num_rows):
                entry.progress = 0.0
                entry.job = job
                self._queue.append(key)
                self._forget()
            elif key in self._queue:
                self._queue.remove(key)
                self._queue.append(key)
                entry.job = job
            known = self._known(key, entry)
            must_start = bool(self._queue) and not self._is_working
            self._is_working |= must_start
        if must_start:
            self._start(self._work)
        return known

    def _is_due(self, entry: _Entry, version: int, num_rows: int) -> bool:
        if entry.analysis is None:
            return True
        elapsed_s = self._clock() - entry.finished_at_s
        if version == entry.analysis.version or elapsed_s < MIN_INTERVAL_S:
            return False
        has_grown = not entry.analysis.num_rows <= num_rows < (1 + MIN_GROWTH) * entry.analysis.num_rows
        return has_grown or elapsed_s >= MAX_INTERVAL_S

    def _known(self, key: Hashable, entry: _Entry) -> Known:
        if entry.job is None:
            return Known(entry.analysis, False, 1.0, 0)
        num_ahead = 0
        if key in self._queue:
            num_ahead = len(self._queue) - 1 - self._queue.index(key) + (self._running is not None)
        return Known(entry.analysis, True, entry.progress, num_ahead)

    def _forget(self) -> None:
        """Forgets what was asked for longest ago and is not under way."""
        for key in [key for key in self._entries if key != self._running]:
            if len(self._entries) <= self._max_results:
                return
            del self._entries[key]
            if key in self._queue:
                self._queue.remove(key)

    def _work(self) -> None:
        while (entry := self._next()) is not None:
            analysis, error = None, None
            try:
                analysis = self._run(entry)
            except Exception as failure:
                logger.exception("stepperf: an analysis failed")
                error = failure
            with self._lock:
                entry.job, entry.error = None, error
                if analysis is not None:
                    entry.analysis, entry.finished_at_s = analysis, self._clock()

    def _next(self) -> _Entry | None:
        with self._lock:
            self._running = self._queue.pop() if self._queue else None
            self._is_working = self._running is not None
            return self._entries[self._running] if self._is_working else None

    def _run(self, entry: _Entry) -> MemberAnalysis:
        def report(progress: float) -> None:
            entry.progress = progress

        assert entry.job is not None, "what is queued has a job"
        return entry.job(report)
