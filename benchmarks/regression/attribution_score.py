"""Scores `attribute_change` on planted changes and prints a Markdown table.

    python benchmarks/regression/attribution_score.py [--seeds tune|report] [--cases 100]

"Exactly right": the outcome, and all named stages and no other. "First right": the first-named stage is a planted one
(none is named where none is to blame). The peer, "naive means", blames every stage whose mean makes at least 15 % of
the change.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(pathlib.Path(__file__).resolve().parent)]

from attribution_cases import KINDS, Case, draw_case  # noqa: E402

from tb_stepperf.statistics.attribution import MIN_CHANGE, MIN_SHARE, UNLABELLED, attribute_change  # noqa: E402

FIRST_SEED = {"tune": 0, "report": 1_000_000}


def naive(case: Case) -> tuple[str, tuple[str, ...]]:
    """Blames every part whose plain mean makes at least 15 % of the plain change."""
    means = []
    for side in (case.before, case.after):
        parts = {name: float(np.mean(values)) for name, values in side.stages.items()}
        parts[UNLABELLED] = float(np.mean(side.step_time_ms)) - sum(parts.values())
        means.append(parts)
    changes = {name: means[1].get(name, 0.0) - means[0].get(name, 0.0) for name in {**means[0], **means[1]}}
    total = sum(changes.values())
    if abs(total) < MIN_CHANGE * sum(means[0].values()):
        return "nothing", ()
    blamed = [name for name, change in changes.items() if change / total >= MIN_SHARE]
    return "blamed", tuple(sorted(blamed, key=lambda name: -changes[name] / total))


def score(kind: str, seeds: range, verbose: bool) -> tuple[float, float, float, float]:
    """Returns the rates of exactly right, first right and naively right, and ms a case."""
    exact = first = peer = 0
    spent_s = 0.0
    for seed in seeds:
        case = draw_case(kind, seed)
        begin = time.perf_counter()
        result = attribute_change(case.before, case.after)
        spent_s += time.perf_counter() - begin
        right = (
            result.outcome == case.outcome
            and set(result.blamed) == set(case.culprits)
            and (result.vanishes_per == case.vanishes_per)
        )
        exact += right
        first += result.blamed[0] in case.culprits if result.blamed else not case.culprits
        outcome, blamed = naive(case)
        peer += outcome == case.outcome and set(blamed) == set(case.culprits)
        if verbose and not right:
            print(f"  {kind} {seed}: planted {case.outcome} {case.culprits}; {result.sentence}", file=sys.stderr)
            for part in result.parts:
                print(
                    f"      {part.name}: {part.before_ms:.4g} {part.change_ms:+.3g} ({part.low_ms:.3g} to"
                    f" {part.high_ms:.3g}) share {part.share:.2f} clear {part.clear}",
                    file=sys.stderr,
                )
    return exact / len(seeds), first / len(seeds), peer / len(seeds), 1000 * spent_s / len(seeds)


def main() -> None:
    """Reads the arguments and prints the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", choices=sorted(FIRST_SEED), default="report")
    parser.add_argument("--cases", type=int, default=100, help="cases a kind")
    parser.add_argument("--verbose", action="store_true", help="describe the wrong ones")
    arguments = parser.parse_args()
    first = FIRST_SEED[arguments.seeds]
    print("| planted | exactly right | first right | naive means | ms |\n|---|--:|--:|--:|--:|")
    rows = []
    for kind in KINDS:
        rows.append(score(kind, range(first, first + arguments.cases), arguments.verbose))
        print(f"| {kind} | " + " | ".join(f"{value:.3f}" for value in rows[-1][:3]) + f" | {rows[-1][3]:.0f} |")
    print("| **mean** | " + " | ".join(f"{value:.3f}" for value in np.mean(rows, axis=0)[:3]) + " | |")


if __name__ == "__main__":
    main()
