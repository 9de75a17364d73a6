"""Traces of a profiler that the loop made itself: `on_trace_ready=perf.trace_handler()`."""

from __future__ import annotations

from typing import Any

from tb_stepperf.recorder.capture.captures import Captures
from tb_stepperf.recorder.capture.rounds import FAILED, SCHEDULED, describe


class TraceHandler:
    """Called with a `torch.profiler.profile` whose trace is ready.

    A loop calls the profiler's `step` right after ours, or right before. In the latter case the training step that the
    profiler has just left is still under way, and one boundary less than steps of the profiler has passed since the
    handler was made.
    """

    def __init__(self, captures: Captures) -> None:
        self._captures = captures
        self._num_boundaries_before = captures.num_boundaries
        self._last_saved = -1

    def __call__(self, profiler: Any) -> None:
        """Exports the trace; never raises."""
        try:
            self._take(profiler)
        except Exception as error:  # any profiler, in any state
            fields = {"state": FAILED, "reason": SCHEDULED, "error": describe(error)}
            self._captures.record(self._captures.next_step, fields)
            self._captures.say(f"a trace is lost: {describe(error)}")

    def _take(self, profiler: Any) -> None:
        captures = self._captures
        start_step, end_step, offset = self._steps(profiler)
        start_s = captures.clock()
        captures.touch()
        path = captures.files.export(profiler)
        cost_ms = (captures.clock() - start_s) * 1e3
        fields = {"reason": SCHEDULED, "start_step": start_step, "end_step": end_step, "cost_ms": cost_ms}
        captures.export(path, offset, fields, start_step)

    def _steps(self, profiler: Any) -> tuple[int, int, int | None]:
        """Returns the training steps [start, end) that the trace holds, and the offset to the profiler's.

        Where the profiler was not advanced once per step, no offset holds, and boundaries tell which steps it recorded.
        """
        captures = self._captures
        first, end, is_stop = self._recorded(profiler)
        num_seen, captures.num_recorded = captures.num_recorded, 0
        if profiler.step_num == 0 or abs(num_seen - (end - first)) > 1:
            start = captures.next_step - num_seen
            return start, max(captures.next_step, start + 1), None if profiler.step_num else start
        offset = captures.next_step - profiler.step_num
        num_boundaries = captures.num_boundaries - self._num_boundaries_before
        if not is_stop and num_boundaries == profiler.step_num - 1:
            offset += 1
        return max(first + offset, 0), max(end + offset, 1), offset

    def _recorded(self, profiler: Any) -> tuple[int, int, bool]:
        """Returns the profiler's steps [start, end) that the trace holds, and whether the profiler is being stopped.

        Where a schedule ends, `step` has gone on to the next one already; `stop` leaves the one under way.
        """
        import torch

        actions, at = torch.profiler.ProfilerAction, profiler.step_num
        before = profiler.schedule(at - 1) if at else None
        is_stop = before != actions.RECORD_AND_SAVE or at == self._last_saved
        if not is_stop:
            self._last_saved = at
        first = at if is_stop else at - 1
        while first and profiler.schedule(first - 1) == actions.RECORD:
            first -= 1
        return first, max(at, first + 1), is_stop
