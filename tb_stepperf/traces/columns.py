"""Collects events as columns: a few tens of bytes an event, whatever the file says of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tb_stepperf.errors import TraceError
from tb_stepperf.traces import foreign, numbers, vocabulary
from tb_stepperf.traces.decode import NO_ARGS, Event
from tb_stepperf.traces.events import ABSENT, Category, MemoryEvents, TraceEvents

MAX_SPAN_NS = 30 * 86_400 * 10**9
"""Longest duration, and farthest that an event lies from the middle one: 30 days."""

UNFINISHED = "unfinished event (left out)"
NEGATIVE = "event with a negative duration (left out)"
NO_TIME = "event without a usable time stamp (left out)"
FAR = "event more than 30 days from the rest of the trace (left out)"
RENAMED = "name with control characters or broken bytes (replaced)"
TOO_MANY_NAMES = f"event whose name is one too many (all of them are {vocabulary.MORE} now)"
NANOSECONDS = "file with time stamps in nanoseconds (converted)"
NOT_COMPLETE = "begin or end event (only complete events are read)"

_FARTHEST_US = 4e15
_NANOSECONDS_FROM = 10**17
"""As microseconds since 1970 this is the year 5138; as nanoseconds it is 1973."""

_TYPES = {
    "start_ns": np.int64,
    "duration_ns": np.int64,
    "category": np.uint8,
    "name": np.int32,
    "track": np.int32,
    "correlation": np.int64,
    "external_id": np.int64,
    "shape": np.int32,
}
_MEMORY_TYPES = {
    "at_ns": np.int64,
    "device": np.int32,
    "change_bytes": np.int64,
    "allocated_bytes": np.int64,
    "reserved_bytes": np.int64,
}


class Columns:
    """Events as growing columns.

    Attributes:
        categories: those that the file names, the first ones.
        some_names: names of some events, until there is one of torch.profiler.
        num_torch: events of a category that torch.profiler writes.
    """

    def __init__(self) -> None:
        self.categories = vocabulary.Categories()
        self.some_names: set[str] = set()
        self.num_torch = 0
        self._oddities: dict[str, int] = {}
        self._names = vocabulary.Texts(lambda name: "(without a name)" if name is None else str(name))
        self._shapes = vocabulary.shapes()
        self._tracks = vocabulary.Tracks()
        self._base_us: int | None = None
        self._parts: dict[str, list[np.ndarray]] = {name: [] for name in _TYPES}
        self._memory: dict[str, list[np.ndarray]] = {name: [] for name in _MEMORY_TYPES}

    def add(self, events: Sequence[Event], *, exact: bool = False) -> bool:
        """Adds events.

        Args:
            events: in the order of the file.
            exact: they are `ExactEvent`s.

        Returns:
            False where nothing was added, because the time stamps have more digits than a float holds: this wants
            `ExactEvent`s, from now on.
        """
        times = [event.ts for event in events]
        times_us = numbers.floats(times)
        if not exact and numbers.needs_exact(times, times_us):
            return False
        if self._base_us is None and np.isfinite(times_us).any():
            self._base_us = math.floor(_middle(times_us[np.isfinite(times_us)]))
        has_time = np.abs(times_us - (self._base_us or 0)) < _FARTHEST_US
        complete = np.fromiter((event.ph == "X" for event in events), dtype=bool, count=len(events))
        self._add_complete(events, times_us, has_time, complete, exact)
        if not self.num_torch:
            self.some_names |= foreign.some_names(events)
        if not complete.all():
            self._count(NOT_COMPLETE, sum(event.ph in ("B", "E") for event in events))
            self._add_memory([events[row] for row in np.flatnonzero(has_time & ~complete).tolist()])
        return True

    def finish(self) -> TraceEvents:
        """Returns what was collected, without what comes from metadata. Nothing can be added afterwards.

        Raises:
            TraceError: nothing is left.
        """
        columns = {name: _joined(self._parts.pop(name), dtype) for name, dtype in _TYPES.items()}
        memory = {name: _joined(self._memory.pop(name), dtype) for name, dtype in _MEMORY_TYPES.items()}
        middle_ns = _middle(columns["start_ns"])
        unit = self._unify_time(columns, memory, middle_ns)
        self._leave_out_the_impossible(columns, memory, middle_ns // unit)
        if not columns["start_ns"].size:
            raise TraceError(foreign.NOTHING_RECORDED)
        columns["category"] = _with_steps(columns["category"], columns["name"], tuple(self._names.texts))
        origin_ns = min(int(times.min()) for times in (columns["start_ns"], memory["at_ns"]) if times.size)
        columns["start_ns"] -= origin_ns
        memory["at_ns"] -= origin_ns
        order = np.lexsort((-columns["duration_ns"], columns["start_ns"]))
        self._count(RENAMED, self._names.num_repaired)
        self._count(TOO_MANY_NAMES, self._names.num_more)
        return TraceEvents(
            **{name: _in_order(columns.pop(name), order) for name in _TYPES},
            names=tuple(self._names.texts),
            shapes=tuple(self._shapes.texts),
            tracks=tuple(self._tracks.tracks),
            memory=_memory(memory),
            devices=(),
            origin_us=((self._base_us or 0) * 1000 // unit + origin_ns) / 1000,
            oddities=self._oddities,
        )

    def _add_complete(
        self, events: Sequence[Event], times_us: np.ndarray, has_time: np.ndarray, complete: np.ndarray, exact: bool
    ) -> None:
        base_us = self._base_us or 0
        durations_us = numbers.floats([event.dur for event in events])
        has_time = has_time & ~((times_us <= 0) & (durations_us == 0))
        ends = durations_us < _FARTHEST_US
        self._count(NO_TIME, np.count_nonzero(complete & ~has_time))
        self._count(UNFINISHED, np.count_nonzero(complete & has_time & ~ends))
        self._count(NEGATIVE, np.count_nonzero(complete & has_time & (durations_us < 0)))
        keep = complete & has_time & ends & (durations_us >= 0)
        if not keep.all():
            events = [events[row] for row in np.flatnonzero(keep).tolist()]
        if not events:
            return
        args = [event.args or NO_ARGS for event in events]
        category = [self.categories.of(event) for event in events]
        self.num_torch += np.count_nonzero(category)
        part = {
            "start_ns": [numbers.exact_ns(event.ts, base_us) for event in events]
            if exact
            else np.rint((times_us[keep] - base_us) * 1000),
            "duration_ns": np.rint(durations_us[keep] * 1000),
            "category": category,
            "name": [self._names[event.name] for event in events],
            "track": [self._tracks.of(event, found) for event, found in zip(events, category)],
            "correlation": numbers.integers([arg.correlation for arg in args]),
            "external_id": numbers.integers(
                [arg.old_external_id if arg.external_id == ABSENT else arg.external_id for arg in args]
            ),
            "shape": [self._shapes[bytes(arg.input_dims)] for arg in args],
        }
        for name, values in part.items():
            self._parts[name].append(np.asarray(values).astype(_TYPES[name], copy=False))

    def _add_memory(self, events: list[Event]) -> None:
        changes = [event for event in events if event.name == "[memory]" and event.args is not None]
        if not changes:
            return
        args = [event.args for event in changes]
        base_us = self._base_us or 0
        number = numbers.integers([arg.device_number for arg in args])
        on_host = (numbers.integers([arg.device_type for arg in args]) == 0) | (number < 0) | (number >= 1 << 31)
        part = {
            "at_ns": np.array([numbers.exact_ns(event.ts, base_us) for event in changes], dtype=np.int64),
            "device": np.where(on_host, ABSENT, number).astype(np.int32),
            "change_bytes": numbers.integers([arg.change_bytes for arg in args]),
            "allocated_bytes": numbers.integers([arg.allocated_bytes for arg in args]),
            "reserved_bytes": numbers.integers([arg.reserved_bytes for arg in args]),
        }
        for name, values in part.items():
            self._memory[name].append(values)

    def _unify_time(self, columns: dict[str, np.ndarray], memory: dict[str, np.ndarray], middle_ns: int) -> int:
        """Makes nanoseconds of all times; returns how many times too large they were."""
        if middle_ns // 1000 + (self._base_us or 0) < _NANOSECONDS_FROM:
            return 1
        for times in (columns["start_ns"], columns["duration_ns"], memory["at_ns"]):
            times //= 1000
        self._count(NANOSECONDS, 1)
        return 1000

    def _leave_out_the_impossible(
        self, columns: dict[str, np.ndarray], memory: dict[str, np.ndarray], middle_ns: int
    ) -> None:
        is_near = np.abs(columns["start_ns"] - middle_ns) <= MAX_SPAN_NS
        ends = columns["duration_ns"] <= MAX_SPAN_NS
        is_near_too = np.abs(memory["at_ns"] - middle_ns) <= MAX_SPAN_NS
        self._count(FAR, np.count_nonzero(~is_near) + np.count_nonzero(~is_near_too))
        self._count(UNFINISHED, np.count_nonzero(is_near & ~ends))
        for table, keep in ((columns, is_near & ends), (memory, is_near_too)):
            if not keep.all():
                table.update({name: values[keep] for name, values in table.items()})

    def _count(self, sentence: str, count: int) -> None:
        if count:
            self._oddities[sentence] = self._oddities.get(sentence, 0) + int(count)


def _joined(parts: list[np.ndarray], dtype: Any) -> np.ndarray:
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def _middle(values: np.ndarray) -> Any:
    """Returns the one in the middle, the lower one of two; 0 of none."""
    middle = (values.size - 1) // 2
    return np.partition(values, middle)[middle].item() if values.size else 0


def _in_order(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    values = values[order]
    values.flags.writeable = False
    return values


def _with_steps(category: np.ndarray, name: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """Tells steps and, in files of old versions, annotations from operators by their name."""
    is_step = np.array([text.startswith(vocabulary.STEP_NAME) for text in names])
    is_annotation = np.array([vocabulary.is_annotation(text) for text in names])
    on_host = np.isin(category, (Category.CPU_OP, Category.ANNOTATION))
    found = np.where(on_host & is_annotation[name], Category.ANNOTATION, category)
    return np.where(on_host & is_step[name], Category.STEP, found).astype(np.uint8)


def _memory(columns: dict[str, np.ndarray]) -> MemoryEvents | None:
    if not columns["at_ns"].size:
        return None
    order = np.argsort(columns["at_ns"], kind="stable")
    return MemoryEvents(**{name: _in_order(values, order) for name, values in columns.items()})
