"""Takes a trace's text apart: metadata values one by one, events by the thousand, in whatever order they stand."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from tb_stepperf.errors import TraceError
from tb_stepperf.traces import foreign, scan
from tb_stepperf.traces.buffer import Buffer
from tb_stepperf.traces.decode import NOT_JSON, Event
from tb_stepperf.traces.repair import COMMA, QUOTE, escape_quotes, repair

MAX_REPAIR_BYTES = 1 << 22
"""Longest text that is repaired, 4 MiB: it takes some times its length in memory."""

NO_VALUE = "value in the metadata that is not in order (left out)"
UNREADABLE = "event that is not in order (left out)"
UNCLOSED = "list of events without its closing bracket"
TRAILING = "text after the end of the trace (ignored)"

_SEPARATORS = re.compile(rb"[\s,]*")


@dataclasses.dataclass(frozen=True)
class Value:
    """A metadata value, decoded."""

    key: str
    value: Any


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
        self._buffer = Buffer(text)
        self._decode, self._wanted = decode, wanted

    def __iter__(self) -> Iterator[Value | Events]:
        """Yields the parts once, in the order of the file.

        Raises:
            TraceError: the text is no trace, ends too early or is broken beyond repair; with the position.
        """
        buffer = self._buffer
        while len(buffer.data) < foreign.HEAD_BYTES and buffer.more():
            pass
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
                colon = buffer.next_byte()
                if colon != b":":
                    raise TraceError(buffer.broken(colon, "a colon"))
                buffer.drop(1)
                if buffer.next_byte() == b"[" and key == "traceEvents":
                    buffer.drop(1)
                    yield from self._list(is_top=False)
                elif key in self._wanted:
                    yield from self._value(key, buffer.take_value())
                else:
                    buffer.skip_value()
            else:
                raise TraceError(buffer.broken(first, "a key or a closing brace"))

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
                mended, num_mended = escape_quotes(buffer.data)
                self._count(QUOTE, num_mended)
                buffer.mend(mended)
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
        if events is None:
            text = self._repaired(text)
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

    def _value(self, key: str, text: bytes) -> Iterator[Value]:
        """Yields a metadata value, unless it is beyond repair."""
        value = _decoded(text)
        if value is msgspec.UNSET:
            value = _decoded(self._repaired(text))
        if value is msgspec.UNSET:
            self._count(NO_VALUE)
        else:
            yield Value(key, value)

    def _repaired(self, text: bytes) -> bytes:
        if len(text) > MAX_REPAIR_BYTES:
            return text
        text, counts = repair(text)
        for sentence, count in counts.items():
            self._count(sentence, count)
        return text

    def _count(self, sentence: str, count: int = 1) -> None:
        if count > 0:
            self.oddities[sentence] = self.oddities.get(sentence, 0) + count


def _decoded(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except NOT_JSON:
        return msgspec.UNSET
