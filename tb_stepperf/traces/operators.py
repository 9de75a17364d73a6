"""The table of operators: host and device time, alone and with what they call."""

from __future__ import annotations

import dataclasses

import numpy as np

from tb_stepperf.traces.events import ABSENT, Category, TraceEvents
from tb_stepperf.traces.intervals import union
from tb_stepperf.traces.links import Links
from tb_stepperf.traces.nesting import Nesting, with_descendants
from tb_stepperf.traces.steps import Steps
from tb_stepperf.traces.summary import MAX_ROWS, OperatorRow

STEP_ROW = "ProfilerStep*"
"""The row of the steps themselves; its own time is what runs outside of all operators, annotations and calls."""


def operator_rows(
    events: TraceEvents, nesting: Nesting, links: Links, steps: Steps
) -> tuple[tuple[OperatorRow, ...], int]:
    """Returns the rows, at most `MAX_ROWS`, and how many there are.

    A row is a name with its input shapes. Calls of the device's runtime have rows too: the time in them is nobody
    else's own. Counted is what begins in the steps used (everything without steps), device work with the operator that
    started it. Totals are sums over calls, so that an operator which calls itself counts twice, as in `key_averages`.
    """
    node_ns = np.zeros(nesting.row.size, np.int64)
    known = links.node != ABSENT
    np.add.at(node_ns, links.node[known], events.duration_ns[links.row[known]])
    all_ns = with_descendants(nesting, node_ns)
    made = _named_rows(events, nesting, steps, node_ns, all_ns)
    if steps.source == "profiler":
        made.append(_step_row(events, nesting, steps, node_ns, all_ns))
    return _largest(made), len(made)


def _named_rows(
    events: TraceEvents, nesting: Nesting, steps: Steps, node_ns: np.ndarray, all_ns: np.ndarray
) -> list[OperatorRow]:
    """Rows of all but the steps themselves, in no order."""
    counted = steps.counts(events.start_ns[nesting.row]) & (events.category[nesting.row] != Category.STEP)
    node = np.flatnonzero(counted)
    is_call = nesting.stands_for[node] == node
    row = nesting.row[nesting.stands_for[node]]
    num_shapes = len(events.shapes) + 1  # and none
    key, group = np.unique(events.name[row].astype(np.int64) * num_shapes + events.shape[row] + 1, return_inverse=True)
    is_annotation = np.zeros(key.size, bool)
    is_annotation[group] = events.category[row] == Category.ANNOTATION

    def sums_ms(values_ns: np.ndarray) -> list[float]:
        return (np.bincount(group, weights=values_ns, minlength=key.size) / 1e6).tolist()

    name, shape = np.divmod(key, num_shapes)
    columns = (
        [events.names[index] for index in name],
        [events.shapes[index - 1] if index else None for index in shape],
        np.bincount(group[is_call], minlength=key.size).tolist(),
        sums_ms(nesting.self_ns[node]),
        sums_ms(events.duration_ns[nesting.row[node]] * is_call),
        sums_ms(node_ns[node]),
        sums_ms(all_ns[node] * is_call),
        is_annotation.tolist(),
    )
    return [OperatorRow(*values) for values in zip(*columns)]


def _step_row(
    events: TraceEvents, nesting: Nesting, steps: Steps, node_ns: np.ndarray, all_ns: np.ndarray
) -> OperatorRow:
    start, end = steps.start_ns[steps.used], steps.end_ns[steps.used]
    inner = nesting.row[events.category[nesting.row] != Category.STEP]
    anything = union(events.start_ns[inner], events.start_ns[inner] + events.duration_ns[inner])
    marked = (events.category[nesting.row] == Category.STEP) & np.isin(events.start_ns[nesting.row], start)
    return OperatorRow(
        name=STEP_ROW,
        shapes=None,
        num_calls=int(start.size),
        self_host_ms=float(np.sum(end - start - anything.covered(start, end)) / 1e6),
        total_host_ms=float(np.sum(end - start) / 1e6),
        self_device_ms=float(np.sum(node_ns[marked]) / 1e6),
        total_device_ms=float(np.sum(all_ns[marked]) / 1e6),
        is_annotation=True,
    )


def _largest(rows: list[OperatorRow]) -> tuple[OperatorRow, ...]:
    def order(row: OperatorRow) -> tuple[float, float, str, str]:
        return -row.self_device_ms, -row.self_host_ms, row.name, row.shapes or ""

    if len(rows) <= MAX_ROWS:
        return tuple(sorted(rows, key=order))
    rows = sorted(rows, key=lambda row: (-max(row.self_device_ms, row.self_host_ms), row.name, row.shapes or ""))
    kept, rest = rows[: MAX_ROWS - 1], rows[MAX_ROWS - 1 :]
    sums = {
        field.name: sum(getattr(row, field.name) for row in rest)
        for field in dataclasses.fields(OperatorRow)
        if field.name.endswith("_ms") or field.name == "num_calls"
    }
    summed = OperatorRow(name=f"({len(rest):,} more)", shapes=None, is_annotation=False, **sums)
    return (*sorted(kept, key=order), summed)
