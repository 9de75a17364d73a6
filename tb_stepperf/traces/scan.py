"""Where JSON values begin and end in a piece of text, without decoding them and without recursion."""

from __future__ import annotations

import re

from tb_stepperf.errors import TraceError

MAX_DEPTH = 1000
"""Most brackets inside each other; the deepest that profilers write are about ten."""

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|["\[\]{}]', re.DOTALL)
_BOUNDARY = re.compile(rb"\}\s*,\s*\{")
_WINDOW_BYTES = 1 << 16
_OPENING, _CLOSING, _QUOTE = b"[{", b"]}", b'"'


def last_boundary(text: bytes) -> int | None:
    """Returns where the last object ends that another one follows, as it looks from the text's end.

    It may as well lie inside a string or an inner list; only decoding what is before it can tell.
    """
    base = max(len(text) - _WINDOW_BYTES, 0)
    ends = [match.start() + 1 for match in _BOUNDARY.finditer(text, base)]
    return ends[-1] if ends else None


def spans(text: bytes) -> tuple[list[tuple[int, int]], int | None]:
    """Returns the spans `[start, end)` of whole objects and lists in the inside of a list, and where the list ends.

    Args:
        text: begins inside a list, between two elements.

    Returns:
        Spans of the elements that are there as a whole, and the position behind the list's bracket; None where the
        text ends before it.

    Raises:
        TraceError: there are more than `MAX_DEPTH` open brackets.
    """
    found: list[tuple[int, int]] = []
    depth, start = 0, 0
    for token in _TOKEN.finditer(text):
        at = token.start()
        first = text[at]
        if first in _QUOTE:
            if token.end() - at == 1:  # a string without its end
                break
        elif first in _OPENING:
            if depth == 0:
                start = at
            depth = _deeper(depth)
        elif depth == 0:
            return found, token.end()
        else:
            depth -= 1
            if depth == 0:
                found.append((start, token.end()))
    return found, None


def value_end(text: bytes, at: int, depth: int) -> tuple[int, int]:
    """Follows a list or object that may be longer than the text.

    Args:
        text: holds a part of the value from `at` on.
        at: where to go on, outside of strings.
        depth: brackets that are open there.

    Returns:
        Where the value ends and 0; or where to go on once there is more text, and the depth there.

    Raises:
        TraceError: there are more than `MAX_DEPTH` open brackets.
    """
    for token in _TOKEN.finditer(text, at):
        first = text[token.start()]
        if first in _QUOTE:
            if token.end() - token.start() == 1:
                return token.start(), depth
        elif first in _OPENING:
            depth = _deeper(depth)
        else:
            depth -= 1
            if depth == 0:
                return token.end(), 0
    return len(text), depth


def _deeper(depth: int) -> int:
    if depth >= MAX_DEPTH:
        raise TraceError(f"The file nests values more than {MAX_DEPTH:,} deep: no profiler writes that.")
    return depth + 1
