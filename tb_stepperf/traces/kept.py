"""What of a trace's metadata gets into a file for others: what viewers and tools need, no more."""

from __future__ import annotations

from typing import Any

import msgspec

from tb_stepperf.traces.decode import NOT_JSON, Scalar
from tb_stepperf.traces.pieces import Events

KEPT = frozenset(
    ("schemaVersion", "displayTimeUnit", "baseTimeNanoseconds", "deviceProperties", "distributedInfo", "traceEvents")
)
"""Keys of the object that is written; nothing else of the file gets into it."""

LABELS = frozenset(
    ("process_name", "process_labels", "process_sort_index", "thread_name", "thread_sort_index")
)  # fmt: skip
"""Metadata events (`ph` is `M`) that are written."""

_OF_JOB = ("backend", "rank", "world_size", "pg_count", "pg_config", "nccl_version")


class _Names(msgspec.Struct, omit_defaults=True):
    name: Scalar = None
    labels: Scalar = None
    sort_index: Scalar = None


class _Label(msgspec.Struct, omit_defaults=True):
    """A metadata event, without whatever else stands in it."""

    name: str
    ph: str
    ts: Scalar = None
    pid: Scalar = None
    tid: Scalar = None
    args: _Names = msgspec.field(default_factory=_Names)


_LABEL = msgspec.json.Decoder(_Label)
_TEXTS = msgspec.json.Decoder(list[msgspec.Raw])


def kept_value(key: str, value: Any) -> Any:
    """Returns what is written of the value of one of `KEPT`; None where it is not what it should be.

    Of devices those are numbers and the name, of the job what PyTorch is known to write.
    """
    if key == "deviceProperties":
        entries = value if isinstance(value, list) else []
        return [_properties(entry) for entry in entries if isinstance(entry, dict)]
    if key == "distributedInfo":
        return {name: value[name] for name in _OF_JOB if name in value} if isinstance(value, dict) else None
    return value if isinstance(value, (str, int, float)) else None


def kept_events(piece: Events) -> bytes:
    """Returns the events as JSON text without the list's brackets; of metadata events, `LABELS` alone.

    What has no phase is no event, and left out.
    """
    is_event = [event.ph is not None and event.ph != "M" for event in piece.events]
    if all(is_event):
        return piece.text[1:-1]
    texts = [bytes(text) for text in _TEXTS.decode(piece.text)]
    return b",\n".join(filter(None, (text if keep else _label(text) for text, keep in zip(texts, is_event))))


def _properties(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if isinstance(value, (int, float)) or name == "name"}


def _label(text: bytes) -> bytes:
    try:
        label = _LABEL.decode(text)
    except NOT_JSON:
        return b""
    return msgspec.json.encode(label) if label.name in LABELS else b""
