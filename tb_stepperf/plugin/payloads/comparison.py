"""`/comparison`: runs against runs."""

from __future__ import annotations

import dataclasses
from typing import Any

from tb_stepperf.analysis import Side, Thresholds, compare_members
from tb_stepperf.analysis.as_json import comparison_json
from tb_stepperf.analysis.series import need_clock
from tb_stepperf.plugin.cache import RecentlyUsed
from tb_stepperf.plugin.params import Query
from tb_stepperf.plugin.view import Source

ANSWER_BYTES = 1 << 16
"""What one remembered answer is counted as: two sides of 8 runs are below it."""


@dataclasses.dataclass(frozen=True)
class _Answer:
    payload: dict[str, Any]
    num_bytes: int = ANSWER_BYTES


def comparison_impl(source: Source, answers: RecentlyUsed, query: Query) -> dict[str, Any]:
    """Returns the answer of `/comparison`.

    Raises:
        NotFoundError: a run is not there, or has no time of the device clock.
    """
    baselines = [_side(source, query, run) for run in query.baseline]
    candidates = [_side(source, query, run) for run in query.candidate]
    versions = tuple(version for _, version in (*baselines, *candidates))

    def compare() -> _Answer:
        compared = compare_members(
            [side for side, _ in baselines],
            [side for side, _ in candidates],
            clock=query.clock,
            thresholds=Thresholds(query.min_effect, query.min_tail_effect),
            overrule=query.overrule == "1",
        )
        return _Answer(comparison_json(compared))

    return answers.get((source.experiment_id, query), versions, compare).payload


def _side(source: Source, query: Query, name: str) -> tuple[Side, int]:
    """The first member of a run, and the version of its data."""
    asked = dataclasses.replace(query, run=name)
    run, member = source.find(asked)
    outline = source.outline(asked)
    need_clock(query.clock, outline.columns, name)
    reader = source.reader(asked, member)
    side = Side(name, member.member, member.label, len(run.members), run.world_size, outline.columns, reader)
    return side, outline.version
