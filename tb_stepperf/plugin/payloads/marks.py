"""`/marks`: what happened on the axis."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from tb_stepperf.blocks.schema import EXCLUDED_MS, STEP_TIME_MS, Flag
from tb_stepperf.plugin.params import Query
from tb_stepperf.plugin.payloads.durations import duration_text, jump_text
from tb_stepperf.plugin.view import Source, View, bounds, times
from tb_stepperf.statistics import clock_jumps, measured_ms, rows_between, true_stretches

MAX_MARKS_PER_KIND = 200
_MIN_PAUSE_S = 0.5

_STRETCHES = {"warmup": Flag.WARMUP, "profiled": Flag.PROFILED, "excluded": Flag.EXCLUDED}


@dataclasses.dataclass(frozen=True)
class _Mark:
    """A mark at absolute positions, half-open; a point has start = end."""

    kind: str
    start: int
    end: int
    label: str


@dataclasses.dataclass(frozen=True)
class _Window:
    """What is looked at: positions [start, end), rows [first_row, end_row)."""

    start: int
    end: int
    first_row: int
    end_row: int


_Found = tuple[list[_Mark], int]
"""The heaviest marks of a kind, at most `MAX_MARKS_PER_KIND`, and how many there are in range."""


def marks_impl(source: Source, query: Query) -> dict[str, Any]:
    """Returns the answer of `/marks`.

    Raises:
        NotFoundError: the run or the member is not there.
    """
    # Found in the whole run, so that a zoom cuts neither stretches nor their labels.
    view = source.view(dataclasses.replace(query, start=None, end=None), [STEP_TIME_MS, EXCLUDED_MS])
    start, end = bounds(query, view.axis)
    window = _Window(start, end, *rows_between(view.axis, start, end))
    flags = view.flags
    found = {
        "restart": _restarts(view, window),
        **{kind: _stretches(view, window, kind, (flags & flag) != 0) for kind, flag in _STRETCHES.items()},
        "gap": _gaps(view, window),
        "clock_jump": _clock_jumps(view, window, flags),
        "interrupted": _interrupted(view, window, flags),
    }
    base = int(view.axis.positions[0]) if view.table.num_rows else view.start
    shown = [mark for marks, _ in found.values() for mark in marks]
    num_marks = {kind: number for kind, (_, number) in found.items() if number}
    return {
        "run": query.run,
        "member": view.member.member,
        "axis": query.axis,
        "base": str(base),
        "marks": [
            {"kind": mark.kind, "start": mark.start - base, "end": mark.end - base, "label": mark.label}
            for mark in sorted(shown, key=lambda mark: (mark.start, mark.end, mark.kind))
        ],
        "num_marks": num_marks,
        "num_left_out": sum(num_marks.values()) - len(shown),
    }


def _restarts(view: View, window: _Window) -> _Found:
    """One point where the rows of a later attempt begin.

    An attempt without rows of its own, since later ones superseded all of them, is counted and not shown.
    """
    attempt_index, attempts = view.table.attempt_index, view.table.attempts
    rows = np.flatnonzero(np.diff(attempt_index, prepend=0))
    pauses_s = np.zeros(rows.size)
    for index, after in enumerate(attempt_index[rows].tolist()):
        ended, began = attempts[after - 1].last_wall_time_s, attempts[after].first_wall_time_s
        if ended is not None and began is not None:
            pauses_s[index] = max(began - ended, 0.0)
    chosen, num_marks = _heaviest(window, rows, rows + 1, pauses_s)
    marks = []
    for index in chosen:
        row = int(rows[index])
        before, after = int(attempt_index[row - 1]) if row else 0, int(attempt_index[row])
        parts = [f"attempt {after + 1} starts"]
        if attempts[after].process == attempts[before].process:
            parts[0] += " in the same process, because the step number went back"
        if pauses_s[index] >= _MIN_PAUSE_S:
            parts.append(f"pause of {duration_text(pauses_s[index])}")
        # Rows since the last shown attempt can only have been superseded by this one or one between.
        if num_superseded := sum(attempt.num_superseded for attempt in attempts[before:after]):
            parts.append(f"{_count(num_superseded, 'step')} superseded")
        marks.append(_point(view, "restart", row, "; ".join(parts)))
    return marks, num_marks


def _stretches(view: View, window: _Window, kind: str, mask: np.ndarray) -> _Found:
    """One range for each stretch of successive flagged rows, the longest first."""
    starts, ends = true_stretches(mask)
    if not starts.size:
        return [], 0
    values = view.column(EXCLUDED_MS if kind == "excluded" else STEP_TIME_MS)
    marks = []
    chosen, num_marks = _heaviest(window, starts, ends, ends - starts)
    for index in chosen:
        first, end = int(starts[index]), int(ends[index])
        part = values[first:end]
        total_text = duration_text(float(part[times(part)].sum(dtype=np.float64)) / 1000.0)
        label = _stretch_label(kind, end - first, total_text)
        marks.append(_Mark(kind, int(view.axis.positions[first]), view.axis.row_end(end - 1), label))
    return marks, num_marks


def _stretch_label(kind: str, num_steps: int, total_text: str) -> str:
    if kind == "excluded":
        return f"{total_text} excluded within {_count(num_steps, 'step')}"
    return f"{_count(num_steps, 'warm-up step' if kind == 'warmup' else 'profiled step')}, {total_text}"


def _gaps(view: View, window: _Window) -> _Found:
    """One range for each gap: from the row before it to the row after it."""
    steps, axis = view.table.steps, view.axis
    marks = []
    for gap in sorted(view.table.gaps, key=lambda gap: -gap.num_rows):
        if view.query.axis == "step":
            end = gap.step_after
            start = max(end - gap.num_rows, 0) if gap.step_before is None else gap.step_before + 1
        else:
            after = int(np.searchsorted(steps, gap.step_after))
            end = int(axis.positions[after]) if after < steps.size else axis.end
            start = int(axis.positions[after - 1]) if after else end
        if start < window.end and end >= window.start:  # a gap before the first row ends where the window begins
            label = f"{_count(gap.num_rows, 'step')} written but never arrived here"
            marks.append(_Mark("gap", start, end, label))
    return marks[:MAX_MARKS_PER_KIND], len(marks)


def _clock_jumps(view: View, window: _Window, flags: np.ndarray) -> _Found:
    """One point for each time that the wall clock was set while the process ran, the furthest first."""
    table = view.table
    follows = np.zeros(table.num_rows, bool)
    follows[1:] = table.attempt_index[1:] == table.attempt_index[:-1]
    step_time_ms = view.column(STEP_TIME_MS)
    elapsed_s = measured_ms(step_time_ms, view.column(EXCLUDED_MS)) / 1000.0
    # Where more than this step may have passed since the row before, only a clock that goes back proves anything.
    unknown = ~times(step_time_ms) | ((flags & (Flag.LOGGED | Flag.AFTER_INTERRUPTION)) != 0)
    unknown[1:] |= np.diff(table.steps) != 1
    elapsed_s[unknown] = np.nan
    jumps = clock_jumps(table.wall_time_s, elapsed_s, follows)
    chosen, num_marks = _heaviest(window, jumps.rows, jumps.rows + 1, np.abs(jumps.jump_s))
    marks = []
    for index in chosen:
        row = int(jumps.rows[index])
        label = f"wall clock jumped {jump_text(float(jumps.jump_s[index]))} at step {table.steps[row]}"
        marks.append(_point(view, "clock_jump", row, label))
    return marks, num_marks


def _interrupted(view: View, window: _Window, flags: np.ndarray) -> _Found:
    rows = np.flatnonzero(flags & Flag.AFTER_INTERRUPTION)
    chosen, num_marks = _heaviest(window, rows, rows + 1, np.zeros(rows.size))
    label = "first step after one that an exception cut; the cut step is counted, not sampled"
    return [_point(view, "interrupted", int(rows[index]), label) for index in chosen], num_marks


def _heaviest(window: _Window, first: np.ndarray, end: np.ndarray, weight: np.ndarray) -> tuple[list[int], int]:
    """Returns which of the row ranges `[first, end)` to show, the heaviest first, and how many are in view."""
    touching = np.flatnonzero((first < window.end_row) & (end > window.first_row))
    order = np.argsort(-weight[touching], kind="stable")[:MAX_MARKS_PER_KIND]
    return touching[order].tolist(), int(touching.size)


def _point(view: View, kind: str, row: int, label: str) -> _Mark:
    position = int(view.axis.positions[row])
    return _Mark(kind, position, position, label)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
