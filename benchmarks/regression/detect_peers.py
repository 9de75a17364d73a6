"""Peers on the same planted series: what each of them finds, misses and invents.

    PYTHONPATH=. benchmarks/.venv/bin/python benchmarks/regression/detect_peers.py --seeds 101 --num-series 200

Page-Hinkley and rank binary segmentation are written out here; ruptures and Apache Otava are used where they are
installed (`requirements.txt`), and a missing one is said. All get log step times as they are measured,
readings that are no time filled with the median, and no mercy for warm-up beyond the first 5 %.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import math
import time
from collections.abc import Callable

import numpy as np
from detect_score import Report
from series_suite import suite

from tb_stepperf.statistics.changes import find_changes

Detector = Callable[[np.ndarray], list[int]]


def ready(step_time_ms: np.ndarray) -> np.ndarray:
    """Log step times with unusable readings filled."""
    good = np.isfinite(step_time_ms) & (step_time_ms > 0)
    return np.log(np.where(good, step_time_ms, np.median(step_time_ms[good])))


def page_hinkley(step_time_ms: np.ndarray) -> list[int]:
    """Page-Hinkley, both directions, on standardised log times: allowance 0.5, threshold 50 (tuned on seed 1)."""
    log_ms = ready(step_time_ms)
    head = max(30, log_ms.size // 20)
    level, scale = float(np.median(log_ms[:head])), max(float(log_ms[:head].std()), 1e-4)
    found: list[int] = []
    up = down = 0.0
    start = head
    for step in range(head, log_ms.size):
        score = (float(log_ms[step]) - level) / scale
        up = max(0.0, up + score - 0.5)
        down = max(0.0, down - score - 0.5)
        if max(up, down) > 50.0:
            found.append(step)
            start = step
            up = down = 0.0
        if step - start == head and found:
            part = log_ms[start:step]
            level, scale = float(np.median(part)), max(float(part.std()), 1e-4)
    return found


def rank_segmentation(step_time_ms: np.ndarray) -> list[int]:
    """Binary segmentation with the largest standardised rank sum, on medians of 8 steps; p < 1e-6 a split, 3 %."""
    log_ms = ready(step_time_ms)
    size = max(8, log_ms.size // 2000)
    medians = np.median(log_ms[: log_ms.size // size * size].reshape(-1, size), axis=1)
    found: list[int] = []
    pending = [(max(1, medians.size // 20), medians.size)]
    while pending:
        start, end = pending.pop()
        num = end - start
        if num < 12:
            continue
        ranks = np.argsort(np.argsort(medians[start:end])) + 1.0
        left = np.arange(4, num - 4)
        total = np.cumsum(ranks)[left - 1]
        z = np.abs(total - left * (num + 1) / 2) / np.sqrt(left * (num - left) * (num + 1) / 12)
        border = int(left[z.argmax()])
        p_value = math.erfc(float(z.max()) / math.sqrt(2)) * num
        shift = np.median(medians[start + border : end]) - np.median(medians[start : start + border])
        if p_value < 1e-6 and abs(shift) >= math.log(1.03):
            found.append((start + border) * size)
            pending += [(start, start + border), (start + border, end)]
    return sorted(found)


def kernel_cpd() -> Detector:
    """ruptures' KernelCPD with the rbf kernel, on windowed medians, and a second pass on windowed p95."""
    ruptures = importlib.import_module("ruptures")

    def detect(step_time_ms: np.ndarray) -> list[int]:
        log_ms = ready(step_time_ms)
        found: list[int] = []
        for share, least in ((0.5, math.log(1.03)), (0.95, math.log(1.05))):
            size = max(8 if share == 0.5 else 20, log_ms.size // 600)
            table = log_ms[: log_ms.size // size * size].reshape(-1, size)
            values = np.quantile(table, share, axis=1)[max(1, table.shape[0] // 20) :]
            if values.size < 12:
                continue
            scale = 1.4826 * float(np.median(np.abs(np.diff(values)))) / math.sqrt(2) or 1e-3
            model = ruptures.KernelCPD(kernel="rbf", min_size=3).fit((values / scale).reshape(-1, 1))
            borders = model.predict(pen=3.0 * math.log(values.size))[:-1]
            edges = [0, *borders, values.size]
            for left, border, right in zip(edges[:-2], edges[1:-1], edges[2:]):
                shift = abs(float(np.median(values[border:right]) - np.median(values[left:border])))
                step = (border + max(1, table.shape[0] // 20)) * size
                if shift >= least and all(abs(step - other) > 2 * size + 20 for other in found):
                    found.append(step)
        return sorted(found)

    return detect


def otava() -> Detector:
    """Apache Otava's change points with its defaults and a minimum magnitude of 3 %, on at most 1,000 medians."""
    analysis = importlib.import_module("otava.analysis")

    def detect(step_time_ms: np.ndarray) -> list[int]:
        log_ms = ready(step_time_ms)
        size = max(1, log_ms.size // 1000)
        head = log_ms.size // 20 // size
        values = np.exp(np.median(log_ms[: log_ms.size // size * size].reshape(-1, size), axis=1))[head:]
        points, _ = analysis.compute_change_points(list(values), window_len=50, max_pvalue=0.001, min_magnitude=0.03)
        return [(int(point.index) + head) * size for point in points]

    return detect


def main() -> None:
    """Parses the command line and prints one report a detector."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[101])
    parser.add_argument("--num-series", type=int, default=200)
    parser.add_argument("--max-length", type=int, default=10_000)
    args = parser.parse_args()
    detectors: dict[str, Detector] = {
        "find_changes": lambda series: [change.step for change in find_changes(series)],
        "rank binary segmentation": rank_segmentation,
        "Page-Hinkley": page_hinkley,
    }
    makers = (
        ("ruptures KernelCPD-rbf, medians and p95", "ruptures", kernel_cpd),
        ("Apache Otava", "otava", otava),
    )
    for name, module, make in makers:
        if importlib.util.find_spec(module) is None:
            print(f"{name}: left out, {module} is not installed here")
        else:
            detectors[name] = make()
    for name, detect in detectors.items():
        report = Report()
        begin = time.perf_counter()
        for seed in args.seeds:
            for series in suite(seed, args.num_series, args.max_length):
                report.add(series, detect(series.step_time_ms))
        seconds = time.perf_counter() - begin
        print(f"\n## {name} ({seconds / args.num_series / len(args.seeds) * 1e3:.0f} ms a series)\n")
        print("\n".join(report.lines()))


if __name__ == "__main__":
    main()
