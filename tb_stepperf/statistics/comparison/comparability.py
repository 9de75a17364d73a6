"""Whether two sides were measured under conditions that allow a comparison at all."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from tb_stepperf.errors import ArgumentError

COMPARED_FIELDS = (
    "device",
    "device_name",
    "num_devices",
    "world_size",
    "batch",
    "batch_shape",
    "dtype",
    "autocast",
    "model_size",
    "clock",
)
"""Conditions that must agree. Others (versions, host, launcher) may be the very thing that is compared."""


@dataclasses.dataclass(frozen=True)
class FieldCheck:
    """One condition on both sides.

    Attributes:
        field: its name.
        baseline: values seen among the baselines, as text, in order of appearance; empty where none says.
        candidate: the same of the candidates.
        status: "same", "different", "unknown" (a side does not say) or "overruled" (different, and accepted).
    """

    field: str
    baseline: tuple[str, ...]
    candidate: tuple[str, ...]
    status: str


def check_conditions(
    baselines: Sequence[Mapping[str, Any] | None],
    candidates: Sequence[Mapping[str, Any] | None],
    *,
    fields: Sequence[str] = COMPARED_FIELDS,
    overrule: bool | Collection[str] = False,
) -> tuple[FieldCheck, ...]:
    """Compares conditions field by field; fields that neither side has are not listed.

    Runs that disagree within a side make the field different, too. An unknown value is no difference, but is listed.

    Args:
        baselines: conditions of each baseline; None where a run has none.
        candidates: conditions of each candidate.
        fields: the fields that must agree.
        overrule: True to accept every difference, or the names of the fields whose differences are accepted.

    Raises:
        ArgumentError: `overrule` names a field that is not compared.
    """
    if not isinstance(overrule, bool):
        overrule = {overrule} if isinstance(overrule, str) else set(overrule)
        if unknown := sorted(overrule - set(fields)):
            raise ArgumentError(f"overrule names {unknown}; the compared fields {sorted(fields)} are allowed")
    checks = []
    for field in fields:
        seen = [_values(side, field) for side in (baselines, candidates)]
        if not any(seen):
            continue
        if not all(seen):
            status = "unknown"
        elif len(set(seen[0]) | set(seen[1])) == 1:
            status = "same"
        elif overrule is True or (overrule and field in overrule):
            status = "overruled"
        else:
            status = "different"
        checks.append(FieldCheck(field, seen[0], seen[1], status))
    return tuple(checks)


def _values(side: Iterable[Mapping[str, Any] | None], field: str) -> tuple[str, ...]:
    values = [conditions.get(field) for conditions in side if conditions is not None]
    return tuple(dict.fromkeys(_text(value) for value in values if value is not None))


def _text(value: Any) -> str:
    """A value as text that does not depend on the order of keys or on tuple against list."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_text(value[key])}" for key in sorted(value, key=str)) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_text(item) for item in value) + "]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
