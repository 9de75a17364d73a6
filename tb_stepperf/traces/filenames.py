"""What the name of a trace file says."""

from __future__ import annotations

import dataclasses
import re

_SUFFIX = re.compile(r"(?P<stem>.+?)(?P<sure>\.pt\.trace(?:\.json)?|\.json)(?:\.gz)?", re.DOTALL)
_STAMP = re.compile(r"(?P<worker>.+)\.(?P<stamp>[0-9]{10,19})", re.DOTALL)
_MAX_STAMP_S = 1e11
"""Stamps count seconds, or parts of them: milliseconds, microseconds, nanoseconds, as the profiler's version did."""


@dataclasses.dataclass(frozen=True)
class TraceName:
    """A file name that may be that of a trace.

    Attributes:
        worker: what stands before the time stamp, the same for all windows of a process.
        stamp_s: the time stamp in seconds since the epoch; None without one.
        is_sure: whether only the profiler names files so; else the content decides.
    """

    worker: str
    stamp_s: float | None
    is_sure: bool


def parse_name(name: str) -> TraceName | None:
    """Returns what a file name says, or None where it cannot be that of a trace."""
    match = _SUFFIX.fullmatch(name)
    if match is None:
        return None
    stem, is_sure = match["stem"], match["sure"] != ".json"
    stamped = _STAMP.fullmatch(stem)
    if stamped is None:
        return TraceName(stem, None, is_sure)
    stamp_s = float(stamped["stamp"])
    while stamp_s >= _MAX_STAMP_S:
        stamp_s /= 1000
    return TraceName(stamped["worker"], stamp_s, is_sure)
