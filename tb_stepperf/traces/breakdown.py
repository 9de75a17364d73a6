"""What a step's time goes into: who is at work at each moment, one part of `BREAKDOWN` a moment."""

from __future__ import annotations

import dataclasses

import numpy as np

from tb_stepperf.traces.events import DEVICE_WORK, Category, TraceEvents
from tb_stepperf.traces.intervals import NOTHING, Intervals, common, joined, union, without
from tb_stepperf.traces.names import COMMUNICATION_CALL, COMMUNICATION_KERNEL, DATA_LOADING, named


@dataclasses.dataclass(frozen=True, eq=False)
class Activity:
    """When what is at work; each a set of moments over all threads and devices.

    Attributes:
        parts: of `BREAKDOWN` without the last (`other`); each moment is in one of them at most.
        busy: any device works; None without device events.
        communication: on the devices where there is a kernel of it, else as the host records it.
        overlapped: communication during which other device work runs, or on a host alone, an operator.
    """

    parts: tuple[Intervals, ...]
    busy: Intervals | None
    communication: Intervals
    overlapped: Intervals


def find_activity(events: TraceEvents) -> Activity:
    """Works out who is at work when.

    A moment belongs to the first part of `BREAKDOWN` that has an event there. A kernel of communication is no
    `kernel`: it counts as exposed communication where no other work runs. Without any device event, a collective is
    what the host records of it, and exposed where no thread computes: on gloo, that is waiting.
    """
    has_device = bool(np.any(np.isin(events.category, DEVICE_WORK)))
    of_ranks = (events.category == Category.KERNEL) & named(events, COMMUNICATION_KERNEL)
    kernel = _when(events, (events.category == Category.KERNEL) & ~of_ranks)
    copy, fill = _when(events, events.category == Category.COPY), _when(events, events.category == Category.SET)
    on_host = events.category != Category.DEVICE_ANNOTATION
    if has_device:
        communication, work = _when(events, of_ranks), joined(kernel, copy, fill)
    else:
        collective = on_host & named(events, COMMUNICATION_CALL)
        communication, work = _when(events, collective), _computing(events, collective)
    exposed = without(communication, work)
    runtime = _when(events, events.category == Category.RUNTIME)
    loading = _when(events, on_host & named(events, DATA_LOADING))
    operators = _when(events, events.category == Category.CPU_OP)
    return Activity(
        parts=_by_priority(kernel, copy, fill, exposed, runtime, loading, operators),
        busy=joined(work, communication) if has_device else None,
        communication=communication,
        overlapped=common(communication, work),
    )


def breakdown_ns(activity: Activity, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Returns each window's time in each part of `BREAKDOWN`.

    Args:
        activity: of the trace.
        start, end: int64 ns, shape (num_windows,).

    Returns:
        int64 ns, shape (num_windows, len(BREAKDOWN)); a row adds up to its window.
    """
    columns = [part.covered(start, end) for part in activity.parts]
    columns.append(end - start - np.sum(columns, axis=0, dtype=np.int64))
    return np.stack(columns, axis=1)


def _by_priority(*parts: Intervals) -> tuple[Intervals, ...]:
    taken, own = NOTHING, []
    for part in parts:
        own.append(without(part, taken))
        taken = joined(taken, part)
    return tuple(own)


def _when(events: TraceEvents, chosen: np.ndarray) -> Intervals:
    start = events.start_ns[chosen]
    return union(start, start + events.duration_ns[chosen])


def _computing(events: TraceEvents, collective: np.ndarray) -> Intervals:
    """Operators of the host without those that carry a collective: a thread that waits in one does not compute."""
    operator = events.category == Category.CPU_OP
    tracks = np.unique(events.track[operator & collective])
    working = [_when(events, operator & ~np.isin(events.track, tracks))]
    for track in tracks:
        here = operator & (events.track == track)
        working.append(without(_when(events, here), _when(events, here & collective)))
    return joined(*working)
