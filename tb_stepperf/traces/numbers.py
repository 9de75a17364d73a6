"""Numbers as profilers write them (missing, as text, beyond 64 bits) as arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from tb_stepperf.traces.events import ABSENT

_EXACT_US = 2.0**53 / 1000
_UINT64 = 1 << 64


def floats(values: Sequence[Any]) -> np.ndarray:
    """Returns float64, NaN for what is no number."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.array([_float(value) for value in values], dtype=np.float64)


def integers(values: Sequence[Any]) -> np.ndarray:
    """Returns int64, `ABSENT` for what is no integer.

    Integers of 64 bits without sign wrap around, so that equal ones stay equal and different ones different; of longer
    ones the low 64 bits are kept.
    """
    try:
        return np.array(values, dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        return np.array([integer(value) for value in values], dtype=np.int64)


def integer(value: Any) -> int:
    """Returns one such integer."""
    try:
        number = int(value) % _UINT64
    except (TypeError, ValueError, OverflowError):
        return ABSENT
    return number if number < _UINT64 // 2 else number - _UINT64


def needs_exact(values: Sequence[Any], times_us: np.ndarray) -> bool:
    """Returns whether float64 microseconds are too coarse for the digits that these time stamps may have.

    Args:
        values: as decoded.
        times_us: the same as `floats`.
    """
    farthest = np.abs(times_us).max(initial=0, where=np.isfinite(times_us))
    return farthest > _EXACT_US and (farthest > 2.0**53 or any(type(value) is not int for value in values))


def exact_ns(time_us: Any, base_us: int) -> int:
    """Returns nanoseconds since `base_us` of a time stamp that is a number or text; 0 where it is neither."""
    try:
        return round((Decimal(time_us) - base_us) * 1000)
    except (InvalidOperation, TypeError, ValueError, OverflowError):
        return 0


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
