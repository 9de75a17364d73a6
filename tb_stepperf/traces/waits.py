"""The longest stretches in which the host waits, or no device works."""

from __future__ import annotations

import numpy as np

from tb_stepperf.traces.breakdown import Activity
from tb_stepperf.traces.events import Category, TraceEvents
from tb_stepperf.traces.launches import idle
from tb_stepperf.traces.names import DATA_LOADING, SYNCHRONISATION, named
from tb_stepperf.traces.nesting import Nesting
from tb_stepperf.traces.steps import Steps
from tb_stepperf.traces.summary import Wait

NUM_WAITS = 10

_MAIN_PART = 0.5


def longest_waits(events: TraceEvents, nesting: Nesting, activity: Activity, steps: Steps) -> tuple[Wait, ...]:
    """Returns the `NUM_WAITS` longest, the longest first: calls that wait for a device, for data, and idle devices.

    What begins before the first or after the last step is left out: there the profiler itself waits for the device.
    """
    found: list[tuple[int, int, str, int]] = []  # duration, start, kind, row of the call or −1
    on_host = events.category != Category.DEVICE_ANNOTATION
    within = np.ones(events.num_events, bool)
    if steps.num:
        within = (events.start_ns >= steps.start_ns[0]) & (events.start_ns < steps.end_ns[-1])
    waiting = within & (events.category == Category.RUNTIME) & named(events, SYNCHRONISATION)
    loading = within & on_host & named(events, DATA_LOADING)
    for kind, chosen in (("synchronisation", waiting), ("data", loading)):
        rows = _longest(np.flatnonzero(chosen), events.duration_ns[chosen])
        found += [(int(events.duration_ns[row]), int(events.start_ns[row]), kind, int(row)) for row in rows]
    if activity.busy is not None:
        gaps = idle(activity.busy, steps)
        longest = _longest(np.arange(gaps.num), gaps.lengths)
        found += [(int(gaps.lengths[i]), int(gaps.start[i]), "device idle", -1) for i in longest]
    found = sorted((wait for wait in found if wait[0] > 0), key=lambda wait: (-wait[0], wait[1]))[:NUM_WAITS]
    step = steps.index_at(np.array([start for _, start, _, _ in found], np.int64))
    return tuple(
        Wait(
            kind=kind,
            name=_meanwhile(events, start, start + duration) if row < 0 else _call_name(events, nesting, row),
            step=None if index < 0 else int(steps.number[index]),
            start_ms=start / 1e6,
            duration_ms=duration / 1e6,
        )
        for (duration, start, kind, row), index in zip(found, step.tolist())
    )


def _longest(values: np.ndarray, duration: np.ndarray) -> np.ndarray:
    return values[np.argsort(-duration, kind="stable")[:NUM_WAITS]]


def _call_name(events: TraceEvents, nesting: Nesting, row: int) -> str:
    """The call, with the outermost operator that makes it."""
    operator, node = None, nesting.parent[nesting.node_of[row]] if nesting.node_of[row] >= 0 else -1
    while node >= 0:
        if events.category[nesting.row[node]] == Category.CPU_OP:
            operator = events.names[events.name[nesting.row[node]]]
        node = nesting.parent[node]
    name = events.names[events.name[row]]
    return name if operator is None else f"{name} in {operator}"


def _meanwhile(events: TraceEvents, start_ns: int, end_ns: int) -> str | None:
    """What the host does: the shortest event that takes half of the stretch; None where no event does.

    Python functions (`with_stack`) are asked only where no operator, annotation or call takes half of it.
    """
    last = int(np.searchsorted(events.start_ns, end_ns))
    begins, lasts = events.start_ns[:last], events.duration_ns[:last]
    shared = np.minimum(begins + lasts, end_ns) - np.maximum(begins, start_ns)
    least = _MAIN_PART * (end_ns - start_ns)
    on_host = np.isin(events.category[:last], (Category.CPU_OP, Category.ANNOTATION, Category.RUNTIME))
    for chosen in (on_host, events.category[:last] == Category.PYTHON):
        main = np.flatnonzero(chosen & (shared >= least))
        if main.size:
            return events.names[events.name[main[np.argmin(lasts[main])]]]
    return None
