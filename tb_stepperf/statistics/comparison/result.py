"""What a comparison says."""

from __future__ import annotations

import dataclasses

from tb_stepperf.statistics.comparison.comparability import FieldCheck
from tb_stepperf.statistics.comparison.intervals import Change

REGRESSION = "regression"
IMPROVEMENT = "improvement"
TAIL_REGRESSION = "tail regression"
SAME = "same"
INSUFFICIENT_DATA = "insufficient data"
NOT_COMPARABLE = "not comparable"
VERDICTS = (REGRESSION, IMPROVEMENT, TAIL_REGRESSION, SAME, INSUFFICIENT_DATA, NOT_COMPARABLE)


@dataclasses.dataclass(frozen=True)
class SideSample:
    """The sample of one side; `num_used` and the left-out counts add up to `num_given`.

    Attributes:
        num_runs: number of runs.
        num_given: steps given, over all runs.
        num_used: steps used.
        num_warmup: left out as warm-up.
        num_unusable: left out because the time is not finite or not positive.
        num_outside: left out because the other side has no steps of that kind or number.
    """

    num_runs: int
    num_given: int
    num_used: int
    num_warmup: int
    num_unusable: int
    num_outside: int


@dataclasses.dataclass(frozen=True)
class LevelChange:
    """Change of the median within one planned level or bucket.

    Attributes:
        label: such as "steps 711–1416" or the bucket's name.
        change: of the median step time in the level.
        num_baseline: steps of the baseline in it.
        num_candidate: steps of the candidate in it.
        share: part of the baseline's time spent in it.
    """

    label: str
    change: Change
    num_baseline: int
    num_candidate: int
    share: float


@dataclasses.dataclass(frozen=True)
class Needed:
    """What would turn "insufficient data" into a verdict; a rough figure, from the interval's width.

    Attributes:
        num_steps: steps a run, or None where more steps alone cannot decide.
        num_runs: runs a side, or None where more steps suffice, or where runs would be too many to advise.
        text: as a sentence.
    """

    num_steps: int | None
    num_runs: int | None
    text: str


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Baseline against candidate.

    Changes are relative to the baseline, positive is slower, except for `throughput`, where positive is faster.

    Attributes:
        verdict: one of `VERDICTS`.
        sentence: the verdict in plain language.
        decided_by: "median", "mean" (where steps come in two kinds and the median lies in the gap), "level" (one level
            alone), or "tail".
        median: change of the median step time; level by level and averaged where there are planned levels.
        p95: change of the 95th percentile of the step time, likewise.
        mean: change of the mean step time.
        throughput: change of the mean throughput, in the unit it carries.
        levels: each planned level or bucket; empty where there is one.
        level_basis: "steps", "bucket", "num_samples" or None.
        baseline: sample of the baseline.
        candidate: sample of the candidate.
        conditions: compared conditions, field by field.
        overruled: fields that differ and were accepted.
        spread_known: whether intervals cover the spread from run to run; else they hold for these runs only.
        between_run_sd: relative standard deviation of the runs' means about their side's; None where unknown.
        needed: set where the verdict is "insufficient data".
        min_effect: relative change of the median below which sides count as the same.
        min_tail_effect: the same for the 95th percentile.
        notes: what else one must know, each a sentence.
        definition: how the numbers are defined.
    """

    verdict: str
    sentence: str
    decided_by: str
    median: Change
    p95: Change
    mean: Change
    throughput: Change
    levels: tuple[LevelChange, ...]
    level_basis: str | None
    baseline: SideSample
    candidate: SideSample
    conditions: tuple[FieldCheck, ...]
    overruled: tuple[str, ...]
    spread_known: bool
    between_run_sd: float | None
    needed: Needed | None
    min_effect: float
    min_tail_effect: float
    notes: tuple[str, ...]
    definition: str
