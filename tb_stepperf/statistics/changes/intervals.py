"""Intervals and p-values of a change."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tb_stepperf.statistics.changes.noise import Sums

_Z95 = 1.959964


def t95(num: float) -> float:
    """97.5 % quantile of Student's t with `num` degrees of freedom (expansion after Fisher, two terms)."""
    num = max(num, 3.0)
    return _Z95 + (_Z95**3 + _Z95) / (4.0 * num) + (5.0 * _Z95**5 + 16.0 * _Z95**3 + 3.0 * _Z95) / (96.0 * num * num)


def p_value(z: float, num_places: int) -> float:
    """Two-sided p of `z`, times the number of places that were searched (Bonferroni), at most 1."""
    return min(1.0, math.erfc(z / math.sqrt(2.0)) * max(num_places, 1))


def relative(delta: float) -> float:
    """Relative change of a difference of logarithms."""
    return math.expm1(min(delta, 50.0))


def level_interval(delta: float, error: float, shorter: int) -> tuple[float, float, float]:
    """Relative change with its 95 % interval, from a difference of logarithms and its standard error."""
    reach = t95(shorter / 4.0) * error
    return relative(delta), relative(delta - reach), relative(delta + reach)


def quantile(values: np.ndarray, share: float, most: int = 50_000) -> float:
    """Nearest-rank quantile of at most `most` evenly spread values."""
    if values.size > most:
        values = values[:: values.size // most]
    rank = min(values.size - 1, max(0, math.ceil(share * values.size) - 1))
    return float(np.partition(values, rank)[rank])


def quantile_interval(values: np.ndarray, share: float) -> tuple[float, float, float]:
    """Quantile with its 95 % interval under autocorrelation.

    Woodruff's inversion (JASA 47, 1952): the interval of the share of values below the quantile, with the long-run
    variance of that indicator, read back as quantiles.
    """
    middle = quantile(values, share, values.size)
    below = (values <= middle).astype(np.float64)
    independent = share * (1.0 - share)
    noise = max(independent, Sums(below).long_run_variance(0, below.size))
    reach = t95(values.size / 4.0) * math.sqrt(noise / values.size)
    low = quantile(values, max(share - reach, 0.0), values.size)
    high = quantile(values, min(share + reach, 1.0), values.size)
    return middle, low, high


@dataclasses.dataclass(frozen=True)
class QuantileChange:
    """How a quantile differs between two stretches.

    Attributes:
        measure: `p95`, or another where that does not show it.
        delta: of the logarithms.
        low, high: 95 % interval of `delta`.
        before, after: the quantile on either side, relative to the level.
    """

    measure: str
    delta: float
    low: float
    high: float
    before: float
    after: float


def tail_interval(before: np.ndarray, after: np.ndarray, least: float) -> QuantileChange | None:
    """How the slow steps of two stretches of log times differ, by the first quantile that shows it.

    Args:
        before: shape (num_before,), log time less its level.
        after: shape (num_after,), likewise.
        least: smallest change (of the logarithm) that matters.

    Returns:
        Of `p95`, else `p90` (where few samples are above p95) or `p99` (where few are slow): the first whose interval
        excludes 0 and whose change matters, else None.
    """
    found = [_quantile_change(before, after, percent) for percent in (95, 90, 99)]
    return next((c for c in found if abs(c.delta) >= least and not c.low <= 0.0 <= c.high), None)


def _quantile_change(before: np.ndarray, after: np.ndarray, percent: int) -> QuantileChange:
    """Two intervals combined by MOVER (Zou and Donner, Statistics in Medicine 27, 2008)."""
    first, first_low, first_high = quantile_interval(before, percent / 100)
    second, second_low, second_high = quantile_interval(after, percent / 100)
    delta = second - first
    low = delta - math.hypot(second - second_low, first_high - first)
    high = delta + math.hypot(second_high - second, first - first_low)
    return QuantileChange(f"p{percent}", delta, low, high, math.exp(first), math.exp(second))
