"""Scores markers against planted truth, one to one."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from series_suite import Series, Truth


def tolerance(num_steps: int) -> int:
    """Steps by which a marker may be off: the larger of 20 and 1 % of the series."""
    return max(20, num_steps // 100)


@dataclasses.dataclass
class Tally:
    """Counts of one group of series."""

    hits: int = 0
    missed: int = 0
    false: int = 0
    errors: list[int] = dataclasses.field(default_factory=list)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 1 where there was nothing to find and nothing was said."""
        total = 2 * self.hits + self.missed + self.false
        return 2 * self.hits / total if total else 1.0


def match(truth: Sequence[Truth], markers: Sequence[int], num_steps: int) -> tuple[int, int, int, list[int]]:
    """Matches markers to planted changes, the nearest pairs first.

    A marker within the tolerance of a change hits it (of a ramp or drift: anywhere between its ends, or nearer to them
    than a tenth of its length: where a slow change begins is not sharp); each change and
    each marker is used once. A marker at the end of a transient or ramp that is left over is neither right nor wrong.

    Returns:
        Hits, missed changes, false markers, and the location errors of the hits (steps and transients only).
    """
    allowed = tolerance(num_steps)
    pairs = []
    for t, change in enumerate(truth):
        for m, marker in enumerate(markers):
            distance = abs(marker - change.step)
            blurred = 0
            if change.kind in ("ramp", "drift"):
                inside = change.step <= marker <= change.end_step
                distance = 0 if inside else min(distance, abs(marker - change.end_step))
                blurred = (change.end_step - change.step) // 10
            if distance <= max(allowed, blurred):
                pairs.append((distance, t, m))
    used_truth: set[int] = set()
    used_markers: set[int] = set()
    errors = []
    for distance, t, m in sorted(pairs):
        if t not in used_truth and m not in used_markers:
            used_truth.add(t)
            used_markers.add(m)
            if truth[t].kind not in ("ramp", "drift"):
                errors.append(distance)
    neutral = [change.end_step for change in truth if change.end_step is not None]
    false = sum(
        1
        for m, marker in enumerate(markers)
        if m not in used_markers and all(abs(marker - end) > allowed for end in neutral)
    )
    return len(used_truth), len(truth) - len(used_truth), false, errors


@dataclasses.dataclass
class Report:
    """All counts of one detector on one suite."""

    by_kind: dict[str, Tally] = dataclasses.field(default_factory=lambda: defaultdict(Tally))
    by_base: dict[str, Tally] = dataclasses.field(default_factory=lambda: defaultdict(Tally))
    quiet: dict[str, list[int]] = dataclasses.field(default_factory=lambda: defaultdict(list))
    failures: list[str] = dataclasses.field(default_factory=list)

    def add(self, series: Series, markers: Sequence[int]) -> None:
        """Counts one series."""
        num_steps = series.step_time_ms.size
        if not series.truth:
            self.quiet[series.base].append(len(markers))
            if markers:
                self.failures.append(f"{series.name}: marked {list(markers)}")
            return
        hits, missed, false, errors = match(series.truth, markers, num_steps)
        for tally in (self.by_kind[series.kind], self.by_base[series.base]):
            tally.hits += hits
            tally.missed += missed
            tally.false += false
            tally.errors += errors
        if missed or false:
            planted = [(t.step, t.end_step, round(t.change, 3)) for t in series.truth]
            self.failures.append(f"{series.name}: planted {planted}, marked {list(markers)}")

    def lines(self) -> list[str]:
        """The report as lines of a Markdown table and a summary."""
        total = Tally()
        rows = ["| kind | series' changes | missed | false | F1 |", "|---|--:|--:|--:|--:|"]
        for kind, tally in self.by_kind.items():
            num = tally.hits + tally.missed
            rows.append(f"| {kind} | {num} | {tally.missed} | {tally.false} | {tally.f1:.3f} |")
            total.hits += tally.hits
            total.missed += tally.missed
            total.false += tally.false
            total.errors += tally.errors
        quiet = np.concatenate([np.array(counts) for counts in self.quiet.values()]) if self.quiet else np.zeros(1)
        mean_f1 = np.mean([tally.f1 for tally in self.by_kind.values()]) if self.by_kind else float("nan")
        errors = np.array(total.errors or [0])
        worst = sorted(self.quiet.items(), key=lambda item: -sum(item[1]))[:3]
        rows += [
            "",
            "F1 by noise: " + ", ".join(f"{name} {tally.f1:.2f}" for name, tally in self.by_base.items()) + ".",
        ]
        rows += [
            "",
            f"F1 {total.f1:.3f}; mean over kinds {mean_f1:.3f}; "
            f"location error median {np.median(errors):.0f}, 90th percentile {np.quantile(errors, 0.9):.0f} steps.",
            f"Quiet series: {quiet.size}; false markers a series {quiet.mean():.4f}; "
            f"series with any {np.mean(quiet > 0):.2%}; "
            + "most in "
            + ", ".join(f"{base} {sum(counts)}/{len(counts)}" for base, counts in worst)
            + ".",
        ]
        return rows
