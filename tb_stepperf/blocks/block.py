"""`Block`: the one value that crosses the border from writing to reading."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from tb_stepperf.errors import FormatError

MAX_STEP = 2**63 - 1


@dataclasses.dataclass(frozen=True, eq=False)
class Block:
    """Successive steps of one attempt, column by column.

    Attributes:
        ordinal: number of this block within its attempt, from 0; a missing ordinal is a gap.
        first_row: number of rows that the attempt wrote before this block.
        steps: int64, shape (num_rows,), strictly ascending, each in [0, 2**63 - 1].
        wall_time_s: float64, shape (num_rows,): end of each step, seconds since the epoch.
        columns: name to float32 array of shape (num_rows,). A column that is missing was not measured.
        counters: cumulative counts of the attempt up to here, such as `num_rows_lost`; only those above 0.
        end: None while the attempt goes on; else how it ended: "closed", "exception" or "replaced" (a step number
            went back, and a new attempt follows in the same process).
    """

    ordinal: int
    first_row: int
    steps: np.ndarray
    wall_time_s: np.ndarray
    columns: Mapping[str, np.ndarray]
    counters: Mapping[str, int] = dataclasses.field(default_factory=dict)
    end: str | None = None

    def __post_init__(self) -> None:
        if self.ordinal < 0 or self.first_row < 0:
            raise FormatError(f"block ordinal {self.ordinal} and first_row {self.first_row} must not be negative")
        if self.steps.dtype != np.int64 or self.steps.ndim != 1:
            raise FormatError(f"steps are {self.steps.dtype}{self.steps.shape}; an int64 vector is allowed")
        if self.num_rows and (self.steps[0] < 0 or not np.all(self.steps[1:] > self.steps[:-1])):
            raise FormatError("steps of a block must be at least 0 and strictly ascending; start a new attempt instead")
        if self.wall_time_s.shape != self.steps.shape:
            raise FormatError(f"wall_time_s has shape {self.wall_time_s.shape}; steps have {self.steps.shape}")
        for name, values in self.columns.items():
            if values.dtype != np.float32 or values.shape != self.steps.shape:
                raise FormatError(
                    f"column {name!r} is {values.dtype}{values.shape}; float32{self.steps.shape} is allowed"
                )

    @property
    def num_rows(self) -> int:
        """Number of steps in the block."""
        return int(self.steps.shape[0])

    @property
    def num_bytes(self) -> int:
        """Bytes that the arrays hold in memory."""
        return self.steps.nbytes + self.wall_time_s.nbytes + sum(column.nbytes for column in self.columns.values())
