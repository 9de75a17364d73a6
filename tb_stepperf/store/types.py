"""What the store hands out: immutable descriptions of runs, and tables of rows.

The words *run*, *member*, *attempt* and *superseded* are those of `plugin/http_api.md`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np


@dataclasses.dataclass(frozen=True)
class AttemptInfo:
    """One uninterrupted count of steps by one process.

    In a `Table`, every number is exact. In a `Catalog`, segments that nobody has read yet are taken to be complete:
    `num_missing` may then be too small, by as much as `num_rows` and `num_superseded` together are too large.

    Attributes:
        attempt: identity, see `blocks.attempt_id`.
        process: identity of the writer; attempts of one process never run at the same time.
        started_s: wall time at which the attempt began, seconds since the epoch.
        first_step, last_step: of the rows that are present; None while there are none.
        first_wall_time_s, last_wall_time_s: wall time of those two rows; the clock may have gone back between them.
        num_rows: rows that are present, superseded ones included.
        num_superseded: rows that are present, but whose step a newer attempt has counted again.
        num_missing: rows that the writer says it wrote before the last block here, and that never arrived.
        end: None while the attempt goes on; else "closed", "exception" or "replaced".
        counters: latest cumulative counts of the writer (names: docs/format.md).
        environment: record 0 of the environment; empty where there is none yet.
        changes: (step from which it holds, fields that changed), in the order in which they were recorded.
        world_size: number of processes of the job, as this attempt saw it.
    """

    attempt: str
    process: str
    started_s: float
    first_step: int | None = None
    last_step: int | None = None
    first_wall_time_s: float | None = None
    last_wall_time_s: float | None = None
    num_rows: int = 0
    num_superseded: int = 0
    num_missing: int = 0
    end: str | None = None
    counters: Mapping[str, int] = dataclasses.field(default_factory=dict)
    environment: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    changes: tuple[tuple[int, Mapping[str, Any]], ...] = ()
    world_size: int = 1


@dataclasses.dataclass(frozen=True)
class MemberInfo:
    """One series of a run: a rank, or one of several concurrent writers of a rank.

    Attributes:
        member: opaque text that names the member within its run.
        rank: rank of the writing process.
        writer: 0 where one process at a time wrote; else the number of the writer, from 1.
        label: for people, such as "rank 0" or "rank 0, writer 2".
        tb_run: TensorBoard's name of the directory that the newest attempt wrote to.
        num_steps: rows after superseded ones are taken out; see `AttemptInfo` on segments that nobody has read.
        first_step, last_step: of the rows that count; None while there are none.
        first_wall_time_s, last_wall_time_s: wall time of those two rows.
        attempts: the oldest first. Those without rows are included.
        columns: names of the columns seen so far, sorted: `step_time_ms` first, then by name.
        end: how the newest attempt ended; None while it goes on.
    """

    member: str
    rank: int
    writer: int
    label: str
    tb_run: str
    num_steps: int
    first_step: int | None
    last_step: int | None
    first_wall_time_s: float | None
    last_wall_time_s: float | None
    attempts: tuple[AttemptInfo, ...]
    columns: tuple[str, ...]
    end: str | None


@dataclasses.dataclass(frozen=True)
class RunInfo:
    """A training job as a person sees it.

    Attributes:
        run: name; "." is the log directory itself.
        world_size: number of processes of the job, as the newest attempt saw it.
        missing_ranks: ranks below `world_size` that wrote nothing, ascending (at most 1,000 of them).
        members: sorted by rank and writer, at least one.
        notes: sentences for people about what is odd.
        version: changes whenever data of this run changed, and never repeats; 0 only in hand-made values.
    """

    run: str
    world_size: int
    missing_ranks: tuple[int, ...]
    members: tuple[MemberInfo, ...]
    notes: tuple[str, ...] = ()
    version: int = 0


@dataclasses.dataclass(frozen=True)
class Problem:
    """Data that could not be used, and why; nothing else of the run is lost.

    Attributes:
        run: name of the run.
        tag: a tag where this was seen.
        message: the reason, in a sentence. It stands once per run, however many tags share it.
    """

    run: str
    tag: str
    message: str


@dataclasses.dataclass(frozen=True)
class Catalog:
    """Everything that there is, at one moment.

    Attributes:
        runs: sorted by name, numbers within a name by value ("run9" before "run10").
        problems: what could not be used.
        num_runs_without_data: TensorBoard runs that carry none of our data.
        version: changes whenever any data changed, and never repeats.
    """

    runs: tuple[RunInfo, ...]
    problems: tuple[Problem, ...]
    num_runs_without_data: int
    version: int


@dataclasses.dataclass(frozen=True)
class Gap:
    """Rows that the writer says it wrote and that never arrived.

    Attributes:
        attempt_index: index into the attempts of the table.
        step_before: last step before the gap within the attempt; None where its first rows are missing.
        step_after: first step after the gap.
        num_rows: how many rows are missing, at least 1.
    """

    attempt_index: int
    step_before: int | None
    step_after: int
    num_rows: int


@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    """Rows of one member, one per step; superseded rows are not in it. The arrays are read-only.

    Attributes:
        run, member: what was asked for, with the default member filled in.
        steps: int64, shape (n,), strictly ascending.
        wall_time_s: float64, shape (n,): end of each step, seconds since the epoch; the clock may go back.
        columns: name to float32 array of shape (n,); NaN is "not measured".
        attempt_index: int32, shape (n,): index into `attempts`.
        attempts: all attempts of the member, the oldest first.
        gaps: those that lie between rows of the range, or at its edges, and are not superseded; ascending.
        num_written: rows that the writers say they wrote, whole member (as are the next three).
        num_read: rows that are present, superseded ones included.
        num_missing: rows that never arrived: `num_written` - `num_read`. Rows after the last block that arrived
            cannot be known to be missing.
        num_superseded: rows that are present but were counted again by a newer attempt.
        version: `RunInfo.version` of what was read.
    """

    run: str
    member: str
    steps: np.ndarray
    wall_time_s: np.ndarray
    columns: Mapping[str, np.ndarray]
    attempt_index: np.ndarray
    attempts: tuple[AttemptInfo, ...]
    gaps: tuple[Gap, ...]
    num_written: int
    num_read: int
    num_missing: int
    num_superseded: int
    version: int

    @property
    def num_rows(self) -> int:
        """Number of rows in the table."""
        return int(self.steps.shape[0])
