"""What makes two windows hard to compare."""

from __future__ import annotations

from tb_stepperf.traces.summary import TraceSummary

FEW_STEPS = 3


def differences(before: TraceSummary, after: TraceSummary) -> tuple[str, ...]:
    """Returns a sentence for each difference in what was recorded, and on what."""
    old, new = before.info, after.info
    found = []
    if old.devices != new.devices:
        found.append(f"Different devices: {_listed(old.devices)} before, {_listed(new.devices)} after.")
    if old.rank != new.rank:
        found.append(f"Different ranks: {_known(old.rank)} before, {_known(new.rank)} after.")
    if old.world_size != new.world_size:
        found.append(f"Different world sizes: {_known(old.world_size)} before, {_known(new.world_size)} after.")
    if (before.device_busy_share is None) != (after.device_busy_share is None):
        without = "first" if before.device_busy_share is None else "second"
        found.append(f"The {without} window holds no device work: only the host's times can be compared.")
    if not (before.num_steps_used and after.num_steps_used):
        found.append(
            "Not both windows mark steps, so what was recorded is compared as a whole: a longer window takes more time."
        )
    elif min(before.num_steps_used, after.num_steps_used) < FEW_STEPS:
        found.append(
            f"Few steps: {before.num_steps_used} before, {after.num_steps_used} after; a single odd step may be all "
            "there is to it."
        )
    elif before.num_steps_used != after.num_steps_used:
        found.append(
            f"Different numbers of steps: {before.num_steps_used} before, {after.num_steps_used} after; means are "
            "compared."
        )
    if old.steps_from != new.steps_from and before.num_steps_used and after.num_steps_used:
        found.append("Steps are marked in one window and inferred from the optimizer in the other.")
    if options := sorted(set(old.options) ^ set(new.options)):
        found.append(f"Recorded with different options ({', '.join(options)}), which cost different time themselves.")
    return tuple(found)


def _listed(devices: tuple[str, ...]) -> str:
    return ", ".join(devices) or "none"


def _known(value: int | None) -> str:
    return "not said" if value is None else str(value)
