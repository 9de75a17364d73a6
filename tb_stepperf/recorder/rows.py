"""`Rows`: steps as columns, on their way into blocks."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tb_stepperf.blocks.schema import (
    BUCKET,
    EXCLUDED_MS,
    FLAGS,
    GC_MS,
    NUM_ALLOC_RETRIES,
    NUM_MICRO_STEPS,
    NUM_SAMPLES,
    NUM_TOKENS,
    STEP_TIME_MS,
    Flag,
    stage_column,
    stage_name,
)
from tb_stepperf.recorder.assemble import Steps
from tb_stepperf.recorder.device import DeviceStep
from tb_stepperf.recorder.profiled import RECORDING
from tb_stepperf.recorder.stamps import EXCLUDED, FIRST_STAGE


class StepColumns(NamedTuple):
    """What the loop knew at the boundaries of successive steps; `LoopState.rows` holds them in this order.

    Attributes:
        step: number of the step.
        num_samples: as given, None where not.
        num_tokens: as given, None where not.
        num_micro_steps: as given, None where they are to be counted.
        gc_s: seconds inside the garbage collector.
        profiled: whether torch's profiler was at work, as `profiled.py` has it.
        memory: what the memory probe read, by its `columns`; None where it was not read.
        device: the `DeviceStep` that will know the device times; None without a device.
        bucket: number of its bucket; None where none was given.
    """

    step: Sequence[int]
    num_samples: Sequence[float | None]
    num_tokens: Sequence[float | None]
    num_micro_steps: Sequence[float | None]
    gc_s: Sequence[float]
    profiled: Sequence[int]
    memory: Sequence[tuple[float, ...] | None]
    device: Sequence[DeviceStep | None]
    bucket: Sequence[int | None]


class LoggedRow(NamedTuple):
    """A sample that was measured elsewhere: number of the step, wall time at its end, and its columns."""

    step: int
    wall_time_s: float
    columns: tuple[tuple[str, float], ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Rows:
    """Successive steps.

    Attributes:
        steps: int64, shape (num_rows,).
        wall_time_s: float64, shape (num_rows,): end of each step, seconds since the epoch.
        columns: name to float32, shape (num_rows,).
        measured: whether this writer measured them: then a stage that is not there took no time.
    """

    steps: np.ndarray
    wall_time_s: np.ndarray
    columns: Mapping[str, np.ndarray]
    measured: bool = True

    @property
    def num_rows(self) -> int:
        """Number of steps."""
        return int(self.steps.shape[0])

    def slice(self, start: int, end: int) -> Rows:
        """Returns rows [start, end)."""
        if start == 0 and end == self.num_rows:
            return self
        columns = {name: values[start:end] for name, values in self.columns.items()}
        return Rows(self.steps[start:end], self.wall_time_s[start:end], columns, self.measured)


def measured_rows(
    steps: Steps,
    known: StepColumns,
    stage_names: Sequence[str],
    memory_columns: Sequence[str],
    wall_minus_clock_s: float,
    profiled_before: int,
) -> Rows:
    """Puts assembled steps and what the loop knew at their boundaries together.

    Args:
        steps: from the assembler.
        known: of the same steps.
        stage_names: name of each stage by number.
        memory_columns: columns of what `StepRow.memory` holds.
        wall_minus_clock_s: the wall clock minus the loop's clock.
        profiled_before: what `known.profiled` would be of the step before the first of these.
    """
    stage_ms = _float32(steps.stage_time_s.T * 1e3)
    columns = {
        STEP_TIME_MS: _float32(steps.step_time_s * 1e3),
        EXCLUDED_MS: stage_ms[EXCLUDED],
        GC_MS: _float32(np.array(known.gc_s) * 1e3),
        NUM_MICRO_STEPS: _micro_steps(steps, known.num_micro_steps),
    }
    for name, given in ((NUM_SAMPLES, known.num_samples), (NUM_TOKENS, known.num_tokens), (BUCKET, known.bucket)):
        if not _all_none(given):
            columns[name] = _optional(given)
    for number in range(FIRST_STAGE, len(stage_ms)):
        columns[stage_column(stage_names[number])] = stage_ms[number]
    if memory_columns and not _all_none(known.memory):
        unread = (np.nan,) * len(memory_columns)
        table = np.array([unread if values is None else values for values in known.memory], np.float32)
        columns.update(zip(memory_columns, table.T))

    profiled = np.array([profiled_before, *known.profiled], np.int64)
    flags = ((profiled[1:] > 0) | (profiled[:-1] == RECORDING)) * int(Flag.PROFILED)
    for flag, is_set in (
        (Flag.EXCLUDED, columns[EXCLUDED_MS] > 0),
        (Flag.GC, columns[GC_MS] > 0),
        (Flag.AFTER_INTERRUPTION, steps.after_interruption),
    ):
        flags[is_set] |= int(flag)
    if NUM_ALLOC_RETRIES in columns:
        flags[columns[NUM_ALLOC_RETRIES] > 0] |= int(Flag.ALLOC_RETRY)
    columns[FLAGS] = _float32(flags)
    return Rows(np.array(known.step, np.int64), steps.end_s + wall_minus_clock_s, columns)


def logged_rows(rows: Sequence[LoggedRow]) -> Rows:
    """Returns samples that were measured elsewhere, as columns."""
    names = dict.fromkeys(name for row in rows for name, _ in row.columns)
    columns = {name: np.full(len(rows), np.nan, np.float32) for name in names}
    for at, row in enumerate(rows):
        for name, value in row.columns:
            columns[name][at] = value
    columns[FLAGS] = np.full(len(rows), int(Flag.LOGGED), np.float32)
    steps = np.array([row.step for row in rows], np.int64)
    return Rows(steps, np.array([row.wall_time_s for row in rows]), columns, measured=False)


def concatenate(parts: Sequence[Rows]) -> Rows:
    """Joins rows; a column that a part lacks is not measured there, or no time where it is a stage of measured rows."""
    if len(parts) == 1:
        return parts[0]
    columns = {}
    for name in dict.fromkeys(name for part in parts for name in part.columns):
        is_stage = stage_name(name) is not None
        columns[name] = np.concatenate(
            [
                part.columns[name]
                if name in part.columns
                else np.full(part.num_rows, 0 if is_stage and part.measured else np.nan, np.float32)
                for part in parts
            ]
        )
    return Rows(
        np.concatenate([part.steps for part in parts]),
        np.concatenate([part.wall_time_s for part in parts]),
        columns,
        all(part.measured for part in parts),
    )


def _micro_steps(steps: Steps, given: Sequence[float | None]) -> np.ndarray:
    counted = _float32(steps.num_micro_steps)
    counted[counted == 0] = np.nan
    if _all_none(given):
        return counted
    given_values = _optional(given)
    return np.where(np.isnan(given_values), counted, given_values)


def _all_none(values: Sequence[Any]) -> bool:
    return values.count(None) == len(values)


def _optional(values: Iterable[float | None]) -> np.ndarray:
    """Returns numbers as float32, None as NaN."""
    with np.errstate(over="ignore"):  # beyond 3.4e38 becomes infinity, as everywhere
        return np.array(values, np.float64).astype(np.float32)


def _float32(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float32)
