"""The table of kernels, copies and fills, each with the operator that started it."""

from __future__ import annotations

import numpy as np

from tb_stepperf.traces.events import ABSENT, Category, TraceEvents
from tb_stepperf.traces.links import Links
from tb_stepperf.traces.names import COMMUNICATION_KERNEL, named
from tb_stepperf.traces.nesting import Nesting
from tb_stepperf.traces.steps import Steps
from tb_stepperf.traces.summary import MAX_ROWS, KernelRow

_KINDS = {Category.KERNEL: "kernel", Category.COPY: "copy", Category.SET: "set"}
_NUM_CATEGORIES = len(Category)


def kernel_rows(events: TraceEvents, nesting: Nesting, links: Links, steps: Steps) -> tuple[tuple[KernelRow, ...], int]:
    """Returns the rows, at most `MAX_ROWS`, and how many there are.

    Counted is work whose launch lies in the steps used (its own start where no launch is recorded), as in the table of
    operators: the device may come to it later.
    """
    has_launch = links.launch != ABSENT
    begins = np.where(has_launch, events.start_ns[links.launch], events.start_ns[links.row])
    chosen = np.flatnonzero(steps.counts(begins))
    row, node = links.row[chosen], links.node[chosen]
    duration = events.duration_ns[row]
    key, group = np.unique(
        events.name[row].astype(np.int64) * _NUM_CATEGORIES + events.category[row], return_inverse=True
    )
    num = np.bincount(group, minlength=key.size)
    total = np.bincount(group, weights=duration, minlength=key.size)
    longest = np.zeros(key.size, np.int64)
    np.maximum.at(longest, group, duration)
    operator = np.full(row.size, ABSENT, np.int64)
    operator[node != ABSENT] = events.name[nesting.row[node[node != ABSENT]]]
    main = _main_operator(group, operator, duration, key.size)
    of_ranks = np.zeros(key.size, bool)
    of_ranks[group] = named(events, COMMUNICATION_KERNEL)[row]
    rows = [
        KernelRow(
            name=events.names[key[i] // _NUM_CATEGORIES],
            kind="communication" if of_ranks[i] else _KINDS[Category(key[i] % _NUM_CATEGORIES)],
            num_calls=int(num[i]),
            total_ms=float(total[i] / 1e6),
            mean_us=float(total[i] / num[i] / 1e3),
            max_us=float(longest[i] / 1e3),
            operator=None if main[i] == ABSENT else events.names[main[i]],
        )
        for i in range(key.size)
    ]
    rows.sort(key=lambda kernel: (-kernel.total_ms, kernel.name))
    return _limited(rows), len(rows)


def _main_operator(group: np.ndarray, operator: np.ndarray, duration: np.ndarray, num_groups: int) -> np.ndarray:
    """Index of the name that started most of each group's time; shape (num_groups,), `ABSENT` where unknown."""
    pair, inverse = np.unique(np.stack([group, operator]), axis=1, return_inverse=True)
    time = np.bincount(inverse.ravel(), weights=duration, minlength=pair.shape[1])
    order = np.argsort(time, kind="stable")
    main = np.full(num_groups, ABSENT, np.int64)
    main[pair[0, order]] = pair[1, order]  # of several writes to a place the last, the largest, stays
    return main


def _limited(rows: list[KernelRow]) -> tuple[KernelRow, ...]:
    if len(rows) <= MAX_ROWS:
        return tuple(rows)
    rest = rows[MAX_ROWS - 1 :]
    num_calls, total_ms = sum(row.num_calls for row in rest), sum(row.total_ms for row in rest)
    max_us = max(row.max_us for row in rest)
    summed = KernelRow(f"({len(rest):,} more)", "kernel", num_calls, total_ms, total_ms / num_calls * 1e3, max_us, None)
    return (*rows[: MAX_ROWS - 1], summed)
