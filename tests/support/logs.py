"""Writes event files in the block format from arrays, without the writer under test; 10^7 rows in some seconds.

Everything that a real log can be is an argument: restarts, ranks, gaps, irregular steps, several writers. Damage is
done to the bytes of a finished file (`truncate`, `flip_bit`).
"""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
import struct
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import google_crc32c
import numpy as np
from tensorboard.compat.proto.event_pb2 import Event

from tb_stepperf.blocks import (
    MAX_BLOCKS_PER_TAG,
    MAX_ROWS_PER_TAG,
    Block,
    TagMetadata,
    attempt_id,
    blocks_tag,
    encode_block,
    encode_environment,
    environment_tag,
    summary_value,
)

START_S = 1_700_000_000.0
"""A wall time that tests start from: 2023-11-14 22:13:20 UTC."""

_numbers = itertools.count()


def record(payload: bytes) -> bytes:
    """Returns `payload` in the framing of an event file: length, masked checksums."""
    length = struct.pack("<Q", len(payload))
    return length + _masked_crc(length) + payload + _masked_crc(payload)


def event_bytes(tag: str, metadata: TagMetadata, elements: list[bytes], step: int, wall_time_s: float) -> bytes:
    """Returns the record of one event with one value."""
    event = Event(wall_time=wall_time_s, step=step)
    event.summary.value.append(summary_value(tag, metadata, elements))
    return record(event.SerializeToString())


def file_header(wall_time_s: float = START_S) -> bytes:
    """Returns the record that begins every event file."""
    return record(Event(wall_time=wall_time_s, file_version="brain.Event:2").SerializeToString())


class AttemptLog:
    """An attempt that is being written, block by block, into an event file of its own.

    Attributes:
        path: the event file.
        attempt: identity of the attempt.
        process: identity of the process.
        num_rows: rows that the writer says it wrote, dropped ones included.

    Args:
        directory: of the TensorBoard run; made if need be.
        started_s: start of the attempt, seconds since the epoch.
        process: identity of the process; by default a new one.
        rank: rank of the process.
        world_size: number of processes of the job.
        blocks_per_tag: a new tag begins after this many blocks.
        path: append to this file (that of an attempt before) instead of making a new one.
    """

    def __init__(
        self,
        directory: pathlib.Path,
        *,
        started_s: float = START_S,
        process: str | None = None,
        rank: int = 0,
        world_size: int = 1,
        blocks_per_tag: int = MAX_BLOCKS_PER_TAG,
        path: pathlib.Path | None = None,
    ) -> None:
        number = next(_numbers)
        self.attempt = attempt_id(started_s, f"{number:08x}")
        self.process = f"process-{number}" if process is None else process
        self.num_rows = 0
        self.path = path or directory / f"events.out.tfevents.{int(started_s):010d}.host.{number}.stepperf"
        self._metadata = TagMetadata("blocks", self.attempt, self.process, started_s, rank=rank, world_size=world_size)
        self._blocks_per_tag = blocks_per_tag
        self._ordinal, self._num_records = 0, 0
        self._segment, self._segment_blocks, self._segment_rows = 0, 0, 0
        self._last_wall_s, self._next_step = started_s, 0
        directory.mkdir(parents=True, exist_ok=True)
        if path is None:
            self.path.write_bytes(file_header(started_s))

    def environment(self, fields: Mapping[str, Any]) -> None:
        """Writes the next environment record."""
        metadata = dataclasses.replace(self._metadata, kind="environment")
        number, self._num_records = self._num_records, self._num_records + 1
        wall_time_s = self._metadata.started_s + number
        self._write(
            [
                event_bytes(
                    environment_tag(self.attempt), metadata, encode_environment(dict(fields)), number, wall_time_s
                )
            ]
        )

    def append(
        self,
        steps: np.ndarray | Sequence[int] = (),
        columns: Mapping[str, np.ndarray] | None = None,
        *,
        wall_time_s: np.ndarray | None = None,
        block_rows: int = 512,
        counters: Mapping[str, int] | None = None,
        end: str | None = None,
        drop_ordinals: Collection[int] = (),
    ) -> None:
        """Writes rows as blocks; without rows, one block that carries `counters` and `end`.

        Args:
            steps: strictly ascending.
            columns: name to values, shape (num_rows,).
            wall_time_s: end of each step; by default running sums of `step_time_ms` (or of 100 ms).
            block_rows: rows of a block.
            counters: cumulative counts, in the last block.
            end: how the attempt ends, in the last block.
            drop_ordinals: blocks that are left out of the file, as if they had never arrived.
        """
        steps = np.asarray(steps, np.int64)
        columns = {name: np.ascontiguousarray(values, np.float32) for name, values in (columns or {}).items()}
        if wall_time_s is None:
            step_time_ms = columns.get("step_time_ms", np.full(steps.size, 100.0))
            wall_time_s = self._last_wall_s + np.cumsum(np.nan_to_num(step_time_ms.astype(np.float64))) / 1e3
        records = []
        for first in range(0, steps.size, block_rows) or range(1):
            rows = slice(first, min(first + block_rows, steps.size))
            is_last = rows.stop == steps.size
            block = Block(
                ordinal=self._ordinal,
                first_row=self.num_rows,
                steps=steps[rows],
                wall_time_s=np.asarray(wall_time_s[rows], np.float64),
                columns={name: values[rows] for name, values in columns.items()},
                counters=dict(counters or {}) if is_last else {},
                end=end if is_last else None,
            )
            written = self._block(block)
            if block.ordinal not in drop_ordinals:
                records.append(written)
        self._write(records)

    def _block(self, block: Block) -> bytes:
        is_full = self._segment_blocks == self._blocks_per_tag
        if is_full or self._segment_rows + block.num_rows > MAX_ROWS_PER_TAG:
            self._segment, self._segment_blocks, self._segment_rows = self._segment + 1, 0, 0
        elements, step, wall_time_s = encode_block(block)
        if block.num_rows:
            self._next_step, self._last_wall_s = int(block.steps[-1]) + 1, float(block.wall_time_s[-1])
        else:
            step, wall_time_s = self._next_step, self._last_wall_s
        self._ordinal += 1
        self._segment_blocks += 1
        self._segment_rows += block.num_rows
        self.num_rows += block.num_rows
        metadata = dataclasses.replace(self._metadata, segment=self._segment)
        return event_bytes(blocks_tag(self.attempt, self._segment), metadata, elements, step, wall_time_s)

    def _write(self, records: Sequence[bytes]) -> None:
        with self.path.open("ab") as file:
            file.write(b"".join(records))


