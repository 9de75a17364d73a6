"""Two windows side by side: what changed, per operator and per part of the step."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from typing import Any

from tb_stepperf.traces.contributor import contributor_text
from tb_stepperf.traces.differences import differences
from tb_stepperf.traces.summary import BREAKDOWN, TraceSummary
from tb_stepperf.traces.words import ms, number

MAX_OPERATORS = 200

DEVICE_PARTS = ("kernel", "copy", "set", "exposed_communication")

SAME_SHARE = 0.01
"""Steps that differ by no more than this part are said to take the same time."""

DEVICE_CHANGE_SHARE = 0.5
"""Where both windows have device work, operators are compared on the device's clock if at least this part of the change
lies in the parts of the device, else on the host's: a slower loader changes nothing on the device."""


@dataclasses.dataclass(frozen=True)
class PartChange:
    """A part of `BREAKDOWN`, a mean per step each."""

    part: str
    before_ms: float
    after_ms: float
    change_ms: float


@dataclasses.dataclass(frozen=True)
class OperatorChange:
    """What an operator contributes to the change.

    Attributes:
        name: in both windows, all input shapes together; `ProfilerStep*` is what runs outside of all operators.
        is_annotation: a `record_function`, not an operator.
        change_ms: of its own time, per step.
        share: of the change of the step; None where that did not change. Others may take less, so it may exceed 1.
        before_ms, after_ms: own time per step.
        before_calls, after_calls: per step.
        before_mean_us, after_mean_us: own time a call; None without a call.
    """

    name: str
    is_annotation: bool
    change_ms: float
    share: float | None
    before_ms: float
    after_ms: float
    before_calls: float
    after_calls: float
    before_mean_us: float | None
    after_mean_us: float | None


@dataclasses.dataclass(frozen=True)
class WindowComparison:
    """What changed from one window to another.

    Attributes:
        basis: `device` or `host`, the clock of the operators' times.
        per: `step`, or `trace` where one of them marks no step.
        before_ms, after_ms, change_ms: the mean step (the trace).
        parts: of `BREAKDOWN`, in its order.
        operators: the largest absolute change first, at most `MAX_OPERATORS`.
        num_operators: in both windows together.
        sentence: the change and its largest contributor.
        notes: what makes the two hard to compare.
    """

    basis: str
    per: str
    before_ms: float
    after_ms: float
    change_ms: float
    parts: tuple[PartChange, ...]
    operators: tuple[OperatorChange, ...]
    num_operators: int
    sentence: str
    notes: tuple[str, ...]


def compare_windows(before: TraceSummary, after: TraceSummary) -> WindowComparison:
    """Compares two windows, operators by name: two vendors share no kernel name, but operators.

    Args:
        before: the first window: the earlier one, or the baseline.
        after: the second window: the later one, or the candidate.
    """
    per = "step" if before.num_steps_used and after.num_steps_used else "trace"
    before_ms, after_ms = _whole_ms(before, per), _whole_ms(after, per)
    change_ms = after_ms - before_ms
    parts = tuple(
        PartChange(part, old, new, new - old)
        for part, old, new in zip(BREAKDOWN, _parts_ms(before, per), _parts_ms(after, per))
    )
    basis = _basis(before, after, parts, before_ms, change_ms)
    operators = _operators(before, after, basis, per, change_ms)
    return WindowComparison(
        basis=basis,
        per=per,
        before_ms=before_ms,
        after_ms=after_ms,
        change_ms=change_ms,
        parts=parts,
        operators=tuple(operators[:MAX_OPERATORS]),
        num_operators=len(operators),
        sentence=_sentence(per, before_ms, after_ms, parts, operators),
        notes=differences(before, after),
    )


def to_json(comparison: WindowComparison) -> dict[str, Any]:
    """Returns the comparison as JSON-able values: keys are the attributes' names, tuples are lists."""
    return dataclasses.asdict(comparison)


def _num_windows(summary: TraceSummary, per: str) -> int:
    return max(summary.num_steps_used, 1) if per == "step" else 1


def _whole_ms(summary: TraceSummary, per: str) -> float:
    return sum(_parts_ms(summary, per)) if summary.step_ms is None or per == "trace" else summary.step_ms


def _parts_ms(summary: TraceSummary, per: str) -> tuple[float, ...]:
    """Means per step, or sums over the steps used (over the trace without steps)."""
    num_steps = 1 if per == "step" else max(summary.num_steps_used, 1)
    return tuple(part * num_steps for part in summary.breakdown_ms)


def _basis(
    before: TraceSummary, after: TraceSummary, parts: tuple[PartChange, ...], before_ms: float, change_ms: float
) -> str:
    if before.device_busy_share is None or after.device_busy_share is None:
        return "host"
    on_device = sum(part.change_ms for part in parts if part.part in DEVICE_PARTS)
    if _is_same(before_ms, change_ms) or on_device / change_ms >= DEVICE_CHANGE_SHARE:
        return "device"
    return "host"


def _is_same(before_ms: float, change_ms: float) -> bool:
    return abs(change_ms) <= SAME_SHARE * before_ms


def _operators(
    before: TraceSummary, after: TraceSummary, basis: str, per: str, change_ms: float
) -> list[OperatorChange]:
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0] * 4)  # own ms and calls, before and after
    is_annotation: dict[str, bool] = {}
    for side, summary in enumerate((before, after)):
        num_windows = _num_windows(summary, per)
        for row in _without_rest(summary):
            own_ms = row.self_device_ms if basis == "device" else row.self_host_ms
            sums[row.name][side] += own_ms / num_windows
            sums[row.name][2 + side] += row.num_calls / num_windows
            is_annotation[row.name] = row.is_annotation
    changes = [
        OperatorChange(
            name=name,
            is_annotation=is_annotation[name],
            change_ms=new - old,
            share=(new - old) / change_ms if change_ms else None,
            before_ms=old,
            after_ms=new,
            before_calls=old_calls,
            after_calls=new_calls,
            before_mean_us=old / old_calls * 1e3 if old_calls else None,
            after_mean_us=new / new_calls * 1e3 if new_calls else None,
        )
        for name, (old, new, old_calls, new_calls) in sums.items()
    ]
    return sorted(changes, key=lambda change: (-abs(change.change_ms), change.name))


def _without_rest(summary: TraceSummary) -> tuple[Any, ...]:
    is_summed = summary.num_operators > len(summary.operators)
    return summary.operators[:-1] if is_summed else summary.operators


def _sentence(
    per: str, before_ms: float, after_ms: float, parts: tuple[PartChange, ...], operators: list[OperatorChange]
) -> str:
    change_ms = after_ms - before_ms
    figures = f"({number(before_ms)} → {ms(after_ms)})"
    subject = "Steps take" if per == "step" else "What is recorded takes"
    if _is_same(before_ms, change_ms):
        return f"{subject} about the same time in both windows {figures}."
    more = "more" if change_ms > 0 else "less"
    where = contributor_text(change_ms, per, parts, operators)
    return f"{subject} {ms(abs(change_ms))} {more} in the second window {figures}{where}."
