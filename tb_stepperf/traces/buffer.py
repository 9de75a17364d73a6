"""The part of a trace's text that is in memory: pieces come in at its end, values go out at its beginning."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tb_stepperf.errors import TraceError
from tb_stepperf.traces import scan

MAX_VALUE_BYTES = 1 << 25
"""Longest event and longest text in the metadata, 32 MiB: what has to be in memory in one piece."""

_SPACE = re.compile(rb"[\s\0]*")
_BARE = re.compile(rb"[^\s,\]}]*")


class Buffer:
    """The part of the text that is in memory.

    Attributes:
        data: the part.
        position: where it begins in the whole text.
    """

    def __init__(self, text: Iterable[bytes]) -> None:
        self.data = b""
        self.position = 0
        self._text = iter(text)

    def more(self) -> bool:
        """Adds the next piece, or as many as double what is there, so that long values cost linear time."""
        if len(self.data) > MAX_VALUE_BYTES:
            raise TraceError(
                f"At byte {self.position:,} begins an event or text of more than {MAX_VALUE_BYTES >> 20} MiB: "
                "no profiler writes that."
            )
        parts = [self.data]
        added = 0
        for piece in self._text:
            parts.append(piece)
            added += len(piece)
            if added >= len(self.data):
                break
        self.data = b"".join(parts)
        return added > 0

    def drop(self, num_bytes: int) -> None:
        """Gives up the first `num_bytes` of what is there."""
        self.data = self.data[num_bytes:]
        self.position += num_bytes

    def mend(self, data: bytes) -> None:
        """Puts a repaired text, to the same end, in the place of `data`."""
        self.position -= len(data) - len(self.data)
        self.data = data

    def drop_rest(self) -> None:
        """Reads to the end of the text, keeping only how long it is."""
        self.drop(len(self.data))
        for piece in self._text:
            self.position += len(piece)

    def next_byte(self) -> bytes:
        """Drops white space and returns the byte behind it; empty at the end of the text."""
        while True:
            self.drop(_SPACE.match(self.data).end())
            if self.data or not self.more():
                return self.data[:1]

    def take_string(self) -> bytes:
        """Takes a string with which the buffer begins; returns its inside."""
        while (end := scan.string_end(self.data, 0)) is None:
            if not self.more():
                raise TraceError(self.cut_off())
        string = self.data[1 : end - 1]
        self.drop(end)
        return string

    def take_value(self) -> bytes:
        """Takes a value of any type with which the buffer begins."""
        first = self.next_byte()
        if first == b'"':
            return b'"%b"' % self.take_string()
        is_bare = first not in (b"[", b"{")
        while True:
            end, depth = (_BARE.match(self.data).end(), 0) if is_bare else scan.value_end(self.data, 0)
            if depth == 0 and end < len(self.data) + (not is_bare):
                value = self.data[:end]
                self.drop(end)
                return value
            if not self.more():
                raise TraceError(self.cut_off())

    def skip_value(self) -> None:
        """Drops a value of any type and length; only a single string has to fit into memory."""
        if self.next_byte() not in (b"[", b"{"):
            self.take_value()
            return
        depth = 0
        while True:
            end, depth = scan.value_end(self.data, depth)
            self.drop(end)
            if depth == 0:
                return
            if not self.more():
                raise TraceError(self.cut_off())

    def cut_off(self) -> str:
        """Returns the sentence on text that ends too early."""
        return (
            f"The trace ends at byte {self.position + len(self.data):,} of its text in the middle of a value that "
            f"begins at byte {self.position:,}: the file was cut off, or is still being written."
        )

    def broken(self, found: bytes, expected: str) -> str:
        """Returns the sentence on a byte at the buffer's beginning that cannot stand there, or on none at all."""
        if not found:
            return self.cut_off()
        return f"The file is damaged at byte {self.position:,} of its text, where {expected} was expected."
