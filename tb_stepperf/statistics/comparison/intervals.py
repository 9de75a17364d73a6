"""Estimates with intervals: of one run, of a side, and of the difference of two sides.

Everything is a natural logarithm of a time, so that a difference is a relative change. An estimate does not carry one
interval but how far its limits lie away at each level of `Z_GRID`; so intervals of any level, and a p-value as the
level at which the interval just touches 0, come from one computation.

* Quantiles: Woodruff (1952): the limits are the quantiles at p ± reach, with the reach from the long-run variance of
  the indicator; no density is estimated, and a limit beyond the data is infinite.
* Differences: MOVER (Zou and Donner 2008): distances of the limits are combined as root sums of squares.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from tb_stepperf.statistics.comparison.long_run import (
    Memory,
    indicator_variance,
    mean_variance,
    memory_of,
    paired_variance,
)
from tb_stepperf.statistics.comparison.student import Z_GRID, two_sided_p, two_sided_t

CONFIDENCE = 0.95
_Z_95 = 1.959964
_MIN_RUNS_DF = 2
_MANY_RUNS_DF = 6
"""With fewer degrees of freedom between runs, the variance within runs is a floor: few runs may agree by luck."""


@dataclasses.dataclass(frozen=True)
class Change:
    """A relative change from baseline to candidate with its 95 % interval.

    Attributes:
        change: relative, 0.05 = 5 % more; NaN where it cannot be estimated.
        low: lower limit, above -1; -1 where the data set none.
        high: upper limit; infinite where the data set none.
        p_value: two-sided, of "no change", by inverting the interval.
        baseline: value of the baseline, in `unit`.
        candidate: value of the candidate, in `unit`.
        unit: "ms", "steps/s", "samples/s" or "tokens/s".
    """

    change: float
    low: float
    high: float
    p_value: float
    baseline: float
    candidate: float
    unit: str = "ms"


@dataclasses.dataclass(frozen=True, eq=False)
class Estimate:
    """A logarithm estimated from one run.

    Attributes:
        value: the logarithm.
        below: shape (len(Z_GRID),): distance down to the lower limit at each level; may be infinite.
        above: the same upwards.
    """

    value: float
    below: np.ndarray
    above: np.ndarray

    @property
    def variance(self) -> float:
        """Variance of the value, from the width of the 95 % interval; infinite where a limit is."""
        width = _at_95(self.below) + _at_95(self.above)
        return (width / (2 * _Z_95)) ** 2


@dataclasses.dataclass(frozen=True, eq=False)
class Difference:
    """Candidate minus baseline, in logarithms.

    Attributes:
        value: the difference.
        low, high: limits at 95 %.
        p_value: two-sided.
        between_variance: variance of the runs' values about their side's mean; NaN where too few runs tell it.
    """

    value: float
    low: float
    high: float
    p_value: float
    between_variance: float

    @property
    def spread_known(self) -> bool:
        """Whether the interval covers the spread from run to run."""
        return not math.isnan(self.between_variance)


def quantile_estimate(log_times: np.ndarray, p: float, memory: Memory | None = None) -> Estimate:
    """Estimates the p-quantile of log times in the order of time, shape (n,), n >= 2.

    The quantile is interpolated between steps at (rank − ½) / n (Hazen), so that it can move by less than one step.
    """
    num_steps = log_times.size
    memory = memory_of(log_times) if memory is None else memory
    ordered = np.sort(log_times)
    positions = (np.arange(num_steps) + 0.5) / num_steps
    value = float(np.interp(p, positions, ordered))
    reach = indicator_variance(log_times, value, p, memory).reach()
    lower = np.interp(p - reach, positions, ordered, left=-math.inf)
    upper = np.interp(p + reach, positions, ordered, right=math.inf)
    return Estimate(value, value - lower, upper - value)


def ratio_estimate(time_ms: np.ndarray, amounts: np.ndarray | None = None) -> Estimate:
    """Estimates the log of time per unit: sum of times ÷ sum of amounts (steps where None); shapes (n,), n >= 2."""
    amounts = np.ones(time_ms.size) if amounts is None else amounts
    ratio = float(time_ms.sum() / amounts.sum())
    reach = mean_variance(time_ms - ratio * amounts).reach() / float(time_ms.mean())
    return Estimate(math.log(ratio), reach, reach)


def weighted(parts: Sequence[Estimate], weights: np.ndarray) -> Estimate:
    """Returns the weighted sum of independent estimates; weights of shape (len(parts),)."""
    below, above = (
        np.sqrt(sum((weight * getattr(part, side)) ** 2 for part, weight in zip(parts, weights)))
        for side in ("below", "above")
    )
    return Estimate(float(sum(weight * part.value for part, weight in zip(parts, weights))), below, above)


def paired_ratio_estimate(baseline_ms: np.ndarray, candidate_ms: np.ndarray) -> Estimate:
    """Estimates the log ratio of the means of two series whose rows are the same steps of one schedule.

    What both sides share (planned levels, a ramp, the length of each batch) cancels in `candidate − R · baseline`
    with R the ratio of the means, so that only what differs is noise.

    Args:
        baseline_ms: positive, shape (n,), n >= 2.
        candidate_ms: of the same steps, shape (n,).
    """
    ratio = float(candidate_ms.sum() / baseline_ms.sum())
    reach = paired_variance(candidate_ms - ratio * baseline_ms).reach() / float(candidate_ms.mean())
    return Estimate(math.log(ratio), reach, reach)


def paired_difference(
    paired: Estimate, baselines: Sequence[float], candidates: Sequence[float], *, blur: float = 0.0
) -> Difference:
    """Compares two sides whose steps are pairs; as `difference`, with the steps' uncertainty taken from the pairs.

    Args:
        paired: estimate of the difference from paired steps, each side averaged over its runs.
        baselines: value of each run; only their spread and the difference of their means count.
        candidates: the same.
        blur: as in `difference`.
    """
    if len(baselines) + len(candidates) - 2 < _MIN_RUNS_DF:
        return _for_these_runs(paired.value, _blurred(paired.below, blur), _blurred(paired.above, blur))
    none = np.zeros(Z_GRID.size)
    sides = ([Estimate(value, none, none) for value in side] for side in (baselines, candidates))
    return difference(*sides, floor=paired.variance, blur=blur)


def difference(
    baselines: Sequence[Estimate], candidates: Sequence[Estimate], *, floor: float | None = None, blur: float = 0.0
) -> Difference:
    """Compares two sides, each one estimate a run; a side's value is the mean over its runs.

    Where the runs tell the spread between runs (two degrees of freedom or more), the interval is a t interval on run
    level: Welch's with three runs or more on each side, else with the spread pooled. Otherwise it comes from the steps
    within the runs, and holds for these runs only.

    Args:
        baselines: not empty.
        candidates: not empty.
        floor: variance of the difference from the steps within runs, where the estimates do not carry it.
        blur: half width of what coarse timers hide of the difference; it widens every limit.
    """
    value = _mean(candidates) - _mean(baselines)
    if len(baselines) + len(candidates) - 2 >= _MIN_RUNS_DF:
        error, df, between = _run_level_error(baselines, candidates, floor)
        error = math.hypot(error, blur / 2)
        reach = two_sided_t(1 - CONFIDENCE, df) * error
        p_value = two_sided_p(value / error, df) if error > 0 else float(value == 0)
        return Difference(value, value - reach, value + reach, p_value, between)
    (below_a, above_a), (below_b, above_b) = _side_distances(baselines), _side_distances(candidates)
    below, above = np.hypot(below_b, above_a), np.hypot(above_b, below_a)
    return _for_these_runs(value, _blurred(below, blur), _blurred(above, blur))


def as_change(found: Difference, baseline: float, unit: str = "ms", *, inverse: bool = False) -> Change:
    """Turns a difference of logarithms into a relative change.

    Args:
        found: the difference.
        baseline: value of the baseline, in `unit`.
        unit: of the values.
        inverse: True where the differences are of times and the change is of a rate.
    """
    value, low, high = (-found.value, -found.high, -found.low) if inverse else (found.value, found.low, found.high)
    return Change(
        change=math.expm1(value),
        low=math.expm1(low),
        high=math.expm1(high) if high < 700 else math.inf,
        p_value=found.p_value,
        baseline=baseline,
        candidate=baseline * math.exp(value),
        unit=unit,
    )


def _run_level_error(
    baselines: Sequence[Estimate], candidates: Sequence[Estimate], floor: float | None
) -> tuple[float, float, float]:
    """Standard error of the difference on run level, its degrees of freedom, and the variance of runs."""
    sides = (baselines, candidates)
    sizes = [len(side) for side in sides]
    within = [float(np.mean([e.variance for e in side])) for side in sides]
    spreads = [float(np.var([e.value for e in side], ddof=1)) if len(side) > 1 else 0.0 for side in sides]
    runs_df = sum(sizes) - 2
    pooled = sum((n - 1) * s for n, s in zip(sizes, spreads)) / runs_df
    if min(sizes) >= 3:
        variances = [s / n for s, n in zip(spreads, sizes)]
        df = _satterthwaite(variances, [n - 1 for n in sizes])
    else:
        # A single run may be shorter than the others, and then tells less than they do.
        pooled_within = sum((n - 1) * w for n, w in zip(sizes, within)) / runs_df
        between = max(pooled - pooled_within, 0.0)
        variances = [(max(pooled, between + w) if n == 1 else pooled) / n for w, n in zip(within, sizes)]
        df = float(runs_df)
    variance = sum(variances)
    if runs_df < _MANY_RUNS_DF:
        variance = max(variance, sum(w / n for w, n in zip(within, sizes)) if floor is None else floor)
    return math.sqrt(variance), df, pooled


def _for_these_runs(value: float, below: np.ndarray, above: np.ndarray) -> Difference:
    """A difference without run-to-run spread, from the distances of its limits at each level."""
    return Difference(
        value, value - _at_95(below), value + _at_95(above), _p_by_inversion(value, below, above), math.nan
    )


def _p_by_inversion(value: float, below: np.ndarray, above: np.ndarray) -> float:
    """The level at which the interval just reaches 0; distances grow with the level."""
    reach = below if value > 0 else above
    touching = np.flatnonzero(reach >= abs(value))
    if not touching.size:
        return two_sided_p(float(Z_GRID[-1]), math.inf)
    first = int(touching[0])
    if first == 0:
        return 1.0
    near, far = float(reach[first - 1]), float(reach[first])
    part = (abs(value) - near) / (far - near) if math.isfinite(far) and far > near else 0.0
    return two_sided_p(float(Z_GRID[first - 1] + part * (Z_GRID[first] - Z_GRID[first - 1])), math.inf)


def _side_distances(side: Sequence[Estimate]) -> tuple[np.ndarray, np.ndarray]:
    below = np.sqrt(sum(e.below**2 for e in side)) / len(side)
    above = np.sqrt(sum(e.above**2 for e in side)) / len(side)
    return below, above


def _blurred(distances: np.ndarray, blur: float) -> np.ndarray:
    return np.hypot(distances, Z_GRID * blur / 2)


def _at_95(distances: np.ndarray) -> float:
    above = int(np.searchsorted(Z_GRID, _Z_95))
    if not np.isfinite(distances[above]):
        return math.inf
    return float(np.interp(_Z_95, Z_GRID, distances))


def _satterthwaite(variances: Sequence[float], dfs: Sequence[float]) -> float:
    total = sum(variances)
    if not (total > 0 and math.isfinite(total)):
        return float(min(dfs))
    return total**2 / sum(v**2 / df for v, df in zip(variances, dfs))


def _mean(side: Sequence[Estimate]) -> float:
    return float(np.mean([estimate.value for estimate in side]))
