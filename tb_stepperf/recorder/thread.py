"""The background thread: when to drain, when to write, and that nothing ever ends it early."""

from __future__ import annotations

import queue
import threading
import time
from typing import Any

from tb_stepperf.recorder.loop import LoopState
from tb_stepperf.recorder.messages import Messages
from tb_stepperf.recorder.pipeline import Pipeline

MAX_INTERVAL_S = 300.0
"""The flush interval grows with the age of the writer up to this (or stays what the user gave, if that is more)."""

_AGE_PER_INTERVAL = 64
_PAUSE_S = 0.005
"""Between two pieces of work, so that no single step of the loop waits for the interpreter through both."""


def flush_interval_s(base_s: float, age_s: float) -> float:
    """Returns the time until the next flush.

    A loop of 10 s a step for ten days would leave 86,400 blocks of one row at a fixed interval of 10 s; an interval
    that grows with the age leaves 3,100, and what a crash can lose stays a small part of what there is.
    """
    return min(max(base_s, age_s / _AGE_PER_INTERVAL), max(base_s, MAX_INTERVAL_S))


class FlushThread:
    """Runs a pipeline until it is told to end.

    Args:
        loop: whose `wake` queue brings messages: None (steps wait), an event (flush, then set it) or a text (end so).
        pipeline: what to run.
        interval_s: the flush interval at the start.
        messages: where to say that something unforeseen went wrong.
    """

    def __init__(self, loop: LoopState, pipeline: Pipeline, interval_s: float, messages: Messages) -> None:
        self._loop = loop
        self._pipeline = pipeline
        self._interval_s = interval_s
        self._messages = messages
        self.keep_alive: Any = None
        self._began_s = time.monotonic()
        self._next_flush_s = self._began_s + interval_s
        self._thread = threading.Thread(target=self._run, name="stepperf-writer", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def flush(self, timeout_s: float) -> bool:
        """Has everything written that is there by now; returns whether that was done in time."""
        if not self.is_alive or threading.current_thread() is self._thread:
            return False
        done = threading.Event()
        self._loop.wake.put(done)
        return done.wait(timeout_s)

    def end(self, how: str) -> None:
        """Has everything written, the files closed and the thread end after that; does not wait."""
        if self._loop.begun:
            self._loop.wake.put(how)
        else:
            self._pipeline.close()

    def join(self, timeout_s: float) -> bool:
        """Waits for the thread's end; returns whether it has ended."""
        if self.is_alive and threading.current_thread() is not self._thread:
            self._thread.join(timeout_s)
        return not self.is_alive

    def _run(self) -> None:
        end = None
        while end is None:
            message = self._next_message()
            if isinstance(message, str):
                end = message
            try:
                self._handle(message)
            except Exception as error:  # the one place where the unforeseen ends up: it costs rows, never the training
                self._messages.warn_once("thread", f"steps were lost: {type(error).__name__}: {error}")
                self._pipeline.recover(error)
            if isinstance(message, threading.Event):
                message.set()
        self._pipeline.close()
        self.keep_alive = None

    def _next_message(self) -> Any:
        try:
            until_flush_s = max(self._next_flush_s - time.monotonic(), 0.0)
            return self._loop.wake.get(timeout=min(until_flush_s, self._pipeline.look_every_s))
        except queue.Empty:
            return None

    def _handle(self, message: Any) -> None:
        if isinstance(message, str):
            self._pipeline.finish(message)
            return
        while self._pipeline.drain():
            if self._pipeline.want_write:
                self._pause(message)
                self._pipeline.write(with_scalars=False)
            self._pause(message)
        now_s = time.monotonic()
        is_due = message is not None or now_s >= self._next_flush_s
        while is_due and self._pipeline.look_for_changes():
            self._pause(message)
        if is_due or self._pipeline.want_write:
            self._pause(message)
            self._pipeline.write(with_scalars=is_due)
        if is_due:
            self._next_flush_s = now_s + flush_interval_s(self._interval_s, now_s - self._began_s)

    def _pause(self, message: Any) -> None:
        if message is None:  # nobody waits
            time.sleep(_PAUSE_S)
