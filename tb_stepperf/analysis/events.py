"""What happened during a run that a change may lie near: announced, noticed while it ran, or recorded."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tb_stepperf.blocks import Flag
from tb_stepperf.statistics import KINDS, Event, true_stretches

if TYPE_CHECKING:
    from tb_stepperf.analysis.series import Series
    from tb_stepperf.store import AttemptInfo

PLANNED, PROVISIONAL, CAPTURE = "planned_change", "provisional_change", "capture"
"""Keys of environment records that are about steps, not about conditions."""

MAX_NEAR_STEPS = 500
"""However long a run is, what is farther away is not near."""

SETTLED_STEPS = 60
"""Steps after a provisional change with which the analysis of the whole run decides on it."""

_FLAG_EVENTS = (
    ("profiled", Flag.PROFILED, "torch.profiler starts recording", "torch.profiler stops recording"),
    ("recompiled", Flag.RECOMPILED, "a compiler builds new code", None),
    ("alloc_retry", Flag.ALLOC_RETRY, "the device allocator frees its cache", None),
)


@dataclasses.dataclass(frozen=True)
class Provisional:
    """A change that the training process noticed while it ran.

    Attributes:
        step: first step of the new regime.
        kind: as in `statistics.Change`.
        change: relative, 0.05 = 5 % slower.
        planned: what was announced near the step, or None.
    """

    step: int
    kind: str
    change: float
    planned: str | None = None


def near_steps(num_steps: int) -> int:
    """Returns how many steps count as near in a series of `num_steps`."""
    return max(20, min(num_steps // 100, MAX_NEAR_STEPS))


def planned_changes(attempts: Sequence[AttemptInfo]) -> list[tuple[int, str]]:
    """Returns (step, what was announced) of every declared change, ascending, each once."""
    return sorted(
        {(step, str(fields[PLANNED])) for step, fields in _records(attempts) if fields.get(PLANNED) is not None}
    )


def nearest(announced: Iterable[tuple[int, str]], reach: int) -> str | None:
    """Returns the text with the smallest distance, of (distance, text), or None where that is above `reach`."""
    distance, text = min(announced, default=(reach + 1, ""))
    return text if distance <= reach else None


def open_provisional(
    attempts: Sequence[AttemptInfo], marker_steps: Sequence[int], as_of_step: int | None, num_steps: int
) -> list[Provisional]:
    """Returns the noticed changes that the analysis has neither confirmed nor had the steps to decide on.

    Args:
        attempts: of the member.
        marker_steps: where the analysis found changes.
        as_of_step: last step that it saw; None where there is no analysis.
        num_steps: steps that it used.
    """
    reach = near_steps(num_steps)
    planned = planned_changes(attempts)
    found: dict[int, Provisional] = {}
    for _, fields in _records(attempts):
        change = _provisional(fields.get(PROVISIONAL))
        if change is None or (as_of_step is not None and as_of_step >= change.step + SETTLED_STEPS):
            continue
        if all(abs(step - change.step) > reach for step in marker_steps):
            text = nearest(((abs(step - change.step), text) for step, text in planned), reach)
            found[change.step] = dataclasses.replace(change, planned=text)
    return [found[step] for step in sorted(found)]


def events_of(series: Series) -> list[Event]:
    """Returns restarts, environment changes, announced changes and profiled, recompiled or retried stretches."""
    table = series.table
    if not table.num_rows:
        return []
    starts = np.flatnonzero(np.diff(table.attempt_index, prepend=table.attempt_index[0]))
    events = [
        Event("restart", int(table.steps[row]), f"attempt {int(table.attempt_index[row]) + 1} starts") for row in starts
    ]
    for attempt in table.attempts:
        for step, fields in attempt.changes:
            told = [f"{name} is now {value}" for name, value in sorted(fields.items()) if _is_condition(name)]
            events += [Event("environment", step, text) for text in told]
    events += [Event("planned", step, text) for step, text in planned_changes(table.attempts)]
    for kind, flag, begins, ends in _FLAG_EVENTS:
        first, end = true_stretches((series.flags & flag) != 0)
        events += [Event(kind, int(table.steps[row]), begins) for row in first]
        if ends is not None:
            events += [Event(kind, int(table.steps[row]), ends) for row in end[end < table.num_rows]]
    return events


def _is_condition(name: str) -> bool:
    return name not in (PLANNED, PROVISIONAL, CAPTURE, "step", "buckets")


def _records(attempts: Sequence[AttemptInfo]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for attempt in attempts:
        yield attempt.first_step or 0, attempt.environment
        yield from attempt.changes


def _provisional(record: Any) -> Provisional | None:
    """Reads a record of foreign origin; what is not one is none."""
    if not isinstance(record, Mapping):
        return None
    step, kind, change = record.get("step"), record.get("kind"), record.get("change")
    if type(step) is not int or step < 0 or not (isinstance(kind, str) and kind in KINDS):
        return None
    if not isinstance(change, (int, float)) or isinstance(change, bool) or not math.isfinite(change):
        return None
    return Provisional(step, kind, float(change))
