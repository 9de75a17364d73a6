"""`/markers`: what is known of a member's changes; the work is done in the background."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tb_stepperf.analysis import MemberAnalysis, Thresholds, analyse_member, open_provisional, words
from tb_stepperf.analysis.as_json import Place, analysis_json, provisional_json
from tb_stepperf.analysis.series import need_clock
from tb_stepperf.plugin.analyses import Analyses
from tb_stepperf.plugin.params import Query
from tb_stepperf.plugin.view import Source

if TYPE_CHECKING:
    from tb_stepperf.store import MemberInfo


def markers_impl(source: Source, analyses: Analyses, query: Query) -> dict[str, Any]:
    """Returns the answer of `/markers`.

    Raises:
        NotFoundError: the run or the member is not there, or it has no time of the device clock.
    """
    run, member = source.find(query)
    need_clock(query.clock, member.columns, query.run)
    thresholds = Thresholds(query.min_effect, query.min_tail_effect)
    key = (source.experiment_id, query.run, member.member, query.clock, thresholds)
    known = analyses.ask(key, run.version, member.num_steps, _job(source, query, member, thresholds))
    base, place = _axis(source, query, member)
    analysis = known.analysis
    state = "computing" if known.is_pending else "done" if analysis and analysis.is_sufficient else "insufficient"
    return {
        "run": query.run,
        "member": member.member,
        "axis": query.axis,
        "base": str(base),
        "clock": query.clock,
        "min_effect": query.min_effect,
        "min_tail_effect": query.min_tail_effect,
        "state": state,
        "progress": round(known.progress, 3),
        "num_ahead": known.num_ahead,
        "num_steps_newer": _num_newer(member, analysis),
        "definition": words.definition(thresholds, query.clock),
        **_found(member, analysis, place),
    }


def _job(
    source: Source, query: Query, member: MemberInfo, thresholds: Thresholds
) -> Callable[[Callable[[float], None]], MemberAnalysis]:
    whole = dataclasses.replace(query, member=member.member, axis="step")

    def job(report: Callable[[float], None]) -> MemberAnalysis:
        present = source.outline(whole).columns
        reader = source.reader(whole, member)
        return analyse_member(reader, present, clock=query.clock, thresholds=thresholds, report=report)

    return job


def _found(member: MemberInfo, analysis: MemberAnalysis | None, place: Place) -> dict[str, Any]:
    if analysis is not None:
        steps = [marker.step for marker in analysis.markers]
        provisional = open_provisional(member.attempts, steps, analysis.as_of_step, analysis.num_steps)
        return analysis_json(analysis, provisional, place)
    unknown = ("as_of_step", "verdict", "verdict_marker", "tails", "sample")
    provisional = open_provisional(member.attempts, [], None, member.num_steps)
    return {
        "num_steps_analysed": 0,
        "markers": [provisional_json(change, place) for change in provisional],
        **dict.fromkeys(unknown),
    }


def _num_newer(member: MemberInfo, analysis: MemberAnalysis | None) -> int:
    return max(member.num_steps - (0 if analysis is None else analysis.num_rows), 0)


def _axis(source: Source, query: Query, member: MemberInfo) -> tuple[int, Place]:
    """The position of the first row, and where steps stand relative to it; a step after the last row ends the axis."""
    if query.axis == "step":
        base = member.first_step or 0
        return base, lambda step: step - base
    view = source.view(query, [])
    steps, positions = view.steps, view.positions
    base = int(positions[0]) if positions.size else 0

    def place(step: int) -> int:
        row = int(np.searchsorted(steps, step))
        return (int(positions[row]) if row < positions.size else view.axis.end) - base

    return base, place
