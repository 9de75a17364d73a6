"""One round of a profiler, from start to stop: which training steps it recorded, what it cost, what became of it."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from threading import get_ident
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tb_stepperf.recorder.capture.captures import Captures

WRITTEN, NEVER_ACTIVE, FAILED, SKIPPED = "written", "never_active", "failed", "skipped"
"""States of a capture record; docs/format.md says what they mean."""

SCHEDULED, REQUESTED, REGRESSION, SLOW_STEP, REFERENCE = (
    "scheduled",
    "requested",
    "regression",
    "slow_step",
    "reference",
)
"""Reasons of a capture."""


@dataclasses.dataclass(frozen=True)
class Cause:
    """Why there is a window.

    Attributes:
        reason: one of the reasons above.
        about_step: training step that made it necessary.
        at_step: training step that is to be the first profiled one; None for as soon as possible.
    """

    reason: str
    about_step: int | None = None
    at_step: int | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """The cause in a capture record."""
        return {"reason": self.reason, **({} if self.about_step is None else {"about_step": self.about_step})}


class Round:
    """What is known of a round. What fails inside `attempt` and `take` ends in a record, never in the loop.

    Args:
        captures: where its records and traces go.
        cause: why there is one.
        profile: the profiler that it is a round of.

    Attributes:
        is_off: whether it is over, or cannot go on: then nothing more is asked of the profiler.
        is_recording: whether the profiler records.
    """

    def __init__(self, captures: Captures, cause: Cause, profile: Any) -> None:
        self.is_off = False
        self.is_recording = False
        self._captures = captures
        self._cause = cause
        self._profile = profile
        self._thread = get_ident()
        self._num_steps = 0
        self._num_records = 0
        self._cost_s = 0.0
        self._forget_steps()

    def _forget_steps(self) -> None:
        self._first: int | None = None
        self._last = 0
        self._step_offset: int | None = None

    @property
    def has_trace(self) -> bool:
        """Whether a trace was taken, or recorded as lost."""
        return self._num_records > 0

    @property
    def is_here(self) -> bool:
        """Whether the calling thread is the one that started the round: no other may stop a profiler."""
        return get_ident() == self._thread

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """The time inside is the profiler's: it counts as cost, and the step that it falls into is flagged."""
        self._captures.touch()
        start_s = self._captures.clock()
        try:
            yield
        finally:
            self._cost_s += self._captures.clock() - start_s

    def attempt(self, action: Callable[[], Any], give_up: Callable[[], Any]) -> None:
        """Does something that may fail in any way; if it does, that is recorded and the round is over."""
        if self.is_off:
            return
        try:
            action()
        except Exception as error:  # a profiler that fails must not end the training
            self.fail(describe(error))
            if self.is_here:
                self.put_away(give_up)

    def put_away(self, give_up: Callable[[], Any]) -> None:
        """Stops a profiler that has failed and may still record."""
        if self.is_off:
            try:
                give_up()
            except Exception as error:  # what failed once may fail again
                self._captures.say(f"the profiler cannot be stopped: {describe(error)}")

    def see_start(self) -> None:
        """Says that the profiler records from now on."""
        self.is_recording = True
        self._forget_steps()

    def see_step(self, number: int, profiler_step: int) -> None:
        """Says that a training step has ended while the profiler was at a step of its own.

        Raises:
            RuntimeError: its number went back: then one window would hold steps of two attempts.
        """
        self._num_steps += 1
        if self.is_recording:
            if self._first is not None and number <= self._last:
                raise RuntimeError(f"the number of the step went back from {self._last} to {number} in the window")
            if self._first is None:
                self._first, self._step_offset = number, number - profiler_step
            self._last = number

    def see_stop(self) -> None:
        """Says that the profiler records no more."""
        self.is_recording = False

    def take(self, profiler: Any) -> None:
        """Takes the trace that is ready; one that cannot be exported is recorded as failed."""
        next_step = self._captures.next_step
        first = next_step if self._first is None else self._first
        offset = next_step - profiler.step_num if self._step_offset is None else self._step_offset
        end = max(first, next_step if self._first is None else self._last) + 1
        try:
            with self.at_work():
                path = self._captures.files.export(profiler)
        except Exception as error:  # torch's exporter, a full disk
            self._record(FAILED, first, error=describe(error), start_step=first, end_step=end)
            self._captures.say(f"the trace of steps [{first}, {end}) is lost: {describe(error)}")
            return
        self._num_records += 1
        self._captures.export(path, offset, self._fields(start_step=first, end_step=end), first)

    def skip(self, reason: str) -> None:
        """Ends the round before it began, since another profiler is at work."""
        self.is_off = True
        self._record(SKIPPED, error=f"{reason}: two at a time are not possible")

    def fail(self, reason: str) -> None:
        """Ends the round with an error."""
        self.is_off = True
        self._record(FAILED, error=reason)
        self._captures.say(f"the profiler is given up: {reason}. Training goes on")

    def finish(self) -> None:
        """Ends the round; one that left no trace says so."""
        if not self.is_off and not self.has_trace:
            steps = f"{self._num_steps} step" + "s" * (self._num_steps != 1)
            self._record(NEVER_ACTIVE, error=f"the schedule did not reach active within {steps}")
        self.is_off = True
        self._captures.forget(self._profile)

    def _record(self, state: str, step: int | None = None, **fields: Any) -> None:
        self._num_records += 1
        record = {"state": state, **self._fields(**fields)}
        self._captures.record(self._captures.next_step if step is None else step, record)

    def _fields(self, **fields: Any) -> dict[str, Any]:
        cost_ms, self._cost_s = self._cost_s * 1e3, 0.0
        return {**self._cause.fields, **fields, "cost_ms": cost_ms}


def describe(error: Exception) -> str:
    """Returns an error as part of a sentence."""
    return f"{type(error).__name__}: {error}"[:500]
