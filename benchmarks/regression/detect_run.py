"""Runs `find_changes` over suites of planted series and prints F1, false markers, location error, time and memory.

    PYTHONPATH=. python benchmarks/regression/detect_run.py --seeds 101 102 --num-series 400

Seeds below 100 were used while tuning; report on others.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from detect_score import Report
from series_noise import autoregressive
from series_suite import suite

from tb_stepperf.statistics.changes import find_changes


def run_suite(seeds: list[int], num_series: int, max_length: int, only: str | None = None) -> Report:
    """Scores `find_changes` on the suites of `seeds`."""
    report = Report()
    for seed in seeds:
        for series in suite(seed, num_series, max_length):
            if only is None or series.kind == only:
                report.add(series, [change.step for change in find_changes(series.step_time_ms)])
    return report


def print_cost() -> None:
    """Prints run time and peak memory of one call at several lengths."""
    for num in (300, 3000, 30_000, 1_000_000):
        rng = np.random.default_rng(num)
        step_time_ms = 100.0 * np.exp(autoregressive(rng, num, 0.02, 0.5))
        step_time_ms[num // 2 :] *= 1.08
        seconds = []
        for _ in range(3):
            begin = time.perf_counter()
            find_changes(step_time_ms)
            seconds.append(time.perf_counter() - begin)
        peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{num:>9,} steps: {min(seconds) * 1e3:8.1f} ms, process peak so far {peak_mib:.0f} MiB")


def main() -> None:
    """Parses the command line and prints the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[101])
    parser.add_argument("--num-series", type=int, default=400)
    parser.add_argument("--max-length", type=int, default=300_000)
    parser.add_argument("--only", default=None, help="one kind, or quiet")
    parser.add_argument("--failures", action="store_true", help="name every series that was not right")
    args = parser.parse_args()
    print_cost()
    report = run_suite(args.seeds, args.num_series, args.max_length, args.only)
    print("\n".join(report.lines()))
    if args.failures:
        print("\n".join(report.failures))


if __name__ == "__main__":
    main()
