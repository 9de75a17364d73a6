"""`Captures`: the windows of a writer, as the loop sees them at its step boundaries."""

from __future__ import annotations

import math
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

from tb_stepperf.recorder.capture.profile import NullProfile, make_profile
from tb_stepperf.recorder.capture.rounds import (
    FAILED,
    NEVER_ACTIVE,
    REFERENCE,
    SCHEDULED,
    WRITTEN,
    Cause,
    Round,
    describe,
)
from tb_stepperf.recorder.capture.rules import CaptureRules
from tb_stepperf.recorder.capture.tracefile import Exported, TraceFiles, discard_export
from tb_stepperf.recorder.loop import LoopState
from tb_stepperf.recorder.messages import Messages
from tb_stepperf.recorder.profiled import ProfilerAtWork, find_profiler

_ALWAYS = -math.inf


class Captures:
    """The profiles of a writer: those that the loop made, and the windows that somebody asked for.

    The loop comes by at the boundaries that `LoopState.look_after_s` names: at each one while there is something to do,
    at those behind a slow step while the rules look for one, and else at none.

    Args:
        loop: whose steps they are.
        files: where traces go.
        rules: of the windows; None where none is captured without being asked for.
        warmup_steps: steps after which the reference window begins.
        messages: where to say what went wrong.

    Attributes:
        clock: the loop's clock, monotonic seconds.
        files: where traces go.
        num_boundaries: boundaries that were looked at.
        num_recorded: successive ones, up to the last, at which a profiler recorded.
    """

    def __init__(
        self,
        loop: LoopState,
        files: TraceFiles,
        rules: CaptureRules | None,
        warmup_steps: int,
        messages: Messages,
    ) -> None:
        self.files = files
        self.clock = loop.clock
        self.num_boundaries = 0
        self.num_recorded = 0
        self._loop = loop
        self._rules = rules or CaptureRules()
        self._messages = messages
        self._asked: Cause | None = None
        self._slow_after_s: float | None = None
        self._profiles: list[Any] = []
        self._window: Any = None
        self._any_handler = False
        self._is_busy = False
        self._boundaries_to_reference = warmup_steps if rules is not None and rules.reference else None
        self._exported: deque[Exported] = deque()
        self._records: deque[dict[str, Any]] = deque()
        loop.at_boundary = self.at_boundary
        self._set_pace(loop.begun_s)

    @property
    def next_step(self) -> int:
        """The number that the step under way will get."""
        return self._loop.next_step

    @property
    def is_free(self) -> bool:
        """Whether no window is open or asked for."""
        return self._asked is None and self._window is None

    # What the loop calls ---------------------------------------------------------------------------------------------

    def new_profile(self, options: dict[str, Any]) -> Any:
        """Returns a profile for the loop to start; it never raises, and does nothing where torch refuses."""
        return self._make(Cause(SCHEDULED), self._new_round_of_loop, options) or NullProfile()

    def begin_handling(self) -> None:
        """Says that a profiler of the loop's own brings its traces here: from now on boundaries are looked at."""
        self._loop.begin()
        self._any_handler = True
        self._hurry()

    def ask(self, cause: Cause) -> bool:
        """Asks for a window and returns whether it will begin: not while another is open. Any thread may call it."""
        if not self.is_free or not self._loop.begin():
            return False
        self._asked = cause
        self._hurry()
        return True

    def look_for_slow(self, after_s: float) -> None:
        """Has the loop come by behind steps that take longer than this. The background thread calls it."""
        self._slow_after_s = after_s
        self._hurry()

    def touch(self) -> None:
        """Says that the step under way holds work of the profiler."""
        self._loop.profiler = ProfilerAtWork
        self._hurry()

    def at_boundary(self, number: int, now_s: float) -> None:
        """Does what is to be done between two steps; never raises. The caller holds the loop's lock.

        Args:
            number: of the step that has ended.
            now_s: when it ended.
        """
        if self._is_busy:  # a signal handler ended a step meanwhile
            return
        self._is_busy = True
        try:
            if self._loop.look_at_s > _ALWAYS:  # a slow step, it seems: the background thread looks at once
                self._loop.wake.put(None)
            self._loop.profiler = find_profiler()
            self.num_boundaries += 1
            self.num_recorded = self.num_recorded + 1 if self._loop.profiler._is_profiler_enabled else 0
            for profile in list(self._profiles):
                profile.advance(number)
            self._look_at_window()
        except Exception as error:  # whatever it is, steps are written as before
            self._asked, self._boundaries_to_reference = None, None
            self.say(f"no window is captured any more: {describe(error)}")
        finally:
            self._is_busy = False
            self._set_pace(now_s)

    def close(self) -> None:
        """Ends what is open, and says so. To be called in the loop's thread, before the writer ends."""
        if self._is_busy or self._loop.ended:
            return
        for profile in list(self._profiles):
            profile.stop()
        asked, self._asked = self._asked, None
        if asked is not None:
            error = "the run ended before the window began"
            self.record(self.next_step, {"state": NEVER_ACTIVE, **asked.fields, "error": error})

    def abandon(self) -> None:
        """Forgets everything, in a forked child: the profilers are the parent's."""
        for profile in self._profiles:
            profile.abandon()
        self._profiles.clear()
        self._asked = self._window = None
        self._exported.clear()
        self._records.clear()

    # Windows ---------------------------------------------------------------------------------------------------------

    def _look_at_window(self) -> None:
        if self._window is not None and self._window.is_over:
            self._window.stop()
            self._window = None
        if self._boundaries_to_reference is not None:
            self._boundaries_to_reference -= 1
            if self._boundaries_to_reference <= 0 and self.is_free:
                self._boundaries_to_reference = None
                self._asked = Cause(REFERENCE)
        asked = self._asked
        if asked is not None and self._window is None and self._is_time(asked):
            self._asked = None
            self._open(asked)

    def _is_time(self, asked: Cause) -> bool:
        return asked.at_step is None or self.next_step + self._rules.num_warmup_steps >= asked.at_step

    def _open(self, cause: Cause) -> None:
        rules = self._rules
        if "torch" not in sys.modules:
            error = "the loop does not use torch"
            self.record(self.next_step, {"state": FAILED, **cause.fields, "error": error})
            return
        options = {"schedule": window_schedule(rules.num_warmup_steps, rules.num_steps)}
        num_steps = rules.num_warmup_steps + rules.num_steps
        window = self._make(cause, lambda profile: self._new_round(profile, cause), options, num_steps)
        if window is not None:
            window.start()
            self._window = window

    def _make(
        self,
        cause: Cause,
        new_round: Callable[[Any], Round | None],
        options: dict[str, Any],
        num_steps: int | None = None,
    ) -> Any:
        """Returns a profile, or None where torch refuses, which is recorded."""
        try:
            return make_profile(new_round, options, num_steps)
        except Exception as error:  # arguments that torch does not know, or no torch
            self.record(self.next_step, {"state": FAILED, **cause.fields, "error": describe(error)})
            self.say(f"nothing is profiled: {describe(error)}")
            return None

    def _new_round_of_loop(self, profile: Any) -> Round | None:
        if self._window is not None:  # what the loop asks for comes first
            self._window.stop()
            self._window = None
        return self._new_round(profile, Cause(SCHEDULED))

    def _new_round(self, profile: Any, cause: Cause) -> Round | None:
        if not self._loop.begin():
            return None
        self._profiles.append(profile)
        self._hurry()
        return Round(self, cause, profile)

    def forget(self, profile: Any) -> None:
        """Says that a round of a profile is over."""
        if profile in self._profiles:
            self._profiles.remove(profile)

    def _hurry(self) -> None:
        self._loop.look_after_s = self._loop.look_at_s = _ALWAYS

    def _set_pace(self, now_s: float) -> None:
        """Says when the loop is to come by again; what another thread asks for meanwhile is seen behind that."""
        loop, after_s = self._loop, self._slow_after_s
        loop.look_after_s = after_s
        loop.look_at_s = math.inf if after_s is None else now_s + after_s
        waits = self._boundaries_to_reference is not None or not self.is_free
        if waits or self._profiles or self._any_handler or loop.profiler is ProfilerAtWork:
            self._hurry()

    # What becomes of it ----------------------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Warns, once per writer."""
        self._messages.warn_once("capture", text)

    def record(self, step: int, fields: dict[str, Any]) -> None:
        """Has a capture recorded with the next flush.

        Args:
            step: first profiled step, or the one at which it became known that there is none.
            fields: the capture record of docs/format.md.
        """
        self._records.append({"step": step, "capture": fields})
        self._loop.begin()

    def export(self, path: str, step_offset: int | None, fields: dict[str, Any], step: int) -> None:
        """Has an exported trace compressed into the run's directory, and recorded, by the background thread.

        Args:
            path: of the temporary file.
            step_offset: training step minus number of the profiler's step; None where they do not go together.
            fields: the capture record, without state and file.
            step: first profiled step.
        """
        if not self._loop.begin():
            self.say("a trace is lost: the writer was closed before it. Stop the profiler first")
            discard_export(path)
            return
        self._exported.append(Exported(path, self.files.new_name(), step_offset, step, fields))
        self._loop.wake.put(None)

    def place_traces(self) -> None:
        """Compresses what was exported. On the background thread."""
        while self._exported:
            trace = self._exported.popleft()
            try:
                self.files.place(trace)
                fields = {"state": WRITTEN, **trace.fields, "file": trace.name}
                if trace.step_offset is not None:
                    fields["step_offset"] = trace.step_offset
            except Exception as error:  # file systems of other libraries raise their own
                fields = {"state": FAILED, **trace.fields, "error": describe(error)}
                self.say(f"the trace {trace.name} is lost: {describe(error)}")
            self._records.append({"step": trace.step, "capture": fields})

    def take_records(self) -> list[dict[str, Any]]:
        """Takes the environment records of what has ended. On the background thread."""
        return [self._records.popleft() for _ in range(len(self._records))]


def window_schedule(num_warmup_steps: int, num_steps: int) -> Callable[[int], Any]:
    """Returns a schedule of torch's profiler: warm-up at once, then one window."""
    import torch

    actions = torch.profiler.ProfilerAction
    end = num_warmup_steps + num_steps

    def action(step: int) -> Any:
        if step < num_warmup_steps:
            return actions.WARMUP
        if step < end:
            return actions.RECORD if step < end - 1 else actions.RECORD_AND_SAVE
        return actions.NONE

    return action
