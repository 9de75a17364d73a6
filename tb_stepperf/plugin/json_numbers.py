"""Numbers as JSON has them: integers of a stated scale, or rounded floats; null where there is none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

MS_SCALE = 0.0001
"""Charts carry times as integers of this many milliseconds (0.1 µs)."""

_PER_MS = 10_000.0
_MAX_EXACT = 2.0**62


def scaled_ms(values_ms: np.ndarray) -> list[int | None]:
    """Returns times as integers of 0.1 µs; null for NaN."""
    return integers(values_ms.astype(np.float64) * _PER_MS)


def integers(values: np.ndarray) -> list[int | None]:
    """Returns floats rounded to integers; null for what is not finite."""
    wide = np.asarray(values, np.float64)
    known = np.isfinite(wide)
    if known.all() and (np.abs(wide) < _MAX_EXACT).all():
        return np.rint(wide).astype(np.int64).tolist()
    return [round(value) if math.isfinite(value) else None for value in wide.tolist()]


def rounded(value: float, num_digits: int = 4) -> float | None:
    """Returns a float rounded to `num_digits` decimals (4 of a millisecond is 0.1 µs); null for what is not finite."""
    number = float(value)
    return round(number, num_digits) if math.isfinite(number) else None


def rounded_list(values: np.ndarray, num_digits: int) -> list[float | None]:
    """Returns floats rounded to `num_digits` decimals; null for what is not finite."""
    return [rounded(value, num_digits) for value in values.tolist()]


def strict(value: Any) -> Any:
    """Returns a JSON-able value of foreign origin with null for every float that is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [strict(item) for item in value]
    return value
