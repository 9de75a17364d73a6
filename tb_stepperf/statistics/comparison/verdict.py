"""From intervals to a verdict, and from a verdict to words.

Where the spread between runs is unknown, a verdict (not the interval) allows for `RUN_SPREAD`: two starts of the same
training differ by that much on ordinary machines, and no number of steps within one run shows it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from tb_stepperf.statistics.comparison.intervals import Change, Difference
from tb_stepperf.statistics.comparison.result import (
    IMPROVEMENT,
    INSUFFICIENT_DATA,
    NOT_COMPARABLE,
    REGRESSION,
    SAME,
    TAIL_REGRESSION,
    Comparison,
    Needed,
)

RUN_SPREAD = 0.005
"""Relative standard deviation between runs that a verdict allows for where the runs do not tell it."""

MINUS = "\N{MINUS SIGN}"

MAX_RUNS = 20
"""More runs a side than this are no advice."""

UNKNOWN_SPREAD = (
    "The intervals hold for these runs only: run-to-run spread is unknown without at least two runs on each side, or "
    "three on one."
)


@dataclasses.dataclass(frozen=True)
class Evidence:
    """A difference of logarithms as the verdict sees it, with the allowance for unknown spread.

    Attributes:
        value: the difference.
        low, high: limits with the allowance.
        p_value: without the allowance.
    """

    value: float
    low: float
    high: float
    p_value: float

    def slower_by(self, effect: float) -> bool:
        """At least `effect` slower, and surely more than a third of that."""
        return self.value >= math.log1p(effect) and self.low > math.log1p(effect / 3)

    def faster_by(self, effect: float) -> bool:
        """The mirror image of `slower_by`."""
        return self.value <= -math.log1p(effect) and self.high < -math.log1p(effect / 3)

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    def within(self, effect: float) -> bool:
        """Surely less than `effect` either way."""
        return self.low > -math.log1p(effect) and self.high < math.log1p(effect)


def evidence(found: Difference, num_baselines: int, num_candidates: int) -> Evidence:
    """Adds the allowance for run-to-run spread where it is unknown."""
    if found.spread_known:
        return Evidence(found.value, found.low, found.high, found.p_value)
    allowance = 1.96 * RUN_SPREAD * math.sqrt(1 / num_baselines + 1 / num_candidates)
    low = found.value - math.hypot(found.value - found.low, allowance)
    high = found.value + math.hypot(found.high - found.value, allowance)
    return Evidence(found.value, low, high, found.p_value)


def decide(
    median: Evidence,
    p95: Evidence,
    mean: Evidence | None,
    levels: Sequence[Evidence],
    min_effect: float,
    min_tail_effect: float,
) -> tuple[str, str]:
    """Judges comparable sides.

    A single level counts if it is clear after Bonferroni's correction for the number of levels. The tail is the 95th
    percentile, or the mean where rarer stalls moved it although the typical step stayed.

    Args:
        median, p95: evidence on these.
        mean: evidence on the mean, or None where it carries another mix of steps on each side.
        levels: evidence on the median of each level; empty where there is one.
        min_effect: minimum relative effect on the typical step.
        min_tail_effect: the same on the tail.

    Returns:
        The verdict, and what decided it: "median", "mean", "level" or "tail".
    """
    typical, by = median, "median"
    # Where steps come in two kinds of about equal number, the median lies in the gap between them, and so its interval
    # spans the gap: the mean then stands for the typical step, if it tells more and does not contradict.
    if (
        mean is not None
        and median.half_width > 2 / 3 * math.log1p(min_effect)
        and median.low <= mean.value <= median.high
    ):
        tells = mean.slower_by(min_effect) or mean.faster_by(min_effect)
        if tells or mean.half_width < 0.7 * median.half_width:
            typical, by = mean, "mean"
    sure = [level for level in levels if level.p_value * len(levels) < 0.05]
    if typical.slower_by(min_effect):
        return REGRESSION, by
    if any(level.slower_by(min_effect) for level in sure):
        return REGRESSION, "level"
    if typical.faster_by(min_effect):
        return IMPROVEMENT, by
    if p95.slower_by(min_tail_effect) or (mean is not None and mean.slower_by(min_tail_effect)):
        return TAIL_REGRESSION, "tail"
    none_slower = all(level.high < math.log1p(min_effect) for level in levels)
    if none_slower and any(level.faster_by(min_effect) for level in sure):
        return IMPROVEMENT, "level"
    if typical.within(min_effect):
        # A tail that may have moved is not the same, even if it is not surely slower.
        return (SAME, by) if abs(p95.value) < math.log1p(min_tail_effect) else (INSUFFICIENT_DATA, "tail")
    return INSUFFICIENT_DATA, by


def what_is_needed(found: Difference, shown: Evidence, min_effect: float, num_steps: int, num_runs: int) -> Needed:
    """Estimates how many steps or runs would decide; widths shrink with the square root of either.

    Args:
        found: difference of what decided.
        shown: the same with the allowance.
        min_effect: the verdict's minimum effect on it.
        num_steps: steps of the shortest run.
        num_runs: runs of the smaller side.
    """
    distance = abs(found.value)
    effect, sure = math.log1p(min_effect), math.log1p(min_effect / 3)
    # Near the minimum effect no amount of data decides quickly: a tenth of it is the narrowest width asked for.
    target = max(effect - distance if distance < effect else distance - sure, effect / 10)
    width = (found.high - found.low) / 2
    allowance = (shown.high - shown.low) / 2
    if not math.isfinite(width):
        needed = max(2 * num_steps, 200)
        return Needed(needed, None, f"The steps set no limit to the change; at least {needed} steps a run are needed.")
    fixed = math.sqrt(max(allowance**2 - width**2, 0.0))
    if not found.spread_known and fixed < 0.9 * target:
        needed = math.ceil(num_steps * (width**2 / (target**2 - fixed**2)))
        if num_steps < needed <= 50 * num_steps:
            return Needed(needed, None, f"About {_round_up(needed)} steps a run would decide; there are {num_steps}.")
    # Two more for the t quantile of few runs.
    runs = max(num_runs + 1, math.ceil(num_runs * (allowance / target) ** 2) + (0 if found.spread_known else 2), 3)
    if runs > MAX_RUNS:
        text = f"More than {MAX_RUNS} runs a side would be needed: look for changes within the runs first."
        return Needed(None, None, text)
    return Needed(None, runs, f"About {runs} runs a side would decide; the smaller side has {num_runs}.")


def describe(change: Change) -> str:
    """Returns a change with its interval, such as "+5.2 % (4.8 to 5.6)" or "−5.2 % (−5.6 to −4.8)"."""
    if math.isnan(change.change):
        return "unknown"
    scale = abs(change.high - change.low)
    digits = 2 if scale < 0.005 else 1
    high = f"{100 * change.high:.{digits}f}" if math.isfinite(change.high) else "no limit"
    low = f"{100 * change.low:.{digits}f}" if change.low > -1 else "no limit"
    return f"{100 * change.change:+.{digits}f} % ({low} to {high})".replace("-", MINUS)


def sentence(result: Comparison) -> str:
    """Says a comparison's verdict in plain language, one or two sentences."""
    median, p95 = describe(result.median), describe(result.p95)
    levels = " level by level" if result.level_basis == "steps" else ""
    levels = f" within each {result.level_basis}" if result.level_basis in ("bucket", "num_samples") else levels
    shown = result.mean if result.decided_by == "mean" else result.median
    typical = f"{'mean' if result.decided_by == 'mean' else 'median'} step time {describe(shown)}"
    values = f"{_ms(shown.baseline)} → {_ms(shown.candidate)}"
    if result.verdict == NOT_COMPARABLE:
        fields = [check for check in result.conditions if check.status == "different"]
        listed = "; ".join(f"{c.field} {', '.join(c.baseline)} → {', '.join(c.candidate)}" for c in fields)
        text = f"Not comparable: {listed}. The measured change of the median is {median}."
    elif result.verdict == REGRESSION:
        text = f"Slower: {typical}{levels}, {values}."
        if result.decided_by == "level":
            worst = max(result.levels, key=lambda level: level.change.change)
            text = f"Slower in {worst.label}: {describe(worst.change)}; over all {median}."
    elif result.verdict == IMPROVEMENT:
        text = f"Faster: {typical}{levels}, {values}."
        if result.decided_by == "level":
            best = min(result.levels, key=lambda level: level.change.change)
            text = f"Faster in {best.label}: {describe(best.change)}; over all {median}."
    elif result.verdict == TAIL_REGRESSION:
        if result.p95.change >= result.min_tail_effect:
            text = f"Slow steps got slower: p95 {p95}, while the median is {median}{levels}."
            if result.median.high - result.median.low > 2 * result.min_effect:
                text = f"Slow steps got slower: p95 {p95}. How the typical step moved is not clear: median {median}."
        else:
            text = f"Rare slow steps cost more: mean step time {describe(result.mean)}; median {median}, p95 {p95}."
    elif result.verdict == SAME:
        text = f"Same within {100 * result.min_effect:g} %: {typical}{levels}."
        if shown.p_value < 0.05:
            text += f" It is surely {'slower' if shown.change > 0 else 'faster'}, but by less than the minimum effect."
    else:
        text = f"Not enough data for a verdict: {typical}{levels}."
        if result.decided_by == "tail":
            text = f"Not enough data for a verdict on slow steps: p95 {p95}; {typical}{levels}."
        if result.needed is not None:
            text += f" {result.needed.text}"
    if result.overruled:
        text += f" Compared although {', '.join(result.overruled)} differ{'s' if len(result.overruled) == 1 else ''}."
    return text


def _ms(value: float) -> str:
    return f"{value:.4g} ms" if value < 1000 else f"{value / 1000:.4g} s"


def _round_up(count: int) -> int:
    magnitude = 10 ** max(len(str(count)) - 2, 0)
    return -(-count // magnitude) * magnitude
