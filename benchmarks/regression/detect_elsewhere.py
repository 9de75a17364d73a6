"""Scores `find_changes` on the second generator.

PYTHONPATH=. python benchmarks/regression/detect_elsewhere.py --seeds 201 202 --num-series 400
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from series_elsewhere import Planted, Series, series

from tb_stepperf.statistics import Change, find_changes

LASTING = ("regression", "improvement", "transient")
LEVELS = ("level", "small", "improvement", "multi", "curriculum", "transient", "recover", "late", "early")


def match(truth: Series, changes: Sequence[Change]) -> tuple[list[tuple[Planted, Change]], list[Planted], list[Change]]:
    """Matches markers one to one with what was planted.

    Returns:
        Pairs of planted change and marker; what was asked for and missed; markers of nothing. Where a marker says that
        it returned, its end answers for a planted change there.
    """
    nearby = [
        (not planted.asked, change.kind not in planted.kinds, abs(change.step - planted.step), i, j)
        for i, planted in enumerate(truth.planted)
        for j, change in enumerate(changes)
        if abs(change.step - planted.step) <= planted.tolerance
    ]
    pairs: dict[int, int] = {}
    for *_, i, j in sorted(nearby):
        if i not in pairs and j not in pairs.values():
            pairs[i] = j
    ends = [change.end_step for change in changes if change.end_step is not None and change.kind in LASTING]
    missed = [
        planted
        for i, planted in enumerate(truth.planted)
        if planted.asked and i not in pairs and all(abs(end - planted.step) > planted.tolerance for end in ends)
    ]
    false = [c for j, c in enumerate(changes) if j not in pairs.values() and not _excused(truth, c)]
    return [(truth.planted[i], changes[j]) for i, j in pairs.items()], missed, false


def _excused(truth: Series, change: Change) -> bool:
    if any(start <= change.step <= end for start, end in truth.excused):
        return True
    if any(
        p.end_step is not None and "ramp" not in p.kinds and abs(change.step - p.end_step) <= max(p.tolerance, 20)
        for p in truth.planted
    ):
        return True
    if change.kind not in ("ramp", "drift"):
        return False
    within = [p for p in truth.planted if change.step - 20 <= p.step <= (change.end_step or p.step) + 20]
    return bool(within) and not any(p.asked for p in within)


def f1(counts: Counter) -> float:
    """F1 of counts of hits, missed and false; NaN where nothing was asked for or said."""
    total = 2 * counts["hits"] + counts["missed"] + counts["false"]
    return 2 * counts["hits"] / total if total else float("nan")


def main() -> None:
    """Prints F1 over all, by kind, noise and overlay, and what was missed or invented."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", required=True)
    parser.add_argument("--num-series", type=int, default=400)
    parser.add_argument("--verbose", action="store_true", help="list what was missed, invented or called otherwise")
    args = parser.parse_args()
    groups: dict[tuple[str, str], Counter] = defaultdict(Counter)
    errors: list[int] = []
    covered: list[bool] = []
    for seed in args.seeds:
        for number in range(args.num_series):
            truth = series(seed, number)
            pairs, missed, false = match(truth, find_changes(truth.step_time_ms))
            hits = [(planted, change) for planted, change in pairs if planted.asked]
            for key in (("all", ""), ("kind", truth.kind), ("noise", truth.noise), ("overlay", truth.overlay)):
                groups[key].update(hits=len(hits), missed=len(missed), false=len(false), series=1)
                groups[key].update(named=sum(change.kind in planted.kinds for planted, change in hits))
                if not truth.planted:
                    groups[key].update(quiet=1, quiet_false=len(false), quiet_any=bool(false))
            if truth.kind in LEVELS:
                errors += [abs(change.step - planted.step) for planted, change in hits]
                covered += [c.change_low <= p.change <= c.change_high for p, c in hits if c.measure == "typical"]
            if args.verbose:
                what = f"{seed} {number} {truth.kind}, {truth.noise}, {truth.overlay}, {truth.step_time_ms.size} steps:"
                for planted in missed:
                    print(what, f"missed {planted.change:+.3f} at {planted.step}")
                for change in false:
                    print(what, f"false {change.kind} {change.change:+.3f} at {change.step}")
    for (group, name), counts in sorted(groups.items()):
        print(
            f"{group:8s} {name:32s} series {counts['series']:5d} F1 {f1(counts):.3f} hits {counts['hits']:4d} "
            f"kind right {counts['named']:4d} missed {counts['missed']:3d} false {counts['false']:3d} "
            f"quiet {counts['quiet']:4d} false there {counts['quiet_false']} in {counts['quiet_any']} series"
        )
    print("location error, median / 90th percentile:", np.quantile(errors, [0.5, 0.9]).tolist())
    print(f"intervals of level changes that cover: {np.mean(covered):.3f} of {len(covered)}")


if __name__ == "__main__":
    main()
