"""Which operator of the host started which work of a device."""

from __future__ import annotations

import dataclasses

import numpy as np

from tb_stepperf.traces.events import ABSENT, DEVICE_WORK, Category, TraceEvents
from tb_stepperf.traces.nesting import TOLERANCE_NS, Nesting, nearest


@dataclasses.dataclass(frozen=True, eq=False)
class Links:
    """Device work and its origin.

    Attributes:
        row: int64, shape (num_device_events,), rows of `TraceEvents`: kernels, copies and fills.
        launch: int64, row of the runtime call that started each; `ABSENT` where that is not recorded.
        node: int64, index into `Nesting` of the operator, annotation or step that started each; `ABSENT` likewise.
    """

    row: np.ndarray
    launch: np.ndarray
    node: np.ndarray


def link(events: TraceEvents, nesting: Nesting) -> Links:
    """Links device work to operators.

    The runtime call has the same correlation as the work. The operator is the one whose external id call or work
    carries, if the call lies within it (some versions put the call's own number there, which may be another operator's
    id), else the innermost one around the call.
    """
    row = np.flatnonzero(np.isin(events.category, DEVICE_WORK))
    calls = np.flatnonzero((events.category == Category.RUNTIME) & (events.correlation != ABSENT))
    launch = _matching(events.correlation[row], events.correlation[calls], calls)
    launched = np.flatnonzero(launch != ABSENT)
    operator = np.isin(events.category[nesting.row], (Category.CPU_OP, Category.ANNOTATION, Category.STEP))
    node = np.full(row.size, ABSENT, np.int64)
    node[launched] = nearest(nesting, operator)[nesting.node_of[launch[launched]]]
    by_id = _by_id(events, nesting, operator, row, launch)
    return Links(row, launch, np.where(by_id != ABSENT, by_id, node))


def _by_id(
    events: TraceEvents, nesting: Nesting, operator: np.ndarray, row: np.ndarray, launch: np.ndarray
) -> np.ndarray:
    """The node with the external id of each device event or its call, if that lies within; else `ABSENT`."""
    identity = events.external_id[row].copy()
    unnamed = (identity == ABSENT) & (launch != ABSENT)
    identity[unnamed] = events.external_id[launch[unnamed]]
    named = np.flatnonzero(operator & (events.external_id[nesting.row] != ABSENT))
    node = _matching(identity, events.external_id[nesting.row[named]], named)
    found = np.flatnonzero(node != ABSENT)
    outer, call = nesting.row[node[found]], launch[found]
    has_call = call != ABSENT
    begins = np.where(has_call, events.start_ns[call], events.start_ns[row[found]])
    is_after = begins >= events.start_ns[outer] - TOLERANCE_NS
    is_inside = begins <= events.start_ns[outer] + events.duration_ns[outer] + TOLERANCE_NS
    is_here = events.track[outer] == events.track[call]
    node[found[~(is_after & (~has_call | (is_inside & is_here)))]] = ABSENT
    return node


def _matching(wanted: np.ndarray, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """For each wanted key the value of the first equal key, `ABSENT` where the key is absent or unknown."""
    found = np.full(wanted.shape, ABSENT, np.int64)
    if not keys.size:
        return found
    order = np.argsort(keys, kind="stable")
    at = np.searchsorted(keys[order], wanted)
    at[at == keys.size] = 0
    hit = (wanted != ABSENT) & (keys[order[at]] == wanted)
    found[hit] = values[order[at[hit]]]
    return found
