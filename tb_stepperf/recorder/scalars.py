"""A few ordinary scalars, one point per flush, for everything that reads TensorBoard scalars.

| tag | value |
|---|---|
| `stepperf/step_time_ms_p50`, `stepperf/step_time_ms_p95` | nearest-rank quantiles since the last point |
| `stepperf/throughput_samples_per_s` | sum of `num_samples` ÷ sum of step time, over the steps that carry both |
| `stepperf/peak_allocated_bytes` | largest peak of device memory since the last point |
| `stepperf/peak_resident_bytes` | largest peak of resident memory since the last point, where there is no device |

Steps that statistics leave out by default (warm-up, profiled, restart) are not in them; without any other step there
is no point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tb_stepperf.blocks.schema import (
    FLAGS,
    LEFT_OUT_BY_DEFAULT,
    NUM_SAMPLES,
    PEAK_ALLOCATED_BYTES,
    PEAK_RESIDENT_BYTES,
    STEP_TIME_MS,
)
from tb_stepperf.recorder.rows import Rows, concatenate

if TYPE_CHECKING:
    from tensorboard.compat.proto.event_pb2 import Event

_COLUMNS = (STEP_TIME_MS, NUM_SAMPLES, PEAK_ALLOCATED_BYTES, PEAK_RESIDENT_BYTES)


class Scalars:
    """Collects rows and makes one event of them at each flush."""

    def __init__(self) -> None:
        self._rows: list[Rows] = []

    def add(self, rows: Rows) -> None:
        """Adds rows, without those that statistics leave out."""
        columns = {name: rows.columns[name] for name in _COLUMNS if name in rows.columns}
        steps, wall_time_s = rows.steps, rows.wall_time_s
        left_out = rows.columns[FLAGS].astype(np.int64) & int(LEFT_OUT_BY_DEFAULT) != 0
        if left_out.any():
            steps, wall_time_s = steps[~left_out], wall_time_s[~left_out]
            columns = {name: values[~left_out] for name, values in columns.items()}
        if len(steps):
            self._rows.append(Rows(steps, wall_time_s, columns, rows.measured))

    def take_event(self) -> Event | None:
        """Returns the event of all rows since the last call, at the last of them; None where there are none."""
        if not self._rows:
            return None
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        rows, self._rows = concatenate(self._rows), []
        values = [Summary.Value(tag=f"stepperf/{name}", simple_value=value) for name, value in points(rows).items()]
        if not values:
            return None
        return Event(wall_time=rows.wall_time_s[-1], step=int(rows.steps[-1]), summary=Summary(value=values))


def points(rows: Rows) -> dict[str, float]:
    """Returns the values of the scalars by name, those that can be computed."""
    found: dict[str, float] = {}
    step_time_ms = rows.columns.get(STEP_TIME_MS, np.zeros(0, np.float32)).astype(np.float64)
    measured = step_time_ms[np.isfinite(step_time_ms)]
    if measured.size:
        for percent in (50, 95):
            quantile = np.quantile(measured, percent / 100, method="inverted_cdf")
            found[f"step_time_ms_p{percent}"] = float(quantile)
    if NUM_SAMPLES in rows.columns and measured.size:
        num_samples = rows.columns[NUM_SAMPLES].astype(np.float64)
        both = np.isfinite(num_samples) & np.isfinite(step_time_ms)
        total_s = step_time_ms[both].sum() / 1e3
        if total_s > 0:
            found["throughput_samples_per_s"] = float(num_samples[both].sum() / total_s)
    for name in (PEAK_ALLOCATED_BYTES, PEAK_RESIDENT_BYTES):
        peaks = rows.columns.get(name, np.zeros(0, np.float32))
        peaks = peaks[np.isfinite(peaks)]
        if peaks.size:
            found[name] = float(peaks.max())
    return found
