"""The differences that a comparison reports, measured on sides that were made comparable."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tb_stepperf.statistics.comparison.intervals import (
    Change,
    Difference,
    Estimate,
    as_change,
    difference,
    paired_difference,
    paired_ratio_estimate,
    quantile_estimate,
    ratio_estimate,
    weighted,
)
from tb_stepperf.statistics.comparison.levels import Levels, Side
from tb_stepperf.statistics.comparison.long_run import Memory, memory_of
from tb_stepperf.statistics.comparison.sample import UsedRun

_MIN_LEVEL_STEPS_OF_RUN = 10
_MIN_LEVEL_STEPS_OF_QUANTILE = 60
Series = list[tuple[np.ndarray, Memory]]
"""Log times of each run of a side, shape (num_used,), and their memory."""

_AMOUNTS = (("num_tokens", "tokens"), ("num_samples", "samples"))


@dataclasses.dataclass(frozen=True)
class Measured:
    """Differences of logarithms of time, and the baseline's values.

    Attributes:
        median, p95, mean: differences of step time.
        levels: of the median of each level, None where no run has enough steps of it; empty where there is one level.
        median_ms, p95_ms, mean_ms: values of the baseline.
    """

    median: Difference
    p95: Difference
    mean: Difference
    levels: tuple[Difference | None, ...]
    median_ms: float
    p95_ms: float
    mean_ms: float


def measure(levels: Levels) -> Measured:
    """Measures median, p95, mean and each level's median."""
    series_a, series_b = (series_of(levels, side) for side in levels.sides)
    median, median_ms = quantile_of(levels, series_a, series_b, 0.5)
    p95, p95_ms = quantile_of(levels, series_a, series_b, 0.95)
    indices = range(len(levels.labels)) if len(levels.labels) > 1 else ()
    by_level: list[Difference | None]
    if levels.paired:
        logs_a, logs_b = (np.stack([np.log(run.time_ms) for run in side.runs]) for side in levels.sides)
        kind = levels.baseline.kinds[0]
        median = _paired_median(logs_a, logs_b, levels.blur)
        by_level = [_paired_median(logs_a[:, kind == k], logs_b[:, kind == k], levels.blur) for k in indices]
    else:
        by_level = [_level_difference(levels, series_a, series_b, k) for k in indices]
    return Measured(
        median=median,
        p95=p95,
        mean=_mean_difference(levels),
        levels=tuple(by_level),
        median_ms=median_ms,
        p95_ms=p95_ms,
        mean_ms=_mean_ms(levels.baseline),
    )


def series_of(levels: Levels, side: Side) -> Series:
    """Returns each run's log times without the levels, and their memory.

    Where steps are pairs, the memory is that of what remains without the pattern that both sides repeat.
    """
    logs = levels.log_times(side)
    if not levels.paired:
        return [(log, memory_of(log)) for log in logs]
    profile = np.mean([np.mean(levels.log_times(one), axis=0) for one in levels.sides], axis=0)
    return [(log, memory_of(log - profile)) for log in logs]


def quantile_of(levels: Levels, baselines: Series, candidates: Series, p: float) -> tuple[Difference, float]:
    """Measures the difference of a quantile of log times.

    Args:
        levels: what `find_levels` found.
        baselines: from `series_of`.
        candidates: the same.
        p: in (0, 1).

    Returns:
        The difference, and the baseline's value in ms.
    """
    estimates_a, estimates_b = (_run_quantiles(levels, series, p) for series in (baselines, candidates))
    found = difference(estimates_a, estimates_b, blur=levels.blur)
    return found, math.exp(float(np.mean([estimate.value for estimate in estimates_a])))


def throughput_of(levels: Levels, mean: Difference) -> tuple[str, Change]:
    """Measures the change of mean throughput: per token where both sides count them, else per sample, else per step.

    Returns:
        What is counted ("tokens", "samples" or "steps"), and the change; positive is faster.
    """
    for field, amount in _AMOUNTS:
        if (found := _amount_difference(levels, field)) is not None:
            rate = math.exp(-float(np.mean([_ratio(run, field) for run in levels.baseline.runs]))) * 1000
            return amount, as_change(found, rate, f"{amount}/s", inverse=True)
    return "steps", as_change(mean, 1000 / _mean_ms(levels.baseline), "steps/s", inverse=True)