def write_attempt(
    directory: pathlib.Path,
    steps: np.ndarray | Sequence[int],
    columns: Mapping[str, np.ndarray],
    *,
    started_s: float = START_S,
    wall_time_s: np.ndarray | None = None,
    process: str | None = None,
    rank: int = 0,
    world_size: int = 1,
    block_rows: int = 512,
    blocks_per_tag: int = MAX_BLOCKS_PER_TAG,
    counters: Mapping[str, int] | None = None,
    end: str | None = "closed",
    environment: Sequence[Mapping[str, Any]] = (),
    drop_ordinals: Collection[int] = (),
    path: pathlib.Path | None = None,
) -> AttemptLog:
    """Writes one attempt as a whole; the arguments are those of `AttemptLog` and `AttemptLog.append`.

    Args:
        environment: environment records, record 0 first.
    """
    log = AttemptLog(
        directory,
        started_s=started_s,
        process=process,
        rank=rank,
        world_size=world_size,
        blocks_per_tag=blocks_per_tag,
        path=path,
    )
    for fields in environment:
        log.environment(fields)
    log.append(
        steps,
        columns,
        wall_time_s=wall_time_s,
        block_rows=block_rows,
        counters=counters,
        end=end,
        drop_ordinals=drop_ordinals,
    )
    return log


def truncate(path: pathlib.Path, num_bytes: int) -> bytes:
    """Cuts the last `num_bytes` off a file and returns them, so that a test can let the writer finish the record."""
    content = path.read_bytes()
    path.write_bytes(content[:-num_bytes])
    return content[-num_bytes:]


def flip_bit(path: pathlib.Path, at: int) -> None:
    """Flips the lowest bit of byte `at`; negative counts from the end."""
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def _masked_crc(data: bytes) -> bytes:
    crc = google_crc32c.value(data)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)
