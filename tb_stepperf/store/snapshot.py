"""One moment of an experiment: its tags, what is indexed of them, and the catalog that follows."""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence

from tb_stepperf.blocks import TagMetadata, parse_metadata
from tb_stepperf.blocks.schema import STEP_TIME_MS
from tb_stepperf.errors import FormatError, NewerFormatError
from tb_stepperf.store.grouping import Attempt, attempts_of_runs, run_of
from tb_stepperf.store.index import Index, Needed
from tb_stepperf.store.provider import TagKey, TagState
from tb_stepperf.store.rows import NO_LIMIT, AttemptRows, limits
from tb_stepperf.store.segment import Environment
from tb_stepperf.store.types import MemberInfo, Problem, RunInfo
from tb_stepperf.store.writers import writers

MAX_MISSING_RANKS = 1000
"""A run of a million ranks of which one wrote does not list the others."""

_parse_metadata = functools.lru_cache(maxsize=65_536)(parse_metadata)
"""The listing repeats the metadata of every tag at every refresh."""

Member = tuple[MemberInfo, list[AttemptRows]]
"""A member, and what is known of its attempts from old to new."""


@dataclasses.dataclass(frozen=True, eq=False)
class Run:
    """A run, its attempts, and what has been read of them.

    Attributes:
        run: name.
        version: changes with `states`.
        states: what the listing says of every tag of the run, those that cannot be used included.
        attempts: from old to new.
        problems: of tags whose metadata cannot be used.
        index: what has been read.
    """

    run: str
    version: int
    states: Mapping[TagKey, TagState]
    attempts: Sequence[Attempt]
    problems: tuple[Problem, ...]
    index: Index
    _members: dict[int, tuple[Member, ...]] = dataclasses.field(default_factory=dict)

    def members(self) -> tuple[Member, ...]:
        """Returns every member with what is known of its attempts, by rank and writer."""
        size = self.index.size
        members = self._members.get(size)
        if members is None:
            members = tuple(self._make_members())
            self._members.clear()
            self._members[size] = members
        return members

    def needed_for_catalog(self, asked: Collection[TagKey]) -> list[Needed]:
        """Returns what must be read before `info` can describe the run, as far as that is known yet.

        Args:
            asked: tags whose newest block has been asked for already.
        """
        needed = [self.index.needed_for_catalog(attempt, None, asked) for attempt in self.attempts]
        if any(needed) or len(self.attempts) == 1:
            return needed
        return [
            self.index.needed_for_catalog(attempt_rows.attempt, limit, asked)
            for _, rows in self.members()
            for attempt_rows, limit in zip(rows, limits(rows))
            if limit < NO_LIMIT
        ]

    def info(self) -> RunInfo | None:
        """Returns the public description; None where no tag of the run can be used."""
        if not self.attempts:
            return None
        members = tuple(member for member, _ in self.members())
        world_size = self.attempts[-1].metadata.world_size
        ranks = {member.rank for member in members}
        missing = (rank for rank in range(min(world_size, len(ranks) + MAX_MISSING_RANKS)) if rank not in ranks)
        notes = (*_notes_on_writers(members, world_size), *_notes_on_ends(members))
        return RunInfo(self.run, world_size, tuple(missing)[:MAX_MISSING_RANKS], members, notes, self.version)

    def all_problems(self) -> list[Problem]:
        """Returns what could not be used, each reason once."""
        damage: list[tuple[TagKey, str]] = []
        for attempt in itertools.chain.from_iterable(rows for _, rows in self.members()):
            damage.extend(attempt.damage)
            environments = attempt.attempt.environments
            damage.extend((key, reason) for key in environments for reason in self._environment(key).damage)
        return [*self.problems, *([_damage(self.run, "record", damage)] if damage else [])]

    def _make_members(self) -> Iterator[Member]:
        ranks: dict[int, list[AttemptRows]] = collections.defaultdict(list)
        for attempt in self.attempts:
            ranks[attempt.metadata.rank].append(AttemptRows.of(attempt, self.index))
        for rank in sorted(ranks):
            found = writers(ranks[rank])
            for number, rows in enumerate(found, 1):
                yield self._member(rank, number if len(found) > 1 else 0, rows), rows

    def _environment(self, key: TagKey) -> Environment:
        return self.index.environments.get(key, Environment())

    def _member(self, rank: int, writer: int, rows: Sequence[AttemptRows]) -> MemberInfo:
        steps_below = [attempt.num_rows_below(limit) for attempt, limit in zip(rows, limits(rows))]
        attempts = tuple(
            attempt.info(
                attempt.num_present - num_below,
                next(map(self._environment, attempt.attempt.environments), Environment()),
            )
            for attempt, num_below in zip(rows, steps_below)
        )
        counted = [attempt for attempt, num_below in zip(rows, steps_below) if num_below]
        names = {name for attempt in rows for part in attempt.parts for name in part.index.columns}
        label = f"rank {rank}" if not writer else f"rank {rank}, writer {writer}"
        return MemberInfo(
            member=str(rank) if writer < 2 else f"{rank}.{writer}",
            rank=rank,
            writer=writer,
            label=label if not writer or rows[-1].attempt.metadata.world_size > 1 else f"writer {writer}",
            tb_run=rows[-1].attempt.tb_run,
            num_steps=sum(steps_below),
            first_step=counted[0].first_step if counted else None,
            last_step=counted[-1].last_step if counted else None,
            first_wall_time_s=counted[0].first_wall_time_s if counted else None,
            last_wall_time_s=counted[-1].last_wall_time_s if counted else None,
            attempts=attempts,
            columns=tuple(sorted(names, key=lambda name: (name != STEP_TIME_MS, name))),
            end=attempts[-1].end,
        )


