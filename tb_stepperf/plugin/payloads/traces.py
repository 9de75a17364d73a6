"""`/traces`: which trace files and capture windows there are."""

from __future__ import annotations

import collections
import dataclasses
import math
from typing import Any

from tb_stepperf.analysis import words
from tb_stepperf.analysis.captures import REACH_STEPS, Capture
from tb_stepperf.errors import NotFoundError
from tb_stepperf.plugin.facts import around_window, owner_of, window_of
from tb_stepperf.plugin.json_numbers import rounded
from tb_stepperf.plugin.payloads.runs import step_text
from tb_stepperf.plugin.traces import Owner, Owners, Traces
from tb_stepperf.plugin.view import Source
from tb_stepperf.traces.find import TraceFile

_STATES = {
    "never_active": "its schedule did not reach an active step",
    "failed": "the profiler failed",
    "skipped": "another profiler was active",
}


@dataclasses.dataclass(frozen=True)
class _Medians:
    profiled_ms: float = math.nan
    unprofiled_ms: float = math.nan
    num_bytes: int = 256


def traces_impl(source: Source, traces: Traces) -> dict[str, Any]:
    """Returns the answer of `/traces`."""
    found, is_complete = traces.finder.ask()
    owners = Owners(source.store.catalog(source.ctx, source.experiment_id))
    placed = sorted(
        ((owner_of(source, traces, owners, file), file) for file in found.traces),
        key=lambda pair: (pair[0].name, pair[1].stamp_s, pair[1].directory, pair[1].name),
    )
    num_parts: collections.Counter[tuple[str, str, str]] = collections.Counter(_worker(*pair) for pair in placed)
    part: collections.Counter[tuple[str, str, str]] = collections.Counter()
    rows = []
    for owner, file in placed:
        worker = _worker(owner, file)
        part[worker] += 1
        rows.append({**_trace(source, traces, owner, file), "num_parts": num_parts[worker], "part": part[worker]})
    missing = [
        owner
        for owner in owners.without_file(found.traces)
        if is_complete or (owner.capture is not None and owner.capture.state != "written")
    ]
    limits = traces.readings.limits
    return {
        "state": "done" if is_complete else "searching",
        "num_files_seen": found.num_files_seen,
        "problems": list(found.problems),
        "traces": rows,
        "windows_without_trace": [_without_trace(owner) for owner in missing],
        "limits": {"memory_mb": limits.memory_mb, "timeout_s": limits.timeout_s},
        "perfetto_url": traces.perfetto_url,
    }


def _worker(owner: Owner, file: TraceFile) -> tuple[str, str, str]:
    return owner.name, "" if owner.member is None else owner.member.member, file.worker


def _trace(source: Source, traces: Traces, owner: Owner, file: TraceFile) -> dict[str, Any]:
    return {
        "trace": file.trace,
        "run": shown(owner.name),
        "member": None if owner.member is None else owner.member.member,
        "file": shown(file.name if file.directory == "." else f"{file.directory}/{file.name}"),
        "worker": shown(file.worker),
        "num_bytes": file.num_bytes,
        "modified_s": file.modified_s,
        "window": None if owner.capture is None else _window(source, traces, owner, owner.capture),
        "reading": traces.readings.look(file).state,
    }


def _window(source: Source, traces: Traces, owner: Owner, capture: Capture) -> dict[str, Any]:
    medians = _medians(source, traces, owner)
    return {
        **_recorded(capture),
        "profiled_ms": rounded(medians.profiled_ms),
        "unprofiled_ms": rounded(medians.unprofiled_ms),
    }


def _recorded(capture: Capture) -> dict[str, Any]:
    return {
        "start": step_text(capture.start_step),
        "end": step_text(capture.end_step),
        "reason": capture.reason,
        "state": capture.state,
        "about_step": step_text(capture.about_step),
        "cost_ms": None if capture.cost_ms is None else rounded(capture.cost_ms),
        "error": capture.error,
    }


def _medians(source: Source, traces: Traces, owner: Owner) -> _Medians:
    window = window_of(owner)
    if window is None or owner.run is None or owner.member is None:
        return _Medians()
    member = owner.member
    # Once all steps around it are there, the figures do not change any more, however long the run goes on.
    is_settled = member.last_step is not None and member.last_step >= window[1] + REACH_STEPS
    version = (None if is_settled else owner.run.version, len(member.attempts))

    def read() -> _Medians:
        around = around_window(source, owner, window)
        return _Medians(around.median_ms(around.inside), around.median_ms(around.outside))

    key = (source.experiment_id, owner.run.run, member.member, window)
    try:
        return traces.figures.get(key, version, read)
    except NotFoundError:  # deleted just now, or growing too fast to be read: the traces are there all the same
        return _Medians()


def _without_trace(owner: Owner) -> dict[str, Any]:
    capture = owner.capture
    assert capture is not None and owner.member is not None, "what was captured was captured by a member"
    return {"run": owner.name, "member": owner.member.member, **_recorded(capture), "text": _sentence(capture)}


def _sentence(capture: Capture) -> str:
    what = f"A capture ({capture.reason.replace('_', ' ')})"
    if capture.state != "written":
        why = capture.error or _STATES[capture.state]
        return f"{what} near step {words.step_text(capture.at_step)} left no trace: {why.rstrip('.')}."
    if capture.file is None:
        return f"{what} near step {words.step_text(capture.at_step)} does not say where its trace is."
    return (
        f"{what} of step {words.step_text(capture.at_step)} wrote {shown(capture.file)!r}, which is not beside the "
        "event file of its run: it was moved or deleted, or is not here yet."
    )


def shown(name: str) -> str:
    """Returns a name of the file system as text that every encoding of JSON can carry."""
    return name.encode("utf-8", "replace").decode()
