"""Traces with known truth, built event by event. Times are in microseconds."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from tb_stepperf.traces.events import ABSENT, Category, Device, MemoryEvents, TraceEvents, Track

COLUMNS = {
    "start_ns": np.int64,
    "duration_ns": np.int64,
    "category": np.uint8,
    "name": np.int32,
    "track": np.int32,
    "correlation": np.int64,
    "external_id": np.int64,
    "shape": np.int32,
}


@dataclasses.dataclass(frozen=True)
class Event:
    """One event; see `event`."""

    category: Category
    name: str
    start_us: float
    duration_us: float
    track: Track
    correlation: int
    external_id: int
    shapes: str | None


def event(
    category: Category,
    name: str,
    start_us: float,
    duration_us: float,
    *,
    thread: str = "main",
    stream: int | None = None,
    correlation: int = ABSENT,
    external_id: int = ABSENT,
    shapes: str | None = None,
) -> Event:
    """An event of a thread, or of a stream of device 0 where one is given."""
    track = Track("1", thread) if stream is None else Track("0", str(stream), 0, stream)
    return Event(category, name, start_us, duration_us, track, correlation, external_id, shapes)


def step(number: int, start_us: float, duration_us: float, **more: Any) -> Event:
    return event(Category.STEP, f"ProfilerStep#{number}", start_us, duration_us, **more)


def op(name: str, start_us: float, duration_us: float, **more: Any) -> Event:
    return event(Category.CPU_OP, name, start_us, duration_us, **more)


def annotation(name: str, start_us: float, duration_us: float, **more: Any) -> Event:
    return event(Category.ANNOTATION, name, start_us, duration_us, **more)


def call(name: str, start_us: float, duration_us: float, correlation: int = ABSENT, **more: Any) -> Event:
    return event(Category.RUNTIME, name, start_us, duration_us, correlation=correlation, **more)


def kernel(name: str, start_us: float, duration_us: float, correlation: int = ABSENT, **more: Any) -> Event:
    return event(
        Category.KERNEL, name, start_us, duration_us, correlation=correlation, stream=more.pop("stream", 7), **more
    )


def copy(name: str, start_us: float, duration_us: float, correlation: int = ABSENT) -> Event:
    return event(Category.COPY, name, start_us, duration_us, correlation=correlation, stream=7)


def fill(name: str, start_us: float, duration_us: float, correlation: int = ABSENT) -> Event:
    return event(Category.SET, name, start_us, duration_us, correlation=correlation, stream=7)


def trace(*events: Event, memory: MemoryEvents | None = None, **fields: Any) -> TraceEvents:
    """The events as the reader hands them over; `fields` are further ones of `TraceEvents`."""
    ordered = sorted(events, key=lambda one: (one.start_us, -one.duration_us))
    names = list(dict.fromkeys(one.name for one in ordered))
    shapes = list(dict.fromkeys(one.shapes for one in ordered if one.shapes is not None))
    tracks = list(dict.fromkeys(one.track for one in ordered))
    rows = [
        (
            round(one.start_us * 1000),
            round(one.duration_us * 1000),
            one.category,
            names.index(one.name),
            tracks.index(one.track),
            one.correlation,
            one.external_id,
            ABSENT if one.shapes is None else shapes.index(one.shapes),
        )
        for one in ordered
    ]
    columns = {name: np.array([row[i] for row in rows], dtype) for i, (name, dtype) in enumerate(COLUMNS.items())}
    used = any(one.track.device is not None for one in ordered)
    fields.setdefault("devices", (Device(0, "NVIDIA H100", 80_000_000_000),) if used else ())
    for column in columns.values():
        column.flags.writeable = False
    return TraceEvents(
        **columns,
        names=tuple(names),
        shapes=tuple(shapes),
        tracks=tuple(tracks),
        memory=memory,
        origin_us=fields.pop("origin_us", 1_700_000_000_000_000.0),
        **fields,
    )


def tiled(events: TraceEvents, times: int) -> TraceEvents:
    """The same events over and over, one after the other: a long trace of the same kind."""
    span_ns = int((events.start_ns + events.duration_ns).max()) + 1000
    columns = {name: np.tile(getattr(events, name), times) for name in COLUMNS}
    turn = np.repeat(np.arange(times), events.num_events)
    columns["start_ns"] = columns["start_ns"] + turn * span_ns
    for name in ("correlation", "external_id"):
        apart = int(columns[name].max()) + 1
        columns[name] = np.where(columns[name] == ABSENT, ABSENT, columns[name] + turn * apart)
    return dataclasses.replace(events, **columns)