def group_tags(
    tags: Mapping[TagKey, TagState],
) -> dict[str, tuple[dict[TagKey, TagState], list[Attempt], tuple[Problem, ...]]]:
    """Groups a listing by run: states of the tags, attempts from old to new, and tags that cannot be used."""
    usable: dict[TagKey, tuple[TagMetadata, TagState]] = {}
    states: dict[str, dict[TagKey, TagState]] = collections.defaultdict(dict)
    newer: dict[tuple[str, str], list[TagKey]] = collections.defaultdict(list)
    damaged: dict[str, list[tuple[TagKey, str]]] = collections.defaultdict(list)
    for key, state in tags.items():
        run = key.tb_run
        try:
            metadata = _parse_metadata(state.content)
        except NewerFormatError as error:
            newer[run, str(error)].append(key)
        except FormatError as error:
            damaged[run].append((key, str(error)))
        else:
            run = run_of(run, metadata.world_size)
            usable[key] = metadata, state
        states[run][key] = state
    problems: dict[str, list[Problem]] = collections.defaultdict(list)
    for (run, message), keys in newer.items():
        problems[run].append(Problem(run, min(keys).tag, message))
    for run, found in damaged.items():
        problems[run].append(_damage(run, "tag", sorted(found)))
    attempts = attempts_of_runs(usable)
    return {run: (found, attempts.get(run, []), tuple(problems[run])) for run, found in states.items()}


def _damage(run: str, what: str, found: Sequence[tuple[TagKey, str]]) -> Problem:
    key, reason = found[0]
    number = f"1 {what} is damaged and was" if len(found) == 1 else f"{len(found)} {what}s are damaged and were"
    return Problem(run, key.tag, f"{number} left out; the first: {reason}")


def _notes_on_writers(members: Sequence[MemberInfo], world_size: int) -> Iterator[str]:
    num_writers = collections.Counter(member.rank for member in members)
    for rank, count in num_writers.items():
        if count > 1:
            role = f" as rank {rank}" if world_size > 1 else ""
            yield f"{count} processes wrote to this run{role} at the same time; they are shown as separate writers."


def _notes_on_ends(members: Sequence[MemberInfo]) -> Iterator[str]:
    """Ranks that stopped elsewhere than most, once all have said that they ended."""
    last_steps = collections.Counter(member.last_step for member in members)
    if len(last_steps) < 2 or any(member.end is None or member.writer for member in members):
        return
    ((usual, _),) = last_steps.most_common(1)
    others = [
        f"{member.label} has no steps"
        if member.last_step is None
        else f"{member.label} ends at step {member.last_step}"
        for member in members
        if member.last_step != usual
    ]
    more = f", and {len(others) - 3} more elsewhere" if len(others) > 3 else ""
    rest = "have none" if usual is None else f"end at step {usual}"
    yield f"{', '.join(others[:3])}{more}; the other ranks {rest}."
