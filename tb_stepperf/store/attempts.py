"""What is known of an attempt's rows, from the indices of some or all of its segments."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from tb_stepperf.blocks import TagMetadata
from tb_stepperf.store.provider import TagKey, TagState
from tb_stepperf.store.segment import Environment, SegmentIndex
from tb_stepperf.store.types import AttemptInfo, Gap

MAX_STEP = 2**63 - 1


@dataclasses.dataclass(frozen=True)
class Attempt:
    """Tags of one attempt in one TensorBoard run.

    Attributes:
        tb_run: name of the TensorBoard run.
        metadata: of one of the tags; what it says of the attempt is the same in all.
        segments: blocks tags in the order of their segment numbers, with what the listing says of them.
        environment: the environment tag, or None.
    """

    tb_run: str
    metadata: TagMetadata
    segments: Mapping[TagKey, TagState]
    environment: TagKey | None

    @property
    def order(self) -> tuple[float, str]:
        """Sort key: attempts are ordered by start, never by listing or file order."""
        return self.metadata.started_s, self.metadata.attempt


@dataclasses.dataclass(frozen=True, eq=False)
class AttemptRows:
    """Rows of an attempt, as far as its segments have been indexed.

    Rows between two indexed segments that have not been indexed themselves are taken to be complete.

    Attributes:
        attempt: whose rows these are.
        parts: indexed segments with blocks, ascending; those whose steps do not follow are left out.
        num_unread: rows that are taken to be there between the part before and this one, for each of `parts`.
        num_written: rows that the writer wrote up to the end of the last block.
        num_missing: rows in `gaps`.
        gaps: every gap, with attempt index 0.
        damage: why segments were left out, one sentence each.
    """

    attempt: Attempt
    parts: Mapping[TagKey, SegmentIndex]
    num_unread: Mapping[TagKey, int]
    num_written: int
    num_missing: int
    gaps: tuple[Gap, ...]
    damage: tuple[str, ...]

    @staticmethod
    def of(attempt: Attempt, indices: Mapping[TagKey, SegmentIndex]) -> AttemptRows:
        """Joins the indices of an attempt's segments; those that `indices` lacks are skipped."""
        parts: dict[TagKey, SegmentIndex] = {}
        num_unread: dict[TagKey, int] = {}
        gaps: list[Gap] = []
        damage: list[str] = []
        end_row, last_step, all_known = 0, None, True
        for key in attempt.segments:
            index = indices.get(key)
            if index is None:
                all_known = False
                continue
            if not index.num_blocks:
                continue
            if index.first_step is not None and last_step is not None and index.first_step <= last_step:
                damage.append(f"the segment from step {index.first_step} does not begin after step {last_step}")
                continue
            num_between = max(index.first_row - end_row, 0)
            num_unread[key] = 0 if all_known else num_between
            if all_known and num_between:
                gaps.append(Gap(0, last_step, index.event_step, num_between))
            gaps.extend(
                Gap(0, last_step if gap.step_before is None else gap.step_before, gap.step_after, gap.num_rows)
                for gap in index.missing
            )
            parts[key] = index
            end_row, all_known = max(end_row, index.end_row), True
            last_step = last_step if index.last_step is None else index.last_step
        num_missing = sum(gap.num_rows for gap in gaps)
        return AttemptRows(attempt, parts, num_unread, end_row, num_missing, tuple(gaps), tuple(damage))

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

        Segments that are not indexed count as a whole, below where the next indexed one begins at or below `step`.
        """
        count = 0
        for key, part in self.parts.items():
            if part.event_step <= step:
                count += self.num_unread[key]
            count += part.num_rows_below(step)
        return count

    def info(self, num_superseded: int, environment: Environment | None) -> AttemptInfo:
        """Returns the public description."""
        last = next(reversed(self.parts.values()), SegmentIndex())
        counters = next((part.counters for part in reversed(self.parts.values()) if part.counters), {})
        environment = environment or Environment()
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
            end=last.end,
            counters=counters,
            environment=environment.first,
            changes=environment.changes,
            world_size=metadata.world_size,
        )

    def _filled(self) -> Iterator[SegmentIndex]:
        return (part for part in self.parts.values() if part.steps)

    def _last_filled(self) -> SegmentIndex:
        return next((part for part in reversed(self.parts.values()) if part.steps), SegmentIndex())


def limits(rows: Sequence[AttemptRows]) -> list[int]:
    """Returns, for attempts from old to new, the step from which a newer attempt wins: rows below it count.

    Steps end at 2**63 - 1, so 2**63 is "no limit". An attempt without rows supersedes nothing.
    """
    found, limit = [], MAX_STEP + 1
    for attempt in reversed(rows):
        found.append(limit)
        if attempt.first_step is not None:
            limit = min(limit, attempt.first_step)
    return found[::-1]


def segments_for_catalog(
    attempt: Attempt, indices: Mapping[TagKey, SegmentIndex], limit: int | None
) -> dict[TagKey, TagState]:
    """Returns the segments that must be indexed before the catalog can describe the attempt.

    These are the first and the last one that have rows, and the one in which a newer attempt takes over.

    Args:
        attempt: the attempt.
        indices: segments that are indexed already.
        limit: step from which a newer attempt wins, or None while that is not known.
    """
    keys = list(attempt.segments)
    needed: list[TagKey] = []
    for inwards in (keys, keys[::-1]):
        for key in inwards:
            if key not in indices:
                needed.append(key)
            if key not in indices or indices[key].steps:
                break
    if limit is not None and limit <= MAX_STEP:
        # A tag's largest event step is the first step of its last block: the listing alone brackets every segment.
        starts = [attempt.segments[key].max_step for key in keys]
        for k, key in enumerate(keys):
            begins_below = k == 0 or starts[k - 1] < limit
            ends_above = k + 1 == len(keys) or starts[k + 1] >= limit
            if begins_below and ends_above and key not in indices:
                needed.append(key)
    return {key: attempt.segments[key] for key in needed}
