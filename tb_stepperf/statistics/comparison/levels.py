"""Planned levels: steps are compared with their own kind.

A run whose batch size or sequence length follows a schedule has no single typical step. Where both sides carry a key
(buckets, or a few distinct batch sizes), steps of equal key are one level. Where both sides go up and down at the same
step numbers, steps of equal number are pairs, and the stretches between shared jumps are the levels. Each level's
typical log time, averaged over the two sides, is taken out of both: a difference between the sides stays, the schedule
goes.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence

import numpy as np

from tb_stepperf.statistics.comparison.sample import MIN_STEPS, UsedRun
from tb_stepperf.statistics.comparison.student import normal_scores

MAX_LEVELS = 12
MIN_CORRELATION = 0.8
"""Of block medians of both sides at equal step numbers: below it, levels are not shared."""

MIN_STEP_CORRELATION = 0.6
"""Of normal scores of single steps at equal numbers: from it on, both sides repeat one pattern of slow steps."""

MIN_LEVEL_STEPS = 20
_MIN_PROFILE = 0.02
"""Standard deviation of the shared profile, relative; a smaller one is no schedule."""


@dataclasses.dataclass(frozen=True, eq=False)
class Side:
    """The runs of one side, restricted to the steps that are compared.

    Attributes:
        runs: at least one.
        kinds: int64 arrays, one a run, shape (num_used,): level of each step.
        num_outside: steps without counterpart: outside common steps, or of a kind that the other side lacks.
    """

    runs: tuple[UsedRun, ...]
    kinds: tuple[np.ndarray, ...]
    num_outside: int

    def inside(self, level: int) -> list[np.ndarray]:
        """Returns each run's step times in ms of one level."""
        return [run.time_ms[kind == level] for run, kind in zip(self.runs, self.kinds)]


@dataclasses.dataclass(frozen=True, eq=False)
class Levels:
    """How two sides were made comparable.

    Attributes:
        basis: "steps", "bucket", "num_samples", or None where there is one level only.
        labels: text of each level.
        baseline: that side.
        candidate: that side.
        offsets: float64, shape (num_levels,): log of the typical time of each level, taken out of both sides.
        paired: whether row i is the same step in every run, and the sides follow one schedule.
    """

    basis: str | None
    labels: tuple[str, ...]
    baseline: Side
    candidate: Side
    offsets: np.ndarray
    paired: bool

    @property
    def sides(self) -> tuple[Side, Side]:
        """Baseline and candidate."""
        return self.baseline, self.candidate

    @property
    def blur(self) -> float:
        """Half width of what coarse timers hide of a difference; neither more steps nor more runs show it."""
        return math.hypot(*(float(np.mean([run.blur for run in side.runs])) for side in self.sides))

    def log_times(self, side: Side) -> list[np.ndarray]:
        """Returns log times of each run of a side without the levels, about the baseline's mean level."""
        centre = float(np.mean(np.concatenate([self.offsets[kind] for kind in self.baseline.kinds])))
        return [np.log(run.time_ms) - self.offsets[kind] + centre for run, kind in zip(side.runs, side.kinds)]


def find_levels(baselines: Sequence[UsedRun], candidates: Sequence[UsedRun]) -> Levels:
    """Finds by what the steps of both sides are to be compared."""
    runs = [*baselines, *candidates]
    buckets = [run.bucket for run in runs if run.bucket is not None]
    if len(buckets) == len(runs):
        return _by_key("bucket", baselines, candidates, buckets)
    amounts = [run.num_samples for run in runs if run.num_samples is not None]
    if len(amounts) == len(runs) and not any(np.isnan(values).any() for values in amounts):
        kinds = np.unique(np.concatenate(amounts))
        if 2 <= kinds.size <= MAX_LEVELS and any(np.unique(values).size > 1 for values in amounts):
            found = _by_key("num_samples", baselines, candidates, amounts)
            if found.basis is not None:
                return found
    return _by_steps(baselines, candidates)


def _by_key(
    basis: str, baselines: Sequence[UsedRun], candidates: Sequence[UsedRun], keys: Sequence[np.ndarray]
) -> Levels:
    num_a = len(baselines)
    sides = [np.concatenate(keys[:num_a]), np.concatenate(keys[num_a:])]
    kinds, counts = zip(*(np.unique(side, return_counts=True) for side in sides))
    common = np.intersect1d(kinds[0][counts[0] >= MIN_LEVEL_STEPS], kinds[1][counts[1] >= MIN_LEVEL_STEPS])
    if not common.size:
        return _one_level(baselines, candidates)
    runs, levels = [], []
    for run, key in zip((*baselines, *candidates), keys):
        keep = np.isin(key, common)
        runs.append(run.restricted(keep))
        levels.append(np.searchsorted(common, key[keep]))
    if min(run.time_ms.size for run in runs) < MIN_STEPS:
        return _one_level(baselines, candidates)
    return _levels(basis, tuple(str(kind) for kind in common), (*baselines, *candidates), runs, levels, num_a)


def _by_steps(baselines: Sequence[UsedRun], candidates: Sequence[UsedRun]) -> Levels:
    runs, num_a = [*baselines, *candidates], len(baselines)
    common = runs[0].steps
    for run in runs[1:]:
        common = np.intersect1d(common, run.steps, assume_unique=True)
    if common.size < 8 * MIN_LEVEL_STEPS:
        return _one_level(baselines, candidates)
    kept = [np.isin(run.steps, common) for run in runs]
    logs = np.stack([np.log(run.time_ms[keep]) for run, keep in zip(runs, kept)])
    sides = logs[:num_a].mean(axis=0), logs[num_a:].mean(axis=0)
    borders = _shared_borders(*sides)
    paired = bool(borders) or _same_pattern(*sides)
    if not paired and not any(_differs_outside(run, keep) for run, keep in zip(runs, kept)):
        return _one_level(baselines, candidates)
    edges = [0, *borders, common.size]
    level = np.searchsorted(borders, np.arange(common.size), side="right")
    labels = tuple(f"steps {common[start]}–{common[end - 1]}" for start, end in itertools.pairwise(edges))
    restricted = [run.restricted(keep) for run, keep in zip(runs, kept)]
    return _levels("steps" if paired else None, labels, runs, restricted, [level] * len(runs), num_a)


