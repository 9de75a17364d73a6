"""Intervals and p-values of a change."""

from __future__ import annotations

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


def p95_interval(before: np.ndarray, after: np.ndarray) -> tuple[float, float, float, float, float]:
    """Relative change of the 95th percentile with its 95 % interval, and both percentiles, of log times.

    The two intervals are combined by MOVER (Zou and Donner, Statistics in Medicine 27, 2008).
    """
    first, first_low, first_high = quantile_interval(before, 0.95)
    second, second_low, second_high = quantile_interval(after, 0.95)
    delta = second - first
    low = delta - math.hypot(second - second_low, first_high - first)
    high = delta + math.hypot(second_high - second, first - first_low)
    return relative(delta), relative(low), relative(high), math.exp(first), math.exp(second)
