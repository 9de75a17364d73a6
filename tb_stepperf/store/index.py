"""What has been read of the tags of a run, and what must be read next.

The catalog has to stay cheap at hundreds of live runs, and a listing tells nothing of rows. So a tag can be known in
two ways: as a *whole*, or by its *ends* only, the blocks that were there at an earlier reading and the newest one.
Rows between the ends are taken to be there until the whole tag is read, which `Store.read` does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping

from tb_stepperf.store.grouping import Attempt
from tb_stepperf.store.provider import TagKey, TagState
from tb_stepperf.store.segment import Environment, SegmentIndex


@dataclasses.dataclass(frozen=True, eq=False)
class Known:
    """What is known of a blocks tag in one state.

    Attributes:
        parts: of the whole tag: one; of its ends: one or more, ascending.
        is_whole: whether there is nothing else.
    """

    parts: tuple[SegmentIndex, ...]
    is_whole: bool

    def with_newest(self, newest: SegmentIndex) -> Known | None:
        """Returns the ends of the tag after it grew, or None where `newest` does not follow what is known."""
        if not newest.num_blocks or not newest.steps:
            return None
        last = self.parts[-1] if self.parts else SegmentIndex()
        follows = newest.first_row >= last.end_row and (not last.steps or newest.event_step > last.steps[-1][-1])
        return Known((*self.parts, newest), is_whole=False) if follows else None


NOTHING = Known((), is_whole=False)
"""What is known of a tag that was never read."""


@dataclasses.dataclass(frozen=True)
class Needed:
    """Tags that must be read.

    Attributes:
        whole: blocks tags of which all is needed.
        newest: blocks tags of which the newest block is enough.
        environments: environment tags.
    """

    whole: Mapping[TagKey, TagState]
    newest: Mapping[TagKey, TagState]
    environments: Mapping[TagKey, TagState]

    def __bool__(self) -> bool:
        return bool(self.whole or self.newest or self.environments)


@dataclasses.dataclass(frozen=True, eq=False)
class Index:
    """What has been read of a run. Entries hold for one state of a tag, and are only added or completed.

    Attributes:
        segments: blocks tags that have been read in their present state.
        outdated: blocks tags that were read in an earlier state.
        environments: environment tags that have been read in their present state.
    """

    segments: dict[TagKey, Known] = dataclasses.field(default_factory=dict)
    outdated: dict[TagKey, Known] = dataclasses.field(default_factory=dict)
    environments: dict[TagKey, Environment] = dataclasses.field(default_factory=dict)

    @property
    def size(self) -> int:
        """Grows with every addition."""
        return len(self.environments) + sum(1 + known.is_whole for known in list(self.segments.values()))

    def after(self, unchanged: Iterable[TagKey], grown: Iterable[TagKey]) -> Index:
        """Returns what still holds when `unchanged` tags are as they were and `grown` ones have another state."""
        unchanged = list(unchanged)
        before = {**self.outdated, **self.segments}
        return Index(
            segments={key: self.segments[key] for key in unchanged if key in self.segments},
            outdated={key: before[key] for key in grown if key in before and before[key].parts},
            environments={key: self.environments[key] for key in unchanged if key in self.environments},
        )

    def known(self, key: TagKey) -> Known:
        """Returns what is known of a blocks tag in its present state."""
        return self.segments.get(key, NOTHING)

    def add_whole(self, key: TagKey, index: SegmentIndex) -> None:
        """Notes that the whole tag has been read."""
        self.segments[key] = Known((index,), is_whole=True)

    def add_newest(self, key: TagKey, index: SegmentIndex) -> None:
        """Notes that the newest block has been read, where it fits to what was known before."""
        known = self.outdated.get(key, NOTHING).with_newest(index)
        if known is not None:
            self.segments.setdefault(key, known)

    def needed_for_catalog(self, attempt: Attempt, limit: int | None, asked: Collection[TagKey]) -> Needed:
        """Returns what must be read before the catalog can describe the attempt.

        That is its environment, its first and its last rows, and the tag in which a newer attempt takes over.

        Args:
            attempt: the attempt.
            limit: step from which a newer attempt wins, or None while that is not known.
            asked: tags whose newest block has been asked for already: next comes the whole.
        """
        keys = list(attempt.segments)
        whole: set[TagKey] = set()
        newest: set[TagKey] = set()
        for inwards in (keys, keys[::-1]):
            for key in inwards:
                known = self.known(key)
                if not known.parts:
                    can_grow = key in self.outdated or key != keys[0]
                    (newest if can_grow and key == keys[-1] and key not in asked else whole).add(key)
                if not known.parts or any(part.steps for part in known.parts):
                    break
        if limit is not None:
            whole.update(key for key in _around(attempt, limit) if not self.known(key).is_whole)
        return Needed(
            whole={key: attempt.segments[key] for key in keys if key in whole},
            newest={key: attempt.segments[key] for key in keys if key in newest - whole},
            environments={key: at for key, at in attempt.environments.items() if key not in self.environments},
        )


def _around(attempt: Attempt, step: int) -> list[TagKey]:
    """Returns the tags in which rows both below and from `step` on may lie, by the listing alone.

    A tag's largest event step is the first step of its last block, so it brackets the tags beside it.
    """
    keys = list(attempt.segments)
    starts = [attempt.segments[key].max_step for key in keys]
    return [
        key
        for k, key in enumerate(keys)
        if (k == 0 or starts[k - 1] < step) and (k + 1 == len(keys) or starts[k + 1] >= step)
    ]
