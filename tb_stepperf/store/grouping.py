"""From tags to attempts and runs, by the listing alone."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

from tb_stepperf.blocks import TagMetadata
from tb_stepperf.store.provider import TagKey, TagState

_RANK_DIRECTORY = re.compile(r"(?:(?P<run>.*)/)?rank_[0-9]+", re.DOTALL)
_DIGITS = re.compile(r"([0-9]+)")


@dataclasses.dataclass(frozen=True)
class Attempt:
    """Tags of one attempt in one TensorBoard run.

    Attributes:
        tb_run: name of the TensorBoard run.
        metadata: of one of the tags; what it says of the attempt is the same in all.
        segments: blocks tags in the order of their segment numbers, with what the listing says of them.
        environments: environment tags, at most one.
    """

    tb_run: str
    metadata: TagMetadata
    segments: Mapping[TagKey, TagState]
    environments: Mapping[TagKey, TagState]

    @property
    def order(self) -> tuple[float, str]:
        """Sort key: attempts are ordered by start, never by listing or file order."""
        return self.metadata.started_s, self.metadata.attempt


def run_of(tb_run: str, world_size: int) -> str:
    """Returns the run that a TensorBoard run belongs to: `job` for `job/rank_3` of a job of several processes."""
    match = _RANK_DIRECTORY.fullmatch(tb_run) if world_size > 1 else None
    if match is None:
        return tb_run
    return match["run"] or "."


def natural_order(name: str) -> list[tuple[int, str]]:
    """Sort key that orders numbers within names by value: "run9" before "run10"."""
    parts = _DIGITS.split(name)
    digits = {k: part.lstrip("0") for k, part in enumerate(parts) if k % 2}
    return [(len(digits[k]), digits[k]) if k % 2 else (0, part) for k, part in enumerate(parts)] + [(0, name)]


def attempts_of_runs(tags: Mapping[TagKey, tuple[TagMetadata, TagState]]) -> dict[str, list[Attempt]]:
    """Groups tags into attempts, and attempts by run, each from old to new."""
    by_attempt: dict[tuple[str, str], dict[TagKey, tuple[TagMetadata, TagState]]] = {}
    for key, (metadata, state) in tags.items():
        by_attempt.setdefault((key.tb_run, metadata.attempt), {})[key] = metadata, state
    runs: dict[str, list[Attempt]] = {}
    for (tb_run, _), members in by_attempt.items():
        metadata = next(metadata for metadata, _ in members.values())
        segments = sorted((about.segment, key) for key, (about, _) in members.items() if about.kind == "blocks")
        attempt = Attempt(
            tb_run,
            metadata,
            segments={key: members[key][1] for _, key in segments},
            environments={key: state for key, (about, state) in members.items() if about.kind == "environment"},
        )
        runs.setdefault(run_of(tb_run, metadata.world_size), []).append(attempt)
    return {run: sorted(attempts, key=lambda attempt: attempt.order) for run, attempts in runs.items()}
