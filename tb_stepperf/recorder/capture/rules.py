"""When a window is captured without being asked for."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from tb_stepperf.errors import ConfigError

OFF, REGRESSION = "off", "regression"


@dataclasses.dataclass(frozen=True)
class CaptureRules:
    """What `StepPerfWriter(capture=…)` captures by itself; `capture="regression"` stands for the defaults.

    Attributes:
        num_steps: steps of a window.
        num_warmup_steps: steps before each window in which the profiler is on but nothing is kept.
        reference: whether a first window is captured right after the warm-up steps of the run, to compare with. It does
            not count as one of `max_captures`.
        max_captures: windows of a run at most. One of them is kept for a lasting slowdown as long as those are looked
            for, so that slow steps cannot use them up.
        cooldown_s: shortest time from the start of a window to the next one.
        slow_step_factor: a step that takes this many times the running median of its kind is slow; infinity: none is.
        slow_step_excess_ms: and at least this much more than that median.

    Raises:
        ConfigError: a value cannot be used.
    """

    num_steps: int = 3
    num_warmup_steps: int = 1
    reference: bool = True
    max_captures: int = 3
    cooldown_s: float = 300.0
    slow_step_factor: float = 5.0
    slow_step_excess_ms: float = 100.0

    def __post_init__(self) -> None:
        for name, least in (("num_steps", 1), ("num_warmup_steps", 0), ("max_captures", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= 1000:
                raise ConfigError(f"{name} is {value!r}; an integer in [{least}, 1000] is allowed")
        for name, above in (("cooldown_s", 0.0), ("slow_step_factor", 1.0), ("slow_step_excess_ms", 0.0)):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or isinstance(value, bool) or not above <= value <= math.inf:
                raise ConfigError(f"{name} is {value!r}; a number from {above:g} on is allowed")


def rules_of(capture: Any) -> CaptureRules | None:
    """Returns the rules of the argument `capture`, None where nothing is captured without being asked for.

    Raises:
        ConfigError: it is neither a text that is known nor `CaptureRules`.
    """
    if isinstance(capture, CaptureRules):
        return capture
    if isinstance(capture, str) and capture in (OFF, REGRESSION):
        return CaptureRules() if capture == REGRESSION else None
    raise ConfigError(f"capture is {capture!r}; {OFF!r}, {REGRESSION!r} or CaptureRules(…) is allowed")
