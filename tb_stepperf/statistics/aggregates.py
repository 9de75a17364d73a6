"""Sums and extremes of contiguous bins, over the rows that are valid."""

from __future__ import annotations

import dataclasses

import numpy as np

from tb_stepperf.errors import ArgumentError
from tb_stepperf.statistics.quantiles import check_rows


@dataclasses.dataclass(frozen=True, eq=False)
class BinSums:
    """Sums of each bin.

    Attributes:
        total: float64, shape (num_bins,): sum of the valid values, 0 where there is none.
        num_rows: int64, shape (num_bins,): number of valid values.
    """

    total: np.ndarray
    num_rows: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class BinExtremes:
    """Extremes of each bin; NaN (row -1) where a bin has no valid value.

    Attributes:
        minimum: float64, shape (num_bins,).
        maximum: float64, shape (num_bins,).
        max_row: int64, shape (num_bins,): row of the first largest value.
        num_rows: int64, shape (num_bins,): number of valid values.
    """

    minimum: np.ndarray
    maximum: np.ndarray
    max_row: np.ndarray
    num_rows: np.ndarray


def bin_sums(values: np.ndarray, rows: np.ndarray, valid: np.ndarray) -> BinSums:
    """Sums the valid values of each bin in float64.

    Args:
        values: vector of numbers; what is not valid may be anything, NaN included.
        rows: int64, shape (num_bins + 1,): bin k holds the rows `[rows[k], rows[k + 1])`.
        valid: bool, of the shape of values.

    Raises:
        ArgumentError: an argument does not fit the others.
    """
    _check_valid(values, valid)
    check_rows(values, rows)
    return BinSums(
        _reduce(np.add, np.where(valid, values, 0), rows, 0.0, np.float64),
        _reduce(np.add, valid, rows, 0, np.int64),
    )


def bin_extremes(values: np.ndarray, rows: np.ndarray, valid: np.ndarray) -> BinExtremes:
    """Finds minimum, maximum and the place of the maximum among the valid values of each bin; see `bin_sums`.

    Raises:
        ArgumentError: an argument does not fit the others.
    """
    _check_valid(values, valid)
    check_rows(values, rows)
    indices, rows = compact(valid, rows)
    indices, rows = indices[rows[0] : rows[-1]], rows - rows[0]
    values = values[indices]
    num_rows = np.diff(rows)
    maximum = _reduce(np.maximum, values, rows, np.nan, np.float64)
    is_max = np.flatnonzero(values == np.repeat(maximum, num_rows))
    max_row = np.full(num_rows.shape, -1, np.int64)
    filled = num_rows > 0
    max_row[filled] = indices[is_max[np.searchsorted(is_max, rows[:-1][filled])]]
    return BinExtremes(_reduce(np.minimum, values, rows, np.nan, np.float64), maximum, max_row, num_rows)


def compact(valid: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the indices of the valid rows, and the edges of the same bins among only those rows.

    Args:
        valid: bool, shape (num_rows,).
        rows: int64, shape (num_bins + 1,), edges of bins among all rows.

    Returns:
        int64 of shape (num_valid,), and int64 of the shape of rows.
    """
    indices = np.flatnonzero(valid)
    return indices, np.searchsorted(indices, rows)


def _reduce(ufunc: np.ufunc, values: np.ndarray, rows: np.ndarray, empty: float, dtype: type) -> np.ndarray:
    """Reduces each bin; `reduceat` alone has no notion of an empty bin, so those are passed over."""
    result: np.ndarray = np.full(rows.size - 1, empty, dtype)
    filled = rows[1:] > rows[:-1]
    if filled.any():
        used = values[: rows[-1]]
        result[filled] = ufunc.reduceat(used, rows[:-1][filled], dtype=dtype)
    return result


def _check_valid(values: np.ndarray, valid: np.ndarray) -> None:
    if valid.dtype != bool or valid.shape != values.shape:
        raise ArgumentError(f"valid is {valid.dtype}{valid.shape}; bool{values.shape} is allowed")
