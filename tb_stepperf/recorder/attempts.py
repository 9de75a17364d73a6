"""Rows to blocks: attempts, ordinals and tags as docs/format.md has them."""

from __future__ import annotations

import dataclasses
import itertools
import os
from typing import TYPE_CHECKING

import numpy as np

from tb_stepperf.blocks import (
    MAX_BLOCKS_PER_TAG,
    MAX_ROWS_PER_BLOCK,
    MAX_ROWS_PER_TAG,
    Block,
    Flag,
    TagMetadata,
    attempt_id,
    blocks_tag,
    encode_block,
    environment_tag,
    summary_value,
)
from tb_stepperf.blocks.block import MAX_STEP
from tb_stepperf.blocks.codec import MAX_STEP_SPAN, encode_environment
from tb_stepperf.blocks.schema import FLAGS
from tb_stepperf.recorder.rows import Rows, concatenate

if TYPE_CHECKING:
    from tensorboard.compat.proto.event_pb2 import Event


@dataclasses.dataclass(frozen=True)
class Identity:
    """What all attempts of a writer share.

    Attributes:
        process: random identity of the writer.
        rank: rank of the process in [0, world_size).
        world_size: number of processes of the job.
        warmup_steps: number of first steps of an attempt that are flagged.
    """

    process: str
    rank: int
    world_size: int
    warmup_steps: int


@dataclasses.dataclass(frozen=True)
class Position:
    """How far an attempt has come in its file."""

    ordinal: int = 0
    num_rows: int = 0
    segment: int = 0
    num_blocks_in_segment: int = 0
    num_rows_in_segment: int = 0

    def before(self, num_rows: int) -> Position:
        """Returns the position at which a block of `num_rows` fits: here, or at the start of the next tag."""
        fits = (
            self.num_blocks_in_segment < MAX_BLOCKS_PER_TAG and self.num_rows_in_segment + num_rows <= MAX_ROWS_PER_TAG
        )
        if fits:
            return self
        return dataclasses.replace(self, segment=self.segment + 1, num_blocks_in_segment=0, num_rows_in_segment=0)

    def after(self, num_rows: int) -> Position:
        """Returns the position after a block of `num_rows` rows was written here."""
        return Position(
            self.ordinal + 1,
            self.num_rows + num_rows,
            self.segment,
            self.num_blocks_in_segment + 1,
            self.num_rows_in_segment + num_rows,
        )


class Attempt:
    """One uninterrupted count of steps: takes rows, gives events that carry them."""

    def __init__(self, identity: Identity, started_s: float, counters_before: dict[str, int]) -> None:
        self.started_s = started_s
        self.position = Position()
        self.last_step = -1
        self._identity = identity
        self._id = attempt_id(started_s, os.urandom(4).hex())
        self._counters_before = dict(counters_before)
        self._num_added = 0
        self._num_records = 0
        self._waiting: list[Rows] = []
        self.last_wall_time_s = started_s

    @property
    def num_waiting(self) -> int:
        """Rows that were added and not yet taken as events."""
        return sum(rows.num_rows for rows in self._waiting)

    def add(self, rows: Rows) -> Rows:
        """Adds rows whose steps ascend from `last_step` on, and returns them with this attempt's flags."""
        if self._num_added < max(self._identity.warmup_steps, 1):
            index = np.arange(self._num_added, self._num_added + rows.num_rows)
            flags = rows.columns[FLAGS].astype(np.int64)
            if rows.measured:
                flags |= np.where(index < self._identity.warmup_steps, int(Flag.WARMUP), 0)
            flags |= np.where(index == 0, int(Flag.RESTART), 0)
            rows = dataclasses.replace(rows, columns={**rows.columns, FLAGS: flags.astype(np.float32)})
        self._waiting.append(rows)
        self._num_added += rows.num_rows
        self.last_step = int(rows.steps[-1])
        self.last_wall_time_s = float(rows.wall_time_s[-1])
        return rows

    def take_events(self, counters: dict[str, int], end: str | None = None) -> list[tuple[Event, Position]]:
        """Takes all waiting rows as events, each with the position that holds once it is written.

        Args:
            counters: counts since the writer was constructed.
            end: how the attempt ends, if it does; said in the last block.
        """
        own = {name: count - self._counters_before.get(name, 0) for name, count in counters.items()}
        own = {name: count for name, count in own.items() if count > 0}
        pieces = split(concatenate(self._waiting)) if self._waiting else []
        self._waiting = []
        if end is not None and not pieces and self.last_step < MAX_STEP:
            empty = np.zeros(0)
            pieces = [Rows(empty.astype(np.int64), empty, {})]
        events, position = [], self.position
        for at, rows in enumerate(pieces):
            position = position.before(rows.num_rows)
            block = Block(
                position.ordinal,
                position.num_rows,
                rows.steps,
                rows.wall_time_s,
                rows.columns,
                own,
                end if at == len(pieces) - 1 else None,
            )
            elements, step, wall_time_s = encode_block(block)
            if not rows.num_rows:
                step, wall_time_s = self.last_step + 1, self.last_wall_time_s
            metadata = self._metadata("blocks", position.segment)
            tag = blocks_tag(self._id, position.segment)
            position = position.after(rows.num_rows)
            events.append((_event(step, wall_time_s, tag, metadata, elements), position))
        return events

    def environment_event(self, record: dict[str, object], wall_time_s: float) -> Event:
        """Returns the event that carries an environment record."""
        tag = environment_tag(self._id)
        event = _event(
            self._num_records, wall_time_s, tag, self._metadata("environment", 0), encode_environment(record)
        )
        self._num_records += 1
        return event

    def _metadata(self, kind: str, segment: int) -> TagMetadata:
        identity = self._identity
        return TagMetadata(
            kind, self._id, identity.process, self.started_s, segment, identity.rank, identity.world_size
        )


def split(rows: Rows) -> list[Rows]:
    """Splits ascending rows into as few pieces as blocks allow: at most 1,024 rows that span less than 2**24 steps."""
    pieces, start = [], 0
    while start < rows.num_rows:
        end = min(start + MAX_ROWS_PER_BLOCK, rows.num_rows)
        if int(rows.steps[end - 1]) - int(rows.steps[start]) >= MAX_STEP_SPAN:
            offsets = rows.steps[start:end] - rows.steps[start]
            end = start + int(np.searchsorted(offsets, MAX_STEP_SPAN))
        pieces.append(rows.slice(start, end))
        start = end
    return pieces


def ascending_runs(steps: np.ndarray, last_step: int) -> list[tuple[int, int, bool]]:
    """Returns the ranges [start, end) in which steps strictly ascend, and whether each goes on from `last_step`."""
    breaks = np.flatnonzero(steps[1:] <= steps[:-1]) + 1
    bounds = [0, *breaks.tolist(), len(steps)]
    ranges = itertools.pairwise(bounds)
    return [(start, end, start == 0 and int(steps[0]) > last_step) for start, end in ranges]


def _event(step: int, wall_time_s: float, tag: str, metadata: TagMetadata, elements: list[bytes]) -> Event:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary

    return Event(wall_time=wall_time_s, step=step, summary=Summary(value=[summary_value(tag, metadata, elements)]))
