"""What is known of an attempt's rows, from what has been read of its tags."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from tb_stepperf.store.grouping import Attempt
from tb_stepperf.store.index import Index
from tb_stepperf.store.provider import TagKey
from tb_stepperf.store.segment import Environment, SegmentIndex
from tb_stepperf.store.types import AttemptInfo, Gap

NO_LIMIT = 2**63
"""Above every step."""


@dataclasses.dataclass(frozen=True, eq=False)
class Part:
    """Successive blocks of one tag.

    Attributes:
        key: the tag.
        index: its blocks that are known.
        num_unread: rows that are taken to be there between the part before and this one.
    """

    key: TagKey
    index: SegmentIndex
    num_unread: int


@dataclasses.dataclass(frozen=True, eq=False)
class AttemptRows:
    """Rows of an attempt, as far as its tags have been read; what has not been read is taken to be complete.

    Attributes:
        attempt: whose rows these are.
        parts: those with blocks, ascending; one whose steps do not follow is left out.
        num_written: rows that the writer wrote up to the end of the last block.
        num_missing: rows in `gaps`.
        gaps: every gap that is known, with attempt index 0.
        damage: why parts were left out, each with its tag.
    """

    attempt: Attempt
    parts: tuple[Part, ...]
    num_written: int
    num_missing: int
    gaps: tuple[Gap, ...]
    damage: tuple[tuple[TagKey, str], ...]

    @staticmethod
    def of(attempt: Attempt, index: Index) -> AttemptRows:
        """Joins what is known of an attempt's tags."""
        parts: list[Part] = []
        gaps: list[Gap] = []
        damage: list[tuple[TagKey, str]] = []
        end_row, last_step, all_read = 0, None, True
        for key in attempt.segments:
            known = index.known(key)
            all_read = all_read and known.is_whole
            for part in known.parts:
                damage.extend((key, reason) for reason in part.damage)
                if not part.num_blocks:
                    continue
                if part.first_step is not None and last_step is not None and part.first_step <= last_step:
                    damage.append((key, f"a segment begins at step {part.first_step}, not after step {last_step}"))
                    continue
                num_between = max(part.first_row - end_row, 0)
                if all_read and num_between:
                    gaps.append(Gap(0, last_step, part.event_step, num_between))
                gaps.extend(
                    Gap(0, last_step if gap.step_before is None else gap.step_before, gap.step_after, gap.num_rows)
                    for gap in part.missing
                )
                parts.append(Part(key, part, 0 if all_read else num_between))
                end_row, all_read = max(end_row, part.end_row), known.is_whole
                last_step = last_step if part.last_step is None else part.last_step
        num_missing = sum(gap.num_rows for gap in gaps)
        return AttemptRows(attempt, tuple(parts), end_row, num_missing, tuple(gaps), tuple(damage))

    @property
    def num_present(self) -> int:
        """Rows that are present."""
        return self.num_written - self.num_missing

    @property
    def first_step(self) -> int | None:
        """First step that is present."""
        return next((part.first_step for part in self._filled()), None)

    @property
    def last_step(self) -> int | None:
        """Last step that is present."""
        return self._last_filled().last_step

    @property
    def first_wall_time_s(self) -> float | None:
        """Wall time of the first row."""
        return next((part.first_wall_time_s for part in self._filled()), None)

    @property
    def last_wall_time_s(self) -> float | None:
        """Wall time of the last row."""
        part = self._last_filled()
        return part.last_wall_time_s if part.steps else None

    def num_rows_below(self, step: int) -> int:
        """Returns how many present rows have a step below `step`.

        Unread rows count as a whole: below, where the blocks after them begin at or below `step`.
        """
        unread = sum(part.num_unread for part in self.parts if part.index.event_step <= step)
        return unread + sum(part.index.num_rows_below(step) for part in self.parts)

    def info(self, num_superseded: int, environment: Environment) -> AttemptInfo:
        """Returns the public description."""
        newest_first = [part.index for part in reversed(self.parts)]
        metadata = self.attempt.metadata
        return AttemptInfo(
            attempt=metadata.attempt,
            process=metadata.process,
            started_s=metadata.started_s,
            first_step=self.first_step,
            last_step=self.last_step,
            first_wall_time_s=self.first_wall_time_s,
            last_wall_time_s=self.last_wall_time_s,
            num_rows=self.num_present,
            num_superseded=num_superseded,
            num_missing=self.num_missing,
            end=newest_first[0].end if newest_first else None,
            counters=next((index.counters for index in newest_first if index.counters), {}),
            environment=environment.first,
            changes=environment.changes,
            world_size=metadata.world_size,
        )

    def _filled(self) -> Iterator[SegmentIndex]:
        return (part.index for part in self.parts if part.index.steps)

    def _last_filled(self) -> SegmentIndex:
        return next((part.index for part in reversed(self.parts) if part.index.steps), SegmentIndex())


def limits(rows: Sequence[AttemptRows]) -> list[int]:
    """Returns, for attempts from old to new, the step from which a newer attempt wins: rows below it count.

    An attempt without rows supersedes nothing.
    """
    found, limit = [], NO_LIMIT
    for attempt in reversed(rows):
        found.append(limit)
        if attempt.first_step is not None:
            limit = min(limit, attempt.first_step)
    return found[::-1]
