"""How a writer ends: closed, forgotten, at exit, and not at all in a forked child."""

from __future__ import annotations

import atexit
import os
import sys
import weakref
from typing import Any

from tb_stepperf.recorder.capture.captures import Captures
from tb_stepperf.recorder.hardware import Hardware
from tb_stepperf.recorder.loop import LoopState
from tb_stepperf.recorder.messages import Messages, logger
from tb_stepperf.recorder.thread import FlushThread

_AT_EXIT_TIMEOUT_S = 30.0
_living: weakref.WeakSet[Life] = weakref.WeakSet()


class Life:
    """The end of one writer. It knows the loop and the thread, and nothing refers from it to the writer."""

    def __init__(
        self, loop: LoopState, thread: FlushThread, captures: Captures, hardware: Hardware, messages: Messages
    ) -> None:
        self._loop = loop
        self._thread = thread
        self._captures = captures
        self._hardware = hardware
        self._messages = messages
        self._pid = os.getpid()
        thread.keep_alive = self  # until everything is written, also if the loop has forgotten the writer

    @property
    def here(self) -> bool:
        """Whether this is the process that made the writer."""
        return os.getpid() == self._pid

    def flush(self, timeout_s: float) -> bool:
        """Has everything written that is there; returns whether that was done in time."""
        if not self.here or self._loop.ended or not self._loop.begun:
            return False
        return self._thread.flush(timeout_s)

    def close(self, end: str, timeout_s: float) -> None:
        """Ends the writer: nothing more goes in, what is there is written, and what was lost is said."""
        if not self.here:
            return
        loop = self._loop
        first = not loop.ended
        if first:
            with loop.lock:
                self._captures.close()
                if end == "exception" and loop.begun:
                    loop.interrupt()
                loop.finish_device()
                loop.end()
            loop.gc_time.remove()
            self._thread.end(end)
        if not self._thread.join(timeout_s):
            logger.warning("%d s after close() steps are still being written to a slow log directory", timeout_s)
            return
        if first:
            self._hardware.close()
            num_lost = loop.counters.get("num_rows_lost", 0)
            if num_lost:
                logger.warning("%d rows not written", num_lost)

    def forget(self) -> None:
        """Ends the writer that nobody refers to any more: a message to the thread, no lock and no wait.

        An open window is ended as well, or else its profiler would record for as long as the process lives.
        """
        if self.here and not self._loop.ended:
            self._captures.close()
            self._loop.end()
            self._loop.gc_time.remove()
            self._thread.end("closed")

    def abandon(self) -> None:
        """Makes this copy, in a forked child, do nothing."""
        self._loop.abandon()
        self._captures.abandon()


def watch(writer: Any, life: Life) -> None:
    """Sees to it that a writer ends well if nobody closes it."""
    _living.add(life)
    weakref.finalize(writer, life.forget).atexit = False


def _close_all() -> None:
    failed = getattr(sys, "last_type", None) is not None and not hasattr(sys, "ps1")
    for life in list(_living):
        life.close("exception" if failed else "closed", _AT_EXIT_TIMEOUT_S)


def _abandon_all() -> None:
    for life in list(_living):
        life.abandon()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
