"""`/runs`: what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tb_stepperf.plugin.json_numbers import strict

if TYPE_CHECKING:
    from tb_stepperf.store import Catalog, MemberInfo, RunInfo


def runs_impl(catalog: Catalog, logdir: str) -> dict[str, Any]:
    """Returns the answer of `/runs`.

    Args:
        catalog: what the store found.
        logdir: what TensorBoard was started with, for the empty state.
    """
    return {
        "runs": [_run(run) for run in catalog.runs],
        "problems": [{"run": problem.run, "message": problem.message} for problem in catalog.problems],
        "num_runs_without_data": catalog.num_runs_without_data,
        "logdir": logdir,
    }


def step_text(step: int | None) -> str | None:
    """Returns a step as a decimal string: a JavaScript number does not hold every step."""
    return None if step is None else str(step)


def _run(run: RunInfo) -> dict[str, Any]:
    return {
        "run": run.run,
        "world_size": run.world_size,
        "missing_ranks": list(run.missing_ranks),
        "members": [_member(member) for member in run.members],
        "notes": list(run.notes),
    }


def _member(member: MemberInfo) -> dict[str, Any]:
    return {
        "member": member.member,
        "rank": member.rank,
        "writer": member.writer,
        "label": member.label,
        "tb_run": member.tb_run,
        "num_steps": member.num_steps,
        "first_step": step_text(member.first_step),
        "last_step": step_text(member.last_step),
        "first_wall_time_s": strict(member.first_wall_time_s),
        "last_wall_time_s": strict(member.last_wall_time_s),
        "num_attempts": len(member.attempts),
        "end": member.end,
        "columns": list(member.columns),
    }
