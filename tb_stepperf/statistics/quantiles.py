"""Nearest-rank quantiles of contiguous bins of samples, each ordered once.

A reported quantile is always a sample that occurred: the smallest value `v` for which at least the fraction `q` of the
samples is at most `v` (the inverse of the empirical distribution function; NumPy's `inverted_cdf`, type 1 of Hyndman
and Fan, "Sample Quantiles in Statistical Packages", 1996). Sorting is several times faster than `np.quantile`, and
ordering a bin once serves all percentiles, the minimum and the maximum.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from tb_stepperf.errors import ArgumentError

_MIN_ROWS_TO_PARTITION = 2048
"""From here on, selecting the few ranks that are asked for is faster than sorting (measured)."""


@dataclasses.dataclass(frozen=True, eq=False)
class Bands:
    """Quantiles and extremes of each bin, in the unit of the samples; NaN where a bin is empty.

    Attributes:
        percentiles: as asked for, in per cent.
        quantiles: float64, shape (num_percentiles, num_bins).
        minimum: float64, shape (num_bins,).
        maximum: float64, shape (num_bins,).
        max_row: int64, shape (num_bins,): row of the first largest sample, or -1 where the bin is empty.
        num_rows: int64, shape (num_bins,): samples in the bin.
    """

    percentiles: tuple[float, ...]
    quantiles: np.ndarray
    minimum: np.ndarray
    maximum: np.ndarray
    max_row: np.ndarray
    num_rows: np.ndarray


def bands(values: np.ndarray, rows: np.ndarray, percentiles: Sequence[float]) -> Bands:
    """Computes nearest-rank quantiles, minimum and maximum of contiguous bins.

    Args:
        values: floating-point vector of samples without NaN.
        rows: int64, shape (num_bins + 1,), not descending: bin k holds `values[rows[k]:rows[k + 1]]`.
        percentiles: numbers in [0, 100], in any order.

    Raises:
        ArgumentError: an argument is out of its range, or a bin holds NaN.
    """
    check_rows(values, rows)
    ordered = values.copy()
    num_rows = np.diff(rows)
    filled = np.flatnonzero(num_rows)
    starts, sizes = rows[:-1][filled], num_rows[filled]
    ranks = np.vstack([nearest_rank_rows(sizes, percentiles), np.zeros_like(sizes), sizes - 1])
    max_row = np.full(num_rows.shape, -1, np.int64)
    for index, start, size, wanted in zip(filled.tolist(), starts.tolist(), sizes.tolist(), ranks.T):
        samples = ordered[start : start + size]
        max_row[index] = start + int(samples.argmax())
        if size < _MIN_ROWS_TO_PARTITION:
            samples.sort()
        else:
            samples.partition(wanted)
    lines = np.full((ranks.shape[0], num_rows.size), np.nan)
    lines[:, filled] = ordered[starts + ranks]
    minimum, maximum = lines[-2], lines[-1]
    if np.isnan(maximum[filled]).any():  # ordering puts NaN last, so this sees every one
        raise ArgumentError("samples hold NaN; leave out what was not measured first, with select()")
    return Bands(tuple(percentiles), lines[:-2], minimum, maximum, max_row, num_rows)


def nearest_rank_rows(num_rows: np.ndarray, percentiles: Sequence[float]) -> np.ndarray:
    """Returns the row of each quantile within sorted samples.

    The formula is NumPy's own for `inverted_cdf`, `ceil(n * q - 1)` in float64, so that also the cases in which `n * q`
    is rounded agree with `np.quantile`.

    Args:
        num_rows: int64, shape (num_bins,), each at least 1.
        percentiles: numbers in [0, 100].

    Returns:
        int64, shape (num_percentiles, num_bins), each in [0, num_rows).

    Raises:
        ArgumentError: a percentile is outside [0, 100], or a number of rows is below 1.
    """
    fractions = np.true_divide(np.asarray(percentiles, np.float64), 100.0)
    if fractions.ndim != 1 or not np.all((fractions >= 0) & (fractions <= 1)):
        raise ArgumentError(f"percentiles are {list(percentiles)!r}; numbers in [0, 100] are allowed")
    if np.any(num_rows < 1):
        raise ArgumentError("a bin without rows has no quantile; leave empty bins out")
    ranks = np.ceil(fractions[:, np.newaxis] * num_rows[np.newaxis, :] - 1.0)
    return np.maximum(ranks, 0.0).astype(np.int64)


def check_rows(values: np.ndarray, rows: np.ndarray) -> None:
    """Checks that `rows` are edges of contiguous bins of the vector `values`.

    Raises:
        ArgumentError: they are not.
    """
    if values.ndim != 1 or values.dtype.kind not in "fib":
        raise ArgumentError(f"samples are {values.dtype}{values.shape}; a vector of numbers is allowed")
    if rows.ndim != 1 or rows.dtype.kind != "i" or rows.size < 1:
        raise ArgumentError(f"rows are {rows.dtype}{rows.shape}; an integer vector of num_bins + 1 edges is allowed")
    if rows[0] < 0 or rows[-1] > values.size or np.any(rows[1:] < rows[:-1]):
        raise ArgumentError(f"rows must ascend within [0, {values.size}]; they go from {rows[0]} to {rows[-1]}")
