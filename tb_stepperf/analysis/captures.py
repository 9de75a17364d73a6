"""Windows of `torch.profiler` that the training process recorded, and what its samples say of the time around one."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tb_stepperf.analysis.events import CAPTURE
from tb_stepperf.analysis.series import Reader, series_of
from tb_stepperf.blocks.schema import FLAGS, STEP_TIME_MS

if TYPE_CHECKING:
    from tb_stepperf.store import AttemptInfo, Table

STATES = ("written", "never_active", "failed", "skipped")
REASONS = ("scheduled", "requested", "regression", "slow_step", "reference")
PROFILER = "profiler"
"""Reason of a window of some other profiler: no record says so, its file and the samples do (`profiled`)."""

SIDE_STEPS = 200
"""Unprofiled steps on either side that a window is compared with."""

REACH_STEPS = 2000
"""How far from a window they may lie: after a long one, or a warm-up, they are not next to it."""


@dataclasses.dataclass(frozen=True)
class Capture:
    """A capture, as docs/format.md describes its record.

    Attributes:
        state: one of `STATES`.
        reason: one of `REASONS`, or `PROFILER`.
        at_step: step of the record: the first profiled one, or where it became known that there is none.
        start_step, end_step: profiled steps, half-open; None where there are none.
        about_step: step that made it necessary.
        file: name of the file, without directories.
        step_offset: training step − number of the profiler's step.
        cost_ms: time that it took in the loop.
        error: why there is no file, a sentence.
    """

    state: str
    reason: str
    at_step: int
    start_step: int | None = None
    end_step: int | None = None
    about_step: int | None = None
    file: str | None = None
    step_offset: int | None = None
    cost_ms: float | None = None
    error: str | None = None


def captures_of(attempts: Sequence[AttemptInfo]) -> list[Capture]:
    """Returns every capture of a member, in the order of the records."""
    read = (_capture(step, fields.get(CAPTURE)) for attempt in attempts for step, fields in attempt.changes)
    return [capture for capture in read if capture is not None]


def _capture(step: int, record: Any) -> Capture | None:
    """Reads a record of foreign origin; what is not one is none."""
    if not isinstance(record, Mapping) or record.get("state") not in STATES or record.get("reason") not in REASONS:
        return None
    start, end = _step(record, "start_step"), _step(record, "end_step")
    if start is None or end is None or end <= start:
        start = end = None
    offset, cost_ms, file, error = (record.get(key) for key in ("step_offset", "cost_ms", "file", "error"))
    is_number = isinstance(cost_ms, (int, float)) and not isinstance(cost_ms, bool)
    return Capture(
        state=record["state"],
        reason=record["reason"],
        at_step=step,
        start_step=start,
        end_step=end,
        about_step=_step(record, "about_step"),
        file=file if isinstance(file, str) else None,
        step_offset=offset if type(offset) is int else None,
        cost_ms=float(cost_ms) if is_number and math.isfinite(cost_ms) else None,
        error=error if isinstance(error, str) else None,
    )


def _step(record: Mapping[str, Any], key: str) -> int | None:
    value = record.get(key)
    return value if type(value) is int and 0 <= value < 2**63 else None


@dataclasses.dataclass(frozen=True, eq=False)
class Around:
    """Steps in and around a window.

    Attributes:
        table: what was read.
        inside: int64, rows in the window that have a time.
        outside: int64, usable rows next to it, at most `SIDE_STEPS` on either side.
    """

    table: Table
    inside: np.ndarray
    outside: np.ndarray

    def median_ms(self, rows: np.ndarray) -> float:
        """Returns the median step time of some rows; NaN where there are none."""
        return float(np.median(self.table.columns[STEP_TIME_MS][rows].astype(np.float64))) if rows.size else math.nan


def read_around(read: Reader, columns: Iterable[str], start_step: int, end_step: int) -> Around:
    """Reads the steps in and around a window.

    Args:
        read: reads rows of the member.
        columns: that are wanted and that the member has, besides the step time and flags.
        start_step, end_step: the window, half-open.
    """
    names = list(dict.fromkeys((STEP_TIME_MS, FLAGS, *columns)))
    table = read(names, max(start_step - REACH_STEPS, 0), end_step + REACH_STEPS)
    steps, times = table.steps, table.columns[STEP_TIME_MS]
    usable = series_of(table, "host").rows
    before = usable[steps[usable] < start_step][-SIDE_STEPS:]
    after = usable[steps[usable] >= end_step][:SIDE_STEPS]
    inside = np.flatnonzero((steps >= start_step) & (steps < end_step) & np.isfinite(times) & (times > 0))
    return Around(table, inside, np.concatenate([before, after]))
