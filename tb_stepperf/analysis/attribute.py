"""Which stages make a change: reads the stages on both sides and asks `statistics.attribute_change`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tb_stepperf.analysis.series import STEP_TIME, Reader, Series, series_of, stage_columns
from tb_stepperf.blocks.schema import (
    FLAGS,
    NUM_MICRO_STEPS,
    NUM_SAMPLES,
    NUM_TOKENS,
    PEAK_ALLOCATED_BYTES,
    PEAK_RESERVED_BYTES,
    PEAK_RESIDENT_BYTES,
)
from tb_stepperf.statistics import Attribution, Event, StageSample, attribute_change

if TYPE_CHECKING:
    from collections.abc import Collection

    from tb_stepperf.store import Table

MAX_STEPS = 8_192
"""Steps of either side that are looked at: enough for 1 % of a noisy stage, and no more work for longer runs."""

MIN_STEPS = 20
"""Steps that either side needs."""

_MIN_ON_DEVICE = 0.8
_QUANTITIES = {
    NUM_SAMPLES: "samples per step",
    NUM_TOKENS: "tokens per step",
    NUM_MICRO_STEPS: "micro-steps per step",
    PEAK_ALLOCATED_BYTES: "peak allocated bytes",
    PEAK_RESERVED_BYTES: "peak reserved bytes",
    PEAK_RESIDENT_BYTES: "peak resident bytes",
}

Part = tuple[Reader, "Collection[str]", int, int]
"""A reader, the columns that it has, and the steps [start, end) that are asked for."""


def attribute(
    before: Sequence[Part],
    after: Sequence[Part],
    *,
    clock: str,
    change_step: int | None = None,
    events: Sequence[Event] = (),
    near_steps: int = 20,
) -> Attribution | None:
    """Puts the change between two sides down to stages; None where a side has too few steps.

    The device clock is taken where both sides have it for nearly all steps: on the host clock, work of a device shows
    in whichever stage happens to wait for it.

    Args:
        before, after: parts of each side, in the order of time.
        clock: of the change; used where there is no device clock.
        change_step, events, near_steps: for coincidences, see `attribute_change`.
    """
    sides = [[_read(part) for part in side] for side in (before, after)]
    if clock != "device" and all(_is_on_device(series_of(table, "host")) for side in sides for table in side):
        clock = "device"
    series = [[series_of(table, clock) for table in side] for side in sides]
    if any(sum(part.num_used for part in side) < MIN_STEPS for side in series):
        return None
    quantities = {
        text: (_joined(series[0], column), _joined(series[1], column))
        for column, text in _QUANTITIES.items()
        if all(part.column(column) is not None for side in series for part in side)
    }
    return attribute_change(
        _stage_sample(series[0], clock),
        _stage_sample(series[1], clock),
        clock=clock,
        change_step=change_step,
        events=events,
        near_steps=near_steps,
        quantities=quantities,
    )


def _read(part: Part) -> Table:
    reader, present, start, end = part
    stages = [column for clock in STEP_TIME for column in stage_columns(present, clock).values()]
    wanted = [FLAGS, *STEP_TIME.values(), *stages, *_QUANTITIES]
    return reader([name for name in wanted if name in present], start, end)


def _is_on_device(series: Series) -> bool:
    times = series.column(STEP_TIME["device"])
    if times is None or not stage_columns(series.table.columns, "device"):
        return False
    return float(np.isfinite(times).mean()) >= _MIN_ON_DEVICE


def _stage_sample(side: Sequence[Series], clock: str) -> StageSample:
    names: Mapping[str, str] = {
        name: column for part in side for name, column in stage_columns(part.table.columns, clock).items()
    }
    amounts = {
        field: _joined(side, field) if all(part.column(field) is not None for part in side) else None
        for field in (NUM_SAMPLES, NUM_TOKENS)
    }
    return StageSample(
        step_time_ms=np.concatenate([part.step_time_ms for part in side]),
        stages={name: _joined(side, column) for name, column in names.items()},
        num_samples=amounts[NUM_SAMPLES],
        num_tokens=amounts[NUM_TOKENS],
    )


def _joined(side: Sequence[Series], column: str) -> np.ndarray:
    """The values of a column over all parts; NaN where a part does not have it."""
    parts = [(part.column(column), part.num_used) for part in side]
    return np.concatenate([np.full(size, np.nan) if values is None else values for values, size in parts])
