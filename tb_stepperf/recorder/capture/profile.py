"""Torch's profiler, advanced by `StepPerfWriter.step` and with a place for its traces."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tb_stepperf.recorder.capture import others
from tb_stepperf.recorder.capture.rounds import Round


def make_profile(new_round: Callable[[Any], Round | None], options: dict[str, Any], num_steps: int | None) -> Any:
    """Returns a `torch.profiler.profile`; imports torch.

    Args:
        new_round: takes the profile and returns its next round, or None where there is to be none.
        options: arguments of `torch.profiler.profile`.
        num_steps: steps that a window lasts which nobody asked for: it gives way to any other profiler that works or
            begins in them. None for a profile of the loop's own.

    Raises:
        Exception: whatever torch raises for arguments that it does not know.
    """
    return _profile_type()(new_round, options, num_steps)


@functools.cache
def _profile_type() -> type:
    import torch

    class StepProfile(torch.profiler.profile):
        """A profiler whose steps are those of a `StepPerfWriter`; every round is a new profiler."""

        def __init__(
            self, new_round: Callable[[Any], Round | None], options: dict[str, Any], num_steps: int | None
        ) -> None:
            self._num_steps = num_steps
            self._new_round = new_round
            self._options = {**options, "on_trace_ready": self._take_trace}
            self._on_trace_ready = options.get("on_trace_ready")
            self._round: Round | None = None
            self._place = others.Place(self._give_way)
            self._begin_anew()

        def _begin_anew(self) -> None:
            """Makes everything as at first: torch's own profiler records nothing in a second round."""
            other_known = others.any_known()
            super().__init__(**self._options)
            if not other_known:
                others.forget_own()
            self.record_steps = False  # steps are marked here: also without a schedule, and only where it records
            self._mark: Any = None

        # What the loop calls -----------------------------------------------------------------------------------------

        def start(self) -> None:
            """Begins a round, unless one is under way or another profiler is at work."""
            if self._round is None:
                self._round = self._new_round(self)
                if self._round is not None:
                    self._round.attempt(self._start, self._put_away)

        def step(self) -> None:
            """Does nothing: `StepPerfWriter.step` advances this profiler, once per training step."""

        def stop(self) -> None:
            """Ends the round; what was recorded is written with the next flush."""
            ended = self._round
            if ended is not None:
                ended.attempt(self._stop, self._put_away)
                ended.finish()
                if ended.is_here:  # else it may still record: that is for the thread to end that started it
                    ended.put_away(self._put_away)
                    self._round = None

        # What the writer calls ---------------------------------------------------------------------------------------

        def advance(self, number: int) -> None:
            """Goes on to the next step, after training step `number` has ended."""
            if self._round is not None:
                self._round.attempt(lambda: self._advance(self._round, number), self._put_away)

        def abandon(self) -> None:
            """Forgets the round, in a forked child: there torch is not asked for anything."""
            self._place.leave()
            self._round = None

        @property
        def is_over(self) -> bool:
            """Whether this round has left a trace, or will leave none."""
            return self._round is None or self._round.is_off or self._round.has_trace

        # What may raise ----------------------------------------------------------------------------------------------

        def _start(self) -> None:
            self._begin_anew()
            reason = others.profiler_in_the_way(self, 1 if self._num_steps is None else self._num_steps)
            if reason is not None:
                self._round.skip(reason)
            else:
                others.see_start(self)
                super().start()
                self._begin_mark()

        def _advance(self, current: Round, number: int) -> None:
            if not current.is_here:
                return
            self._check_ours(current)
            current.see_step(number, self.step_num)
            self._end_mark()
            super().step()
            self._begin_mark()

        def _stop(self) -> None:
            if not self._round.is_here:
                raise RuntimeError("it was stopped in another thread than it was started in")
            self._check_ours(self._round)
            self._end_mark()
            super().stop()

        def _check_ours(self, current: Round) -> None:
            if current.is_recording and not torch.autograd._profiler_enabled():
                current.see_stop()
                raise RuntimeError("it no longer records: somebody else has stopped it")

        def _give_way(self) -> None:
            """Ends the round, since another profiler is about to begin."""
            current = self._round
            with current.at_work():
                current.fail("another profiler took its place")
                if current.is_here:
                    current.put_away(self._put_away)
                else:  # it is not for this thread to stop it; left alone it does no harm
                    current.see_stop()

        def _put_away(self) -> None:
            """Stops what still records; after an error nothing else is known to work."""
            others.see_end(self)
            self._place.leave()
            self._end_mark()
            inner = self.profiler
            if self._round.is_recording and inner is not None:
                self._round.see_stop()
                inner.__exit__(None, None, None)
            if inner is not None and inner.kineto_results is None:
                self.profiler = None  # nothing came of it: nobody is to take it for one that works

        def _begin_mark(self) -> None:
            """Marks the step where it is recorded: a mark in the trace of another profiler would be one too many."""
            if self._round.is_recording:
                self._mark = torch.profiler.record_function(f"ProfilerStep#{self.step_num}")
                self._mark.__enter__()

        def _end_mark(self) -> None:
            mark, self._mark = self._mark, None
            if mark is not None:
                mark.__exit__(None, None, None)

        # What torch calls --------------------------------------------------------------------------------------------

        def prepare_trace(self) -> None:
            with self._round.at_work():
                if not self.acc_events:
                    self.profiler = None  # as torch does, without its warning that only the last cycle is kept
                super().prepare_trace()
            self._place.keep()

        def start_trace(self) -> None:
            self._place.leave()
            try:
                with self._round.at_work():
                    super().start_trace()
            finally:
                if torch.autograd._profiler_enabled():  # if it failed half-way, it is still to be stopped
                    self._round.see_start()
            self._place.keep()

        def stop_trace(self) -> None:
            self._place.leave()
            with self._round.at_work():
                super().stop_trace()
            self._round.see_stop()

        def _take_trace(self, profiler: Any) -> None:
            self._round.take(self)
            if self._on_trace_ready is not None:
                self._on_trace_ready(self)

    return StepProfile


class NullProfile:
    """Stands for a profile where nothing is to be recorded."""

    def __enter__(self) -> NullProfile:
        return self

    def __exit__(self, *exception: Any) -> None:
        return None

    def start(self) -> None:
        """Does nothing."""

    def step(self) -> None:
        """Does nothing."""

    def stop(self) -> None:
        """Does nothing."""
