"""Rows that wait, in order, until the device has measured them."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from tb_stepperf.blocks.schema import DEVICE_STEP_TIME_MS, device_stage_column
from tb_stepperf.recorder.device import GIVE_UP_S, DeviceStep
from tb_stepperf.recorder.rows import Rows
from tb_stepperf.recorder.stamps import FIRST_STAGE


class DeviceRows:
    """A queue of rows with what the device will know of each; without a device they pass straight through."""

    def __init__(self) -> None:
        self._queue: deque[tuple[Rows, Sequence[DeviceStep | None], np.ndarray]] = deque()

    @property
    def num_rows(self) -> int:
        """Rows that wait."""
        return sum(rows.num_rows for rows, _, _ in self._queue)

    def put(self, rows: Rows, device_steps: Sequence[DeviceStep | None], end_s: np.ndarray) -> None:
        """Adds rows; `end_s` (shape (num_rows,)) is the loop's clock at the end of each."""
        self._queue.append((rows, device_steps, end_s))

    def take(
        self, now_s: float, stage_names: Sequence[str], count: Callable[[str, int], None], everything: bool = False
    ) -> list[Rows]:
        """Takes the rows that nothing more will be known of, in order.

        Args:
            now_s: the loop's clock.
            stage_names: name of each stage by number.
            count: counts steps that the device never measured.
            everything: take all rows, also those whose events have not completed.
        """
        taken = []
        while self._queue:
            rows, device_steps, end_s = self._queue.popleft()
            num = rows.num_rows
            if not everything and device_steps.count(None) != num:
                waiting = (
                    at
                    for at, step in enumerate(device_steps)
                    if step is not None and not step.done and now_s - end_s[at] < 2 * GIVE_UP_S
                )
                num = next(waiting, num)
            if num:
                taken.append(_with_device_times(rows.slice(0, num), device_steps[:num], stage_names, count))
            if num < rows.num_rows:
                self._queue.appendleft((rows.slice(num, rows.num_rows), device_steps[num:], end_s[num:]))
                break
        return taken


def _with_device_times(
    rows: Rows, device_steps: Sequence[DeviceStep | None], stage_names: Sequence[str], count: Callable[[str, int], None]
) -> Rows:
    timed = [step for step in device_steps if step is not None]
    if not timed:
        return rows
    unresolved = sum(step.step_time_ms is None for step in timed)
    if unresolved:
        count("num_device_unresolved", unresolved)
    numbers = sorted({number for step in timed for number in step.stage_time_ms if number >= FIRST_STAGE})
    names = [DEVICE_STEP_TIME_MS, *(device_stage_column(stage_names[number]) for number in numbers)]
    columns = {name: np.full(rows.num_rows, np.nan, np.float32) for name in names}
    for at, step in enumerate(device_steps):
        if step is not None and step.step_time_ms is not None:
            columns[DEVICE_STEP_TIME_MS][at] = step.step_time_ms
            for number, name in zip(numbers, names[1:]):
                columns[name][at] = step.stage_time_ms.get(number, 0.0)
    return dataclasses.replace(rows, columns={**rows.columns, **columns})
