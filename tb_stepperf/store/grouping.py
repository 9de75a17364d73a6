"""From tags to runs, ranks, attempts and writers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence

from tb_stepperf.blocks import TagMetadata
from tb_stepperf.store.attempts import Attempt, AttemptRows
from tb_stepperf.store.provider import TagKey, TagState

MIN_OVERLAP_S = 1.0
MIN_OVERLAP_SHARE = 0.05
"""Two processes ran at the same time if the earlier went on for more than this, and for more than this share of its
own time, after the first step of the later. A restart whose predecessor lingers, or a clock that was corrected in
between, stays a restart."""

_RANK_DIRECTORY = re.compile(r"(?:(?P<run>.*)/)?rank_[0-9]+", re.DOTALL)
_DIGITS = re.compile(r"([0-9]+)")


def run_of(tb_run: str, world_size: int) -> str:
    """Returns the run that a TensorBoard run belongs to: `job` for `job/rank_3` of a job of several processes."""
    match = _RANK_DIRECTORY.fullmatch(tb_run) if world_size > 1 else None
    if match is None:
        return tb_run
    return match["run"] or "."


def natural_order(name: str) -> list[tuple[int, str]]:
    """Sort key that orders numbers within names by value: "run9" before "run10"."""
    parts = _DIGITS.split(name)
    digits = {k: part.lstrip("0") for k, part in enumerate(parts) if k % 2}
    return [(len(digits[k]), digits[k]) if k % 2 else (0, part) for k, part in enumerate(parts)] + [(0, name)]


def attempts_of_runs(tags: Mapping[TagKey, tuple[TagMetadata, TagState]]) -> dict[str, list[Attempt]]:
    """Groups tags into attempts, and attempts by run, each from old to new."""
    by_attempt: dict[tuple[str, str], dict[TagKey, tuple[TagMetadata, TagState]]] = {}
    for key, (metadata, state) in tags.items():
        by_attempt.setdefault((key.tb_run, metadata.attempt), {})[key] = metadata, state
    runs: dict[str, list[Attempt]] = {}
    for (tb_run, _), members in by_attempt.items():
        segments = sorted(
            (metadata.segment, key) for key, (metadata, _) in members.items() if metadata.kind == "blocks"
        )
        environment = next((key for key, (metadata, _) in members.items() if metadata.kind == "environment"), None)
        metadata = next(metadata for metadata, _ in members.values())
        attempt = Attempt(tb_run, metadata, {key: members[key][1] for _, key in segments}, environment)
        runs.setdefault(run_of(tb_run, metadata.world_size), []).append(attempt)
    return {run: sorted(attempts, key=lambda attempt: attempt.order) for run, attempts in runs.items()}


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
