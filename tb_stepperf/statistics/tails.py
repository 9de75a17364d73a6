"""`tail_causes`: with what the slowest steps coincide, and whether more often than by chance.

Slow steps come in bursts, so successive slow steps are one *episode* when significance is computed; shares are of
steps. The p-value is the upper tail of the hypergeometric distribution (Fisher's exact test, one-sided): of N units
(episodes and other steps), K carry the cause, and k of the n episodes do. Holm's correction covers all causes asked.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import numpy as np

from tb_stepperf.errors import ArgumentError
from tb_stepperf.statistics.comparison.sample import usable_times

MIN_STEPS = 100
"""Fewer steps have no 99th percentile."""

SIGNIFICANT = 0.01
"""Largest corrected p-value of a cause that explains."""

MIN_ENRICHMENT = 2.0
"""A cause must be this many times as frequent among the slowest steps as among the others."""

PHRASES: dict[str, str] = {
    "gc": "a garbage collection",
    "recompiled": "a recompilation",
    "excluded": "a checkpoint or an evaluation (its own time is excluded)",
    "alloc_retry": "an allocator retry",
    "data_wait": "a long wait for data",
    "restart": "the first step after a restart",
}
"""Words for the usual causes; other names stand for themselves."""


@dataclasses.dataclass(frozen=True)
class TailCause:
    """One possible cause.

    Attributes:
        name: as given.
        num_tail: slowest steps that carry it.
        share_of_tail: part of the slowest steps that carry it.
        share_of_rest: part of the other steps that carry it.
        enrichment: share of tail ÷ share of rest; infinite where no other step carries it, NaN where none at all does.
        p_value: one-sided, before the correction.
        p_adjusted: after Holm's correction for all causes asked.
        explains: significant, and frequent enough among the slowest steps.
    """

    name: str
    num_tail: int
    share_of_tail: float
    share_of_rest: float
    enrichment: float
    p_value: float
    p_adjusted: float
    explains: bool


@dataclasses.dataclass(frozen=True)
class TailCauses:
    """What the slowest steps have in common.

    Attributes:
        percentile: of the threshold, such as 99.
        threshold_ms: nearest-rank percentile of the step time: a step that happened.
        median_ms: of all steps.
        num_steps: steps used.
        num_tail: slowest steps.
        num_episodes: bursts of successive slowest steps.
        causes: every cause asked, those that explain first, then by share of the tail.
        unexplained: part of the slowest steps that carry no cause that explains.
        sentence: in plain language.
        correction: how p-values were corrected.
    """

    percentile: float
    threshold_ms: float
    median_ms: float
    num_steps: int
    num_tail: int
    num_episodes: int
    causes: tuple[TailCause, ...]
    unexplained: float
    sentence: str
    correction: str


def tail_causes(
    step_time_ms: np.ndarray,
    flags: Mapping[str, np.ndarray],
    *,
    parts_ms: Mapping[str, np.ndarray] | None = None,
    percentile: float = 99.0,
) -> TailCauses:
    """Finds with what the slowest steps coincide.

    Args:
        step_time_ms: floating-point, shape (num_steps,), in the order of time; what is not a time is left out.
        flags: cause to bool, shape (num_steps,): the steps that carry it.
        parts_ms: cause to the time it took of each step, shape (num_steps,), such as the data wait. A step carries it
            if the part exceeds its own median by at least half of what the step exceeds the median step by, and by
            5 % of the median step.
        percentile: in [50, 100): the steps above it are the slowest.

    Raises:
        ArgumentError: fewer than 100 usable steps, a shape that differs, a name given twice, or a percentile out of
            range.
    """
    if not 50 <= percentile < 100:
        raise ArgumentError(f"percentile is {percentile}; a number in [50, 100) is allowed")
    time_ms, usable = usable_times(step_time_ms)
    parts_ms = parts_ms or {}
    if twice := sorted(set(flags) & set(parts_ms)):
        raise ArgumentError(f"{twice} are both flags and parts; give each cause once")
    for name, values in (*flags.items(), *parts_ms.items()):
        if np.shape(values) != time_ms.shape:
            raise ArgumentError(f"cause {name!r} has shape {np.shape(values)}; step_time_ms has {time_ms.shape}")
    time_ms = time_ms[usable]
    if time_ms.size < MIN_STEPS:
        raise ArgumentError(
            f"{time_ms.size} usable steps; at least {MIN_STEPS} are needed for a {percentile:g}th percentile"
        )
    carried = {name: np.asarray(values, bool)[usable] for name, values in flags.items()}
    for name, values in parts_ms.items():
        carried[name] = _made_by(time_ms, np.asarray(values, np.float64)[usable])
    in_tail, threshold_ms = _slowest(time_ms, percentile)
    starts = np.flatnonzero(in_tail & ~np.concatenate([[False], in_tail[:-1]]))
    units = _units(in_tail, starts)
    raw = {name: _p_value(mask, in_tail, units, starts.size) for name, mask in carried.items()}
    adjusted = _holm(raw)
    causes = [_cause(name, mask, in_tail, raw[name], adjusted[name]) for name, mask in carried.items()]
    causes.sort(key=lambda cause: (not cause.explains, -cause.share_of_tail, cause.name))
    explained = np.zeros(time_ms.size, bool)
    for cause in causes:
        if cause.explains:
            explained |= carried[cause.name]
    result = TailCauses(
        percentile=percentile,
        threshold_ms=threshold_ms,
        median_ms=float(np.quantile(time_ms, 0.5, method="inverted_cdf")),
        num_steps=time_ms.size,
        num_tail=int(np.count_nonzero(in_tail)),
        num_episodes=starts.size,
        causes=tuple(causes),
        unexplained=float(np.mean(~explained[in_tail])),
        sentence="",
        correction=f"Fisher's exact test on bursts, one-sided, Holm's correction for {len(causes)} causes",
    )
    return dataclasses.replace(result, sentence=_sentence(result))


def _slowest(time_ms: np.ndarray, percentile: float) -> tuple[np.ndarray, float]:
    """The steps from the nearest-rank percentile on, as a mask of exactly so many, and that percentile."""
    rank = max(math.ceil(percentile / 100 * time_ms.size), 1)
    order = np.argsort(time_ms, kind="stable")
    mask = np.zeros(time_ms.size, bool)
    mask[order[min(rank, time_ms.size - 1) :]] = True
    return mask, float(time_ms[order[rank - 1]])


def _made_by(time_ms: np.ndarray, part_ms: np.ndarray) -> np.ndarray:
    """Whether a part makes at least half of what a step is longer than the median step."""
    known = np.isfinite(part_ms)
    if not known.any():
        return np.zeros(time_ms.size, bool)
    median_ms = float(np.median(time_ms))
    excess = np.where(known, part_ms, 0.0) - float(np.median(part_ms[known]))
    return known & (excess >= 0.5 * (time_ms - median_ms)) & (excess >= 0.05 * median_ms)


def _units(in_tail: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """First row of each unit: every step outside the tail, and every burst inside it."""
    first = ~in_tail
    first[starts] = True
    return np.flatnonzero(first)


def _p_value(mask: np.ndarray, in_tail: np.ndarray, units: np.ndarray, num_episodes: int) -> float:
    carries = np.logical_or.reduceat(mask, units)
    return hypergeometric_tail(
        int(np.count_nonzero(carries & in_tail[units])), units.size, int(np.count_nonzero(carries)), num_episodes
    )


def hypergeometric_tail(num_hits: int, num_units: int, num_marked: int, num_drawn: int) -> float:
    """Returns P(X >= num_hits), X the marked among `num_drawn` of `num_units` of which `num_marked` are marked."""
    logs = [
        _log_choose(num_marked, hits)
        + _log_choose(num_units - num_marked, num_drawn - hits)
        - _log_choose(num_units, num_drawn)
        for hits in range(max(num_hits, num_drawn + num_marked - num_units, 0), min(num_marked, num_drawn) + 1)
    ]
    return min(math.fsum(math.exp(value) for value in logs), 1.0)


def _log_choose(total: int, chosen: int) -> float:
    return math.lgamma(total + 1) - math.lgamma(chosen + 1) - math.lgamma(total - chosen + 1)


def _holm(p_values: Mapping[str, float]) -> dict[str, float]:
    adjusted, largest = {}, 0.0
    for index, (name, p_value) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        largest = max(largest, min(p_value * (len(p_values) - index), 1.0))
        adjusted[name] = largest
    return adjusted


def _cause(name: str, mask: np.ndarray, in_tail: np.ndarray, p_value: float, p_adjusted: float) -> TailCause:
    share_of_tail = float(np.mean(mask[in_tail]))
    share_of_rest = float(np.mean(mask[~in_tail]))
    only_there = math.inf if share_of_tail > 0 else math.nan
    enrichment = share_of_tail / share_of_rest if share_of_rest > 0 else only_there
    return TailCause(
        name=name,
        num_tail=int(np.count_nonzero(mask & in_tail)),
        share_of_tail=share_of_tail,
        share_of_rest=share_of_rest,
        enrichment=enrichment,
        p_value=p_value,
        p_adjusted=p_adjusted,
        explains=p_adjusted < SIGNIFICANT and enrichment >= MIN_ENRICHMENT,
    )


def _sentence(result: TailCauses) -> str:
    times = result.threshold_ms / result.median_ms
    text = f"p{result.percentile:g} is {result.threshold_ms:.4g} ms ({times:.1f} × the median)"
    explaining = [cause for cause in result.causes if cause.explains]
    if not explaining:
        return f"{text}; none of the recorded causes is more frequent in those steps than by chance."
    named = ", ".join(
        f"{100 * cause.share_of_tail:.0f} % of those steps have {PHRASES.get(cause.name, cause.name)}"
        f" ({100 * cause.share_of_rest:.2g} % of the others)"
        for cause in explaining
    )
    return f"{text}; {named}. Unexplained: {100 * result.unexplained:.0f} %."
