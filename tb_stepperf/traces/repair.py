"""Makes JSON of what profilers have been seen to write instead."""

from __future__ import annotations

import re

BACKSLASH = "text with a backslash that was not escaped (repaired)"
COMMA = "comma too many (left out)"
QUOTE = "name with quotes that were not escaped (repaired)"

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|-?\b(?:NaN|nan|Infinity|inf)\b|,(?=\s*[,\]}])[\s,]*', re.DOTALL)
_NAME = re.compile(rb'^([ \t]*"name": ")([^\n]*)("[ \t]*(?:,[ \t]*)?\r?\n)', re.MULTILINE)
_NEXT_KEY = re.compile(rb'",\s*"[\w ]+":')
_BARE_QUOTE = re.compile(rb'(?<!\\)"')
_CONTROL = re.compile(r"[\x00-\x1f]")
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}|(?P<wrong>))')
_BACKSLASH = re.compile(r'\\(?!")')
_SURROGATES = re.compile(
    r"(?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|(?P<even>\\\\)|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


def repair(text: bytes) -> tuple[bytes, dict[str, int]]:
    """Returns the text as JSON, and what was repaired how often.

    Bytes that are not UTF-8 become U+FFFD, control characters in strings are escaped, backslashes are doubled in a
    string where one of them begins no escape, halves of surrogate pairs become U+FFFD, NaN and infinities become null,
    and commas too many go. Whoever uses a name replaces and counts U+FFFD and control characters in it.

    Args:
        text: whole elements of a list.
    """
    counts: dict[str, int] = {}

    def token(match: re.Match[str]) -> str:
        found = match.group()
        if found[0] == '"':
            return _string(found, counts)
        if found[0] == ",":
            is_last = match.string[match.end() : match.end() + 1] in ("]", "}")
            counts[COMMA] = counts.get(COMMA, 0) + found.count(",") - (not is_last)
            return "" if is_last else ","
        return "null"

    return _TOKEN.sub(token, text.decode("utf-8", "replace")).encode("utf-8"), counts


def escape_quotes(text: bytes) -> tuple[bytes, int]:
    """Returns the text with the quotes in names escaped, and in how many names that was necessary.

    PyTorch writes the text of a `record_function` as it is, on a line of its own; with an odd number of quotes, all
    that follows would seem to be text.
    """
    num_repaired = 0

    def name(match: re.Match[bytes]) -> bytes:
        nonlocal num_repaired
        before, text, after = match.groups()
        if _NEXT_KEY.search(match.group()) or not _BARE_QUOTE.search(text):
            return match.group()
        num_repaired += 1
        return before + _BARE_QUOTE.sub(rb'\\"', text) + after

    return _NAME.sub(name, text), num_repaired


def _string(text: str, counts: dict[str, int]) -> str:
    if "\\" in text:
        if any(
            match.lastgroup for match in _ESCAPE.finditer(text)
        ):  # nobody escaped this one: all its backslashes are meant
            counts[BACKSLASH] = counts.get(BACKSLASH, 0) + 1
            return _control(_BACKSLASH.sub(r"\\\\", text))
        text = _SURROGATES.sub(lambda match: match.group() if match.lastgroup else "\N{REPLACEMENT CHARACTER}", text)
    return _control(text)


def _control(text: str) -> str:
    return _CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
