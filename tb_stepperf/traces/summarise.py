"""From the events of a trace to what is said of it."""

from __future__ import annotations

import dataclasses

import numpy as np

from tb_stepperf.traces.breakdown import Activity, breakdown_ns, find_activity
from tb_stepperf.traces.events import DEVICE_WORK, Category, Device, TraceEvents
from tb_stepperf.traces.findings import find
from tb_stepperf.traces.kernels import kernel_rows
from tb_stepperf.traces.launches import find_launches
from tb_stepperf.traces.links import Links, link
from tb_stepperf.traces.memory import memory_curves
from tb_stepperf.traces.nesting import nest
from tb_stepperf.traces.notes import notes
from tb_stepperf.traces.operators import operator_rows
from tb_stepperf.traces.steps import Steps, find_steps
from tb_stepperf.traces.summary import StepSlice, TraceInfo, TraceSummary
from tb_stepperf.traces.waits import longest_waits


def summarise(events: TraceEvents) -> TraceSummary:
    """Says what a trace says.

    Findings are of the trace alone; `find` with the facts of its run finds more.
    """
    steps = find_steps(events)
    activity = find_activity(events)
    nesting = nest(events)
    links = link(events, nesting)
    operators, num_operators = operator_rows(events, nesting, links, steps)
    kernels, num_kernels = kernel_rows(events, nesting, links, steps)

    start, end = steps.start_ns[steps.used], steps.end_ns[steps.used]
    if not steps.num:
        start, end = _span(events)
    num_windows = max(start.size, 1)
    total_ns = int(np.sum(end - start))
    busy_share = None
    if activity.busy is not None:
        busy_share = _ratio(int(np.sum(activity.busy.covered(start, end))), total_ns)
    summary = TraceSummary(
        info=_info(events, steps, activity, links),
        steps=_slices(events, steps, activity),
        num_steps_used=int(np.count_nonzero(steps.used)),
        step_ms=total_ns / num_windows / 1e6 if steps.num else None,
        breakdown_ms=tuple((breakdown_ns(activity, start, end).sum(axis=0) / num_windows / 1e6).tolist()),
        device_busy_share=busy_share,
        communication_ms=float(np.sum(activity.communication.covered(start, end)) / num_windows / 1e6),
        overlapped_ms=float(np.sum(activity.overlapped.covered(start, end)) / num_windows / 1e6),
        operators=operators,
        num_operators=num_operators,
        kernels=kernels,
        num_kernels=num_kernels,
        memory=memory_curves(events),
        waits=longest_waits(events, nesting, activity, steps),
        launches=find_launches(events, activity, steps),
        findings=(),
    )
    return dataclasses.replace(summary, findings=find(summary))


def _info(events: TraceEvents, steps: Steps, activity: Activity, links: Links) -> TraceInfo:
    start, end = _span(events)
    working = _working_devices(events)
    return TraceInfo(
        num_bytes=events.num_bytes,
        num_events=events.num_events,
        span_ms=float(np.sum(end - start) / 1e6),
        rank=events.rank,
        world_size=events.world_size,
        backend=events.backend,
        devices=_device_names(events, working),
        device_bytes=min((size for device in working if (size := device.total_bytes) is not None), default=None),
        steps_from=steps.source,
        numbering=steps.numbering,
        origin_s=events.origin_us / 1e6,
        options=tuple(sorted(option for option, is_on in events.profiler.items() if is_on)),
        notes=notes(events, steps, activity, links),
    )


def _working_devices(events: TraceEvents) -> list[Device]:
    tracks = np.unique(events.track[np.isin(events.category, DEVICE_WORK)])
    numbers = {events.tracks[track].device for track in tracks}
    return [device for device in events.devices if device.number in numbers]


def _device_names(events: TraceEvents, working: list[Device]) -> tuple[str, ...]:
    """Names of the devices that work in the trace; of all that the file describes where none does."""
    return tuple(device.name for device in working if device.name is not None) or tuple(
        dict.fromkeys(device.name for device in events.devices if device.name is not None)
    )


def _slices(events: TraceEvents, steps: Steps, activity: Activity) -> tuple[StepSlice, ...]:
    start, end = steps.start_ns, steps.end_ns
    begun = events.start_ns[events.category == Category.KERNEL]
    busy = None if activity.busy is None else (activity.busy.covered(start, end) / 1e6).tolist()
    columns = (
        steps.number.tolist(),
        (start / 1e6).tolist(),
        ((end - start) / 1e6).tolist(),
        steps.cut,
        map(tuple, (breakdown_ns(activity, start, end) / 1e6).tolist()),
        [None] * steps.num if busy is None else busy,
        (activity.communication.covered(start, end) / 1e6).tolist(),
        (activity.overlapped.covered(start, end) / 1e6).tolist(),
        (np.searchsorted(begun, end) - np.searchsorted(begun, start)).tolist(),
    )
    return tuple(StepSlice(*row) for row in zip(*columns))


def _span(events: TraceEvents) -> tuple[np.ndarray, np.ndarray]:
    """The trace from its first start to its last end, as one window; none where it has no event."""
    ends = events.start_ns + events.duration_ns
    return events.start_ns[:1], ends.max(keepdims=True) if ends.size else ends


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
