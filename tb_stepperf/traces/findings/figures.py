"""Figures that rules share, and how they are written."""

from __future__ import annotations

import re

from tb_stepperf.traces.facts import RunFacts
from tb_stepperf.traces.summary import BREAKDOWN, OperatorRow, TraceSummary
from tb_stepperf.traces.words import ms, percent

LIMIT = "It is a candidate, not a proven cause"


def whole_ms(summary: TraceSummary) -> float:
    """Returns the mean step, or the whole trace where no steps are marked."""
    return sum(summary.breakdown_ms) if summary.step_ms is None else summary.step_ms


def whole_name(summary: TraceSummary) -> str:
    """Returns what `whole_ms` is, in words."""
    return "the trace" if summary.step_ms is None else "the step"


def part_ms(summary: TraceSummary, part: str) -> float:
    """Returns the mean of a part of `BREAKDOWN`."""
    return summary.breakdown_ms[BREAKDOWN.index(part)]


def share(part: float, whole: float) -> float:
    """Returns part ÷ whole within [0, 1], 0 where there is no whole."""
    return min(max(part / whole, 0.0), 1.0) if whole > 0 else 0.0


def matching(summary: TraceSummary, pattern: re.Pattern[str]) -> list[OperatorRow]:
    """Returns the rows of operators whose name matches."""
    return [row for row in summary.operators if pattern.search(row.name)]


def per_step(summary: TraceSummary, total: float) -> float:
    """Returns a sum of the table of operators as a mean per step (of the whole trace without steps)."""
    return total / max(summary.num_steps_used, 1)


def of_whole(summary: TraceSummary, part: float) -> str:
    """Returns a time as part of the step: `52 % of the step (80.1 ms of 153 ms)`."""
    whole = whole_ms(summary)
    return f"{percent(share(part, whole))} of {whole_name(summary)} ({ms(part)} of {ms(whole)})"


def largest_stage(facts: RunFacts) -> str:
    """Returns where to look in the code, as a further sentence; empty where no stages are labelled."""
    if not facts.stage_shares:
        return ""
    stage, part = max(facts.stage_shares, key=lambda item: item[1])
    return f" Around the window the largest stage is {stage} ({percent(part)} of the step): look there first."
