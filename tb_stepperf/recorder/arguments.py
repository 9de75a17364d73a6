"""Values that a loop passes in, made into plain numbers, without ever waiting for a device."""

from __future__ import annotations

import math
import numbers
from typing import Any

MAX_STEP = 2**63 - 1
"""Highest number of a step: what an event file can hold."""


def as_step(value: Any) -> int | None:
    """Returns an integer in [0, 2**63 - 1], or None where the value is none."""
    if isinstance(value, bool):
        return None
    if not isinstance(value, numbers.Integral):
        value = _on_host(value)
        if isinstance(value, bool) or not isinstance(value, int):
            return None
    number = int(value)
    return number if 0 <= number <= MAX_STEP else None


def as_count(value: Any) -> float | None:
    """Returns a float (maybe negative or not finite) for an int, float, numpy number or one-element host tensor."""
    if isinstance(value, bool):
        return None
    if not isinstance(value, numbers.Real):
        value = _on_host(value)
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _on_host(value: Any) -> Any:
    """Returns the number in a one-element array or tensor in host memory; anything else as it is."""
    device = getattr(value, "device", None)
    on_host = device is None or device == "cpu" or getattr(device, "type", None) == "cpu"
    if on_host and hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        try:
            return value.item()
        except (TypeError, ValueError, RuntimeError):
            return value
    return value
