"""Durations in words."""

from __future__ import annotations

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def duration_text(seconds: float) -> str:
    """Returns a duration with its two largest units: `14 min 45 s`, `2 h`, `3.5 s`, `120 ms`.

    Args:
        seconds: finite, at least 0.
    """
    milliseconds = seconds * 1000
    if milliseconds < 999.5:
        return f"{milliseconds:.3g} ms"
    if seconds < 9.995:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    first = next(index for index, (_, size) in enumerate(_UNITS) if whole >= size)
    parts = []
    for unit, size in _UNITS[first : first + 2]:
        number, whole = divmod(whole, size)
        if number:
            parts.append(f"{number} {unit}")
    return " ".join(parts)


def jump_text(seconds: float) -> str:
    """Returns a signed duration: `+2 h`, `−1 h`."""
    return f"{'+' if seconds >= 0 else '−'}{duration_text(abs(seconds))}"
