"""What people should know of a file before they believe its figures."""

from __future__ import annotations

import numpy as np

from tb_stepperf.traces.breakdown import Activity
from tb_stepperf.traces.events import ABSENT, Category, TraceEvents
from tb_stepperf.traces.links import Links
from tb_stepperf.traces.names import COMMUNICATION_CALL, named
from tb_stepperf.traces.steps import Steps
from tb_stepperf.traces.words import ms, percent

UNKNOWN_SHARE = 0.05
"""Device time without a recorded launch is noted from this part on."""

LATE_SHARE = 0.5
"""Device work that goes on after the last step for more than this part of a step is noted."""

_TO_MARK_STEPS = (
    "To have them marked, give the profiler a schedule and call prof.step() after each step, or record with "
    "perf.profile(), which perf.step() advances."
)


def notes(events: TraceEvents, steps: Steps, activity: Activity, links: Links) -> tuple[str, ...]:
    """Returns the sentences: what is missing and how to record it, what is odd, what the reader repaired."""
    found = [*_of_steps(events, steps), *_of_device(events, steps, activity), *_of_launches(events, links)]
    found += _of_rank(events, activity)
    found += _of_options(events)
    found += [f"{num:,} × {what}." for what, num in events.oddities.items()]
    return tuple(found)


def _of_steps(events: TraceEvents, steps: Steps) -> list[str]:
    found = []
    if steps.source == "none":
        return [f"No steps are marked, so the figures are of the whole trace. {_TO_MARK_STEPS}"]
    if steps.source == "optimizer":
        found.append(
            f"No steps are marked: they are inferred, one each Optimizer.step, and numbered from 0. {_TO_MARK_STEPS}"
        )
    whole = [cut is None for cut in steps.cut]
    found += [
        f"Step {number:,} may be cut by the {cut} of the window and is left out of means and tables."
        for number, cut in zip(steps.number.tolist(), steps.cut)
        if cut is not None and any(whole)
    ]
    if not any(whole):
        found.append("Every step may be cut by the window; means and tables are over all of them.")
    elif sum(whole) == 1:
        found.append("Means are of a single step.")
    inner = events.category != Category.STEP
    if steps.source == "profiler" and inner.any():
        span_ns = int((events.start_ns + events.duration_ns)[inner].max() - events.start_ns[inner].min())
        found += [
            f"Step {number:,} is marked as {ms(duration / 1e6)} long, longer than all else that is recorded "
            f"({ms(span_ns / 1e6)}): most of it is not covered."
            for number, duration in zip(steps.number.tolist(), (steps.end_ns - steps.start_ns).tolist())
            if duration > 2 * span_ns
        ]
    return found


def _of_device(events: TraceEvents, steps: Steps, activity: Activity) -> list[str]:
    found = []
    if not np.any(np.isin(events.category, (Category.CPU_OP, Category.ANNOTATION))):
        found.append("No operators of the host. Record with ProfilerActivity.CPU to see what starts the device's work.")
    if activity.busy is None:
        asked = "names a device but holds" if any(device.name for device in events.devices) else "holds"
        found.append(
            f"The file {asked} no device work: nothing ran on one, it was recorded without its ProfilerActivity (such "
            "as CUDA), or another profiler had the device. Times are the host's alone."
        )
        if np.any(named(events, COMMUNICATION_CALL)):
            found.append(
                "Communication is what the host records of it. On gloo that is the transfer; on NCCL just its start."
            )
    elif steps.num:
        worked_until = int(activity.busy.end.max()) if activity.busy.num else 0
        late_ns, step_ns = worked_until - int(steps.end_ns[-1]), float(np.mean(steps.end_ns - steps.start_ns))
        if late_ns > LATE_SHARE * step_ns:
            found.append(
                f"The device works on for {ms(late_ns / 1e6)} after the last step: the host runs ahead, and steps "
                "of the host show earlier steps' work of the device."
            )
    return found


def _of_launches(events: TraceEvents, links: Links) -> list[str]:
    duration = events.duration_ns[links.row]
    unknown = float(duration[links.node == ABSENT].sum() / max(duration.sum(), 1))
    if unknown < UNKNOWN_SHARE:
        return []
    return [
        f"{percent(unknown)} of the device's time has no recorded launch (it was started before the recording, or "
        "calls were not recorded): no operator is charged with it."
    ]


def _of_rank(events: TraceEvents, activity: Activity) -> list[str]:
    if events.rank is not None or not (events.backend or activity.communication.num):
        return []
    return [
        "Ranks communicate, but the file does not say which rank it is of (no rank in distributedInfo): whose windows "
        "are compared is yours to know."
    ]


def _of_options(events: TraceEvents) -> list[str]:
    found = []
    if not np.any(events.shape != ABSENT):
        found.append("No input shapes. Record with record_shapes=True to have operators told apart by shape.")
    if events.memory is None:
        found.append("No memory. Record with profile_memory=True for its curve and peak.")
    return found
