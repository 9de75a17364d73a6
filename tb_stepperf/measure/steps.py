"""Runs and times a step function, and says clearly in which phase and repetition it failed."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from tb_stepperf.errors import MeasureError
from tb_stepperf.measure.instruments import Instruments
from tb_stepperf.measure.stages import StageLabels, StageTimes


@dataclasses.dataclass(frozen=True)
class Step:
    """One step that was run.

    Attributes:
        time_ms: host time from the end of the synchronisation before it to the end of the one after it.
        stages: where it went.
        wall_time_s: seconds since the epoch at its end.
        peaks: memory peaks by column; empty where none were read.
    """

    time_ms: float
    stages: StageTimes
    wall_time_s: float
    peaks: Mapping[str, float]


class StepRunner:
    """Runs steps, one at a call.

    Args:
        step_fn: what is measured.
        wants_perf: whether it is called with the object that labels stages.
        instruments: what is waited for and read.
        clock: monotonic seconds.
        wall_clock: seconds since the epoch.

    Attributes:
        labels: the object that labels stages.
    """

    def __init__(
        self,
        step_fn: Callable[..., Any],
        wants_perf: bool,
        instruments: Instruments,
        clock: Callable[[], float],
        wall_clock: Callable[[], float],
    ) -> None:
        self.labels = StageLabels(clock)
        self._step_fn = step_fn
        self._arguments = (self.labels,) if wants_perf else ()
        self._instruments = instruments
        self._clock = clock
        self._wall_clock = wall_clock

    def run(self, name: str, around: contextlib.AbstractContextManager[Any] | None = None) -> Step:
        """Runs one step.

        Args:
            name: which one, for errors, such as `warm-up step 2 of 3`.
            around: entered when the step's time begins and left when it ends.

        Raises:
            MeasureError: the function raised, or gave back a coroutine or a generator.
        """
        result = None
        try:
            self._instruments.synchronise()
            with around or contextlib.nullcontext():
                start_s = self._clock()
                self.labels.begin(start_s)
                result = self._step_fn(*self._arguments)
                self._instruments.synchronise()
                end_s = self._clock()
        except Exception as error:  # whatever a step function may raise
            raise MeasureError(f"step_fn raised in {name}: {type(error).__name__}: {error}") from error
        _check_result(result, name)
        stages = self.labels.end(end_s)
        return Step((end_s - start_s) * 1e3, stages, self._wall_clock(), self._instruments.read_peaks())


def _check_result(result: Any, name: str) -> None:
    """Raises MeasureError where what came back is work that is yet to be done."""
    if inspect.isawaitable(result) or inspect.isgenerator(result) or inspect.isasyncgen(result):
        if inspect.iscoroutine(result):
            result.close()  # or else Python warns that nobody awaited it
        kind = "a generator" if inspect.isgenerator(result) else f"a {type(result).__name__}"
        raise MeasureError(
            f"step_fn returned {kind} in {name}: the work of the step was not done. "
            "Pass a function that returns when its step is over, such as lambda: next(steps)"
        )
