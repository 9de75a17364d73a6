"""Scores `compare_runs` on pairs with planted truth and prints a Markdown table.

    python benchmarks/regression/pairs_score.py [--seeds tune|report] [--pairs 100]
    python benchmarks/regression/pairs_score.py --real DIRECTORY_OF_CSV

Thresholds were chosen on the tuning seeds; the report uses others. The peer is the Mann-Whitney test on the same steps
without warm-up.
"""

from __future__ import annotations

import argparse
import collections
import csv
import gzip
import math
import pathlib
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(pathlib.Path(__file__).resolve().parent)]

from pairs_series import KINDS, program, run_of  # noqa: E402

from tb_stepperf.statistics.comparison import RunSample, compare_runs, describe  # noqa: E402
from tb_stepperf.statistics.comparison.sample import use_runs  # noqa: E402

FIRST_SEED = {"tune": 0, "report": 1_000_000}
LENGTHS = (300, 1000, 3000)
ALARMS = ("regression", "improvement", "tail regression")


def mann_whitney_p(first: np.ndarray, second: np.ndarray) -> float:
    """Two-sided p of the Mann-Whitney test, normal approximation with the correction for ties."""
    values = np.concatenate([first, second])
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    num_a, num_b = first.size, second.size
    u = ranks[:num_a].sum() - num_a * (num_a + 1) / 2
    total = num_a + num_b
    ties = float((counts.astype(float) ** 3 - counts).sum()) / (total * (total - 1))
    sd = math.sqrt(num_a * num_b / 12 * (total + 1 - ties))
    return math.erfc(abs(u - num_a * num_b / 2) / sd / math.sqrt(2)) if sd > 0 else 1.0


def lengths_of(seed: int) -> tuple[int, int]:
    """Steps of both sides; in a third of the pairs they differ."""
    rng = np.random.default_rng([seed, 9])
    first, second = rng.choice(LENGTHS, 2)
    return int(first), int(first if rng.random() < 2 / 3 else second)


def score(kind: str, seeds: range, **planted: float) -> dict[str, float]:
    """Runs one pair a seed and returns rates and times."""
    counts: collections.Counter[str] = collections.Counter()
    spent_s = 0.0
    true = planted.get("slower", 0.0)
    for seed in seeds:
        of = program(kind, seed)
        length_a, length_b = lengths_of(seed)
        if kind in ("planned levels", "ramp"):
            length_b = length_a
        baseline, candidate = run_of(of, 0, length_a), run_of(of, 1, length_b, **planted)
        begin = time.perf_counter()
        result = compare_runs([baseline], [candidate])
        spent_s += time.perf_counter() - begin
        counts["median"] += result.median.p_value < 0.05
        # The sides of "named buckets" have different mixes on purpose: their means do differ.
        counts["mean"] += result.mean.p_value < 0.05 and kind != "named buckets"
        counts["p95"] += result.p95.p_value < 0.05
        counts["covered"] += result.median.low <= true <= result.median.high
        counts[result.verdict] += 1
        counts["alarm"] += result.verdict in ALARMS
        (first,), (second,) = use_runs([baseline], [candidate])
        counts["mann-whitney"] += mann_whitney_p(first.time_ms, second.time_ms) < 0.05
    rates = {name: count / len(seeds) for name, count in counts.items()}
    return collections.defaultdict(float, rates, ms=1000 * spent_s / len(seeds))


def several_runs(seeds: range, num_baselines: int, num_candidates: int, **planted: float) -> dict[str, float]:
    """Sides of several runs whose own offsets have a standard deviation of 1 %."""
    counts: collections.Counter[str] = collections.Counter()
    for seed in seeds:
        of = program("AR 0.5", seed)
        sides = [
            [run_of(of, 100 * side + run, 600, offset=0.01, **(planted if side else {})) for run in range(num)]
            for side, num in enumerate((num_baselines, num_candidates))
        ]
        result = compare_runs(*sides)
        counts["median"] += result.median.p_value < 0.05
        counts[result.verdict] += 1
        counts["alarm"] += result.verdict in ALARMS
    return collections.defaultdict(float, {name: count / len(seeds) for name, count in counts.items()})


