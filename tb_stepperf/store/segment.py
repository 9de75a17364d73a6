"""Decoded tags: the rows of a segment, a small index of them that is kept for good, and environment records."""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tb_stepperf.blocks import Block, decode_block, decode_environment
from tb_stepperf.errors import FormatError
from tb_stepperf.store.provider import Events

Steps = tuple["range | np.ndarray", ...]
"""Ascending steps of successive rows: ranges where they are regular, int64 arrays where they are not."""


@dataclasses.dataclass(frozen=True)
class MissingRows:
    """Rows of a segment that never arrived, between two blocks of it; see `types.Gap`."""

    step_before: int | None
    step_after: int
    num_rows: int


@dataclasses.dataclass(frozen=True, eq=False)
class SegmentIndex:
    """What is worth knowing of a segment after its rows have been dropped from memory.

    Attributes:
        first_row: rows that the attempt wrote before the first block here.
        end_row: rows that the attempt wrote up to the end of the last block here.
        event_step: step of the first block, also where that has no rows.
        steps: of the rows that are present.
        first_wall_time_s, last_wall_time_s: of the first and the last row; NaN where there are no rows.
        missing: gaps between the blocks.
        columns: names of the columns that are there.
        counters: of the last block that has any.
        end: of the last block.
        num_blocks: good blocks; 0 means that nothing else here is meaningful but `damage`.
        damage: why blocks were left out, one sentence each.
    """

    first_row: int = 0
    end_row: int = 0
    event_step: int = 0
    steps: Steps = ()
    first_wall_time_s: float = np.nan
    last_wall_time_s: float = np.nan
    missing: tuple[MissingRows, ...] = ()
    columns: tuple[str, ...] = ()
    counters: Mapping[str, int] = dataclasses.field(default_factory=dict)
    end: str | None = None
    num_blocks: int = 0
    damage: tuple[str, ...] = ()

    @property
    def num_rows(self) -> int:
        """Number of rows that are present."""
        return sum(map(len, self.steps))

    @property
    def first_step(self) -> int | None:
        """First step that is present."""
        return int(self.steps[0][0]) if self.steps else None

    @property
    def last_step(self) -> int | None:
        """Last step that is present."""
        return int(self.steps[-1][-1]) if self.steps else None

    @property
    def num_bytes(self) -> int:
        """Bytes of the steps that are kept as arrays, and a round number for all else."""
        return 2048 + sum(steps.nbytes for steps in self.steps if isinstance(steps, np.ndarray))

    def num_rows_below(self, step: int) -> int:
        """Returns how many of the rows have a step below `step`."""
        count = 0
        for steps in self.steps:
            if steps[-1] >= step:
                return count + bisect.bisect_left(steps, step, key=int)
            count += len(steps)
        return count


@dataclasses.dataclass(frozen=True, eq=False)
class Segment:
    """The rows of one blocks tag.

    Attributes:
        index: its summary, which also holds the steps.
        wall_time_s: float64, shape (num_rows,).
        columns: name to float32 array of shape (num_rows,); a value that is the same in all rows is stored once
            (an array of stride 0).
    """

    index: SegmentIndex
    wall_time_s: np.ndarray
    columns: Mapping[str, np.ndarray]

    @property
    def num_bytes(self) -> int:
        """Bytes that the arrays hold in memory."""
        stored = sum(column.nbytes if column.strides[0] else column.itemsize for column in self.columns.values())
        return self.index.num_bytes + self.wall_time_s.nbytes + stored


@dataclasses.dataclass(frozen=True, eq=False)
class Environment:
    """The records of an environment tag.

    Attributes:
        first: record 0; empty where it is not there.
        changes: (step from which it holds, fields that changed).
        damage: why records were left out, one sentence each.
    """

    first: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    changes: tuple[tuple[int, Mapping[str, Any]], ...] = ()
    damage: tuple[str, ...] = ()


