"""Student's t and the normal distribution, without SciPy."""

from __future__ import annotations

import functools
import math

import numpy as np

from tb_stepperf.errors import ArgumentError

Z_GRID = np.concatenate([[0.0], np.geomspace(0.05, 8.0, 110)])
"""Confidence levels at which limits are known, as normal critical values: 1.96 stands for 95 %."""

_TINY = 1e-300


def two_sided_p(t: float, df: float) -> float:
    """Returns P(|T| >= |t|) for Student's t with `df` degrees of freedom (infinite allowed: the normal).

    Formula: the regularised incomplete beta I_x(df / 2, 1 / 2) at x = df / (df + t²).

    Raises:
        ArgumentError: df is not above 0.
    """
    if not df > 0:
        raise ArgumentError(f"df is {df}; a number above 0 is allowed")
    if math.isinf(t):
        return 0.0
    if df > 1e6:
        return math.erfc(abs(t) / math.sqrt(2))
    return _incomplete_beta(df / 2, 0.5, df / (df + t * t))


@functools.lru_cache(maxsize=4096)
def two_sided_t(p: float, df: float) -> float:
    """Returns the t with P(|T| >= t) = p: the critical value of a two-sided test, 2.04 for p = 0.05 and 31 df.

    Raises:
        ArgumentError: p is outside (0, 1], or df is not above 0.
    """
    if not 0 < p <= 1:
        raise ArgumentError(f"p is {p}; a number in (0, 1] is allowed")
    low, high = 0.0, 1.0
    while two_sided_p(high, df) > p and high < 1e12:
        high *= 2
    for _ in range(52):
        middle = (low + high) / 2
        if two_sided_p(middle, df) > p:
            low = middle
        else:
            high = middle
    return high


@functools.lru_cache(maxsize=64)
def t_grid(df: float) -> np.ndarray:
    """Returns the critical values of Student's t at the levels of `Z_GRID`, shape (len(Z_GRID),)."""
    values = np.array([two_sided_t(min(two_sided_p(z, math.inf), 1.0), df) for z in Z_GRID.tolist()])
    values[0] = 0.0
    values.flags.writeable = False
    return values


def normal_scores(values: np.ndarray) -> np.ndarray:
    """Returns the normal quantile of each value's rank, (rank − ½) / n; ties share their mean rank.

    Args:
        values: finite, shape (n,).

    Returns:
        float64, shape (n,).
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if values.size else np.zeros(0, int)
    counts = np.diff(np.append(begins, values.size))
    # Without a shared rank, ties would rise in the order of time and look like a memory.
    levels = np.repeat(begins + counts / 2, counts) / max(values.size, 1)
    z, cdf = _normal_table()
    scores = np.empty(values.size)
    scores[order] = np.interp(levels, cdf, z)
    return scores


def normal_quantile(p: float) -> float:
    """Returns the normal quantile of p in (0, 1), to about 1e-5: enough for a threshold of a copula."""
    z, cdf = _normal_table()
    return float(np.interp(p, cdf, z))


@functools.lru_cache(maxsize=1)
def _normal_table() -> tuple[np.ndarray, np.ndarray]:
    z = np.linspace(-5.5, 5.5, 4401)
    return z, np.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in z.tolist()])


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function by its continued fraction (Lentz's algorithm)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _incomplete_beta(b, a, 1 - x)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    c, d = 1.0, 1.0 / _away_from_0(1.0 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = 1.0 / _away_from_0(1.0 + even * d), _away_from_0(1.0 + even / c)
        fraction *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1.0 / _away_from_0(1.0 + odd * d), _away_from_0(1.0 + odd / c)
        fraction *= d * c
        if abs(d * c - 1.0) < 1e-13:
            break
    return math.exp(log_front) * fraction / a


def _away_from_0(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
