"""Searches in the background, and remembers what was found."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

from tb_stepperf.traces.find import Found, Heads, TraceFile, search
from tb_stepperf.traces.roots import Root

MIN_INTERVAL_S = 10.0
"""A search begins at most this often,"""

MAX_SHARE = 0.05
"""and takes no more than this share of the time."""

logger = logging.getLogger("tensorboard")


def start_thread(work: Callable[[], None]) -> None:
    """Runs `work` on a thread that does not keep the process alive."""
    threading.Thread(target=work, name="stepperf-traces", daemon=True).start()


class Finder:
    """The trace files below some log directories. A question starts a search where the last is old; it never waits.

    Args:
        roots: the log directories.
        clock: monotonic clock in seconds.
        start: runs the search; by default on a thread.
    """

    def __init__(
        self,
        roots: Sequence[Root],
        *,
        clock: Callable[[], float] = time.monotonic,
        start: Callable[[Callable[[], None]], None] = start_thread,
    ) -> None:
        self._roots = tuple(roots)
        self._clock = clock
        self._start = start
        self._heads: Heads = {}
        self._found: Found | None = None
        self._so_far: list[TraceFile] = []
        self._next_at_s = -float("inf")
        self._is_searching = False
        self._lock = threading.Lock()

    def ask(self) -> tuple[Found, bool]:
        """Returns what is known now, and whether the first search has ended."""
        with self._lock:
            must_start = not self._is_searching and self._clock() >= self._next_at_s
            self._is_searching |= must_start
        if must_start:
            self._start(self._search)
        with self._lock:
            if self._found is None:
                return Found(tuple(self._so_far), len(self._so_far)), False
            return self._found, True

    def find(self, trace: str) -> TraceFile | None:
        """Returns the file of an identity, or None where none is known; starts no search."""
        with self._lock:
            known = self._so_far if self._found is None else self._found.traces
            return next((found for found in known if found.trace == trace), None)

    def _search(self) -> None:
        began_s = self._clock()
        try:
            found = search(self._roots, self._heads, self._so_far.append, clock=self._clock)
        except Exception as error:
            logger.exception("stepperf: the search for traces failed")
            found = Found(problems=(f"the search for traces failed: {type(error).__name__}: {error}",))
        with self._lock:
            ended_s = self._clock()
            self._found, self._so_far = found, []
            self._next_at_s = ended_s + max(MIN_INTERVAL_S, (ended_s - began_s) / MAX_SHARE)
            self._is_searching = False