def decode_segment(events: Events, max_step: int) -> Segment:
    """Decodes a blocks tag.

    A block that cannot be decoded, or whose steps do not follow those before, is left out and told in `damage`. Of
    blocks with one ordinal (two copies of a file) the first is taken.

    Args:
        events: all tensors of the tag.
        max_step: blocks that begin after it are left out, so that a tag which grew since it was listed reads the
            same as it was listed.
    """
    blocks: dict[int, tuple[int, Block]] = {}
    damage: list[str] = []
    for step, wall_time_s, elements in events:
        if step > max_step:
            continue
        try:
            block = decode_block(elements, step, wall_time_s)
        except FormatError as error:
            damage.append(str(error))
            continue
        blocks.setdefault(block.ordinal, (step, block))
    good: list[tuple[int, Block]] = []
    last_step = -1
    for ordinal in sorted(blocks):
        step, block = blocks[ordinal]
        if block.num_rows:
            if int(block.steps[0]) <= last_step:
                damage.append(f"the block at step {step} does not begin after step {last_step}, as blocks must")
                continue
            last_step = int(block.steps[-1])
        good.append((step, block))
    return _join(good, tuple(damage))


def decode_environments(events: Events) -> Environment:
    """Decodes an environment tag; a record that is no JSON object is left out and told in `damage`."""
    first: Mapping[str, Any] = {}
    changes: dict[int, tuple[int, Mapping[str, Any]]] = {}
    damage: list[str] = []
    for number, _, elements in sorted(events, key=lambda event: event[0]):
        try:
            record = decode_environment(elements)
        except FormatError as error:
            damage.append(str(error))
            continue
        if number == 0:
            first = record
            continue
        step = record.pop("step", 0)
        changes[number] = (step if isinstance(step, int) else 0, record)
    return Environment(first, tuple(changes.values()), tuple(damage))


def _join(blocks: Sequence[tuple[int, Block]], damage: tuple[str, ...]) -> Segment:
    if not blocks:
        return Segment(SegmentIndex(damage=damage), np.empty(0), {})
    num_rows = sum(block.num_rows for _, block in blocks)
    names = tuple(dict.fromkeys(name for _, block in blocks for name in block.columns))
    wall_time_s = np.empty(num_rows)
    columns = {name: np.full(num_rows, np.nan, np.float32) for name in names}
    missing: list[MissingRows] = []
    row, last_step = 0, None
    end_row = blocks[0][1].first_row
    for step, block in blocks:
        if block.first_row > end_row:
            missing.append(MissingRows(last_step, step, block.first_row - end_row))
        end_row = max(end_row, block.first_row + block.num_rows)
        rows = slice(row, row + block.num_rows)
        wall_time_s[rows] = block.wall_time_s
        for name, values in block.columns.items():
            columns[name][rows] = values
        row = rows.stop
        last_step = int(block.steps[-1]) if block.num_rows else last_step
    index = SegmentIndex(
        first_row=blocks[0][1].first_row,
        end_row=end_row,
        event_step=blocks[0][0],
        steps=_compact_steps(block.steps for _, block in blocks if block.num_rows),
        first_wall_time_s=float(wall_time_s[0]) if num_rows else np.nan,
        last_wall_time_s=float(wall_time_s[-1]) if num_rows else np.nan,
        missing=tuple(missing),
        columns=names,
        counters=next((block.counters for _, block in reversed(blocks) if block.counters), {}),
        end=blocks[-1][1].end,
        num_blocks=len(blocks),
        damage=damage,
    )
    return Segment(index, wall_time_s, {name: _compact(values) for name, values in columns.items()})


def _compact(values: np.ndarray) -> np.ndarray:
    """Returns an equal array that holds one value only, where all are equal or all are NaN; else `values`."""
    if values.size and ((values == values[0]).all() or np.isnan(values).all()):
        return np.broadcast_to(values[:1].copy(), values.shape)
    return values


def _compact_steps(blocks: Iterable[np.ndarray]) -> Steps:
    """Turns regular blocks into ranges, and joins what fits together."""
    joined: list[range | np.ndarray] = []
    for steps in blocks:
        part = _as_range(steps)
        last = joined[-1] if joined else None
        if isinstance(part, np.ndarray) and isinstance(last, np.ndarray):
            joined[-1] = np.concatenate([last, part])
            continue
        if isinstance(part, range) and isinstance(last, range):
            stride = part[0] - last[-1]
            if all(len(piece) == 1 or piece.step == stride for piece in (last, part)):
                joined[-1] = range(last[0], part[-1] + 1, stride)
                continue
        joined.append(part)
    return tuple(joined)


def _as_range(steps: np.ndarray) -> range | np.ndarray:
    first = int(steps[0])
    stride = int(steps[1]) - first if steps.size > 1 else 1
    if int(steps[-1]) - first == stride * (steps.size - 1) and (np.diff(steps) == stride).all():
        return range(first, int(steps[-1]) + 1, stride)
    return steps
