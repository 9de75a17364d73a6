"""Where JSON values begin and end in a piece of text, without decoding them and without recursion."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tb_stepperf.errors import TraceError

MAX_DEPTH = 200
"""Most brackets inside each other; the deepest that profilers write are about ten."""

_TOKEN = re.compile(rb'"[^"\\]*"|["\[\]{}]')
_BOUNDARY = re.compile(rb"\}\s*,\s*\{")
_WINDOW_BYTES = 1 << 16
_OPENING, _QUOTE, _BACKSLASH = b"[{", b'"'[0], b"\\"[0]


def last_boundary(text: bytes) -> int | None:
    """Returns where the last object ends that another one follows, as it looks from the text's end.

    It may as well lie inside a string or an inner list; only decoding what is before it can tell.
    """
    ends = [match.start() + 1 for match in _BOUNDARY.finditer(text, max(len(text) - _WINDOW_BYTES, 0))]
    return ends[-1] if ends else None


def string_end(text: bytes, at: int) -> int | None:
    """Returns the position behind the string that begins at `at`; None where the text ends before it."""
    end = at
    while (end := text.find(b'"', end + 1)) > 0:
        backslashes = end
        while text[backslashes - 1] == _BACKSLASH:
            backslashes -= 1
        if (end - backslashes) % 2 == 0:
            return end + 1
    return None


def spans(text: bytes) -> tuple[list[tuple[int, int]], int | None]:
    """Returns the spans `[start, end)` of whole objects and lists in the inside of a list, and where the list ends.

    Args:
        text: begins inside a list, between two elements.

    Returns:
        Spans of the elements that are there as a whole, and the position behind the list's bracket; None where the
        text ends before it.

    Raises:
        TraceError: more than `MAX_DEPTH` brackets are open.
    """
    found: list[tuple[int, int]] = []
    depth, start = 0, 0
    for at in _brackets(text):
        if text[at] == _QUOTE:
            break
        if text[at] in _OPENING:
            if depth == 0:
                start = at
            depth = _deeper(depth)
        elif depth == 0:
            return found, at + 1
        else:
            depth -= 1
            if depth == 0:
                found.append((start, at + 1))
    return found, None


def value_end(text: bytes, depth: int) -> tuple[int, int]:
    """Follows a list or object that may be longer than the text.

    Args:
        text: a part of the value, which begins outside of strings.
        depth: brackets that are open where it begins.

    Returns:
        Where the value ends and 0; or where to go on once there is more text, and the depth there.

    Raises:
        TraceError: more than `MAX_DEPTH` brackets are open.
    """
    for at in _brackets(text):
        if text[at] == _QUOTE:
            return at, depth
        depth = _deeper(depth) if text[at] in _OPENING else depth - 1
        if depth == 0:
            return at + 1, 0
    return len(text), depth


def _brackets(text: bytes) -> Iterator[int]:
    """Yields where brackets are, and at last where a string begins whose end is not there."""
    at: int | None = 0
    while at is not None and (token := _TOKEN.search(text, at)):
        first, at = token.start(), token.end()
        if text[first] != _QUOTE:
            yield first
        elif at == first + 1 or text[at - 2] == _BACKSLASH:
            at = string_end(text, first)
            if at is None:
                yield first


def _deeper(depth: int) -> int:
    if depth >= MAX_DEPTH:
        raise TraceError(f"The file nests values more than {MAX_DEPTH:,} deep: no profiler writes that.")
    return depth + 1
