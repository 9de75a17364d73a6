"""Assembles the table of one member from its segments."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tb_stepperf.store.provider import TagKey, TagState
from tb_stepperf.store.reader import SegmentReader
from tb_stepperf.store.rows import NO_LIMIT, AttemptRows, limits
from tb_stepperf.store.segment import Segment, Steps
from tb_stepperf.store.types import Gap, MemberInfo, Table


class SegmentChangedError(Exception):
    """A segment reads otherwise than it was indexed: the log directory changed meanwhile. The caller tries anew."""


@dataclasses.dataclass(frozen=True)
class _Piece:
    """Rows [first, end) of a segment, which go to rows [row, row + end - first) of the table."""

    state: TagState
    attempt_index: int
    first: int
    end: int
    row: int


def assemble(
    reader: SegmentReader,
    ctx: Any,
    experiment_id: str,
    run: tuple[str, int],
    member: MemberInfo,
    rows: Sequence[AttemptRows],
    columns: Sequence[str] | None,
    start_step: int | None,
    end_step: int | None,
) -> Table:
    """Reads the rows of a member whose tags have all been read as a whole.

    Args:
        reader: where segments come from.
        ctx, experiment_id: passed on to the provider.
        run: name and version.
        member: the member.
        rows: its attempts from old to new.
        columns: names, or None for all.
        start_step, end_step: range [start_step, end_step) of steps; None is "no bound".

    Raises:
        SegmentChangedError: the log directory changed meanwhile.
    """
    start = 0 if start_step is None else start_step
    end = NO_LIMIT if end_step is None else end_step
    names = member.columns if columns is None else tuple(dict.fromkeys(columns))
    pieces, num_rows = _pieces(rows, start, end)
    steps = np.empty(num_rows, np.int64)
    wall_time_s = np.empty(num_rows)
    attempt_index = np.empty(num_rows, np.int32)
    values = {name: np.empty(num_rows, np.float32) for name in names}
    found = 0
    for key, segment in reader.segments(ctx, experiment_id, {key: piece.state for key, piece in pieces.items()}):
        piece = pieces[key]
        target = slice(piece.row, piece.row + piece.end - piece.first)
        source = slice(piece.first, piece.end)
        _check(segment, piece)
        _copy_steps(segment.index.steps, piece, steps[target])
        wall_time_s[target] = segment.wall_time_s[source]
        attempt_index[target] = piece.attempt_index
        for name, column in values.items():
            stored = segment.columns.get(name)
            column[target] = np.nan if stored is None else stored[source]
        found += 1
    if found < len(pieces):
        raise SegmentChangedError(f"{len(pieces) - found} of {len(pieces)} segments have vanished")
    arrays: list[np.ndarray] = [steps, wall_time_s, attempt_index, *values.values()]
    for array in arrays:
        array.flags.writeable = False
    return Table(
        run=run[0],
        member=member.member,
        steps=steps,
        wall_time_s=wall_time_s,
        columns=values,
        attempt_index=attempt_index,
        attempts=member.attempts,
        gaps=_gaps(rows, start, end),
        num_written=sum(attempt.num_written for attempt in rows),
        num_read=sum(attempt.num_present for attempt in rows),
        num_missing=sum(attempt.num_missing for attempt in rows),
        num_superseded=sum(attempt.num_superseded for attempt in member.attempts),
        version=run[1],
    )


def _pieces(rows: Sequence[AttemptRows], start: int, end: int) -> tuple[Mapping[TagKey, _Piece], int]:
    pieces: dict[TagKey, _Piece] = {}
    row = 0
    for number, (attempt, limit) in enumerate(zip(rows, limits(rows))):
        for part in attempt.parts:
            first, last = part.index.num_rows_below(start), part.index.num_rows_below(min(end, limit))
            if last > first:
                pieces[part.key] = _Piece(attempt.attempt.segments[part.key], number, first, last, row)
                row += last - first
    return pieces, row


def _gaps(rows: Sequence[AttemptRows], start: int, end: int) -> tuple[Gap, ...]:
    found = []
    for number, (attempt, limit) in enumerate(zip(rows, limits(rows))):
        for gap in attempt.gaps:
            after = -1 if gap.step_before is None else gap.step_before
            if after + 1 < min(end, limit) and gap.step_after > start:
                found.append(dataclasses.replace(gap, attempt_index=number))
    return tuple(found)


def _check(segment: Segment, piece: _Piece) -> None:
    if segment.index.num_rows < piece.end:
        raise SegmentChangedError(f"a segment has {segment.index.num_rows} rows; {piece.end} were indexed")


def _copy_steps(parts: Steps, piece: _Piece, target: np.ndarray) -> None:
    """Writes steps [first, end) of a segment into `target`."""
    row = 0
    for part in parts:
        first, end = max(piece.first - row, 0), min(piece.end - row, len(part))
        if first < end:
            at = row + first - piece.first
            wanted = part[first:end]
            if isinstance(wanted, range):
                target[at : at + end - first] = wanted.start + wanted.step * np.arange(end - first, dtype=np.int64)
            else:
                target[at : at + end - first] = wanted
        row += len(part)
