"""Values that a loop passes in, made into plain numbers, without ever waiting for a device."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

from tb_stepperf.recorder.messages import Messages

MAX_STEP = 2**63 - 1
"""Highest number of a step: what an event file can hold."""


class Checks:
    """Looks at arguments; what cannot be used is counted, said once per argument, and left out."""

    def __init__(self, count: Callable[[str], None], messages: Messages) -> None:
        self._count = count
        self._messages = messages

    def amount(self, name: str, value: Any) -> float | None:
        """Returns a finite number from 0 on, or None where the value is none."""
        number = as_count(value)
        if number is None:
            self.invalid(name, value, "a number (a tensor on a device is not read, since that would wait for it)")
            return None
        if 0 <= number < math.inf:
            return number
        self._count("num_not_finite")
        self._messages.warn_once(
            f"not finite {name}", f"{name} is {number}: finite numbers from 0 are allowed; stored as not measured"
        )
        return None

    def is_number(self, name: str, value: Any) -> bool:
        """Returns whether the value is a number, be it negative or not finite; one that is not is counted."""
        if as_count(value) is None:
            self.invalid(name, value, "a number")
            return False
        return True

    def invalid(self, name: str, value: Any, allowed: str) -> None:
        """Counts a value that is not of a kind that can be used."""
        self._count("num_invalid")
        shown = repr(value)[:80] if isinstance(value, (int, float, str)) else f"a {type(value).__name__}"
        self._messages.warn_once(f"invalid {name}", f"{name} is {shown}: {allowed} is allowed; it is left out")


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
    try:
        device = getattr(value, "device", None)
        on_host = device is None or device == "cpu" or getattr(device, "type", None) == "cpu"
        return value.item() if on_host and value.ndim == 0 else value
    except Exception:  # any object may have been passed; as it is, it is reported as one that cannot be used
        return value
