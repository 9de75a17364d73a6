"""What the detector returns, and the settings that it is run with."""

from __future__ import annotations

import dataclasses
import math

from tb_stepperf.errors import ArgumentError

KINDS = ("regression", "improvement", "transient", "tail", "variance", "ramp", "drift")
"""Every value of `Change.kind`; `Change` says what each means."""

MIN_STEPS = 60
"""A series with fewer usable steps gets no verdict."""

MIN_SEGMENT = 20
"""Shortest stretch, in steps, that can be a level of its own."""


@dataclasses.dataclass(frozen=True)
class Change:
    """One change of the step time that is both statistically sure and large enough to matter.

    Attributes:
        step: index of the first step of the new regime (of a ramp or drift: where it begins).
        kind: `regression` and `improvement`: the typical step becomes slower or faster and stays so for long;
            `transient`: it leaves its level and soon returns; `ramp`: it moves from one level to another over a
            stretch; `drift`: a slow trend within a level; `tail`: the slow steps become more or slower (or fewer)
            while the typical step stays; `variance`: the spread grows or shrinks on both sides.
        change: relative change, 0.05 = 5 % slower, of the quantity that `measure` names.
        change_low: lower end of the 95 % interval of `change`.
        change_high: upper end of the 95 % interval of `change`.
        p_value: two-sided, of the difference between both sides under autocorrelation, multiplied by the number of
            places where the series was searched (Bonferroni), at most 1.
        end_step: first step after a transient, a ramp or a drift; first step after the recovery of a `regression` or
            `improvement` that returns to the level before it; None where it lasts to the end.
        measure: `typical` (clipped mean of log step time, close to the median), or `p95` of tail and
            spread; where that does not show it, `p90` or `p99`.
        before_ms: `measure` on the side before, in ms.
        after_ms: `measure` on the side after (of a transient: within it), in ms.
        z: strength of the evidence: the difference in standard errors.
        num_before: steps that the side before has.
        num_after: steps that the side after has.
    """

    step: int
    kind: str
    change: float
    change_low: float
    change_high: float
    p_value: float
    end_step: int | None
    measure: str
    before_ms: float
    after_ms: float
    z: float
    num_before: int
    num_after: int


@dataclasses.dataclass(frozen=True)
class Settings:
    """Thresholds of the detector.

    Attributes:
        min_effect: smallest relative change of the typical step that counts, 0.03 = 3 %.
        min_tail_effect: smallest relative change of the 95th percentile that counts.
        min_z: standard errors that a change of level must reach.
        min_tail_z: the same for changes of tail and spread.
    """

    min_effect: float = 0.03
    min_tail_effect: float = 0.05
    min_z: float = 5.2
    min_tail_z: float = 4.8

    def __post_init__(self) -> None:
        for name in ("min_effect", "min_tail_effect"):
            value = getattr(self, name)
            if not 0.0 < value < 10.0:
                raise ArgumentError(f"{name} is {value!r}; a relative change in (0, 10) is allowed, 0.03 means 3 %")
        for name in ("min_z", "min_tail_z"):
            value = getattr(self, name)
            if not 1.0 <= value <= 100.0:
                raise ArgumentError(f"{name} is {value!r}; a number of standard errors in [1, 100] is allowed")

    @property
    def log_effect(self) -> float:
        """`min_effect` as a difference of logarithms."""
        return math.log1p(self.min_effect)

    @property
    def log_tail_effect(self) -> float:
        """`min_tail_effect` as a difference of logarithms."""
        return math.log1p(self.min_tail_effect)
