"""Quantile bands against an in-place sort and `np.quantile`: `python -m benchmarks.bands_speed`.

Target: 10⁶ samples into 1,000 bins in at most twice the time of sorting the same array in place. Ratios are taken
inside one round, where the machine is in one mood; the median of the rounds is printed as a Markdown table.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from tb_stepperf.statistics import bands

PERCENTILES = (5, 25, 50, 75, 95, 99)


def _seconds(function: Callable[[], object]) -> float:
    started_s = time.perf_counter()
    function()
    return time.perf_counter() - started_s


def measure(num_samples: int, num_bins: int, num_rounds: int) -> dict[str, tuple[float, float]]:
    """Measures one size.

    Args:
        num_samples: a multiple of num_bins.
        num_bins: number of equally large bins.
        num_rounds: rounds of all candidates, one after another.

    Returns:
        Candidate to (median milliseconds, median ratio to the in-place sort of the same round).
    """
    values = np.random.default_rng(0).lognormal(4.6, 0.1, num_samples).astype(np.float32)
    rows = np.arange(num_bins + 1) * (num_samples // num_bins)
    table = values.reshape(num_bins, -1)
    fractions = np.array(PERCENTILES) / 100.0
    times: dict[str, list[float]] = {}
    for _ in range(num_rounds):
        copy = values.copy()
        candidates = {
            "np.sort in place": copy.sort,
            "bands (6 percentiles, min, max, place of max)": lambda: bands(values, rows, PERCENTILES),
            "np.quantile, inverted_cdf (6 percentiles)": lambda: np.quantile(
                table, fractions, axis=1, method="inverted_cdf"
            ),
        }
        for name, candidate in candidates.items():
            times.setdefault(name, []).append(_seconds(candidate))
    floor = times["np.sort in place"]
    return {
        name: (
            statistics.median(seconds) * 1e3,
            statistics.median(second / sort for second, sort in zip(seconds, floor)),
        )
        for name, seconds in times.items()
    }


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    print("| samples | bins | what | median ms | ÷ in-place sort |")
    print("|--:|--:|---|--:|--:|")
    for num_samples, num_bins in ((10**6, 1000), (10**6, 600), (10**5, 1000), (10**6, 1)):
        for name, (ms, ratio) in measure(num_samples - num_samples % num_bins, num_bins, arguments.rounds).items():
            print(f"| {num_samples:,} | {num_bins:,} | {name} | {ms:.1f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
