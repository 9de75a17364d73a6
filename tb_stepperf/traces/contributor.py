"""Names what contributes most to a change between two windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tb_stepperf.traces.names import SYNCHRONISATION
from tb_stepperf.traces.operators import STEP_ROW
from tb_stepperf.traces.words import ms, number, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tb_stepperf.traces.compare import OperatorChange, PartChange

MAIN_SHARE = 0.5
"""From this part of the change on, something holds most of it."""

LEAST_SHARE = 0.05
"""What contributes less is not worth a name."""

PREFERRED_SHARE = 0.8
"""Waits and annotations grow with what they wait for: an operator that changed by this part of theirs is named."""

CALLS_SHARE = 0.1
"""A change of the number of calls by this part is said."""

_PART_WORDS = {
    "kernel": "kernels",
    "copy": "copies",
    "set": "fills of memory",
    "exposed_communication": "communication that nothing hides",
    "runtime": "calls of the device's runtime",
    "data_loading": "data loading",
    "cpu_operators": "operators of the host",
    "other": "code outside of operators",
}


def contributor_text(
    change_ms: float, per: str, parts: Sequence[PartChange], operators: Sequence[OperatorChange]
) -> str:
    """Returns where a change lies, as the ending of a sentence; empty where nothing contributes enough.

    Args:
        change_ms: of the step, not 0.
        per: `step` or `trace`.
        parts: of the step.
        operators: all of them.
    """
    part = max(parts, key=lambda part: part.change_ms / change_ms)
    part_share = part.change_ms / change_ms
    operator = _main_operator(change_ms, operators)
    share = 0.0 if operator is None else operator.change_ms / change_ms
    if operator is not None and share >= MAIN_SHARE:
        return f", {_most(share)} in {_figures(operator, per)}"
    named = "" if operator is None or share < LEAST_SHARE else f"{_figures(operator, per)} ({percent(share)})"
    if part_share >= MAIN_SHARE:
        text = f", {_most(part_share)} in {_PART_WORDS[part.part]}: {number(part.before_ms)} → {ms(part.after_ms)}"
        return f"{text} a {per}" + (f"; of single operators most in {named}" if named else "")
    return f", spread over many operators; most in {named}" if named else ""


def _main_operator(change_ms: float, operators: Sequence[OperatorChange]) -> OperatorChange | None:
    if not operators:
        return None
    largest = max(operators, key=lambda operator: operator.change_ms / change_ms)
    working = [one for one in operators if not one.is_annotation and not SYNCHRONISATION.search(one.name)]
    best = max(working, key=lambda operator: operator.change_ms / change_ms, default=largest)
    return best if best.change_ms / change_ms >= PREFERRED_SHARE * (largest.change_ms / change_ms) else largest


def _most(share: float) -> str:
    if share > 1.05:
        return f"more than all of it ({percent(share)})"
    return f"most of it ({percent(min(share, 1.0))})"


def _figures(operator: OperatorChange, per: str) -> str:
    name = _PART_WORDS["other"] if operator.name == STEP_ROW else operator.name
    text = f"{name}: {number(operator.before_ms)} → {ms(operator.after_ms)} a {per}"
    if abs(operator.after_calls - operator.before_calls) >= CALLS_SHARE * max(operator.before_calls, 1e-9):
        text += f", {number(operator.before_calls)} → {number(operator.after_calls)} calls"
    return text
