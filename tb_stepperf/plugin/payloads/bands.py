"""`/bands`: percentile bands of one time column."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tb_stepperf.errors import NotFoundError
from tb_stepperf.plugin.json_numbers import MS_SCALE, scaled_ms
from tb_stepperf.plugin.params import Query
from tb_stepperf.plugin.payloads.chart import Chart
from tb_stepperf.plugin.view import Source
from tb_stepperf.statistics import bands, bin_extremes, compact


def bands_impl(source: Source, query: Query) -> dict[str, Any]:
    """Returns the answer of `/bands`.

    Raises:
        NotFoundError: the run, the member or the column is not there.
    """
    view = source.view(query, [query.column])
    if not view.has(query.column):
        present = ", ".join(_time_columns(source.outline(query).columns))
        raise NotFoundError(f"{query.run!r} has no column {query.column!r}; it has {present}", "column")
    values = view.column(query.column)
    selection = view.select(values)
    chart = Chart(view)
    used, used_rows = compact(selection.used, chart.rows)
    result = bands(values[used], used_rows, query.percentiles)
    found = result.max_row >= 0
    max_row = np.where(found, used[np.where(found, result.max_row, 0)] if used.size else -1, -1)
    left_out = bin_extremes(values, chart.rows, selection.flagged)
    return {
        **chart.head(
            column=query.column,
            unit="ms",
            scale=MS_SCALE,
            clock="device" if query.column.startswith("device_") else "host",
        ),
        "percentiles": list(query.percentiles),
        "quantiles": [scaled_ms(line) for line in result.quantiles],
        "min": scaled_ms(result.minimum),
        "max": scaled_ms(result.maximum),
        "max_at": chart.positions_of(max_row),
        "num_steps": result.num_rows.tolist(),
        "num_left_out": (np.diff(chart.rows) - result.num_rows).tolist(),
        "left_out_max": scaled_ms(left_out.maximum),
        "sample": view.sample(selection),
    }


def _time_columns(columns: Iterable[str]) -> list[str]:
    return [name for name in columns if name.endswith("_ms")][:50]
