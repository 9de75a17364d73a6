"""Reads a trace file of `torch.profiler` into columns, in bounded memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from tb_stepperf.errors import TraceError
from tb_stepperf.traces import foreign
from tb_stepperf.traces.columns import Columns
from tb_stepperf.traces.decode import Event, decode_events
from tb_stepperf.traces.events import TraceEvents
from tb_stepperf.traces.metadata import WANTED, Metadata
from tb_stepperf.traces.pieces import Pieces, Value
from tb_stepperf.traces.source import Source

MAX_BYTES = 4 << 30
"""Longest text that is read unless said otherwise: 4 GiB."""


def read_trace(
    path: str, *, report: Callable[[float], object] = lambda fraction: None, max_bytes: int | None = None
) -> TraceEvents:
    """Reads a trace.

    Whether it is gzip, an object or a bare list of events is decided by the content. Only complete events (`X`) and
    memory events are taken; pairs of begin and end events are counted and left out, since torch.profiler writes none.
    Memory stays at some ten megabytes, the names, and twice 45 bytes an event.

    Args:
        path: a local path, or one that TensorBoard's gfile opens.
        report: called with the part of the file that is read, in [0, 1], after each piece; whatever it raises ends the
            reading.
        max_bytes: longest text, decompressed; `MAX_BYTES` by default.

    Returns:
        The events; `oddities` says what was repaired or left out.

    Raises:
        TraceError: the file cannot be read, is cut off, damaged, longer than `max_bytes`, or no trace of
            torch.profiler.
    """
    source = Source(path, max_bytes=MAX_BYTES if max_bytes is None else max_bytes)
    return dataclasses.replace(read_pieces(_reported(source, report)), num_bytes=source.num_bytes)


def read_pieces(text: Iterable[bytes]) -> TraceEvents:
    """Reads a trace whose text comes in pieces of any lengths; see `read_trace`."""
    columns, metadata = Columns(), Metadata()
    is_exact = False

    def decode(events: bytes) -> list[Event] | None:
        return decode_events(events, exact=is_exact)

    pieces = Pieces(text, decode=decode, wanted=WANTED)
    for piece in pieces:
        if isinstance(piece, Value):
            metadata.add(piece.key, piece.value)
        elif not columns.add(piece.events, exact=is_exact):
            is_exact = True
            columns.add(decode(piece.text), exact=True)
    if not columns.num_torch:
        raise TraceError(foreign.no_events_of_torch(pieces.num_lists, columns.some_names, columns.categories))
    events = columns.finish()
    return dataclasses.replace(
        events, oddities={**pieces.oddities, **events.oddities}, **metadata.fields(events.tracks)
    )


def _reported(source: Source, report: Callable[[float], object]) -> Iterable[bytes]:
    for piece in source:
        report(source.fraction)
        yield piece
    report(1.0)
