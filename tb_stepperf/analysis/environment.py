"""Under what conditions a member ran, as a comparison asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tb_stepperf.statistics import COMPARED_FIELDS

if TYPE_CHECKING:
    from tb_stepperf.store import AttemptInfo


def latest_environment(attempts: Sequence[AttemptInfo]) -> dict[str, Any]:
    """Returns the environment that holds last: that of the newest attempt that recorded one, with its changes."""
    for attempt in reversed(attempts):
        if attempt.environment:
            latest = dict(attempt.environment)
            for _, fields in attempt.changes:
                latest.update(fields)
            return latest
    return {}


def conditions_of(attempts: Sequence[AttemptInfo], world_size: int, clock: str) -> dict[str, Any]:
    """Returns the conditions that a comparison checks; what the user added counts where the recorder saw nothing.

    Args:
        attempts: of the member, the oldest first.
        world_size: number of processes of the job.
        clock: "host" or "device", of the step time that is compared.
    """
    environment = latest_environment(attempts)
    user = environment.get("user")
    known: Mapping[str, Any] = {**(user if isinstance(user, Mapping) else {}), **environment}
    conditions = {field: known[field] for field in COMPARED_FIELDS if known.get(field) is not None}
    return {**conditions, "world_size": world_size, "clock": clock}
