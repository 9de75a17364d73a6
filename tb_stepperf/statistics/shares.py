"""Where the time goes: stage shares, coverage and rates, each a ratio of sums."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import numpy as np

from tb_stepperf.errors import ArgumentError


@dataclasses.dataclass(frozen=True)
class StageShare:
    """One stage's part.

    Attributes:
        stage: its name.
        total_ms: its exclusive time over the window.
        share: total ÷ sum of all labelled stages; NaN where that is 0.
        of_step: total ÷ step time; NaN where that is 0.
    """

    stage: str
    total_ms: float
    share: float
    of_step: float


@dataclasses.dataclass(frozen=True)
class StageShares:
    """All stages of a window.

    Attributes:
        stages: the largest first, equal ones by name.
        labelled_ms: sum of the stages.
        unlabelled_ms: step time − labelled, never below 0.
        coverage: labelled ÷ step time; NaN where the step time is 0.
        unlabelled_of_step: unlabelled ÷ step time; NaN where the step time is 0.
    """

    stages: tuple[StageShare, ...]
    labelled_ms: float
    unlabelled_ms: float
    coverage: float
    unlabelled_of_step: float


def stage_shares(stage_totals_ms: Mapping[str, float], step_total_ms: float) -> StageShares:
    """Divides a window's step time among its stages.

    Stages are exclusive (disjoint), so their sum is at most the step time up to rounding; it is not forced to be.

    Args:
        stage_totals_ms: stage to its total exclusive time, each finite and at least 0.
        step_total_ms: sum of the step times, finite and at least 0.

    Raises:
        ArgumentError: a total is negative or not finite.
    """
    for name, total_ms in (*stage_totals_ms.items(), ("step time", step_total_ms)):
        if not (math.isfinite(total_ms) and total_ms >= 0):
            raise ArgumentError(f"the total of {name!r} is {total_ms} ms; a finite number of at least 0 is allowed")
    labelled_ms = math.fsum(stage_totals_ms.values())
    unlabelled_ms = max(step_total_ms - labelled_ms, 0.0)
    ordered = sorted(stage_totals_ms.items(), key=lambda item: (-item[1], item[0]))
    return StageShares(
        tuple(StageShare(n, ms, _ratio(ms, labelled_ms), _ratio(ms, step_total_ms)) for n, ms in ordered),
        labelled_ms,
        unlabelled_ms,
        _ratio(labelled_ms, step_total_ms),
        _ratio(unlabelled_ms, step_total_ms),
    )


def rate_per_s(amount: np.ndarray, time_ms: np.ndarray) -> np.ndarray:
    """Returns amounts per second: a ratio of sums, never a mean of ratios.

    Args:
        amount: float64, shape (num_bins,): sums, such as of samples.
        time_ms: float64, shape (num_bins,): sums of the time of the same steps.

    Returns:
        float64, shape (num_bins,); NaN where no time passed.
    """
    result = np.full(amount.shape, np.nan)
    np.divide(amount * 1000.0, time_ms, out=result, where=time_ms > 0)
    return result


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else math.nan