def report(seeds: range, kinds: list[str]) -> None:
    """Prints the tables."""
    print(f"{len(seeds)} pairs a kind; 300, 1,000 or 3,000 steps a run; noise 0.5 to 5 %.\n")
    print("No difference planted.\n")
    print("| kind | median: p < 5 % | mean | p95 | false verdict | same | insufficient | Mann-Whitney | ms |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    columns = ("median", "mean", "p95", "alarm", "same", "insufficient data", "mann-whitney")
    rows = []
    for kind in kinds:
        rates = score(kind, seeds)
        rows.append([rates[name] for name in columns])
        print(
            f"| {kind} | " + " | ".join(f"{100 * rate:.1f}" for rate in rows[-1]) + f" | {rates['ms']:.0f} |",
            flush=True,
        )
    print("| **mean** | " + " | ".join(f"{100 * rate:.1f}" for rate in np.mean(rows, axis=0)) + " | |")
    print("| **worst** | " + " | ".join(f"{100 * rate:.1f}" for rate in np.max(rows, axis=0)) + " | |")
    print("\nEvery step 5 % slower.\n")
    print("| kind | regression | tail regression | same | insufficient | interval covers 5 % |")
    print("|---|--:|--:|--:|--:|--:|")
    for kind in kinds:
        rates = score(kind, seeds, slower=0.05)
        shown = [rates[name] for name in ("regression", "tail regression", "same", "insufficient data", "covered")]
        print(f"| {kind} | " + " | ".join(f"{100 * rate:.1f}" for rate in shown) + " |", flush=True)
    print("\nA tenth of the steps 40 % slower.\n")
    print("| kind | tail regression | regression | insufficient |")
    print("|---|--:|--:|--:|")
    for kind in ("independent", "AR 0.5", "AR 0.9", "spikes"):
        rates = score(kind, seeds, tail=0.4)
        shown = [rates[name] for name in ("tail regression", "regression", "insufficient data")]
        print(f"| {kind} | " + " | ".join(f"{100 * rate:.1f}" for rate in shown) + " |", flush=True)
    print("\nSeveral runs of 600 steps, AR 0.5, each run with an offset of its own (1 %).\n")
    print("| runs | p < 5 % without difference | false verdict | regression at +5 % |")
    print("|---|--:|--:|--:|")
    for sizes in ((1, 1), (2, 2), (3, 1), (3, 3), (5, 5), (8, 1), (10, 10)):
        none, slow = several_runs(seeds, *sizes), several_runs(seeds, *sizes, slower=0.05)
        shown = [none["median"], none["alarm"], slow["regression"]]
        print(f"| {sizes[0]} + {sizes[1]} | " + " | ".join(f"{100 * rate:.1f}" for rate in shown) + " |", flush=True)


def real(directory: pathlib.Path) -> None:
    """Compares the recorded A/B and A/A of the modded-nanogpt project, if their tables are there."""
    for path in sorted(directory.rglob("*_A[AB].csv.gz")):
        runs: dict[str, list[tuple[int, float]]] = {}
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                runs.setdefault(row["run"], []).append((int(row["step"]), float(row["dt_ms"] or "nan")))
        sides: tuple[list[RunSample], list[RunSample]] = ([], [])
        for name, rows in runs.items():
            steps, times = zip(*rows)
            sides[not name.startswith("base")].append(RunSample(np.array(times), np.array(steps), name=name))
        result = compare_runs(*sides)
        print(f"{path.name}: {len(sides[0])} + {len(sides[1])} runs: {result.sentence}")
        print(
            f"  mean step time {describe(result.mean)}, p = {result.mean.p_value:.1g}; median {describe(result.median)}"
        )


def main() -> None:
    """Reads the arguments and prints the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", choices=sorted(FIRST_SEED), default="report")
    parser.add_argument("--pairs", type=int, default=100, help="pairs a kind")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--real", type=pathlib.Path, help="directory that holds the recorded tables")
    arguments = parser.parse_args()
    if arguments.real is not None:
        real(arguments.real)
        return
    first = FIRST_SEED[arguments.seeds]
    report(range(first, first + arguments.pairs), arguments.kinds)


if __name__ == "__main__":
    main()
