"""The quantile-difference function: by how much each part of the distribution moved, for a plot."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from tb_stepperf.errors import ArgumentError
from tb_stepperf.statistics.comparison.levels import find_levels
from tb_stepperf.statistics.comparison.measure import quantile_of, series_of
from tb_stepperf.statistics.comparison.sample import MIN_STEPS, RunSample, use_runs

DEFAULT_PERCENTILES = (1, 2, 5, *range(10, 91, 5), 92, 94, 95, 96, 97, 98, 99)


@dataclasses.dataclass(frozen=True, eq=False)
class QuantileDifference:
    """Change of each percentile.

    Attributes:
        percentiles: float64, shape (num_percentiles,).
        change: relative change, candidate ÷ baseline − 1, shape (num_percentiles,).
        low, high: 95 % limits, each percentile for itself (no correction for looking at many); -1 and infinite where
            the data set no limit.
        baseline_ms: the baseline's percentiles, shape (num_percentiles,).
        spread_known: whether the limits cover the spread from run to run.
        level_basis: by what steps were made comparable, as in `Comparison`.
    """

    percentiles: np.ndarray
    change: np.ndarray
    low: np.ndarray
    high: np.ndarray
    baseline_ms: np.ndarray
    spread_known: bool
    level_basis: str | None


def quantile_difference(
    baselines: Sequence[RunSample],
    candidates: Sequence[RunSample],
    percentiles: Sequence[float] = DEFAULT_PERCENTILES,
    *,
    trim_warmup: bool = True,
) -> QuantileDifference:
    """Compares two sides percentile by percentile, on the same steps and in the same way as `compare_runs`.

    Args:
        baselines: at least one run of at least 30 usable steps.
        candidates: the same.
        percentiles: in (0, 100).
        trim_warmup: as in `compare_runs`.

    Raises:
        ArgumentError: a side is empty, a run too short, or a percentile out of range.
    """
    fractions = np.asarray(percentiles, np.float64) / 100
    if fractions.ndim != 1 or not np.all((fractions > 0) & (fractions < 1)):
        raise ArgumentError(f"percentiles are {list(percentiles)!r}; numbers in (0, 100) are allowed")
    used = use_runs(baselines, candidates, trim_warmup)
    shortest = min(run.time_ms.size for side in used for run in side)
    if shortest < MIN_STEPS:
        raise ArgumentError(f"a run has {shortest} usable steps; at least {MIN_STEPS} are needed")
    levels = find_levels(*used)
    series_a, series_b = (series_of(levels, side) for side in levels.sides)
    found, baseline_ms = zip(*(quantile_of(levels, series_a, series_b, p) for p in fractions.tolist()))
    with np.errstate(over="ignore"):  # a limit that the data do not set is infinite
        return QuantileDifference(
            percentiles=fractions * 100,
            change=np.expm1([one.value for one in found]),
            low=np.expm1([one.low for one in found]),
            high=np.expm1([one.high for one in found]),
            baseline_ms=np.array(baseline_ms),
            spread_known=found[0].spread_known,
            level_basis=levels.basis,
        )
