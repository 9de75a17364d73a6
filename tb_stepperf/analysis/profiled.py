"""Which steps another profiler than the writer's recorded: its file says when it was written, the samples the rest.

The samples flag every step in which some profiler of the process recorded, was prepared, stopped or exported. PyTorch's
own handler, and everything that names its files alike, puts the time at which a window ended into the file's name. That
time lies in one stretch of flagged steps, or just after the last step of a process.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from tb_stepperf.analysis.series import Reader
from tb_stepperf.blocks.schema import FLAGS, STEP_TIME_MS, Flag
from tb_stepperf.statistics import flag_bits, true_stretches

if TYPE_CHECKING:
    from tb_stepperf.store import Table

SLACK_S = 0.05
"""How far the clock of the samples and that of the file name may lie apart."""

AFTER_LAST_S = 60.0
"""How long after the last step of a process a profiler that ends with the loop may name its file."""


@dataclasses.dataclass(frozen=True, eq=False)
class ProfiledStretches:
    """Stretches of steps with a profiler, in order.

    Attributes:
        start_step, end_step: int64, half-open, shape (num_stretches,).
        start_s, end_s: wall time within which a file of that stretch was named, float64.
    """

    start_step: np.ndarray
    end_step: np.ndarray
    start_s: np.ndarray
    end_s: np.ndarray

    @property
    def num_bytes(self) -> int:
        """Bytes held in memory."""
        return 256 + 4 * self.start_step.nbytes

    def at(self, stamp_s: float) -> tuple[int, int] | None:
        """Returns the steps [start, end) of the stretch that holds a wall time; None where none does, or two do."""
        held = np.flatnonzero((self.start_s <= stamp_s) & (stamp_s <= self.end_s))
        if held.size != 1:
            return None
        return int(self.start_step[held[0]]), int(self.end_step[held[0]])


def read_profiled(read: Reader) -> ProfiledStretches:
    """Reads the profiled stretches of a member."""
    return profiled_stretches(read((STEP_TIME_MS, FLAGS), 0, None))


def profiled_stretches(table: Table) -> ProfiledStretches:
    """Returns the profiled stretches of all rows of a member."""
    steps, wall_s, attempt = table.steps, table.wall_time_s, table.attempt_index
    first, end = true_stretches((flag_bits(table.columns[FLAGS]) & Flag.PROFILED) != 0)
    follows = (first > 0) & (attempt[first] == attempt[first - 1])
    took_s = np.nan_to_num(table.columns[STEP_TIME_MS][first].astype(np.float64)) / 1000.0
    start_s = np.where(follows, wall_s[first - 1], wall_s[first] - took_s)
    last = end - 1
    goes_on = end < table.num_rows
    goes_on[goes_on] = attempt[end[goes_on]] == attempt[last[goes_on]]
    end_s = wall_s[last] + np.where(goes_on, 0.0, AFTER_LAST_S)
    return ProfiledStretches(steps[first], steps[last] + 1, start_s - SLACK_S, end_s + SLACK_S)