def per_amount_note(levels: Levels, measured: Measured, min_effect: float) -> str | None:
    """Says so where a change of the mean step vanishes per token or sample: each step only does more, or less."""
    if abs(measured.mean.value) < math.log1p(min_effect) or measured.mean.p_value >= 0.05:
        return None
    for field, amount in _AMOUNTS:
        found = _amount_difference(levels, field)
        if found is not None and abs(found.value) < min(abs(measured.mean.value) / 3, math.log1p(min_effect)):
            return (
                f"The mean step changed by {100 * math.expm1(measured.mean.value):+.1f} %, the time per "
                f"{amount[:-1]} by {100 * math.expm1(found.value):+.1f} %: each step does another amount of work."
            )
    return None


def _mean_ms(side: Side) -> float:
    return math.exp(float(np.mean([math.log(run.time_ms.mean()) for run in side.runs])))


def _mean_difference(levels: Levels) -> Difference:
    baseline, candidate = levels.sides
    if not levels.paired:
        estimates_a, estimates_b = ([ratio_estimate(run.time_ms) for run in side.runs] for side in levels.sides)
        return difference(estimates_a, estimates_b, blur=levels.blur)
    paired = paired_ratio_estimate(*(np.mean([run.time_ms for run in side.runs], axis=0) for side in levels.sides))
    return paired_difference(
        paired,
        [math.log(run.time_ms.mean()) for run in baseline.runs],
        [math.log(run.time_ms.mean()) for run in candidate.runs],
        blur=levels.blur,
    )


def _run_quantiles(levels: Levels, series: Series, p: float) -> list[Estimate]:
    """Estimates a quantile of each run of a side.

    Where steps follow a schedule, each level has noise of its own, and the slow steps of the whole would be those of
    the noisiest level: the quantile is then taken level by level and averaged, by the time in each.
    """
    kind = levels.baseline.kinds[0]
    lengths = np.bincount(kind, minlength=len(levels.labels))
    long = np.flatnonzero(lengths >= _MIN_LEVEL_STEPS_OF_QUANTILE)
    if not levels.paired or long.size < 2:
        return [quantile_estimate(log, p, memory) for log, memory in series]
    weights = (lengths * np.exp(levels.offsets))[long]
    weights = weights / weights.sum()
    return [weighted([quantile_estimate(log[kind == k], p, memory) for k in long], weights) for log, memory in series]


def _paired_median(baselines: np.ndarray, candidates: np.ndarray, blur: float) -> Difference:
    """Median over steps of the change of each step; log times of shape (num_runs, num_steps) in.

    Where steps alternate between two lengths, the median of a side lies between them and says nothing; the change of
    each step against its own counterpart does.
    """
    mean_a, mean_b = baselines.mean(axis=0), candidates.mean(axis=0)
    profile = (mean_a + mean_b) / 2
    values_a, values_b = (np.median(logs - profile, axis=1).tolist() for logs in (baselines, candidates))
    return paired_difference(quantile_estimate(mean_b - mean_a, 0.5), values_a, values_b, blur=blur)


def _level_difference(levels: Levels, baselines: Series, candidates: Series, level: int) -> Difference | None:
    """The whole run's memory is used: a short level would hide a long one."""
    estimates = []
    for side, series in zip(levels.sides, (baselines, candidates)):
        inside = [(log[kind == level], memory) for (log, memory), kind in zip(series, side.kinds)]
        estimates.append(
            [quantile_estimate(log, 0.5, memory) for log, memory in inside if log.size >= _MIN_LEVEL_STEPS_OF_RUN]
        )
    return difference(estimates[0], estimates[1], blur=levels.blur) if all(estimates) else None


def _amount_difference(levels: Levels, field: str) -> Difference | None:
    """Difference of time per token or sample; None where a run does not count them."""
    sides = []
    for side in levels.sides:
        if any(getattr(run, field) is None for run in side.runs):
            return None
        known = [(run.time_ms, getattr(run, field), ~np.isnan(getattr(run, field))) for run in side.runs]
        if any(np.count_nonzero(valid) < _MIN_LEVEL_STEPS_OF_RUN for _, _, valid in known):
            return None
        sides.append([ratio_estimate(time_ms[valid], amounts[valid]) for time_ms, amounts, valid in known])
    return difference(sides[0], sides[1], blur=levels.blur)


def _ratio(run: UsedRun, field: str) -> float:
    """Log of the time per amount."""
    amounts = getattr(run, field)
    valid = ~np.isnan(amounts)
    return math.log(run.time_ms[valid].sum() / amounts[valid].sum())
