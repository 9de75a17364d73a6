"""`analyse_member`: the changes of one member, each with its stages, and what its slowest steps coincide with."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from tb_stepperf.analysis.attribute import MAX_STEPS, attribute
from tb_stepperf.analysis.events import events_of, near_steps, nearest, planned_changes
from tb_stepperf.analysis.series import STEP_TIME, Reader, Series, sample_of, series_of
from tb_stepperf.blocks import Flag, stage_column
from tb_stepperf.blocks.schema import BUCKET, EXCLUDED_MS, FLAGS, GC_MS
from tb_stepperf.statistics import Attribution, Change, Event, TailCauses, find_changes, tail_causes

MIN_STEPS = 60
"""Usable steps below which there is no verdict."""

_MIN_TAIL_STEPS = 100
_MIN_LEVEL_STEPS = 1000
_DATA_STAGE = "data"
_FOUND = 0.6


@dataclasses.dataclass(frozen=True)
class Thresholds:
    """Smallest relative change of the typical step, and of p95, that is worth a marker; 0.03 = 3 %."""

    min_effect: float = 0.03
    min_tail_effect: float = 0.05


@dataclasses.dataclass(frozen=True)
class Marker:
    """A change of the step time, in step numbers.

    Attributes:
        change: as found; its `step` and `end_step` count usable steps.
        step: first step of the new regime.
        end_step: first step after it, or None; see `statistics.Change`.
        before, after: the steps compared, [start, end) in step numbers.
        recovers: whether this is the return from the marker before, whose `end_step` it is.
        planned: what was announced near the step, or None.
        attribution: which stages make it; None where a side has too few steps.
    """

    change: Change
    step: int
    end_step: int | None
    before: tuple[int, int]
    after: tuple[int, int]
    recovers: bool = False
    planned: str | None = None
    attribution: Attribution | None = None

    @property
    def name(self) -> str:
        """Identity within the member, the same in a later analysis that finds the change at the same step."""
        return f"{self.change.kind}-{self.step}"


@dataclasses.dataclass(frozen=True)
class MemberAnalysis:
    """What there is to say of a member's step time.

    Attributes:
        clock: "host" or "device".
        thresholds: what was worth a marker.
        num_steps: usable steps.
        num_rows: rows that the member had.
        as_of_step: last of its rows; None where it has none.
        version: `Table.version` of what was analysed.
        markers: ascending by step.
        tails: what the slowest steps coincide with; None below 100 usable steps.
        tails_since: step from which on that was asked, the begin of the present level; None for the whole run.
        sample: see `series.sample_of`.
    """

    clock: str
    thresholds: Thresholds
    num_steps: int
    num_rows: int
    as_of_step: int | None
    version: int
    markers: tuple[Marker, ...]
    tails: TailCauses | None
    tails_since: int | None
    sample: Mapping[str, Any]

    @property
    def is_sufficient(self) -> bool:
        """Whether there are enough usable steps for a verdict."""
        return self.num_steps >= MIN_STEPS


def analyse_member(
    read: Reader,
    present: Collection[str],
    *,
    clock: str = "host",
    thresholds: Thresholds | None = None,
    report: Callable[[float], None] = lambda progress: None,
) -> MemberAnalysis:
    """Finds the changes of a member, puts them down to stages, and looks at its slowest steps.

    Warm-up, profiled and first steps are left out, as in all statistics.

    Args:
        read: reads rows of the member.
        present: its columns.
        clock: "host" or "device".
        thresholds: by default 3 % of the typical step, and 5 % of p95.
        report: called with the progress in [0, 1].

    Raises:
        ArgumentError: a threshold is out of range.
    """
    thresholds = thresholds or Thresholds()
    wanted = (FLAGS, STEP_TIME[clock], GC_MS, EXCLUDED_MS, BUCKET, stage_column(_DATA_STAGE))
    table = read([name for name in wanted if name in present], None, None)
    series = series_of(table, clock)
    report(0.1)
    markers = _markers(series, thresholds)
    report(_FOUND)
    if markers:
        events, reach = events_of(series), near_steps(series.num_used)
        for index, marker in enumerate(markers):
            markers[index] = _attributed(marker, series, read, present, events, reach)
            report(_FOUND + (1 - _FOUND) * (index + 1) / len(markers))
    since = _present_level(series, markers)
    return MemberAnalysis(
        clock=clock,
        thresholds=thresholds,
        num_steps=series.num_used,
        num_rows=table.num_rows,
        as_of_step=int(table.steps[-1]) if table.num_rows else None,
        version=table.version,
        markers=tuple(markers),
        tails=_tails(series, since or 0),
        tails_since=since,
        sample=sample_of(table, series.selection),
    )


def _markers(series: Series, thresholds: Thresholds) -> list[Marker]:
    if series.num_used < MIN_STEPS:
        return []
    steps = series.steps
    buckets = series.buckets
    changes = find_changes(
        series.step_time_ms,
        min_effect=thresholds.min_effect,
        min_tail_effect=thresholds.min_tail_effect,
        bucket=buckets,
    )
    announced = [(int(np.searchsorted(steps, step)), text) for step, text in planned_changes(series.table.attempts)]
    reach = near_steps(series.num_used)
    ends = {change.end_step for change in changes if change.kind in ("regression", "improvement")}
    return [
        Marker(
            change=change,
            step=int(steps[change.step]),
            end_step=None if change.end_step is None else int(steps[change.end_step]),
            before=_range(steps, change.step - change.num_before, change.step),
            after=_range(steps, *_rows_after(change)),
            recovers=change.kind in ("regression", "improvement") and change.step in ends,
            planned=nearest(((abs(row - change.step), text) for row, text in announced), reach),
        )
        for change in changes
    ]


def _rows_after(change: Change) -> tuple[int, int]:
    """The usable steps [start, end) of the side after; of a transient, those within it."""
    start = change.step
    if change.kind in ("ramp", "drift") and change.end_step is not None:
        start = change.end_step
    return start, start + change.num_after


def _range(steps: np.ndarray, start: int, end: int) -> tuple[int, int]:
    """Step numbers [first, last + 1) of the usable steps [start, end), which may reach beyond them."""
    start, end = max(start, 0), min(end, steps.size)
    if end <= start:
        at = int(steps[min(start, steps.size - 1)])
        return at, at
    return int(steps[start]), int(steps[end - 1]) + 1


def _attributed(
    marker: Marker, series: Series, read: Reader, present: Collection[str], events: Sequence[Event], reach: int
) -> Marker:
    """Adds the attribution, from the steps of each side that are nearest to the change."""
    steps = series.steps
    rows_before, rows_after = (np.searchsorted(steps, bounds).tolist() for bounds in (marker.before, marker.after))
    before = _range(steps, max(rows_before[0], rows_before[1] - MAX_STEPS), rows_before[1])
    after = _range(steps, rows_after[0], min(rows_after[1], rows_after[0] + MAX_STEPS))
    stride = max(1, (int(steps[-1]) - int(steps[0])) // max(steps.size - 1, 1))
    attribution = attribute(
        [(read, present, *before)],
        [(read, present, *after)],
        clock=series.clock,
        change_step=marker.step,
        events=events,
        near_steps=reach * stride,
    )
    return dataclasses.replace(marker, attribution=attribution)


def _present_level(series: Series, markers: Sequence[Marker]) -> int | None:
    """First step of the level that holds at the end, if it is long enough to have slowest steps of its own."""
    borders = [
        marker.end_step if marker.change.kind == "ramp" and marker.end_step is not None else marker.step
        for marker in markers
        if marker.change.kind in ("regression", "improvement", "ramp")
    ]
    since = max(borders, default=None)
    return since if since is not None and np.count_nonzero(series.steps >= since) >= _MIN_LEVEL_STEPS else None


def _tails(series: Series, since: int) -> TailCauses | None:
    """Asks of the usable steps from `since` on and, since a user waits for them too, first ones of later attempts."""
    table = series.table
    times = table.columns.get(STEP_TIME[series.clock])
    if times is None:
        return None
    is_restart = np.zeros(table.num_rows, bool)
    is_restart[1:] = np.diff(table.attempt_index) != 0
    asked = np.zeros(table.num_rows, bool)
    asked[series.rows] = True
    asked |= is_restart & np.isfinite(times) & (times > 0)
    rows = np.flatnonzero(asked & (table.steps >= since))
    if rows.size < _MIN_TAIL_STEPS:
        return None
    flags = series.flags[rows]

    def is_above_zero(column: str) -> np.ndarray:
        values = table.columns.get(column)
        return np.zeros(rows.size, bool) if values is None else values[rows] > 0

    data_ms = table.columns.get(stage_column(_DATA_STAGE))
    causes = {
        "gc": ((flags & Flag.GC) != 0) | is_above_zero(GC_MS),
        "recompiled": (flags & Flag.RECOMPILED) != 0,
        "excluded": ((flags & Flag.EXCLUDED) != 0) | is_above_zero(EXCLUDED_MS),
        "alloc_retry": (flags & Flag.ALLOC_RETRY) != 0,
        "restart": is_restart[rows],
    }
    return tail_causes(
        times[rows],
        {name: carried for name, carried in causes.items() if carried.any()},
        parts_ms={} if data_ms is None else {"data_wait": data_ms[rows]},
    )
