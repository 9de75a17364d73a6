"""`/conditions`: under what conditions all this holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tb_stepperf.analysis import latest_environment
from tb_stepperf.analysis.events import CAPTURE, PROVISIONAL
from tb_stepperf.plugin.definitions import definitions, not_covered
from tb_stepperf.plugin.json_numbers import strict
from tb_stepperf.plugin.params import Query
from tb_stepperf.plugin.payloads.runs import step_text
from tb_stepperf.plugin.view import Source

if TYPE_CHECKING:
    from tb_stepperf.store import AttemptInfo


def conditions_impl(source: Source, query: Query) -> dict[str, Any]:
    """Returns the answer of `/conditions`.

    Raises:
        NotFoundError: the run or the member is not there.
    """
    run, member = source.find(query)
    outline = source.outline(query)
    environment = latest_environment(outline.attempts)
    return {
        "run": query.run,
        "member": member.member,
        "attempts": [_attempt(attempt) for attempt in outline.attempts],
        "definitions": [
            {"term": term, "text": text} for term, text in definitions(outline.columns, environment).items()
        ],
        "not_covered": not_covered(outline.columns, environment, run.world_size),
    }


def _attempt(attempt: AttemptInfo) -> dict[str, Any]:
    return {
        "attempt": attempt.attempt,
        "started_s": strict(attempt.started_s),
        "first_step": step_text(attempt.first_step),
        "last_step": step_text(attempt.last_step),
        "num_rows": attempt.num_rows,
        "num_superseded": attempt.num_superseded,
        "end": attempt.end,
        "counters": dict(attempt.counters),
        "environment": strict(dict(attempt.environment)),
        "changes": [{"step": str(step), "fields": fields} for step, fields in _changes(attempt) if fields],
    }


def _changes(attempt: AttemptInfo) -> Iterator[tuple[int, dict[str, Any]]]:
    """What the training process noticed in its step times, or traced, is no condition: other routes have it."""
    for step, fields in attempt.changes:
        yield step, strict({name: value for name, value in fields.items() if name not in (CAPTURE, PROVISIONAL)})
