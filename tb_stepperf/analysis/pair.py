"""`compare_members`: runs against runs, with the stages that make the difference."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from tb_stepperf.analysis import words
from tb_stepperf.analysis.attribute import MAX_STEPS, Part, attribute
from tb_stepperf.analysis.environment import conditions_of
from tb_stepperf.analysis.member import Thresholds
from tb_stepperf.analysis.series import STEP_TIME, Reader, Series, sample_of, series_of
from tb_stepperf.blocks.schema import BUCKET, FLAGS, NUM_SAMPLES, NUM_TOKENS
from tb_stepperf.statistics import (
    DEFAULT_PERCENTILES,
    MIN_COMPARED_STEPS,
    Attribution,
    Comparison,
    QuantileDifference,
    RunSample,
    compare_runs,
    find_changes,
    quantile_difference,
    warmup_end,
)

_FEW_PERCENTILES = (1, 5, 25, 50, 75, 90, 95, 99)
_MANY_STEPS = 400_000
_NUM_STRETCHES = 16
_LEAST_STRETCH_STEPS = 20


@dataclasses.dataclass(frozen=True, eq=False)
class Side:
    """One run of one side, and how to read it.

    Attributes:
        run: its name, for messages.
        member: the member that is compared.
        label: of the member, for people.
        num_members: members that the run has.
        world_size: number of processes of the job.
        present: columns of the member.
        read: reads its rows.
    """

    run: str
    member: str
    label: str
    num_members: int
    world_size: int
    present: Collection[str]
    read: Reader


@dataclasses.dataclass(frozen=True, eq=False)
class RunsCompared:
    """A comparison, and what belongs to it.

    Attributes:
        clock: "host" or "device".
        comparison: the verdict and the measures.
        quantiles: change of each percentile; None where a run is too short.
        attribution: which stages make the difference; None where a side has too few steps.
        sides: the baselines, the candidates.
        samples: of each run of each side, see `series.sample_of`.
        num_used: usable steps of each run of each side.
    """

    clock: str
    comparison: Comparison
    quantiles: QuantileDifference | None
    attribution: Attribution | None
    sides: tuple[tuple[Side, ...], tuple[Side, ...]]
    samples: tuple[tuple[Mapping[str, Any], ...], ...]
    num_used: tuple[tuple[int, ...], ...]


def compare_members(
    baselines: Sequence[Side],
    candidates: Sequence[Side],
    *,
    clock: str = "host",
    thresholds: Thresholds | None = None,
    overrule: bool = False,
) -> RunsCompared:
    """Compares two sides of one or more runs.

    Args:
        baselines, candidates: at least one each.
        clock: "host" or "device".
        thresholds: by default 3 % of the median, and 5 % of p95.
        overrule: compare in spite of different conditions.

    Raises:
        ArgumentError: a side is empty, or a threshold is out of range.
    """
    thresholds = thresholds or Thresholds()
    sides = (tuple(baselines), tuple(candidates))
    series = [[_series(side, clock) for side in runs] for runs in sides]
    samples = [[_run_sample(side, one) for side, one in zip(runs, some)] for runs, some in zip(sides, series)]
    result = compare_runs(
        samples[0],
        samples[1],
        min_effect=thresholds.min_effect,
        min_tail_effect=thresholds.min_tail_effect,
        overrule=overrule,
    )
    within = _changes_within(sides, series, result, thresholds)
    return RunsCompared(
        clock=clock,
        comparison=dataclasses.replace(result, notes=(*within, *result.notes)),
        quantiles=_quantiles(samples),
        attribution=_attribution(sides, series, clock, follows_steps=result.level_basis == "steps"),
        sides=sides,
        samples=tuple(tuple(sample_of(one.table, one.selection) for one in some) for some in series),
        num_used=tuple(tuple(one.num_used for one in some) for some in series),
    )


def _series(side: Side, clock: str) -> Series:
    wanted = (FLAGS, STEP_TIME[clock], NUM_SAMPLES, NUM_TOKENS, BUCKET)
    return series_of(side.read([name for name in wanted if name in side.present], None, None), clock)


def _run_sample(side: Side, series: Series) -> RunSample:
    has_time = STEP_TIME[series.clock] in series.table.columns
    return RunSample(
        step_time_ms=series.step_time_ms if has_time else np.zeros(0),
        steps=series.steps,
        num_samples=series.column(NUM_SAMPLES),
        num_tokens=series.column(NUM_TOKENS),
        bucket=series.buckets,
        conditions=conditions_of(series.table.attempts, side.world_size, series.clock),
        name=side.run,
    )


def _changes_within(
    sides: Sequence[Sequence[Side]], series: Sequence[Sequence[Series]], result: Comparison, thresholds: Thresholds
) -> list[str]:
    """Says of each run that lastingly changes midway that its figures mix parts, and how the parts compare.

    Where steps were compared with their own kind, a run may change as planned: of that there is nothing to say.
    """
    if result.level_basis is not None:
        return []
    parts = [[_parts(one, thresholds) for one in some] for some in series]
    # The baseline's median means something for the parts of a candidate only where no baseline changes itself.
    reference_ms = (math.nan, math.nan if any(parts[0]) else result.median.baseline)
    return [
        words.change_within(("Baseline", "Candidate")[index], side.run, found, reference_ms[index])
        for index in range(2)
        for side, found in zip(sides[index], parts[index])
        if found
    ]


def _parts(series: Series, thresholds: Thresholds) -> list[words.RunPart]:
    """The parts between lasting changes of the typical step; empty where there is no such change.

    The search costs as much as the comparison, so it is made only where stretches of the run differ by what it looks
    for.
    """
    times, steps = series.step_time_ms, series.steps
    start = warmup_end(times)
    if times.size - start < _NUM_STRETCHES * _LEAST_STRETCH_STEPS:
        return []
    medians = [float(np.median(stretch)) for stretch in np.array_split(times[start:], _NUM_STRETCHES)]
    if max(medians) < min(medians) * (1 + thresholds.min_effect):
        return []
    changes = find_changes(
        times,
        min_effect=thresholds.min_effect,
        min_tail_effect=thresholds.min_tail_effect,
        bucket=series.buckets,
    )
    lasting = [one.step for one in changes if one.kind in ("regression", "improvement") and one.step > start]
    if not lasting:
        return []
    edges = [start, *lasting, times.size]
    return [words.RunPart(int(steps[a]), float(np.median(times[a:b]))) for a, b in itertools.pairwise(edges)]


def _quantiles(samples: Sequence[Sequence[RunSample]]) -> QuantileDifference | None:
    sizes = [run.step_time_ms.size - warmup_end(run.step_time_ms) for side in samples for run in side]
    if min(sizes) < MIN_COMPARED_STEPS:
        return None
    # Each percentile sorts all steps; a plot of few points says the same of a long run.
    percentiles = _FEW_PERCENTILES if sum(sizes) > _MANY_STEPS else DEFAULT_PERCENTILES
    return quantile_difference(samples[0], samples[1], percentiles)


def _attribution(
    sides: Sequence[Sequence[Side]], series: Sequence[Sequence[Series]], clock: str, *, follows_steps: bool
) -> Attribution | None:
    """Takes from every run the same part: its middle or, where runs follow a schedule, all the steps they share."""
    everything = [one for side in series for one in side]
    if not all(one.num_used for one in everything):
        return None
    first = max(int(one.steps[0]) for one in everything)
    end = min(int(one.steps[-1]) for one in everything) + 1
    parts: list[list[Part]] = []
    for runs, some in zip(sides, series):
        parts.append([])
        for side, one in zip(runs, some):
            steps = one.steps
            if follows_steps and first < end:
                parts[-1].append((side.read, side.present, first, end))
                continue
            start = warmup_end(one.step_time_ms)
            start += max(steps.size - start - MAX_STEPS, 0) // 2
            part = steps[start : start + MAX_STEPS]
            if part.size:
                parts[-1].append((side.read, side.present, int(part[0]), int(part[-1]) + 1))
    return attribute(*parts, clock=clock)
