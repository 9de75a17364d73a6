"""`/summary`: the numbers of the verdict strip."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from tb_stepperf.analysis import latest_environment
from tb_stepperf.blocks.schema import (
    DEVICE_STEP_TIME_MS,
    EXCLUDED_MS,
    GC_MS,
    NUM_MICRO_STEPS,
    NUM_SAMPLES,
    NUM_TOKENS,
    STEP_TIME_MS,
    Flag,
)
from tb_stepperf.plugin.definitions import THROUGHPUT, peak_meaning
from tb_stepperf.plugin.json_numbers import integers, rounded
from tb_stepperf.plugin.params import Query
from tb_stepperf.plugin.payloads.memory import PEAK_COLUMNS, present_peaks
from tb_stepperf.plugin.payloads.stages import largest, more_label, stage_columns
from tb_stepperf.plugin.payloads.throughput import rates
from tb_stepperf.plugin.view import Source, View, times
from tb_stepperf.statistics import Selection, bands, bin_extremes, stage_shares

_PERCENTILES = (5, 25, 50, 75, 95, 99)
_RATIO_DIGITS = 6


def summary_impl(source: Source, query: Query) -> dict[str, Any]:
    """Returns the answer of `/summary`.

    Raises:
        NotFoundError: the run or the member is not there.
    """
    present = source.outline(query).columns
    stages, device_stages = stage_columns(present), stage_columns(present, is_device=True)
    plain = (STEP_TIME_MS, DEVICE_STEP_TIME_MS, EXCLUDED_MS, GC_MS, NUM_MICRO_STEPS, NUM_SAMPLES, NUM_TOKENS)
    view = source.view(query, [*plain, *PEAK_COLUMNS, *stages.values(), *device_stages.values()])
    selection = view.select(view.column(STEP_TIME_MS))
    flags = view.flags
    return {
        "run": query.run,
        "member": view.member.member,
        "clock": "host",
        "range": {"axis": query.axis, "start": str(view.start), "end": str(view.end)},
        "step_time_ms": _distribution(view, STEP_TIME_MS, selection),
        "device_step_time_ms": _device_distribution(view),
        **_stages(view, selection, stages, device_stages),
        "throughput": {
            "samples_per_s": _rate(view, selection, NUM_SAMPLES),
            "tokens_per_s": _rate(view, selection, NUM_TOKENS),
            "definition": THROUGHPUT,
        },
        "peaks": _peaks(view),
        "warmup": _flagged_total(view, STEP_TIME_MS, (flags & Flag.WARMUP) != 0),
        "excluded": _flagged_total(view, EXCLUDED_MS, ((flags & Flag.EXCLUDED) != 0) | (view.column(EXCLUDED_MS) > 0)),
        "gc": _flagged_total(view, GC_MS, ((flags & Flag.GC) != 0) | (view.column(GC_MS) > 0)),
        "num_micro_steps": _micro_steps(view),
        "counters": _counters(view),
        "sample": view.sample(selection),
    }


def _distribution(view: View, column: str, selection: Selection) -> dict[str, Any]:
    used = np.flatnonzero(selection.used)
    values = view.column(column)[used]
    result = bands(values, np.array([0, used.size]), _PERCENTILES)
    total_ms = float(values.sum(dtype=np.float64))
    quantiles = {f"p{percentile}": rounded(line[0]) for percentile, line in zip(_PERCENTILES, result.quantiles)}
    return {
        **quantiles,
        "mean": rounded(total_ms / used.size) if used.size else None,
        "min": rounded(result.minimum[0]),
        "max": rounded(result.maximum[0]),
        "max_step": str(view.steps[used[result.max_row[0]]]) if used.size else None,
        "total_ms": rounded(total_ms),
    }


def _device_distribution(view: View) -> dict[str, Any] | None:
    if not view.has(DEVICE_STEP_TIME_MS):
        return None
    return _distribution(view, DEVICE_STEP_TIME_MS, view.select(view.column(DEVICE_STEP_TIME_MS)))


def _stages(view: View, selection: Selection, stages: dict[str, str], device_stages: dict[str, str]) -> dict[str, Any]:
    """Returns stages, unlabelled and coverage; means are over all used steps, so that they add up to the step's."""
    num_used = max(selection.num_used, 1)
    totals_ms = {name: _used_total(view, column, selection) for name, column in stages.items()}
    device_ms = {name: _used_total(view, column, selection) for name, column in device_stages.items()}
    step_total_ms = float(np.sum(view.column(STEP_TIME_MS), where=selection.used, dtype=np.float64))
    shown, num_more = largest(totals_ms)
    if num_more:
        rest = [name for name in totals_ms if name not in set(shown)]
        shown.append(more_label(num_more))
        totals_ms[shown[-1]] = sum(totals_ms.pop(name) for name in rest)
        if device_rest := [device_ms.pop(name) for name in rest if name in device_ms]:
            device_ms[shown[-1]] = sum(device_rest)
    shares = stage_shares(totals_ms, step_total_ms)
    by_name = {stage.stage: stage for stage in shares.stages}
    return {
        "stages": [
            {
                "stage": name,
                "total_ms": rounded(by_name[name].total_ms),
                "mean_ms": rounded(by_name[name].total_ms / num_used),
                "share": rounded(by_name[name].share, _RATIO_DIGITS),
                "of_step": rounded(by_name[name].of_step, _RATIO_DIGITS),
                "device_mean_ms": rounded(device_ms[name] / num_used) if name in device_ms else None,
            }
            for name in shown
        ],
        "unlabelled": {
            "total_ms": rounded(shares.unlabelled_ms),
            "mean_ms": rounded(shares.unlabelled_ms / num_used),
            "of_step": rounded(shares.unlabelled_of_step, _RATIO_DIGITS),
        },
        "coverage": rounded(shares.coverage, _RATIO_DIGITS),
    }


def _used_total(view: View, column: str, selection: Selection) -> float:
    values = view.column(column)
    return float(np.sum(values, where=selection.used & times(values), dtype=np.float64))


def _rate(view: View, selection: Selection, column: str) -> float | None:
    if not view.has(column):
        return None
    return rounded(rates(view, selection, column, np.array([0, view.num_rows]))[0], 3)


def _peaks(view: View) -> list[dict[str, Any]]:
    environment = latest_environment(view.table.attempts)
    peaks = []
    for column in present_peaks(view.table.columns):
        values = view.column(column)
        peak = bin_extremes(values, np.array([0, view.num_rows]), np.isfinite(values))
        row = int(peak.max_row[0])
        peaks.append(
            {
                "column": column,
                "value": integers(peak.maximum)[0],
                "step": str(view.steps[row]) if row >= 0 else None,
                "num_measured": int(peak.num_rows[0]),
                "meaning": peak_meaning(column, environment),
            }
        )
    return peaks


def _flagged_total(view: View, column: str, rows: np.ndarray) -> dict[str, Any]:
    values = view.column(column)
    measured = rows & times(values)
    total_ms = rounded(np.sum(values, where=measured, dtype=np.float64)) if view.has(column) else None
    return {"num_steps": int(np.count_nonzero(rows)), "total_ms": total_ms}


def _micro_steps(view: View) -> dict[str, int] | None:
    values = view.column(NUM_MICRO_STEPS)
    values = values[times(values)].astype(np.float64)
    if not values.size:
        return None
    return {"min": round(values.min()), "max": round(values.max()), "total": round(values.sum())}


def _counters(view: View) -> dict[str, int]:
    counters: collections.Counter[str] = collections.Counter()
    for attempt in view.table.attempts:
        counters.update(attempt.counters)
    return dict(sorted(counters.items()))
