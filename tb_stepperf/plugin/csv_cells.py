"""Text in CSV that no spreadsheet takes for a formula."""

from __future__ import annotations

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def text_cell(text: str) -> str:
    """Returns a cell for text of any origin, such as names of stages and operators."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
