"""Whether a device starves between many short kernels."""

from __future__ import annotations

import numpy as np

from tb_stepperf.traces.breakdown import Activity
from tb_stepperf.traces.events import Category, TraceEvents
from tb_stepperf.traces.intervals import Intervals, union, without
from tb_stepperf.traces.steps import Steps
from tb_stepperf.traces.summary import Launches

SHORT_KERNEL_NS = 10_000
LEAST_GAP_NS = 1_000
SHORT_GAP_NS = 1_000_000


def find_launches(events: TraceEvents, activity: Activity, steps: Steps) -> Launches | None:
    """Returns the figures over the steps used (the whole trace without steps); None without device events."""
    if activity.busy is None:
        return None
    kernel = np.flatnonzero(events.category == Category.KERNEL)
    duration = events.duration_ns[kernel[steps.counts(events.start_ns[kernel])]]
    gap = idle(activity.busy, steps).lengths
    gap = gap[gap >= LEAST_GAP_NS]
    num_steps = max(int(np.count_nonzero(steps.used)), 1)
    gap_ns = int(gap.sum())
    return Launches(
        num_kernels_per_step=duration.size / num_steps,
        median_kernel_us=float(np.median(duration) / 1e3) if duration.size else 0.0,
        short_share=float(np.mean(duration < SHORT_KERNEL_NS)) if duration.size else 0.0,
        num_gaps=int(gap.size),
        gap_ms_per_step=gap_ns / num_steps / 1e6,
        short_gap_share=float(gap[gap < SHORT_GAP_NS].sum() / gap_ns) if gap_ns else 0.0,
    )


def idle(busy: Intervals, steps: Steps) -> Intervals:
    """Returns when no device works within the steps used; without steps between the first and the last device work."""
    if not busy.num:
        return busy
    if not steps.num:
        return without(Intervals(busy.start[:1], busy.end[-1:]), busy)
    return without(union(steps.start_ns[steps.used], steps.end_ns[steps.used]), busy)
