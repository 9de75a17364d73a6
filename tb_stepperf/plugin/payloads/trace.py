"""`/trace`, `/trace_table`, `/trace_comparison`, `/trace_file`: what traces say."""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from tb_stepperf.errors import BusyError, NotFoundError, RequestError, TraceError
from tb_stepperf.plugin.csv_cells import text_cell
from tb_stepperf.plugin.facts import owner_of, run_facts, window_of
from tb_stepperf.plugin.json_numbers import strict
from tb_stepperf.plugin.params import Query
from tb_stepperf.plugin.traces import MAX_SENT, Owner, Owners, Traces
from tb_stepperf.plugin.view import Source
from tb_stepperf.traces.answer import summary_json
from tb_stepperf.traces.compare import compare_windows
from tb_stepperf.traces.compare import to_json as comparison_json
from tb_stepperf.traces.facts import RunFacts
from tb_stepperf.traces.find import TraceFile
from tb_stepperf.traces.findings import find
from tb_stepperf.traces.process import ReaderProcess
from tb_stepperf.traces.readings import Reading
from tb_stepperf.traces.summary import (
    BREAKDOWN,
    KernelRow,
    OperatorRow,
    StepSlice,
    TraceSummary,
    Wait,
)

TRACE_SUFFIX = ".pt.trace.json.gz"

_ROW_TYPES = {"steps": StepSlice, "operators": OperatorRow, "kernels": KernelRow, "waits": Wait}
_BREAKDOWN = "breakdown_ms"
_PARTS = [f"{part}_ms" for part in BREAKDOWN]
_SUFFIXES = re.compile(r"(\.pt\.trace)?(\.json)?(\.gz)?$")


def trace_impl(source: Source, traces: Traces, query: Query) -> dict[str, Any]:
    """Returns the answer of `/trace`; starts or stops reading.

    Raises:
        NotFoundError: there is no such trace.
    """
    file = traces.file(query.trace, "trace")
    reading = traces.readings.cancel(file) if query.cancel == "1" else traces.readings.ask(file)
    summary = None if reading.summary is None else _summary_json(source, _owner(source, traces, file), reading.summary)
    return {**_state(file, reading), "summary": summary}


def trace_table_impl(source: Source, traces: Traces, query: Query) -> tuple[Iterator[bytes], str]:
    """Returns a table of a trace as CSV, and a file name for it.

    Raises:
        NotFoundError: there is no such trace, or it is not read.
    """
    file = traces.file(query.trace, "trace")
    summary = traces.readings.look(file).summary
    if summary is None:
        raise NotFoundError(f"the trace {query.trace!r} is not read: /trace reads it", "trace")
    numbered = _renumbered(summary, _owner(source, traces, file))
    chunks = _csv(_ROW_TYPES[query.table], getattr(numbered, query.table))
    return chunks, f"{_file_stem(file)}-{query.table}.csv"


def trace_comparison_impl(traces: Traces, query: Query) -> dict[str, Any]:
    """Returns the answer of `/trace_comparison`; starts reading what is not read.

    Raises:
        NotFoundError: one of the traces is not there.
    """
    files = [traces.file(trace, name) for name, trace in (("before", query.before), ("after", query.after))]
    before, after = [traces.readings.ask(file) for file in files]
    comparison = None
    if before.summary is not None and after.summary is not None:
        comparison = strict(comparison_json(compare_windows(before.summary, after.summary)))
    return {"before": _state(files[0], before), "after": _state(files[1], after), "comparison": comparison}


def trace_file_impl(traces: Traces, query: Query) -> tuple[Iterator[bytes], str]:
    """Returns the events of a trace as a gzipped file, and a name for it.

    Raises:
        NotFoundError: there is no such trace.
        RequestError: it cannot be read.
        BusyError: too many files are being sent.
    """
    file = traces.file(query.trace, "trace")
    if not traces.sending.acquire(blocking=False):
        raise BusyError(
            f"{MAX_SENT} traces are being sent already, and no more at a time are allowed: ask again soon", "trace"
        )
    sent = _Sent(ReaderProcess(file.path, traces.readings.limits).file(), traces.sending.release)
    try:
        sent.begin()
    except TraceError as error:
        raise RequestError(f"the trace {query.trace!r} cannot be sent: {error}", "trace") from error
    return sent, _file_stem(file) + TRACE_SUFFIX


class _Sent(Iterator[bytes]):
    """Chunks of a file; at their end, or when closed early, the process that makes them ends and its place is free.

    Args:
        chunks: a generator.
        free: is called once.
    """

    def __init__(self, chunks: Generator[bytes, None, None], free: Callable[[], None]) -> None:
        self._chunks = chunks
        self._free: Callable[[], None] | None = free
        self._first = b""

    def begin(self) -> None:
        """Makes the first chunk: what is wrong with a file from its start on becomes an answer, not a torn file."""
        self._first = next(self, b"")

    def __next__(self) -> bytes:
        if self._first:
            first, self._first = self._first, b""
            return first
        has_more = False
        try:
            chunk = next(self._chunks)
            has_more = True
        finally:
            if not has_more:
                self.close()
        return chunk

    def close(self) -> None:
        """Ends it; again does nothing."""
        self._chunks.close()
        free, self._free = self._free, None
        if free is not None:
            free()


def _owner(source: Source, traces: Traces, file: TraceFile) -> Owner:
    return owner_of(source, traces, Owners(source.store.catalog(source.ctx, source.experiment_id)), file)


def _state(file: TraceFile, reading: Reading) -> dict[str, Any]:
    return {
        "trace": file.trace,
        "state": reading.state,
        "progress": round(reading.progress, 3),
        "num_ahead": reading.num_ahead,
        "message": reading.message,
    }


def _summary_json(source: Source, owner: Owner, summary: TraceSummary) -> dict[str, Any]:
    numbered = _renumbered(summary, owner)
    window = window_of(owner)
    try:
        facts = RunFacts() if window is None else run_facts(source, owner, window)
    except NotFoundError:  # deleted just now, or growing too fast to be read: the trace is there all the same
        facts = RunFacts()
    return strict(summary_json(dataclasses.replace(numbered, findings=find(numbered, facts))))


def _renumbered(summary: TraceSummary, owner: Owner) -> TraceSummary:
    """Counts steps as the training does, where only the writer's record says by how much the profiler's differ."""
    offset = None if owner.capture is None else owner.capture.step_offset
    if offset is None or summary.info.steps_from != "profiler" or summary.info.numbering == "training":
        return summary

    def moved(rows: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(row if row.step is None else dataclasses.replace(row, step=row.step + offset) for row in rows)

    return dataclasses.replace(
        summary,
        info=dataclasses.replace(summary.info, numbering="training"),
        steps=moved(summary.steps),
        waits=moved(summary.waits),
    )


def _csv(row_type: type, rows: Sequence[Any]) -> Iterator[bytes]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    names = [field.name for field in dataclasses.fields(row_type)]
    writer.writerow(itertools.chain.from_iterable(_PARTS if name == _BREAKDOWN else [name] for name in names))
    writer.writerows(itertools.chain.from_iterable(_cells(getattr(row, name)) for name in names) for row in rows)
    yield buffer.getvalue().encode("utf-8", "replace")


def _cells(value: Any) -> Sequence[Any]:
    """Parts of a breakdown are cells of their own."""
    return value if isinstance(value, tuple) else [text_cell(value) if isinstance(value, str) else value]


def _file_stem(file: TraceFile) -> str:
    """ASCII letters, digits and `._-` that say which file this is."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", _SUFFIXES.sub("", file.name))
    return stem.strip(".-")[:100] or "trace"
