"""What a file is that is no trace of torch.profiler, in one sentence."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from tb_stepperf.traces.decode import Event

EMPTY = "The file is empty: the profiler has written nothing yet, or was stopped before it did."
LIST_OF_OTHERS = (
    "The file holds a JSON list, but not of events (it may be a memory timeline of torch.profiler): "
    "export the trace itself with export_chrome_trace."
)
EVENTS_OF_OTHERS = "The file holds something else than events under traceEvents: it is no trace of torch.profiler."
NO_EVENTS_KEY = "The file holds a JSON object without a list of traceEvents: it is no trace of torch.profiler."
NO_EVENTS = "The file holds a JSON list of something else than events: it is no trace of torch.profiler."
NOTHING_RECORDED = "The trace holds no complete event: the profiler recorded nothing in this window."

HEAD_BYTES = 512
"""How many first bytes `by_first_bytes` wants to see."""

_TAR_MAGIC_AT = 257
_BEGINNINGS = {
    b"PK\x03\x04": "The file is a ZIP archive: unpack it and open the trace inside.",
    b"SQLite format 3\0": "The file is an SQLite database (such as a report of Nsight Systems), not a JSON trace.",
    b"\x1f\x8b": "The file is compressed with gzip twice: unpack it once.",
    b"(\xb5/\xfd": "The file is compressed with Zstandard: unpack it, or compress it with gzip.",
    b"BZh": "The file is compressed with bzip2: unpack it, or compress it with gzip.",
    b"\xfd7zXZ": "The file is compressed with xz: unpack it, or compress it with gzip.",
    b"\xff\xfe": "The file is UTF-16 text: save it as UTF-8.",
    b"\xfe\xff": "The file is UTF-16 text: save it as UTF-8.",
    b"version https://git-lfs": "The file is a pointer of Git LFS, not the trace: fetch it with `git lfs pull`.",
}
_NUM_NAMES = 100
_NO_PHASE = "(no event)"
_HOROVOD = ("NEGOTIATE_", "CYCLE_START")


def by_first_bytes(head: bytes) -> str | None:
    """Returns a sentence on a file whose beginning tells that it is no JSON, else None."""
    if not head:
        return EMPTY
    if head[_TAR_MAGIC_AT:].startswith(b"ustar"):
        return "The file is a TAR archive: unpack it and open the trace inside."
    return next((sentence for beginning, sentence in _BEGINNINGS.items() if head.startswith(beginning)), None)


def not_json(head: bytes) -> str:
    """Returns the sentence on text that begins like neither an object nor a list."""
    head = head.lstrip()
    if not head:
        return EMPTY
    if head.startswith(b"<"):
        return "The file is an HTML or XML page, not a JSON trace: the download may have failed."
    return f"The file is not JSON: it begins with {head[:8].decode('latin-1')!a}, a trace with {{ or [."


def some_names(events: Sequence[Event]) -> set[str]:
    """Returns names of the first events but labels, from which `no_events_of_torch` may tell who wrote them."""
    return {_NO_PHASE if event.ph is None else str(event.name)[:40] for event in events[:_NUM_NAMES] if event.ph != "M"}


def no_events_of_torch(num_lists: int, names: Collection[str], categories: Collection[Any]) -> str:
    """Returns the sentence on a JSON file without a complete event that torch.profiler writes.

    Args:
        num_lists: lists of events that the file has.
        names: `some_names` of its events.
        categories: words for the categories of its complete events.
    """
    if not num_lists:
        return NO_EVENTS_KEY
    if names and all(name == _NO_PHASE for name in names):
        return NO_EVENTS
    if any(name.startswith(_HOROVOD) for name in names):
        return "The file is a Horovod timeline, not a trace of torch.profiler."
    if "Trace" in categories or not names:
        return NOTHING_RECORDED
    shown = ", ".join(sorted(ascii(word[:40]) for word in categories if isinstance(word, str))[:3])
    seen = f"its events are of {shown}" if shown else "its events have no category"
    return (
        f"The file is a Chrome trace, but not of torch.profiler (it may be TensorFlow's or a browser's): {seen}, "
        "where cpu_op or kernel should be."
    )
