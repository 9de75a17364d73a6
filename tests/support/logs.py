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


@dataclasses.dataclass(frozen=True)
class Attempt:
    """What `write_attempt` wrote.

    Attributes:
        path: the event file.
        attempt: identity of the attempt.
        process: identity of the process.
        num_rows: rows that the writer says it wrote, dropped ones included.
    """

    path: pathlib.Path
    attempt: str
    process: str
    num_rows: int


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
) -> Attempt:
    """Writes one attempt into an event file of its own.

    Args:
        directory: of the TensorBoard run; made if need be.
        steps: strictly ascending.
        columns: name to values, shape (num_rows,).
        started_s: start of the attempt, seconds since the epoch.
        wall_time_s: end of each step; by default running sums of `step_time_ms` (or of 100 ms) after `started_s`.
        process: identity of the process; by default a new one.
        rank: rank of the process.
        world_size: number of processes of the job.
        block_rows: rows of a block.
        blocks_per_tag: a new tag begins after this many blocks.
        counters: cumulative counts, in the last block.
        end: how the attempt ends, in the last block; None while it goes on.
        environment: environment records, record 0 first.
        drop_ordinals: blocks that are left out of the file, as if they had never arrived.
        path: append to this file (of an attempt before) instead of making a new one.
    """
    number = next(_numbers)
    steps = np.asarray(steps, np.int64)
    if wall_time_s is None:
        step_time_ms = columns.get("step_time_ms", np.full(steps.size, 100.0))
        wall_time_s = started_s + np.cumsum(np.asarray(step_time_ms, np.float64)) / 1e3
    columns = {name: np.ascontiguousarray(values, np.float32) for name, values in columns.items()}
    attempt = attempt_id(started_s, f"{number:08x}")
    process = f"process-{number}" if process is None else process
    metadata = TagMetadata("blocks", attempt, process, started_s, rank=rank, world_size=world_size)
    directory.mkdir(parents=True, exist_ok=True)
    is_new = path is None
    path = path or directory / f"events.out.tfevents.{int(started_s):010d}.host.{number}.stepperf"
    with path.open("wb" if is_new else "ab") as file:
        if is_new:
            file.write(file_header(started_s))
        for k, fields in enumerate(environment):
            about = dataclasses.replace(metadata, kind="environment")
            file.write(event_bytes(environment_tag(attempt), about, encode_environment(dict(fields)), k, started_s + k))
        starts = range(0, steps.size, block_rows) if steps.size else range(1)
        per_tag = min(blocks_per_tag, max(MAX_ROWS_PER_TAG // block_rows, 1))
        for ordinal, first in enumerate(starts):
            if ordinal in drop_ordinals:
                continue
            rows = slice(first, min(first + block_rows, steps.size))
            is_last = ordinal == len(starts) - 1
            block = Block(
                ordinal=ordinal,
                first_row=first,
                steps=steps[rows],
                wall_time_s=np.asarray(wall_time_s[rows], np.float64),
                columns={name: values[rows] for name, values in columns.items()},
                counters=dict(counters or {}) if is_last else {},
                end=end if is_last else None,
            )
            elements, step, block_wall_s = encode_block(block)
            segment = ordinal // per_tag
            about = dataclasses.replace(metadata, segment=segment)
            file.write(event_bytes(blocks_tag(attempt, segment), about, elements, step, block_wall_s or started_s))
    return Attempt(path, attempt, process, int(steps.size))


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
