"""Tells processes that followed each other from processes that wrote at the same time."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from tb_stepperf.store.rows import AttemptRows

MIN_OVERLAP_S = 1.0
MIN_OVERLAP_SHARE = 0.05
"""Two processes ran at the same time if the earlier went on for more than this, and for more than this share of its
own time, after the first step of the later. A restart whose predecessor lingers, or a clock that was corrected in
between, stays a restart."""


def writers(attempts: Iterable[AttemptRows]) -> list[list[AttemptRows]]:
    """Splits the attempts of one rank into writers, so that no two processes of a writer ran at the same time.

    Each process, in the order of starting, continues the first writer that it did not run beside: restarts of one
    process stay one writer, and three processes that are restarted together stay three.

    Args:
        attempts: attempts of one rank.

    Returns:
        Attempts from old to new, per writer; at least one writer if there is an attempt.
    """
    processes: dict[str, list[AttemptRows]] = {}
    for rows in sorted(attempts, key=lambda rows: rows.attempt.order):
        processes.setdefault(rows.attempt.metadata.process, []).append(rows)
    found: list[list[list[AttemptRows]]] = []
    for process in processes.values():
        for writer in found:
            if not any(_concurrent(earlier, process) for earlier in writer):
                writer.append(process)
                break
        else:
            found.append([process])
    return [sorted(itertools.chain.from_iterable(writer), key=lambda rows: rows.attempt.order) for writer in found]


def _concurrent(earlier: Sequence[AttemptRows], later: Sequence[AttemptRows]) -> bool:
    spans = [_span(earlier), _span(later)]
    if None in spans:
        return False
    (first_s, last_s), (later_first_s, _) = sorted(span for span in spans if span is not None)
    return last_s - later_first_s > max(MIN_OVERLAP_S, MIN_OVERLAP_SHARE * (last_s - first_s))


def _span(process: Sequence[AttemptRows]) -> tuple[float, float] | None:
    """Wall time of the first and the last row of a process, or None where it has no rows."""
    first = next((rows.first_wall_time_s for rows in process if rows.first_wall_time_s is not None), None)
    last = next((rows.last_wall_time_s for rows in reversed(process) if rows.last_wall_time_s is not None), None)
    return None if first is None or last is None else (first, last)
