"""`/stages`: where the time goes, per bin; and the ranking of stages that `/summary` shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tb_stepperf.blocks import device_stage_column, device_stage_name, stage_column, stage_name
from tb_stepperf.blocks.schema import DEVICE_STEP_TIME_MS, STEP_TIME_MS
from tb_stepperf.errors import NotFoundError
from tb_stepperf.plugin.json_numbers import MS_SCALE, scaled_ms
from tb_stepperf.plugin.params import Query
from tb_stepperf.plugin.payloads.chart import Chart
from tb_stepperf.plugin.view import Source, times
from tb_stepperf.statistics import bin_sums

MAX_STAGES = 20
"""Stages shown by name; the rest is summed."""


def stages_impl(source: Source, query: Query) -> dict[str, Any]:
    """Returns the answer of `/stages`.

    Raises:
        NotFoundError: the run or the member is not there, or it has no time of the device clock.
    """
    present = source.outline(query).columns
    is_device = query.clock == "device"
    stages = stage_columns(present, is_device)
    step_column = DEVICE_STEP_TIME_MS if is_device else STEP_TIME_MS
    if is_device and step_column not in present:
        raise NotFoundError(f"{query.run!r} has no device time, only that of the host; ask with clock=host", "clock")
    view = source.view(query, [step_column, *stages.values()])
    step_time_ms = view.column(step_column)
    selection = view.select(step_time_ms)
    chart = Chart(view)
    step = bin_sums(step_time_ms, chart.rows, selection.used)
    totals: dict[str, np.ndarray] = {}
    labelled_ms = np.zeros(chart.bins.num_bins)
    for name, column in stages.items():
        values = view.column(column)
        sums = bin_sums(values, chart.rows, selection.used & times(values))
        labelled_ms += sums.total
        totals[name] = np.where(sums.num_rows > 0, sums.total, np.nan)
    named, num_more = largest({name: float(np.nansum(total)) for name, total in totals.items()})
    lines = {name: totals[name] for name in named}
    if num_more:
        rest = [total for name, total in totals.items() if name not in lines]
        lines[more_label(num_more)] = _sum_known(rest)
    num_steps = np.where(step.num_rows > 0, step.num_rows, np.nan)
    return {
        **chart.head(unit="ms", scale=MS_SCALE, clock=query.clock),
        "stages": [{"stage": name, "mean": scaled_ms(total / num_steps)} for name, total in lines.items()],
        "unlabelled": scaled_ms(np.maximum(step.total - labelled_ms, 0.0) / num_steps),
        "step_time": scaled_ms(step.total / num_steps),
        "num_steps": step.num_rows.tolist(),
        "num_more_stages": num_more,
        "sample": view.sample(selection),
    }


def stage_columns(columns: Iterable[str], is_device: bool = False) -> dict[str, str]:
    """Returns stage name to column, of the host or the device clock."""
    name_of, column_of = (device_stage_name, device_stage_column) if is_device else (stage_name, stage_column)
    names = (name_of(column) for column in columns)
    return {name: column_of(name) for name in names if name is not None}


def largest(totals: Mapping[str, float]) -> tuple[list[str], int]:
    """Returns the names of the largest stages, the largest first (equal ones by name), and how many more there are."""
    ordered = sorted(totals, key=lambda name: (-totals[name], name))
    return ordered[:MAX_STAGES], max(len(ordered) - MAX_STAGES, 0)


def more_label(num_more: int) -> str:
    """Returns the label under which the stages beyond `MAX_STAGES` are summed."""
    return f"({num_more} more)"


def _sum_known(totals: list[np.ndarray]) -> np.ndarray:
    """Sums lines, NaN only where none of them has a value."""
    result = np.full(totals[0].shape, np.nan)
    for total in totals:
        result = np.where(np.isnan(result), total, result + np.nan_to_num(total))
    return result
