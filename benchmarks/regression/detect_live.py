"""Feeds planted series to the live detector in small blocks, as a training would, and prints what it said and when.

    PYTHONPATH=. python benchmarks/regression/detect_live.py --seeds 101 --num-series 400

A confirmed change counts where it lies within the tolerance of a planted one; the delay is the number of steps between
the planted step and the confirmation. Series with sustained steps (`regression`, `improvement`, `several`) and quiet
ones.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from detect_score import Tally, match
from series_noise import BASES
from series_suite import Series, suite

from tb_stepperf.statistics.live import LiveDetector, ProvisionalChange

KINDS = ("regression", "improvement", "several")
MIN_STEPS = 900
"""A detector that has to learn a reference first is not asked about shorter runs."""


def watch(series: Series, block: int = 16) -> tuple[list[ProvisionalChange], float]:
    """Feeds one series block by block; returns what was confirmed and the seconds it took."""
    detector = LiveDetector()
    found: list[ProvisionalChange] = []
    begin = time.perf_counter()
    for start in range(0, series.step_time_ms.size, block):
        found += detector.feed(series.step_time_ms[start : start + block])
    return found, time.perf_counter() - begin


def main() -> None:
    """Parses the command line and prints the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[101])
    parser.add_argument("--num-series", type=int, default=400)
    parser.add_argument("--max-length", type=int, default=30_000)
    parser.add_argument("--failures", action="store_true")
    args = parser.parse_args()
    tallies = {"recurring": Tally(), "other": Tally(), "all": Tally()}
    counts: dict[str, list[int]] = {"recurring": [], "other": [], "all": []}
    delays: list[int] = []
    seconds = 0.0
    num_steps = 0
    for seed in args.seeds:
        for series in suite(seed, args.num_series, args.max_length):
            if (series.truth and series.kind not in KINDS) or series.step_time_ms.size < MIN_STEPS:
                continue
            group = "recurring" if series.base in ("flipping", "recurring_slow") else "other"
            found, took = watch(series)
            seconds += took
            num_steps += series.step_time_ms.size
            rows = [change.row for change in found]
            hits, missed, false, errors = match(series.truth, rows, series.step_time_ms.size)
            if args.failures and (missed or false):
                planted = [(t.step, round(t.change, 3)) for t in series.truth]
                print(f"{series.name}: {planted} {[(c.change.kind, c.row, c.seen_at_row) for c in found]}")
            if not series.truth:
                counts[group].append(len(rows))
                counts["all"].append(len(rows))
                continue
            for tally in (tallies[group], tallies["all"]):
                tally.hits += hits
                tally.missed += missed
                tally.false += false
                tally.errors += errors
            for truth in series.truth:
                delays += [c.seen_at_row - truth.step for c in found if abs(c.row - truth.step) <= 20][:1]
    for group, tally in tallies.items():
        print(
            f"{group}: F1 {tally.f1:.3f} (hits {tally.hits}, missed {tally.missed}, false {tally.false}); "
            f"quiet series {len(counts[group])}, false alarms a series {np.mean(counts[group]):.4f}"
        )
    print(f"delay median {np.median(delays):.0f}, 90th percentile {np.quantile(delays, 0.9):.0f} steps")
    print(f"background cost {seconds / num_steps * 1e6:.2f} µs a step over all these (short) series; long ones:")
    for base in ("white", "ar_0.9", "wander"):
        step_time_ms = 100.0 * np.exp(BASES[base](np.random.default_rng(1), 200_000, 0.02))
        found, took = watch(Series(base, "quiet", base, step_time_ms, ()))
        print(f"  200,000 steps of {base}: {took / 0.2:.2f} µs a step, {len(found)} alarms")


if __name__ == "__main__":
    main()
