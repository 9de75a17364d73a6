"""How times and shares are written in sentences."""

from __future__ import annotations


def percent(value: float) -> str:
    """Returns a share as text: `52 %`, `0.4 %`."""
    return f"{100 * value:.0f} %" if value >= 0.0095 or value == 0 else f"{100 * value:.1g} %"


def number(value_ms: float) -> str:
    """Returns a time in ms without its unit: `0.0123`, `4.31`, `174.8`, `1,240`."""
    if value_ms >= 1000:
        return f"{value_ms:,.0f}"
    return f"{value_ms:.1f}" if value_ms >= 100 else f"{value_ms:.3g}"


def ms(value_ms: float) -> str:
    """Returns a time as text: `4.31 ms`, `1,240 ms`."""
    return f"{number(value_ms)} ms"
