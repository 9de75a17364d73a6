"""The differences that a comparison reports, measured on sides that were made comparable."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from tb_stepperf.statistics.comparison.intervals import (
    Change,
    Difference,
    as_change,
    difference,
    paired_difference,
    paired_ratio_estimate,
    quantile_estimate,
    ratio_estimate,
)
from tb_stepperf.statistics.comparison.levels import Levels
from tb_stepperf.statistics.comparison.long_run import Memory, memory_of
from tb_stepperf.statistics.comparison.sample import UsedRun

_MIN_LEVEL_STEPS_OF_RUN = 10
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
    sides = levels.log_times()
    memories = memories_of(levels)
    median, median_ms = _quantile_difference(sides, memories, 0.5, levels.blur)
    p95, p95_ms = _quantile_difference(sides, memories, 0.95, levels.blur)
    by_level: list[Difference | None] = []
    if levels.paired:
        logs = [np.stack([np.log(run.time_ms) for run in runs]) for runs in (levels.baselines, levels.candidates)]
        median = _paired_median(*logs, levels.blur)
        kinds = levels.baseline_levels[0]
        by_level = [
            _paired_median(*(log[:, kinds == index] for log in logs), levels.blur)
            for index in range(len(levels.labels))
        ]
    elif levels.basis is not None:
        by_level = [_level_difference(levels, sides, memories, index) for index in range(len(levels.labels))]
    return Measured(
        median=median,
        p95=p95,
        mean=_mean_difference(levels),
        levels=tuple(by_level) if len(levels.labels) > 1 else (),
        median_ms=median_ms,
        p95_ms=p95_ms,
        mean_ms=float(np.exp(np.mean([np.log(run.time_ms.mean()) for run in levels.baselines]))),
    )


def memories_of(levels: Levels) -> tuple[list[Memory], list[Memory]]:
    """Returns each run's memory; where steps are pairs, of what remains without the pattern that both sides repeat."""
    sides = levels.log_times()
    if levels.paired:
        profile = (np.mean(sides[0], axis=0) + np.mean(sides[1], axis=0)) / 2
        sides = [[log - profile for log in logs] for logs in sides]
    return tuple([memory_of(log) for log in logs] for logs in sides)


def throughput_of(levels: Levels, mean: Difference) -> tuple[str, Change]:
    """Measures the change of mean throughput: per token where both sides count them, else per sample, else per step.

    Returns:
        What is counted ("tokens", "samples" or "steps"), and the change; positive is faster.
    """
    for field, amount in _AMOUNTS:
        if (found := _amount_difference(levels, field)) is not None:
            rate = math.exp(-float(np.mean([_ratio(run, field) for run in levels.baselines]))) * 1000
            return amount, as_change(found, rate, f"{amount}/s", inverse=True)
    mean_ms = float(np.exp(np.mean([np.log(run.time_ms.mean()) for run in levels.baselines])))
    return "steps", as_change(mean, 1000 / mean_ms, "steps/s", inverse=True)


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


def _mean_difference(levels: Levels) -> Difference:
    sides = (levels.baselines, levels.candidates)
    if levels.paired:
        means = [[math.log(run.time_ms.mean()) for run in side] for side in sides]
        series = [np.mean([run.time_ms for run in side], axis=0) for side in sides]
        return paired_difference(paired_ratio_estimate(*series), *means, blur=levels.blur)
    return difference(*([ratio_estimate(run.time_ms) for run in side] for side in sides), blur=levels.blur)


def _quantile_difference(
    sides: Sequence[Sequence[np.ndarray]], memories: Sequence[Sequence[Memory]], p: float, blur: float
) -> tuple[Difference, float]:
    """Difference of a quantile of log times, and its value in the baseline in ms."""
    baselines, candidates = (
        [quantile_estimate(log, p, memory) for log, memory in zip(logs, known)] for logs, known in zip(sides, memories)
    )
    return difference(baselines, candidates, blur=blur), math.exp(
        float(np.mean([estimate.value for estimate in baselines]))
    )


def _paired_median(baselines: np.ndarray, candidates: np.ndarray, blur: float) -> Difference:
    """Median over steps of the change of each step; log times of shape (num_runs, num_steps) in.

    Where steps alternate between two lengths, the median of a side lies between them and says nothing; the change of
    each step against its own counterpart does.
    """
    mean_a, mean_b = baselines.mean(axis=0), candidates.mean(axis=0)
    profile = (mean_a + mean_b) / 2
    values = [np.median(logs - profile, axis=1).tolist() for logs in (baselines, candidates)]
    return paired_difference(quantile_estimate(mean_b - mean_a, 0.5), *values, blur=blur)


def _level_difference(
    levels: Levels, sides: Sequence[Sequence[np.ndarray]], memories: Sequence[Sequence[Memory]], index: int
) -> Difference | None:
    """The whole run's memory is used: a short level would hide a long one."""
    estimates: list[list] = []
    for logs, known, kinds in zip(sides, memories, (levels.baseline_levels, levels.candidate_levels)):
        inside = [(log[kind == index], memory) for log, memory, kind in zip(logs, known, kinds)]
        estimates.append(
            [quantile_estimate(log, 0.5, memory) for log, memory in inside if log.size >= _MIN_LEVEL_STEPS_OF_RUN]
        )
    return difference(*estimates, blur=levels.blur) if all(estimates) else None


def _amount_difference(levels: Levels, field: str) -> Difference | None:
    """Difference of time per token or sample; None where a run does not count them."""
    sides = []
    for side in (levels.baselines, levels.candidates):
        if any(getattr(run, field) is None for run in side):
            return None
        known = [(run.time_ms, getattr(run, field), ~np.isnan(getattr(run, field))) for run in side]
        if any(np.count_nonzero(valid) < _MIN_LEVEL_STEPS_OF_RUN for _, _, valid in known):
            return None
        sides.append([ratio_estimate(time_ms[valid], amounts[valid]) for time_ms, amounts, valid in known])
    return difference(*sides, blur=levels.blur)


def _ratio(run: UsedRun, field: str) -> float:
    """Log of the time per amount."""
    amounts = getattr(run, field)
    valid = ~np.isnan(amounts)
    return math.log(run.time_ms[valid].sum() / amounts[valid].sum())
