"""Traces of `torch.profiler`: the part of `StepPerfWriter` that a loop asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tb_stepperf.recorder.capture.captures import Captures
from tb_stepperf.recorder.capture.handler import TraceHandler
from tb_stepperf.recorder.capture.rounds import REQUESTED, Cause
from tb_stepperf.recorder.loop import LoopState


class Profiling:
    """The part of `StepPerfWriter` that leads to traces."""

    __slots__ = ()

    _captures: Captures
    _loop: LoopState

    def profile(
        self,
        schedule: Callable[[int], Any] | None = None,
        activities: Iterable[Any] | None = None,
        **options: Any,
    ) -> Any:
        """Returns a `torch.profiler.profile` whose traces lie beside the steps.

        ::

            with perf.profile(schedule=torch.profiler.schedule(wait=20, warmup=1, active=3, repeat=1)):
                for batch in loader:
                    ...
                    perf.step()

        `perf.step()` advances it, and nothing else does: its own `step()` does nothing, so that a loop which calls both
        does not advance it twice. It is used by `with` or by `start()` and `stop()`, also several times: each time is a
        new profiler. Without a schedule it records from start to stop. A trace is compressed and written by the
        background thread, and recorded with the next flush; the steps that the profiler is at work in are flagged.

        What cannot be done is logged and recorded, and the result then does nothing: arguments that torch does not
        know, a profiler that fails, another one that is active (two at a time can crash torch).

        Args:
            schedule: as `torch.profiler.schedule` makes it; its step 0 is the step in which the profiler is started.
            activities: what is recorded, by default the host and the accelerator that is there.
            options: all other arguments of `torch.profiler.profile`; `on_trace_ready` is called after the export.
        """
        return self._captures.new_profile({"schedule": schedule, "activities": activities, **options})

    def trace_handler(self) -> Callable[[Any], None]:
        """Returns what a profiler of the loop's own takes: `torch.profiler.profile(on_trace_ready=…)`.

        The loop then calls the profiler's `step()` once per step, right after `perf.step()` or right before it.
        """
        self._captures.begin_handling()
        return TraceHandler(self._captures)

    def request_capture(self) -> bool:
        """Captures a window from the next step boundary on, as long as that of `capture="regression"`.

        Returns:
            False where another window is open or about to be: then nothing is done.
        """
        return self._captures.ask(Cause(REQUESTED, self._loop.next_step))
