"""`compare_runs`: is the candidate slower than the baseline, by how much, and how sure is that?"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Sequence

import numpy as np

from tb_stepperf.errors import ArgumentError
from tb_stepperf.statistics.comparison.comparability import COMPARED_FIELDS, FieldCheck, check_conditions
from tb_stepperf.statistics.comparison.intervals import Change, Difference, as_change
from tb_stepperf.statistics.comparison.levels import Levels, find_levels
from tb_stepperf.statistics.comparison.measure import Measured, measure, per_amount_note, throughput_of
from tb_stepperf.statistics.comparison.result import (
    INSUFFICIENT_DATA,
    NOT_COMPARABLE,
    Comparison,
    LevelChange,
    Needed,
    SideSample,
)
from tb_stepperf.statistics.comparison.sample import MIN_STEPS, RunSample, UsedRun, use_runs
from tb_stepperf.statistics.comparison.verdict import (
    UNKNOWN_SPREAD,
    decide,
    evidence,
    sentence,
    what_is_needed,
)

DEFINITION = (
    "Step time without warm-up and without readings that are not a time. Median and p95 are interpolated between steps "
    "at (rank − ½) / n; a side's value is the geometric mean over its runs. Throughput is the sum of {amount} ÷ the "
    "sum of step time. Intervals are 95 %, valid for autocorrelated steps; changes are relative to the baseline."
)


def compare_runs(
    baselines: Sequence[RunSample],
    candidates: Sequence[RunSample],
    *,
    min_effect: float = 0.03,
    min_tail_effect: float = 0.05,
    trim_warmup: bool = True,
    compared_fields: Sequence[str] = COMPARED_FIELDS,
    overrule: bool | Collection[str] = False,
) -> Comparison:
    """Compares two sides of one or more runs each.

    With two runs or more on each side (or three on one) the intervals cover the spread from run to run; otherwise they
    hold for these runs, the result says so, and the verdict allows for an ordinary spread. Planned levels and buckets
    are compared with their own kind.

    Args:
        baselines: at least one run.
        candidates: at least one run.
        min_effect: relative change of the median that is worth a verdict.
        min_tail_effect: relative change of the 95th percentile that is worth one.
        trim_warmup: whether to find and leave out each run's warm-up; False where the caller already did.
        compared_fields: conditions that must agree.
        overrule: True, or the names of fields, to compare in spite of different conditions. It is recorded.

    Raises:
        ArgumentError: a side is empty, or an effect is not in (0, 1).
    """
    for name, effect in (("min_effect", min_effect), ("min_tail_effect", min_tail_effect)):
        if not 0 < effect < 1:
            raise ArgumentError(f"{name} is {effect}; a relative change in (0, 1) is allowed, such as 0.03")
    conditions = check_conditions(
        [run.conditions for run in baselines],
        [run.conditions for run in candidates],
        fields=compared_fields,
        overrule=overrule,
    )
    used = use_runs(baselines, candidates, trim_warmup)
    overruled = tuple(check.field for check in conditions if check.status == "overruled")
    comparable = all(check.status != "different" for check in conditions)
    if min(run.time_ms.size for side in used for run in side) < MIN_STEPS:
        return _too_short(used, conditions, overruled, comparable, min_effect, min_tail_effect)
    levels = find_levels(*used)
    measured = measure(levels)
    num_runs = (len(baselines), len(candidates))
    shown = [evidence(found, *num_runs) for found in (measured.median, measured.p95, measured.mean)]
    # With buckets or levels of different weight on each side, the mean also carries the mix; it then gives no verdict.
    mean = shown[2] if levels.basis in (None, "steps") else None
    by_level = [evidence(found, *num_runs) for found in measured.levels if found is not None]
    verdict, decided_by = decide(shown[0], shown[1], mean, by_level, min_effect, min_tail_effect)
    needed = None
    if not comparable:
        verdict = NOT_COMPARABLE
    elif verdict == INSUFFICIENT_DATA:
        shortest = min(run.time_ms.size for side in levels.sides for run in side.runs)
        found, seen = {"mean": (measured.mean, shown[2]), "tail": (measured.p95, shown[1])}.get(
            decided_by, (measured.median, shown[0])
        )
        effect = min_tail_effect if decided_by == "tail" else min_effect
        needed = what_is_needed(found, seen, effect, shortest, min(num_runs))
    amount, throughput = throughput_of(levels, measured.mean)
    result = Comparison(
        verdict=verdict,
        sentence="",
        decided_by=decided_by,
        median=as_change(measured.median, measured.median_ms),
        p95=as_change(measured.p95, measured.p95_ms),
        mean=as_change(measured.mean, measured.mean_ms),
        throughput=throughput,
        levels=_level_changes(levels, measured.levels),
        level_basis=levels.basis,
        baseline=_sample(used[0], levels.baseline.num_outside),
        candidate=_sample(used[1], levels.candidate.num_outside),
        conditions=conditions,
        overruled=overruled,
        spread_known=measured.median.spread_known,
        between_run_sd=math.sqrt(measured.mean.between_variance) if measured.mean.spread_known else None,
        needed=needed,
        min_effect=min_effect,
        min_tail_effect=min_tail_effect,
        notes=_notes(levels, measured, min_effect),
        definition=DEFINITION.format(amount=amount),
    )
    return dataclasses.replace(result, sentence=sentence(result))


def _too_short(
    used: Sequence[Sequence[UsedRun]],
    conditions: tuple[FieldCheck, ...],
    overruled: tuple[str, ...],
    comparable: bool,
    min_effect: float,
    min_tail_effect: float,
) -> Comparison:
    """The result where a run has too few steps for any estimate."""
    shortest = min(run.time_ms.size for side in used for run in side)
    text = f"A run has {shortest} usable steps; at least {MIN_STEPS} a run are needed, some hundred for a verdict."
    nothing = Change(math.nan, -1.0, math.inf, 1.0, math.nan, math.nan)
    result = Comparison(
        verdict=INSUFFICIENT_DATA if comparable else NOT_COMPARABLE,
        sentence="",
        decided_by="median",
        median=nothing,
        p95=nothing,
        mean=nothing,
        throughput=dataclasses.replace(nothing, unit="steps/s"),
        levels=(),
        level_basis=None,
        baseline=_sample(used[0], 0),
        candidate=_sample(used[1], 0),
        conditions=conditions,
        overruled=overruled,
        spread_known=False,
        between_run_sd=None,
        needed=Needed(MIN_STEPS * 10, None, text),
        min_effect=min_effect,
        min_tail_effect=min_tail_effect,
        notes=(),
        definition=DEFINITION.format(amount="steps"),
    )
    return dataclasses.replace(result, sentence=sentence(result))


def _level_changes(levels: Levels, found: Sequence[Difference | None]) -> tuple[LevelChange, ...]:
    changes = []
    total_ms = sum(float(run.time_ms.sum()) for run in levels.baseline.runs)
    for index, (label, level) in enumerate(zip(levels.labels, found)):
        if level is None:
            continue
        inside = [side.inside(index) for side in levels.sides]
        typical_ms = float(np.median(np.concatenate(inside[0])))
        changes.append(
            LevelChange(
                label,
                as_change(level, typical_ms),
                sum(times.size for times in inside[0]),
                sum(times.size for times in inside[1]),
                sum(float(times.sum()) for times in inside[0]) / total_ms,
            )
        )
    return tuple(changes)


def _sample(runs: Sequence[UsedRun], num_outside: int) -> SideSample:
    return SideSample(
        num_runs=len(runs),
        num_given=sum(run.num_given for run in runs),
        num_used=sum(run.time_ms.size for run in runs) - num_outside,
        num_warmup=sum(run.num_warmup for run in runs),
        num_unusable=sum(run.num_unusable for run in runs),
        num_outside=num_outside,
    )


def _notes(levels: Levels, measured: Measured, min_effect: float) -> tuple[str, ...]:
    notes = []
    if not measured.median.spread_known:
        notes.append(UNKNOWN_SPREAD)
    resolution = max(run.resolution_ms for side in levels.sides for run in side.runs)
    if resolution:
        notes.append(
            f"The timer moves in steps of {resolution:.3g} ms; each reading was spread evenly over the step that it is."
        )
    if levels.basis == "steps":
        notes.append("Both sides follow the same planned levels; steps were compared level by level.")
    elif levels.basis is not None:
        notes.append(
            f"Steps were compared with steps of the same {levels.basis}; the mean also carries the mix of them."
        )
    if any(side.num_outside for side in levels.sides):
        notes.append(
            f"Only steps that both sides have were compared; {levels.baseline.num_outside} steps of the baseline and "
            f"{levels.candidate.num_outside} of the candidate have no counterpart."
        )
    if (per_amount := per_amount_note(levels, measured, min_effect)) is not None:
        notes.append(per_amount)
    return tuple(notes)
