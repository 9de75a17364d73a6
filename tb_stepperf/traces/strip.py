"""The events of a trace as a file of their own, for Perfetto and for download, without its other metadata."""

from __future__ import annotations

import itertools
import json
import zlib
from collections.abc import Iterator

from tb_stepperf.errors import TraceError
from tb_stepperf.traces import foreign
from tb_stepperf.traces.decode import decode_events
from tb_stepperf.traces.kept import KEPT, kept_events, kept_value
from tb_stepperf.traces.pieces import Pieces, Value
from tb_stepperf.traces.read import MAX_BYTES
from tb_stepperf.traces.source import Source
from tb_stepperf.traces.vocabulary import Categories

_LEVEL = 4


def strip_events(path: str, *, max_bytes: int | None = None) -> Iterator[bytes]:
    """Returns gzip pieces of a JSON object with the events of a trace and the metadata of `KEPT`.

    Events are as in the file, repaired where it is no JSON; of the metadata there is what `kept.py` lets through.
    Memory does not grow with the file.

    Args:
        path: a local path, or one that TensorBoard's gfile opens.
        max_bytes: longest text, decompressed; `read.MAX_BYTES` by default.

    Raises:
        TraceError: before anything is returned, where the file is no trace of torch.profiler; while pieces are
            taken, where it is cut off or damaged further on.
    """
    source = Source(path, max_bytes=MAX_BYTES if max_bytes is None else max_bytes)
    checked = _Checked()
    pieces = _packed(checked.text(source))
    head = []
    while not checked.is_torch:
        piece = next(pieces, None)
        if piece is None:
            raise TraceError(checked.refusal())
        head.append(piece)
    return itertools.chain(head, pieces)


class _Checked:
    """JSON text of the stripped trace, and whether an event of torch.profiler was in it so far."""

    def __init__(self) -> None:
        self.is_torch = False
        self._categories = Categories()
        self._names: set[str] = set()
        self._num_lists = 0

    def text(self, source: Source) -> Iterator[bytes]:
        """Yields the text. What stands behind the events in the file, follows them here too."""
        pieces = Pieces(source, decode=decode_events, wanted=KEPT)
        later: list[bytes] = []
        yield b"{"
        is_first = True
        for piece in pieces:
            if isinstance(piece, Value):
                later.append(f"{json.dumps(piece.key)}: {json.dumps(kept_value(piece.key, piece.value))}".encode())
                continue
            text = kept_events(piece)
            if not text:
                continue
            if is_first:
                yield b"".join(entry + b",\n" for entry in later) + b'"traceEvents": [\n'
                later.clear()
            if not self.is_torch:
                self.is_torch = any(self._categories.of(event) for event in piece.events if event.ph == "X")
                self._names |= foreign.some_names(piece.events)
            yield (b"" if is_first else b",\n") + text
            is_first = False
        self._num_lists = pieces.num_lists
        yield b"\n]" + b"".join(b",\n" + entry for entry in later) + b"}\n"

    def refusal(self) -> str:
        """Returns the sentence on a file without an event of torch.profiler."""
        return foreign.no_events_of_torch(self._num_lists, self._names, self._categories)


def _packed(text: Iterator[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(_LEVEL, wbits=31)
    for piece in text:
        yield packer.compress(piece)
    yield packer.flush()
