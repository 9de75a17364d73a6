"""Takes a trace's text apart: metadata values one by one, events by the megabyte, in whatever order they stand."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator

from tb_stepperf.errors import TraceError
from tb_stepperf.traces import foreign, scan
from tb_stepperf.traces.decode import Event
from tb_stepperf.traces.repair import COMMA, repair

MAX_VALUE_BYTES = 1 << 25
"""Longest event and longest text in the metadata, 32 MiB: what has to be in memory in one piece."""

UNREADABLE = "event that is not in order (left out)"
UNCLOSED = "list of events without its closing bracket"
TRAILING = "text after the end of the trace (ignored)"

_SPACE = re.compile(rb"[\s\0]*")
_SEPARATORS = re.compile(rb"[\s,]*")
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_BARE = re.compile(rb"[^\s,\]}]*")


@dataclasses.dataclass(frozen=True)
class Value:
    """A metadata value, as JSON text."""

    key: str
    text: bytes


@dataclasses.dataclass(frozen=True)
class Events:
    """Some events, in the order of the file.

    Attributes:
        text: the events as a JSON list; repaired where that was necessary.
        events: the same, decoded.
    """

    text: bytes
    events: list[Event]


class Pieces:
    """The parts of a trace.

    Attributes:
        oddities: what was repaired or left out, and how often; complete once all parts are taken.
        num_lists: lists of events met so far.

    Args:
        text: pieces of the file's text.
        decode: makes events of a JSON list, or None where it is not one (`decode_events`).
        wanted: keys of metadata to yield; all others are skipped without a copy.
    """

    def __init__(
        self, text: Iterable[bytes], *, decode: Callable[[bytes], list[Event] | None], wanted: frozenset[str]
    ) -> None:
        self.oddities: dict[str, int] = {}
        self.num_lists = 0
        self._buffer = _Buffer(text)
        self._decode, self._wanted = decode, wanted

    def __iter__(self) -> Iterator[Value | Events]:
        """Yields the parts once, in the order of the file.

        Raises:
            TraceError: the text is no trace, ends too early or is broken beyond repair; with the position.
        """
        buffer = self._buffer
        buffer.more()
        buffer.data = buffer.data.removeprefix(b"\xef\xbb\xbf")
        reason = foreign.by_first_bytes(buffer.data)
        if reason:
            raise TraceError(reason)
        opening = buffer.next_byte()
        if opening == b"[":
            buffer.drop(1)
            yield from self._list(is_top=True)
        elif opening == b"{":
            buffer.drop(1)
            yield from self._object()
        else:
            raise TraceError(foreign.not_json(buffer.data))
        if buffer.next_byte():
            self._count(TRAILING)
            buffer.drop_rest()

    def _object(self) -> Iterator[Value | Events]:
        buffer = self._buffer
        while True:
            first = buffer.next_byte()
            if first == b",":
                buffer.drop(1)
            elif first == b"}":
                buffer.drop(1)
                return
            elif first == b'"':
                key = buffer.take_string().decode("utf-8", "replace")
                if buffer.next_byte() != b":":
                    raise TraceError(f"The file is damaged at byte {buffer.position:,}: a colon is missing.")
                buffer.drop(1)
                if buffer.next_byte() == b"[" and key == "traceEvents":
                    buffer.drop(1)
                    yield from self._list(is_top=False)
                elif key in self._wanted:
                    yield Value(key, repair(buffer.take_value())[0])
                else:
                    buffer.skip_value()
            else:
                raise TraceError(buffer.broken(first))

    def _list(self, is_top: bool) -> Iterator[Events]:
        """Yields events until the list ends; the buffer then stands behind its bracket."""
        buffer = self._buffer
        self.num_lists += 1
        if buffer.next_byte() not in (b"{", b"]", b""):
            raise TraceError(foreign.LIST_OF_OTHERS if is_top else foreign.EVENTS_OF_OTHERS)
        is_first, num_commas = True, 0
        while True:
            separators = _SEPARATORS.match(buffer.data).group()
            buffer.drop(len(separators))
            num_commas += separators.count(b",")
            # That decoding succeeds proves that the cut is between two events. It skips what nobody needs in C.
            cut = scan.last_boundary(buffer.data)
            text = None if cut is None else b"[%b]" % memoryview(buffer.data)[:cut]
            events = None if text is None else self._decode(text)
            end = None
            if events is not None:
                found = Events(text, events)
            else:
                spans, end = scan.spans(buffer.data)
                cut = spans[-1][1] if spans else 0
                found = self._careful(buffer.data[spans[0][0] : cut]) if spans else None
            if found is not None:
                self._count(COMMA, num_commas - (not is_first))
                is_first, num_commas = False, 0
                yield found
            if end is not None:
                self._count(COMMA, num_commas + buffer.data[cut:end].count(b","))
                buffer.drop(end)
                return
            buffer.drop(cut)
            if not buffer.more() and found is None:
                if is_top and not buffer.data:
                    self._count(UNCLOSED)
                    return
                raise TraceError(buffer.cut_off())

    def _careful(self, text: bytes) -> Events:
        """Decodes whole events: as they are, else repaired, else one by one without those that are beyond it."""
        text = b"[%b]" % text
        events = self._decode(text)
        if events is not None:
            return Events(text, events)
        text, counts = repair(text)
        for sentence, count in counts.items():
            self._count(sentence, count)
        events = self._decode(text)
        if events is not None:
            return Events(text, events)
        good = []
        events = []
        for start, end in scan.spans(text[1:-1])[0]:
            one = self._decode(b"[%b]" % text[1 + start : 1 + end])
            if one is None:
                self._count(UNREADABLE)
            else:
                good.append(text[1 + start : 1 + end])
                events += one
        return Events(b"[%b]" % b",".join(good), events)

    def _count(self, sentence: str, count: int = 1) -> None:
        if count > 0:
            self.oddities[sentence] = self.oddities.get(sentence, 0) + count


class _Buffer:
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
        self.data = self.data[num_bytes:]
        self.position += num_bytes

    def drop_rest(self) -> None:
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
        while not (match := _STRING.match(self.data)):
            if not self.more():
                raise TraceError(self.cut_off())
        self.drop(match.end())
        return match.group()[1:-1]

    def take_value(self) -> bytes:
        """Takes a value of any type with which the buffer begins."""
        first = self.next_byte()
        if first == b'"':
            return b'"%b"' % self.take_string()
        is_bare = first not in (b"[", b"{")
        while True:
            end, depth = (_BARE.match(self.data).end(), 0) if is_bare else scan.value_end(self.data, 0, 0)
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
            end, depth = scan.value_end(self.data, 0, depth)
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

    def broken(self, first: bytes) -> str:
        """Returns the sentence on a byte that cannot stand where it stands."""
        if not first:
            return self.cut_off()
        return f"The file is damaged at byte {self.position:,} of its text: a key or a closing brace was expected."
