"""`/throughput`: samples and tokens per second, per bin."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb_stepperf.blocks.schema import NUM_SAMPLES, NUM_TOKENS, STEP_TIME_MS
from tb_stepperf.plugin.definitions import THROUGHPUT
from tb_stepperf.plugin.json_numbers import rounded_list
from tb_stepperf.plugin.params import Query
from tb_stepperf.plugin.payloads.chart import Chart
from tb_stepperf.plugin.view import Source, View, times
from tb_stepperf.statistics import Selection, bin_sums, rate_per_s

UNITS = {NUM_SAMPLES: "samples/s", NUM_TOKENS: "tokens/s"}
"""Column of amounts to the unit of its rate."""


def throughput_impl(source: Source, query: Query) -> dict[str, Any]:
    """Returns the answer of `/throughput`.

    Raises:
        NotFoundError: the run or the member is not there.
    """
    view = source.view(query, [STEP_TIME_MS, *UNITS])
    selection = view.select(view.column(STEP_TIME_MS))
    chart = Chart(view)
    series = [
        {"column": column, "unit": unit, "value": rounded_list(rates(view, selection, column, chart.rows), 3)}
        for column, unit in UNITS.items()
        if view.has(column)
    ]
    reason = "the loop gave neither num_samples nor num_tokens to perf.step(), so there is no throughput"
    return {
        **chart.head(),
        "series": series,
        "definition": THROUGHPUT,
        "reason": None if series else reason,
        "sample": view.sample(selection),
    }


def rates(view: View, selection: Selection, column: str, rows: np.ndarray) -> np.ndarray:
    """Returns the rate of each bin, float64; NaN where no used step carries an amount.

    Args:
        view: its rows in range are binned.
        selection: the rows used for step times.
        column: `num_samples` or `num_tokens`.
        rows: edges of the bins, int64.
    """
    amounts = view.column(column)
    carrying = selection.used & times(amounts)
    amount = bin_sums(amounts, rows, carrying)
    return rate_per_s(amount.total, bin_sums(view.column(STEP_TIME_MS), rows, carrying).total)