def _shared_borders(baseline: np.ndarray, candidate: np.ndarray) -> list[int]:
    """Rows at which both sides change their level together; empty where they do not move alike."""
    block = max(10, baseline.size // 96)
    num_blocks = baseline.size // block
    profiles = [
        np.median(side[: num_blocks * block].reshape(num_blocks, block), axis=1) for side in (baseline, candidate)
    ]
    shared = (profiles[0] + profiles[1]) / 2
    if min(profile.std() for profile in profiles) <= 1e-9 or shared.std() < _MIN_PROFILE:
        return []
    if np.corrcoef(*profiles)[0, 1] < MIN_CORRELATION:
        return []
    rows = (baseline + candidate) / 2
    # Three blocks at least, so that the one in which the level changes is never a level of its own.
    min_blocks = max(3, num_blocks // 24, -(-MIN_LEVEL_STEPS // block))
    return [_refined(rows, border * block, block) for border in _segment_borders(shared, min_blocks)]


def _same_pattern(baseline: np.ndarray, candidate: np.ndarray) -> bool:
    """Whether slow steps of one side are slow steps of the other, by number."""
    scores = normal_scores(baseline), normal_scores(candidate)
    norm = math.sqrt(float(scores[0] @ scores[0]) * float(scores[1] @ scores[1]))
    return norm > 0 and float(scores[0] @ scores[1]) / norm >= MIN_STEP_CORRELATION


def _segment_borders(profile: np.ndarray, min_blocks: int) -> list[int]:
    """Least-squares segmentation into at most `MAX_LEVELS` stretches, by dynamic programming over block borders."""
    num_blocks = profile.size
    noise = 1.4826 * float(np.median(np.abs(np.diff(profile)))) / np.sqrt(2)
    penalty = 3 * max(noise, 0.005) ** 2 * np.log(num_blocks)
    sums = np.concatenate([[0.0], np.cumsum(profile)])
    squares = np.concatenate([[0.0], np.cumsum(profile**2)])
    best = np.full((MAX_LEVELS + 1, num_blocks + 1), np.inf)
    last = np.zeros((MAX_LEVELS + 1, num_blocks + 1), np.int64)
    best[0, 0] = 0.0
    for count in range(1, MAX_LEVELS + 1):
        for end in range(min_blocks, num_blocks + 1):
            starts = np.arange(end - min_blocks + 1)
            cost = squares[end] - squares[starts] - (sums[end] - sums[starts]) ** 2 / (end - starts)
            total = best[count - 1, starts] + cost + penalty
            last[count, end] = int(np.argmin(total))
            best[count, end] = total[last[count, end]]
    count, end, borders = int(np.argmin(best[1:, num_blocks])) + 1, num_blocks, []
    while count > 1:
        end = int(last[count, end])
        borders.append(end)
        count -= 1
    return borders[::-1]


def _refined(rows: np.ndarray, border: int, block: int) -> int:
    """Moves a border to the row that splits its neighbourhood best, in absolute deviations from both sides' medians."""
    start, end = max(border - 3 * block, 0), min(border + 3 * block, rows.size)
    before, after = np.median(rows[start : border - block // 2]), np.median(rows[border + block // 2 : end])
    gain = np.abs(rows[start:end] - after) - np.abs(rows[start:end] - before)
    # The majority of a block decides on its median, so the border lies within half a block.
    window = slice(max(border - block // 2 - start, 1), border + block // 2 - start + 1)
    return start + window.start + int(np.argmax(np.cumsum(gain)[window.start - 1 : window.stop - 1]))


def _differs_outside(run: UsedRun, keep: np.ndarray) -> bool:
    """Whether the steps that the other side lacks are of another kind than the common ones."""
    if np.count_nonzero(~keep) < MIN_LEVEL_STEPS:
        return False
    return abs(np.log(np.median(run.time_ms[~keep]) / np.median(run.time_ms[keep]))) > _MIN_PROFILE


def _levels(
    basis: str | None,
    labels: tuple[str, ...],
    given: Sequence[UsedRun],
    runs: Sequence[UsedRun],
    kinds: Sequence[np.ndarray],
    num_baselines: int,
) -> Levels:
    sides = []
    for part in (slice(None, num_baselines), slice(num_baselines, None)):
        num_given = sum(run.time_ms.size for run in given[part])
        num_kept = sum(run.time_ms.size for run in runs[part])
        sides.append(Side(tuple(runs[part]), tuple(kinds[part]), num_given - num_kept))
    medians = [[float(np.median(np.log(np.concatenate(side.inside(k))))) for side in sides] for k in range(len(labels))]
    paired = basis == "steps"
    return Levels(
        basis=basis if len(labels) > 1 or paired else None,
        labels=labels,
        baseline=sides[0],
        candidate=sides[1],
        offsets=np.mean(medians, axis=1),
        paired=paired,
    )


def _one_level(baselines: Sequence[UsedRun], candidates: Sequence[UsedRun]) -> Levels:
    runs = [*baselines, *candidates]
    kinds = [np.zeros(run.time_ms.size, np.int64) for run in runs]
    return _levels(None, ("all steps",), runs, runs, kinds, len(baselines))
