"""Calls of `measure_step` on a clock that is set by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tb_stepperf import measure_step
from tb_stepperf.measure import StepEvidence
from tests.recorder.logs import ManualClock


def steps_of(clock: ManualClock, durations_ms: Iterator[float]) -> Callable[[], None]:
    """A step function whose calls take these times."""
    return lambda: clock.advance(next(durations_ms) / 1e3)


def measure(step_fn: Callable[..., Any], clock: ManualClock, **options: Any) -> StepEvidence:
    """Measures on the host, without the profiler unless it is asked for."""
    defaults: dict[str, Any] = {"profile_steps": 0, "clock": clock, "wall_clock": clock, "device": "cpu"}
    return measure_step(step_fn, **{**defaults, **options})
