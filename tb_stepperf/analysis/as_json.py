"""Analyses as JSON-able values, the same over HTTP and from the terminal. A number that does not exist is null."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tb_stepperf.analysis import words
from tb_stepperf.analysis.events import Provisional
from tb_stepperf.analysis.member import Marker, MemberAnalysis
from tb_stepperf.analysis.pair import RunsCompared, Side
from tb_stepperf.statistics import (
    PHRASES,
    UNKNOWN_SPREAD,
    UNLABELLED,
    Attribution,
    LevelChange,
    MeasureChange,
    PartChange,
    QuantileDifference,
    SideSample,
    TailCauses,
    describe,
)

_RATIO_DIGITS = 6
_MS_DIGITS = 4

Place = Callable[[int], int]
"""Position on the axis, relative to its base, of the first row at or after a step number."""


def number(value: float | None, num_digits: int = _RATIO_DIGITS) -> float | None:
    """Returns a float rounded to `num_digits` decimals; null for what is not finite."""
    return None if value is None or not math.isfinite(value) else round(float(value), num_digits)


def p_value(value: float) -> float | None:
    """Returns a p-value with three significant digits."""
    return float(f"{value:.3g}") if math.isfinite(value) else None


def analysis_json(analysis: MemberAnalysis, provisional: Sequence[Provisional], place: Place) -> dict[str, Any]:
    """Returns what `/markers` says of an analysis.

    Args:
        analysis: of a member.
        provisional: noticed changes that it has not decided on.
        place: where steps stand on the axis.
    """
    markers = [(marker.step, marker_json(marker, place)) for marker in analysis.markers]
    markers += [(change.step, provisional_json(change, place)) for change in provisional]
    sentence, about = words.verdict(analysis)
    return {
        "num_steps_analysed": analysis.num_steps,
        "as_of_step": None if analysis.as_of_step is None else str(analysis.as_of_step),
        "verdict": sentence,
        "verdict_marker": None if about is None else about.name,
        "markers": [marker for _, marker in sorted(markers, key=lambda pair: pair[0])],
        "tails": None if analysis.tails is None else tails_json(analysis.tails, analysis.tails_since),
        "definition": words.definition(analysis.thresholds, analysis.clock),
        "sample": dict(analysis.sample),
    }


def marker_json(marker: Marker, place: Place) -> dict[str, Any]:
    """Returns one marker."""
    change = marker.change
    blamed = () if marker.attribution is None else marker.attribution.blamed
    return {
        "id": marker.name,
        "kind": change.kind,
        "planned": marker.planned,
        "provisional": False,
        **_steps(marker.step, marker.end_step, place),
        "change": number(change.change),
        "change_low": number(change.change_low),
        "change_high": number(change.change_high),
        "p_value": p_value(change.p_value),
        "measure": change.measure,
        "before_ms": number(change.before_ms, _MS_DIGITS),
        "after_ms": number(change.after_ms, _MS_DIGITS),
        "num_before": change.num_before,
        "num_after": change.num_after,
        "before": _range(marker.before, place),
        "after": _range(marker.after, place),
        "blamed": [_stage(name) for name in blamed],
        "sentence": words.headline(marker, with_times=True),
        "attribution": None if marker.attribution is None else attribution_json(marker.attribution),
    }


def provisional_json(change: Provisional, place: Place) -> dict[str, Any]:
    """Returns a noticed change in the shape of a marker."""
    unknown = ("change_low", "change_high", "p_value", "before_ms", "after_ms", "before", "after", "attribution")
    return {
        "id": f"provisional-{change.step}",
        "kind": change.kind,
        "planned": change.planned,
        "provisional": True,
        **_steps(change.step, None, place),
        "change": number(change.change),
        "measure": "p95" if change.kind in ("tail", "variance") else "typical",
        "num_before": 0,
        "num_after": 0,
        "blamed": [],
        "sentence": words.provisional_sentence(change),
        **dict.fromkeys(unknown),
    }


def attribution_json(found: Attribution) -> dict[str, Any]:
    """Returns an attribution; `stage` null is the time in no stage."""
    total = _part(found.total)
    return {
        "outcome": found.outcome,
        "sentence": found.sentence,
        "clock": found.clock,
        "total": {name: total[name] for name in ("before_ms", "after_ms", "change_ms", "low_ms", "high_ms", "clear")},
        "parts": [{"stage": _stage(part.name), **_part(part)} for part in found.parts],
        "vanishes_per": found.vanishes_per,
        "per_amount": number(found.per_amount),
        "coincidences": [
            {"kind": one.kind, "text": one.text, "distance_steps": one.distance_steps} for one in found.coincidences
        ],
        "num_before": found.num_before,
        "num_after": found.num_after,
    }


def tails_json(tails: TailCauses, since: int | None) -> dict[str, Any]:
    """Returns what the slowest steps coincide with."""
    return {
        "since_step": None if since is None else str(since),
        "percentile": tails.percentile,
        "threshold_ms": number(tails.threshold_ms, _MS_DIGITS),
        "median_ms": number(tails.median_ms, _MS_DIGITS),
        "num_steps": tails.num_steps,
        "num_tail": tails.num_tail,
        "num_episodes": tails.num_episodes,
        "unexplained": number(tails.unexplained),
        "sentence": words.tails_sentence(tails, since),
        "correction": tails.correction,
        "causes": [
            {
                "cause": cause.name,
                "text": PHRASES.get(cause.name, cause.name),
                "num_tail": cause.num_tail,
                "share_of_tail": number(cause.share_of_tail),
                "share_of_rest": number(cause.share_of_rest),
                "enrichment": number(cause.enrichment, 3),
                "p_value": p_value(cause.p_value),
                "p_adjusted": p_value(cause.p_adjusted),
                "explains": cause.explains,
            }
            for cause in tails.causes
        ],
    }


def comparison_json(compared: RunsCompared) -> dict[str, Any]:
    """Returns what `/comparison` says."""
    result = compared.comparison
    measures = [(name, getattr(result, name)) for name in ("median", "p95", "mean", "throughput")]
    sides = zip(("baseline", "candidate"), (result.baseline, result.candidate), range(2))
    return {
        "clock": compared.clock,
        "min_effect": result.min_effect,
        "min_tail_effect": result.min_tail_effect,
        "verdict": result.verdict,
        "sentence": result.sentence,
        "decided_by": result.decided_by,
        "measures": [{"measure": name, **_change(change), "text": describe(change)} for name, change in measures],
        "conditions": [
            {
                "field": check.field,
                "baseline": list(check.baseline),
                "candidate": list(check.candidate),
                "status": check.status,
            }
            for check in result.conditions
        ],
        "overruled": list(result.overruled),
        "spread_known": result.spread_known,
        "between_run_sd": number(result.between_run_sd),
        "spread_note": None if result.spread_known else UNKNOWN_SPREAD,
        "needed": None
        if result.needed is None
        else {
            "num_steps": result.needed.num_steps,
            "num_runs": result.needed.num_runs,
            "text": result.needed.text,
        },
        "level_basis": result.level_basis,
        "levels": [_level(level) for level in result.levels],
        "quantiles": None if compared.quantiles is None else _quantiles(compared.quantiles),
        "attribution": None if compared.attribution is None else attribution_json(compared.attribution),
        **{name: _side(compared, sample, index) for name, sample, index in sides},
        "notes": [note for note in result.notes if note != UNKNOWN_SPREAD],
        "definition": result.definition,
    }


def _steps(step: int, end_step: int | None, place: Place) -> dict[str, Any]:
    return {
        "step": str(step),
        "end_step": None if end_step is None else str(end_step),
        "at": place(step),
        "end_at": None if end_step is None else place(end_step),
    }


def _range(steps: tuple[int, int], place: Place) -> dict[str, Any]:
    start, end = steps
    return {"start": str(start), "end": str(end), "start_at": place(start), "end_at": place(end)}


def _stage(name: str) -> str | None:
    return None if name == UNLABELLED else name


def _part(part: PartChange) -> dict[str, Any]:
    return {
        "before_ms": number(part.before_ms, _MS_DIGITS),
        "after_ms": number(part.after_ms, _MS_DIGITS),
        "change_ms": number(part.change_ms, _MS_DIGITS),
        "low_ms": number(part.low_ms, _MS_DIGITS),
        "high_ms": number(part.high_ms, _MS_DIGITS),
        "share": number(part.share),
        "share_low": number(part.share_low),
        "share_high": number(part.share_high),
        "clear": bool(part.clear),
    }


def _change(change: MeasureChange) -> dict[str, Any]:
    """Limits that the data do not set (-1 and infinity) are null."""
    return {
        "unit": change.unit,
        "baseline": number(change.baseline, _MS_DIGITS),
        "candidate": number(change.candidate, _MS_DIGITS),
        "change": number(change.change),
        "low": _limit(change.low),
        "high": number(change.high),
        "p_value": p_value(change.p_value),
    }


def _limit(low: float) -> float | None:
    return None if low <= -1 else number(low)


def _level(level: LevelChange) -> dict[str, Any]:
    change = _change(level.change)
    return {
        "label": level.label,
        **{name: change[name] for name in ("change", "low", "high", "p_value")},
        "baseline_ms": change["baseline"],
        "candidate_ms": change["candidate"],
        "num_baseline": level.num_baseline,
        "num_candidate": level.num_candidate,
        "share": number(level.share),
    }


def _quantiles(curve: QuantileDifference) -> dict[str, Any]:
    candidate_ms = curve.baseline_ms * (1 + curve.change)
    return {
        "percentiles": [round(value, 6) for value in curve.percentiles.tolist()],
        "change": [number(value) for value in curve.change.tolist()],
        "low": [_limit(value) for value in curve.low.tolist()],
        "high": [number(value) for value in curve.high.tolist()],
        "baseline_ms": [number(value, _MS_DIGITS) for value in curve.baseline_ms.tolist()],
        "candidate_ms": [number(value, _MS_DIGITS) for value in candidate_ms.tolist()],
    }


def _side(compared: RunsCompared, sample: SideSample, index: int) -> dict[str, Any]:
    sides: Sequence[Side] = compared.sides[index]
    samples: Sequence[Mapping[str, Any]] = compared.samples[index]
    return {
        "runs": [
            {
                "run": side.run,
                "member": side.member,
                "label": side.label,
                "num_members": side.num_members,
                "num_used": num_used,
                "sample": dict(one),
            }
            for side, num_used, one in zip(sides, compared.num_used[index], samples)
        ],
        "num_runs": sample.num_runs,
        "num_given": sample.num_given,
        "num_used": sample.num_used,
        "num_warmup": sample.num_warmup,
        "num_unusable": sample.num_unusable,
        "num_outside": sample.num_outside,
    }
