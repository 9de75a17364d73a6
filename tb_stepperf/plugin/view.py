"""What a request looks at: rows of one member within a range of an axis."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from tb_stepperf.analysis import LEAVING_OUT, Reader, sample_of
from tb_stepperf.blocks.block import MAX_STEP
from tb_stepperf.blocks.schema import EXCLUDED_MS, FLAGS, STEP_TIME_MS
from tb_stepperf.errors import NotFoundError
from tb_stepperf.plugin.cache import RecentlyUsed
from tb_stepperf.plugin.params import Query
from tb_stepperf.statistics import (
    Axis,
    Selection,
    everything,
    flag_bits,
    relative_axis,
    rows_between,
    select,
    step_axis,
    wall_axis,
)

if TYPE_CHECKING:
    from tb_stepperf.store import MemberInfo, RunInfo, Store, Table

_NUM_TRIES = 3


class Source:
    """The store, bound to one request's context; it finds members and opens views of them.

    Args:
        store: shared by all requests.
        ctx: TensorBoard's request context.
        experiment_id: TensorBoard's experiment.
        axes: shared memory of the axes that were derived lately.
    """

    def __init__(self, store: Store, ctx: Any, experiment_id: str, axes: RecentlyUsed) -> None:
        self.store = store
        self.ctx = ctx
        self.experiment_id = experiment_id
        self._axes = axes

    def find(self, query: Query) -> tuple[RunInfo, MemberInfo]:
        """Finds the run and member that `query` names; without a name, the run's first member.

        Raises:
            NotFoundError: there is no such run or member.
        """
        runs = self.store.catalog(self.ctx, self.experiment_id).runs
        run = next((run for run in runs if run.run == query.run), None)
        if run is None:
            raise NotFoundError(
                f"run {query.run!r} has no step data; perhaps it was deleted: /runs lists the {len(runs)} that have",
                "run",
            )
        if query.member is None:
            return run, run.members[0]
        member = next((member for member in run.members if member.member == query.member), None)
        if member is None:
            shown = ", ".join(repr(member.member) for member in run.members[:20])
            raise NotFoundError(f"run {query.run!r} has no member {query.member!r}; it has {shown}", "member")
        return run, member

    def outline(self, query: Query) -> Table:
        """Reads a member without its rows: all of its columns' names, exact attempts, the version.

        The catalog's description may lack columns and gaps of segments that nobody has read yet.

        Raises:
            NotFoundError: there is no such run or member.
        """
        _, member = self.find(query)
        return self._read(query, member, None, 0, 0)

    def view(self, query: Query, columns: Iterable[str]) -> View:
        """Opens the rows that `query` asks for, with the flags and those of `columns` that the member has.

        Raises:
            NotFoundError: there is no such run or member.
        """
        _, member = self.find(query)
        for _ in range(_NUM_TRIES):
            outline = self._read(query, member, None, 0, 0)
            names = [name for name in dict.fromkeys([FLAGS, *columns]) if name in outline.columns]
            if query.axis == "step":
                table = self._read(query, member, names, query.start, query.end)
                return _view(query, member, table, step_axis(table.steps))
            key = (self.experiment_id, query.run, member.member, query.axis)
            make = functools.partial(self._place, query, member, outline)
            placed: _PlacedSteps = self._axes.get(key, outline.version, make)
            rows = slice(*rows_between(placed.axis, *bounds(query, placed.axis)))
            steps = placed.steps[rows]
            first, end = (int(steps[0]), int(steps[-1]) + 1) if steps.size else (0, 0)
            table = self._read(query, member, names, first, end)
            if table.version == placed.version:
                return _view(query, member, table, placed.axis, rows)
        raise NotFoundError(f"run {query.run!r} changes faster than it can be read: try again", "run")

    def reader(self, query: Query, member: MemberInfo) -> Reader:
        """Returns what reads rows of `member`, for `analysis`; it may be called on another thread."""
        return lambda columns, start, end: self._read(query, member, list(columns), start, end)

    def _place(self, query: Query, member: MemberInfo, outline: Table) -> _PlacedSteps:
        names = [name for name in (STEP_TIME_MS, EXCLUDED_MS) if name in outline.columns and query.axis == "relative"]
        table = self._read(query, member, names, None, None)
        if query.axis == "wall":
            axis = wall_axis(table.wall_time_s)
        else:
            unknown = np.full(table.num_rows, np.nan, np.float32)
            axis = relative_axis(table.columns.get(STEP_TIME_MS, unknown), table.columns.get(EXCLUDED_MS))
        return _PlacedSteps(table.steps, axis, table.version)

    def _read(
        self, query: Query, member: MemberInfo, columns: list[str] | None, start: int | None, end: int | None
    ) -> Table:
        """Reads the steps [start, end), which may lie outside what a step can be."""
        return self.store.read(
            self.ctx,
            self.experiment_id,
            query.run,
            member.member,
            columns,
            start_step=None if start is None else max(start, 0),
            end_step=None if end is None or end > MAX_STEP else max(end, 0),
        )


@dataclasses.dataclass(frozen=True, eq=False)
class _PlacedSteps:
    """All steps of a member and where they stand on an axis, as of one version of the data."""

    steps: np.ndarray
    axis: Axis
    version: int

    @property
    def num_bytes(self) -> int:
        """Bytes that the arrays hold in memory."""
        return self.steps.nbytes + self.axis.positions.nbytes


@dataclasses.dataclass(frozen=True, eq=False)
class View:
    """Rows of one member within a range.

    Attributes:
        query: what was asked for.
        member: whose rows these are.
        table: the rows in range.
        axis: where these rows stand.
        start, end: the range as asked for, or the whole run; half-open.
    """

    query: Query
    member: MemberInfo
    table: Table
    axis: Axis
    start: int
    end: int

    @property
    def num_rows(self) -> int:
        """Number of rows in range."""
        return self.table.num_rows

    @property
    def positions(self) -> np.ndarray:
        """Positions of the rows, int64."""
        return self.axis.positions

    @property
    def steps(self) -> np.ndarray:
        """Step numbers of the rows, int64."""
        return self.table.steps

    def has(self, column: str) -> bool:
        """Whether the member has `column`, and it was read."""
        return column in self.table.columns

    def column(self, name: str) -> np.ndarray:
        """Returns a column's values, float32; NaN throughout where the member does not have it."""
        values = self.table.columns.get(name)
        return np.full(self.num_rows, np.nan, np.float32) if values is None else values

    @functools.cached_property
    def flags(self) -> np.ndarray:
        """Flags of the rows in range, int32."""
        return flag_bits(self.column(FLAGS))

    def select(self, values: np.ndarray) -> Selection:
        """Selects the rows of `values` (in range) that the request's statistics use."""
        return select(values, self.flags, LEAVING_OUT, self.query.include)

    def select_all(self) -> Selection:
        """Selects every row in range."""
        return everything(self.num_rows, LEAVING_OUT)

    def sample(self, selection: Selection) -> dict[str, Any]:
        """Returns the `sample` object: what was read of what was written, and what was left out why."""
        return sample_of(self.table, selection)


def times(values: np.ndarray) -> np.ndarray:
    """Whether each value can be a time: finite and at least 0."""
    return np.isfinite(values) & (values >= 0)


def bounds(query: Query, axis: Axis) -> tuple[int, int]:
    """Returns the range `[start, end)` that is asked for; a bound that is left open is that of the axis."""
    first = int(axis.positions[0]) if axis.positions.size else 0
    start = first if query.start is None else query.start
    end = axis.end if query.end is None else query.end
    if start > end:  # the given bound lies beyond all rows: an empty range there
        start = end = end if query.start is None else start
    return start, end


def _view(query: Query, member: MemberInfo, table: Table, axis: Axis, rows: slice | None = None) -> View:
    start, end = bounds(query, axis)
    if rows is not None:
        following = axis.positions[rows.stop] if rows.stop < axis.positions.size else axis.end
        axis = Axis(axis.positions[rows], int(following), axis.is_gapless)
    return View(query, member, table, axis, start, end)
