"""The steps of a trace: as the host marked them, else inferred from the optimizer."""

from __future__ import annotations

import dataclasses

import numpy as np

from tb_stepperf.traces.events import Category, TraceEvents
from tb_stepperf.traces.names import OPTIMIZER_STEP, STEP

WHOLE_SHARE = 0.9
"""The first or last step is cut if it has less than this part of the work of every other, and of their time."""

WHOLE_SHARE_OF_ONE = 0.5
"""The same where there is just one other step: with accumulation of gradients, two steps may differ honestly."""


@dataclasses.dataclass(frozen=True, eq=False)
class Steps:
    """Steps in order.

    Attributes:
        number: int64, shape (num_steps,).
        start_ns, end_ns: int64, shape (num_steps,).
        cut: `start`, `end` or None a step, see `StepSlice`.
        source: `profiler`, `optimizer` or `none`.
        numbering: `training` or `profiler`.
    """

    number: np.ndarray
    start_ns: np.ndarray
    end_ns: np.ndarray
    cut: tuple[str | None, ...]
    source: str
    numbering: str

    @property
    def num(self) -> int:
        """Number of steps."""
        return int(self.number.shape[0])

    @property
    def used(self) -> np.ndarray:
        """Bool, shape (num_steps,): those that are not cut, or all where all are."""
        whole = np.array([cut is None for cut in self.cut], bool)
        return whole if whole.any() else np.ones(self.num, bool)

    def index_at(self, at_ns: np.ndarray) -> np.ndarray:
        """Returns the index of the step that holds each moment, −1 outside of all; int64, shape of `at_ns`."""
        if not self.num:
            return np.full(np.shape(at_ns), -1)
        index = np.searchsorted(self.start_ns, at_ns, side="right") - 1
        return np.where((index >= 0) & (at_ns < self.end_ns[index]), index, -1)

    def counts(self, at_ns: np.ndarray) -> np.ndarray:
        """Whether what begins at each moment counts: it lies in a step used, or there are no steps; bool."""
        if not self.num:
            return np.ones(np.shape(at_ns), bool)
        index = self.index_at(at_ns)
        return (index >= 0) & self.used[index]


def find_steps(events: TraceEvents) -> Steps:
    """Finds the steps of a trace.

    Steps are the host's `ProfilerStep#N`, of one thread where several repeat them. Without any, a step reaches from the
    end of one `Optimizer.step` to the end of the next (the one that is most frequent; of equally frequent ones the last
    of the loop), the first from the beginning of the trace; they are numbered from 0.

    The first or last step counts as cut if the window did not see it whole. The profiler marks a step only from when it
    records, so its length tells nothing; what tells is that fewer operators or runtime calls were recorded in it than
    in every other step, see `WHOLE_SHARE`, and that it is shorter than every other. The first inferred step always is.
    """
    marked = _marked(events)
    if marked.size:
        number = np.array([int(STEP.match(events.names[name])[1]) for name in events.name[marked]], np.int64)
        start = events.start_ns[marked]
        end = start + events.duration_ns[marked]
        cut = _cut(_work(events, start, end), end - start)
        offset = events.step_offset
        return Steps(number + (offset or 0), start, end, cut, "profiler", "profiler" if offset is None else "training")
    end = _optimizer_ends(events)
    if not end.size:
        return Steps(end, end, end, (), "none", "profiler")
    start = np.concatenate([events.start_ns[:1], end[:-1]])
    cut = ("start", *_cut(_work(events, start, end), end - start)[1:])
    return Steps(np.arange(end.size), start, end, cut, "optimizer", "profiler")


def _marked(events: TraceEvents) -> np.ndarray:
    rows = np.flatnonzero(events.category == Category.STEP)
    rows = rows[[STEP.match(events.names[name]) is not None for name in events.name[rows]]] if rows.size else rows
    tracks, num = np.unique(events.track[rows], return_counts=True)
    if tracks.size < 2:
        return rows
    of_host = events.track[np.isin(events.category, (Category.CPU_OP, Category.ANNOTATION))]
    busiest = max(range(tracks.size), key=lambda i: (num[i], np.count_nonzero(of_host == tracks[i])))
    return rows[events.track[rows] == tracks[busiest]]


def _optimizer_ends(events: TraceEvents) -> np.ndarray:
    names = [index for index, name in enumerate(events.names) if OPTIMIZER_STEP.match(name)]
    rows = np.flatnonzero(
        np.isin(events.name, names) & np.isin(events.category, (Category.ANNOTATION, Category.CPU_OP))
    )
    if not rows.size:
        return np.empty(0, np.int64)
    ends = events.start_ns[rows] + events.duration_ns[rows]
    found, num = np.unique(events.name[rows], return_counts=True)
    chosen = max(range(found.size), key=lambda i: (num[i], ends[events.name[rows] == found[i]].max()))
    return np.sort(ends[events.name[rows] == found[chosen]])


def _work(events: TraceEvents, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Operators and runtime calls that begin in each step; int64, shape (2, num_steps)."""
    counts = []
    for category in (Category.CPU_OP, Category.RUNTIME):
        begins = events.start_ns[events.category == category]
        counts.append(np.searchsorted(begins, end) - np.searchsorted(begins, start))
    return np.stack(counts)


def _cut(work: np.ndarray, duration_ns: np.ndarray) -> tuple[str | None, ...]:
    num_steps = duration_ns.size
    cut: list[str | None] = [None] * num_steps
    least = WHOLE_SHARE if num_steps > 2 else WHOLE_SHARE_OF_ONE
    for edge, side in ((0, "start"), (num_steps - 1, "end")):
        others = np.arange(num_steps) != edge
        if num_steps < 2 or duration_ns[edge] >= least * duration_ns[others].min():
            continue
        if np.any(work[:, edge] < least * work[:, others].min(axis=1)):
            cut[edge] = side
    return tuple(cut)
