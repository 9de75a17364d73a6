"""Which rows of a member are looked at, and how they are read."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tb_stepperf.analysis.environment import latest_environment
from tb_stepperf.blocks import Flag, device_stage_name, stage_name
from tb_stepperf.blocks.schema import BUCKET, DEVICE_STEP_TIME_MS, FLAGS, STEP_TIME_MS
from tb_stepperf.errors import NotFoundError
from tb_stepperf.statistics import Selection, flag_bits, select

if TYPE_CHECKING:
    from tb_stepperf.store import AttemptInfo, Table

LEAVING_OUT: Mapping[str, int] = {
    "warmup": int(Flag.WARMUP),
    "profiled": int(Flag.PROFILED),
    "restart": int(Flag.RESTART),
}
"""Flags that leave a row out, in the order in which a row with several of them is counted."""

STEP_TIME: Mapping[str, str] = {"host": STEP_TIME_MS, "device": DEVICE_STEP_TIME_MS}
"""Clock to the column of its step time."""

CLOCKS = tuple(STEP_TIME)

_BUCKET_NAMES = "buckets"
_MAX_BUCKET = 2**25  # above every number that is exact in float32, by one for "none"


class Reader(Protocol):
    """Reads rows of one member."""

    def __call__(self, columns: Sequence[str], start_step: int | None, end_step: int | None) -> Table:
        """Returns the steps [start_step, end_step) with `columns`; None is "no bound"."""
        ...


@dataclasses.dataclass(frozen=True, eq=False)
class Series:
    """The usable steps of a member on one clock.

    Attributes:
        table: all rows.
        flags: of all rows, int32.
        clock: "host" or "device".
        selection: which rows carry no flag that leaves them out, and a time.
        rows: int64, shape (num_used,): the selected rows whose time is above 0, ascending.
    """

    table: Table
    flags: np.ndarray
    clock: str
    selection: Selection
    rows: np.ndarray

    @property
    def num_used(self) -> int:
        """Number of usable steps."""
        return int(self.rows.size)

    @property
    def steps(self) -> np.ndarray:
        """Step numbers of the usable steps, int64."""
        return self.table.steps[self.rows]

    @property
    def step_time_ms(self) -> np.ndarray:
        """Step times of the usable steps, float64."""
        return self.table.columns[STEP_TIME[self.clock]][self.rows].astype(np.float64)

    def column(self, name: str) -> np.ndarray | None:
        """Returns a column of the usable steps, or None where the member does not have it or never measured it."""
        values = self.table.columns.get(name)
        if values is None:
            return None
        values = values[self.rows]
        return values if np.isfinite(values).any() else None

    @property
    def buckets(self) -> np.ndarray | None:
        """Name of the bucket of each usable step as text, or None where steps are of one kind."""
        numbers = self.column(BUCKET)
        if numbers is None:
            return None
        # A process numbers its buckets itself: the same kind may have another number in another attempt.
        known = np.where(np.isfinite(numbers), numbers, -1).astype(np.int64)
        of_attempt = self.table.attempt_index[self.rows].astype(np.int64)
        distinct, of_step = np.unique(of_attempt * _MAX_BUCKET + known + 1, return_inverse=True)
        names = [_bucket_names(attempt) for attempt in self.table.attempts]
        texts = [_bucket_text(names[key // _MAX_BUCKET], key % _MAX_BUCKET - 1) for key in distinct.tolist()]
        return np.array(texts)[of_step] if len(set(texts)) > 1 else None


def _bucket_names(attempt: AttemptInfo) -> Mapping[str, Any]:
    names = latest_environment([attempt]).get(_BUCKET_NAMES)
    return names if isinstance(names, Mapping) else {}


def _bucket_text(names: Mapping[str, Any], number: int) -> str:
    return "none" if number < 0 else str(names.get(str(number), number))


def series_of(table: Table, clock: str) -> Series:
    """Chooses the usable steps of `table` on `clock`; a table without that clock has none."""
    unknown = np.full(table.num_rows, np.nan, np.float32)
    times = table.columns.get(STEP_TIME[clock], unknown)
    flags = flag_bits(table.columns.get(FLAGS, unknown))
    selection = select(times, flags, LEAVING_OUT)
    return Series(table, flags, clock, selection, np.flatnonzero(selection.used & (times > 0)))


def need_clock(clock: str, present: Iterable[str], name: str) -> None:
    """Refuses a clock that a member does not have.

    Args:
        clock: "host" or "device".
        present: columns of the member.
        name: what it is called in the message.

    Raises:
        NotFoundError: it has no step time of the device clock.
    """
    if clock == "device" and STEP_TIME[clock] not in present:
        raise NotFoundError(f"{name!r} has no device time, only that of the host; take the host's clock", "clock")


def sample_of(table: Table, selection: Selection) -> dict[str, Any]:
    """Returns the `sample` object of `http_api.md`: what was read of what was written, and what was left out why."""
    return {
        "num_written": table.num_written,
        "num_read": table.num_read,
        "num_missing": table.num_missing,
        "num_superseded": table.num_superseded,
        "num_in_range": table.num_rows,
        "num_used": selection.num_used,
        "left_out": dict(selection.left_out),
    }


def stage_columns(present: Iterable[str], clock: str) -> dict[str, str]:
    """Returns stage to column among `present` on `clock`, by name."""
    name_of = device_stage_name if clock == "device" else stage_name
    return {name: column for column in sorted(present) if (name := name_of(column)) is not None}
