"""Which operator runs within which: the call tree of every thread of the host, from times alone."""

from __future__ import annotations

import dataclasses

import numpy as np

from tb_stepperf.traces.events import ABSENT, Category, TraceEvents
from tb_stepperf.traces.names import COLLECTION, named

TOLERANCE_NS = 1000
"""Traces in whole microseconds round starts and durations: by so much a child may outlast its parent."""

_HOST = (Category.STEP, Category.ANNOTATION, Category.CPU_OP, Category.RUNTIME, Category.PYTHON)
"""From the outer to the inner of equal intervals; of Python's functions only collections."""

_CHUNK = 1 << 16
_NEVER = 1 << 62


@dataclasses.dataclass(frozen=True, eq=False)
class Nesting:
    """Operators, annotations, steps, runtime calls and collections of the host as trees, one after the other by thread.

    A node that is the only child of one of the same name repeats it (a dispatcher's second pass) and is no call of its
    own, as in `key_averages`.

    Attributes:
        row: int64, shape (num_nodes,), row of `TraceEvents`; parents come before their children.
        parent: int32, index of the node that it runs within, −1 for none.
        depth: int32, 0 without parent.
        stands_for: int32, index of the node that a repetition repeats; its own index else.
        self_ns: int64, duration without the children's.
        node_of: int32, shape (num_events,): node of a row, −1 where it is none.
    """

    row: np.ndarray
    parent: np.ndarray
    depth: np.ndarray
    stands_for: np.ndarray
    self_ns: np.ndarray
    node_of: np.ndarray


def nest(events: TraceEvents) -> Nesting:
    """Builds the call trees.

    An interval that begins within another and ends after it (an asynchronous collective) is nobody's child and has
    none.
    """
    row = _in_order(events)
    start, duration = events.start_ns[row], events.duration_ns[row]
    parent, depth = _parents(start, start + duration, events.track[row])
    has_parent = parent >= 0
    inner_ns, num_children = np.zeros(row.size, np.int64), np.bincount(parent[has_parent], minlength=row.size)
    np.add.at(inner_ns, parent[has_parent], duration[has_parent])
    name = events.name[row]
    repeats = has_parent & (name == name[parent]) & (num_children[parent] == 1)
    stands_for = np.where(repeats, parent, np.arange(row.size, dtype=np.int32))
    while np.any((further := stands_for[stands_for]) != stands_for):
        stands_for = further
    node_of = np.full(events.num_events, ABSENT, np.int32)
    node_of[row] = np.arange(row.size)
    return Nesting(row, parent, depth, stands_for, np.maximum(duration - inner_ns, 0), node_of)


def with_descendants(nesting: Nesting, values: np.ndarray) -> np.ndarray:
    """Returns each node's value plus those of all below it; shape (num_nodes,), as `values`."""
    total = values.copy()
    by_depth = np.argsort(-nesting.depth, kind="stable")
    levels = np.flatnonzero(np.diff(nesting.depth[by_depth])) + 1
    for nodes in np.split(by_depth, levels):
        if nodes.size and nesting.depth[nodes[0]] > 0:
            np.add.at(total, nesting.parent[nodes], total[nodes])
    return total


def nearest(nesting: Nesting, wanted: np.ndarray) -> np.ndarray:
    """Returns the innermost node around each, itself included, that is wanted, −1 where there is none.

    Args:
        nesting: the trees.
        wanted: bool, shape (num_nodes,).
    """
    found = np.arange(wanted.size)
    while True:
        rest = (found >= 0) & ~wanted[found]
        if not rest.any():
            return found
        found[rest] = nesting.parent[found[rest]]


def _in_order(events: TraceEvents) -> np.ndarray:
    """Rows of the host by thread, start and length; of equal ones the outer kind, then the operator begun first."""
    is_ours = np.isin(events.category, _HOST[:-1])
    is_ours |= (events.category == Category.PYTHON) & named(events, COLLECTION)
    row = np.flatnonzero(is_ours)
    kind = np.zeros(max(_HOST) + 1, np.int8)
    kind[list(_HOST)] = np.arange(len(_HOST))
    keys = (
        events.external_id[row],
        kind[events.category[row]],
        -events.duration_ns[row],
        events.start_ns[row],
        events.track[row],
    )
    return row[np.lexsort(keys)]


def _parents(start: np.ndarray, end: np.ndarray, track: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Parent and depth of each node: a loop over a stack, the only one of this room that visits events one by one."""
    parents, depths = np.empty(start.size, np.int32), np.empty(start.size, np.int32)
    open_nodes, open_ends = [-1], [_NEVER]  # what is around every thread never ends
    last_track = None
    for first in range(0, start.size, _CHUNK):  # as Python's integers, a chunk at a time
        part = slice(first, first + _CHUNK)
        found_parents, found_depths = [], []
        rows = zip(start[part].tolist(), end[part].tolist(), track[part].tolist())
        for node, (begins, ends, here) in enumerate(rows, first):
            if here != last_track:
                del open_nodes[1:], open_ends[1:]
                last_track = here
            outer_end = open_ends[-1]
            while begins >= outer_end or (ends > outer_end and outer_end - begins <= TOLERANCE_NS):
                open_nodes.pop()
                open_ends.pop()
                outer_end = open_ends[-1]
            if ends > outer_end + TOLERANCE_NS:
                found_parents.append(-1)
                found_depths.append(0)
                continue
            found_parents.append(open_nodes[-1])
            found_depths.append(len(open_nodes) - 1)
            open_nodes.append(node)
            open_ends.append(ends)
        parents[part], depths[part] = found_parents, found_depths
    return parents, depths
