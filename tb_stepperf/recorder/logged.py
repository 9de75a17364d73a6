"""`log_step`: samples that were measured elsewhere, checked and made into rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tb_stepperf.blocks.schema import (
    BUCKET,
    STEP_TIME_MS,
    stage_column,
)
from tb_stepperf.recorder.loop import LoopState
from tb_stepperf.recorder.rows import LoggedRow
from tb_stepperf.recorder.stages import StageNames


class LoggedSteps:
    """Turns the arguments of `log_step` into rows; a sample that repeats the one before is counted and dropped."""

    def __init__(self, loop: LoopState, names: StageNames, wall_clock: Callable[[], float]) -> None:
        self._loop = loop
        self._names = names
        self._wall_clock = wall_clock
        self._last: tuple[Any, ...] | None = None

    def log(self, step: Any, wall_time_s: Any, values: Mapping[str, Any], stages: Any, bucket: Any) -> None:
        """Adds one sample. The caller holds the loop's lock.

        Args:
            step: its number; None for the next.
            wall_time_s: seconds since the epoch at its end; None for now.
            values: column name to number; None where not measured.
            stages: stage name to milliseconds; None without stages.
            bucket: kind of the step; None where it has none.
        """
        loop = self._loop
        columns: dict[str, float] = {}
        if not loop.checks.is_number(STEP_TIME_MS, values[STEP_TIME_MS]):
            return
        for name, value in values.items():
            self._put(columns, name, name, value)
        if stages is not None and not isinstance(stages, Mapping):
            loop.checks.invalid("stages", stages, "a mapping from stage name to milliseconds")
        elif stages is not None:
            for name, value in stages.items():
                stage = self._names.names[self._names.number(self._names.text(name))]
                self._put(columns, stage_column(stage), "stages", value)
        number_of_bucket = None if bucket is None else loop.buckets.number(bucket)
        if number_of_bucket is not None:
            columns[BUCKET] = float(number_of_bucket)
        wall_s = None if wall_time_s is None else loop.checks.amount("wall_time_s", wall_time_s)
        sample = (step, wall_s, tuple(columns.items()))
        if step is not None and sample == self._last:
            loop.count("num_duplicates")
            return
        number = loop.take_step_number(step)
        if number is None:
            return
        self._last = sample
        loop.add_logged(LoggedRow(number, self._wall_clock() if wall_s is None else wall_s, sample[2]))

    def _put(self, columns: dict[str, float], name: str, argument: str, value: Any) -> None:
        if value is not None:
            number = self._loop.checks.amount(argument, value)
            if number is not None:
                columns[name] = columns.get(name, 0.0) + number
