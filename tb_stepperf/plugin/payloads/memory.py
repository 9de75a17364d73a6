"""`/memory`: memory peaks per bin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tb_stepperf.analysis import latest_environment
from tb_stepperf.blocks.schema import PEAK_ALLOCATED_BYTES, PEAK_RESERVED_BYTES, PEAK_RESIDENT_BYTES
from tb_stepperf.plugin.definitions import memory_reason, peak_meaning
from tb_stepperf.plugin.json_numbers import integers
from tb_stepperf.plugin.params import Query
from tb_stepperf.plugin.payloads.chart import Chart
from tb_stepperf.plugin.view import Source
from tb_stepperf.statistics import bin_extremes

PEAK_COLUMNS = (PEAK_ALLOCATED_BYTES, PEAK_RESERVED_BYTES, PEAK_RESIDENT_BYTES)


def memory_impl(source: Source, query: Query) -> dict[str, Any]:
    """Returns the answer of `/memory`; no row is left out, since a peak is a peak.

    Raises:
        NotFoundError: the run or the member is not there.
    """
    view = source.view(query, PEAK_COLUMNS)
    chart = Chart(view)
    environment = latest_environment(view.table.attempts)
    columns = present_peaks(view.table.columns)
    return {
        **chart.head(unit="bytes"),
        "columns": [_line(chart, column, peak_meaning(column, environment)) for column in columns],
        "reason": None if columns else memory_reason(environment),
        "sample": view.sample(view.select_all()),
    }


def present_peaks(columns: Iterable[str]) -> list[str]:
    """Returns those of `columns` that hold memory peaks, in a fixed order."""
    present = set(columns)
    return [column for column in PEAK_COLUMNS if column in present]


def _line(chart: Chart, column: str, meaning: str) -> dict[str, Any]:
    values = chart.view.column(column)
    peaks = bin_extremes(values, chart.rows, np.isfinite(values))
    return {
        "column": column,
        "meaning": meaning,
        "max": integers(peaks.maximum),
        "min": integers(peaks.minimum),
        "max_at": chart.positions_of(peaks.max_row),
        "num_measured": peaks.num_rows.tolist(),
    }
