"""What the samples say of the time around a traced window, for its findings and for the cost of the profiler."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence

import numpy as np

from tb_stepperf.analysis.captures import PROFILER, Around, Capture, read_around
from tb_stepperf.analysis.profiled import ProfiledStretches, read_profiled
from tb_stepperf.analysis.series import stage_columns
from tb_stepperf.blocks import Flag
from tb_stepperf.blocks.schema import FLAGS, GC_MS, NUM_ALLOC_RETRIES, NUM_OOMS, PEAK_RESERVED_BYTES, STEP_TIME_MS
from tb_stepperf.errors import NotFoundError
from tb_stepperf.plugin.params import Query
from tb_stepperf.plugin.traces import Owner, Owners, Traces
from tb_stepperf.plugin.view import Source
from tb_stepperf.statistics import flag_bits
from tb_stepperf.store import MemberInfo, RunInfo
from tb_stepperf.traces.facts import RunFacts
from tb_stepperf.traces.filenames import parse_name
from tb_stepperf.traces.find import TraceFile

MAX_RANKS = 64
"""Ranks that are looked at; those of the largest jobs come first."""

_DATA_STAGE = "data"
_WAITING = re.compile(r"comm|sync|wait|barrier|reduce|gather|broadcast|nccl", re.IGNORECASE)
"""Stages in which a rank waits for others: what remains is its own work."""


def owner_of(source: Source, traces: Traces, owners: Owners, file: TraceFile) -> Owner:
    """Returns whose a file is, with the steps it was recorded in where only the samples know them."""
    owner = owners.of(file)
    name = parse_name(file.name)
    stamp_s = None if name is None else name.stamp_s
    if owner.capture is not None or owner.run is None or owner.member is None or stamp_s is None:
        return owner
    key = ("profiled", source.experiment_id, owner.run.run, owner.member.member)
    read = source.reader(dataclasses.replace(Query(), run=owner.run.run), owner.member)
    try:
        stretches: ProfiledStretches = traces.figures.get(key, owner.run.version, lambda: read_profiled(read))
    except NotFoundError:  # deleted just now, or growing too fast to be read: the file is there all the same
        return owner
    window = stretches.at(stamp_s)
    if window is None:
        return owner
    start, end = window
    capture = Capture("written", PROFILER, start, start_step=start, end_step=end, file=file.name)
    return dataclasses.replace(owner, capture=capture)


def window_of(owner: Owner) -> tuple[int, int] | None:
    """Returns the profiled steps [start, end) that were recorded, or None."""
    capture = owner.capture
    if capture is None or capture.start_step is None or capture.end_step is None:
        return None
    return capture.start_step, capture.end_step


def around_window(source: Source, owner: Owner, window: tuple[int, int], columns: Iterable[str] = ()) -> Around:
    """Reads the steps in and around a window of the owner's member.

    Raises:
        NotFoundError: the member is not there any more.
    """
    assert owner.run is not None and owner.member is not None, "windows are recorded by members"
    return _around(source, owner.run, owner.member, window, columns)


def run_facts(source: Source, owner: Owner, window: tuple[int, int]) -> RunFacts:
    """Returns the figures of the unprofiled steps around a window, of all ranks of the run.

    Raises:
        NotFoundError: the run is not there any more.
    """
    assert owner.run is not None and owner.member is not None, "windows are recorded by members"
    others = [member for member in owner.run.members[:MAX_RANKS] if member.member != owner.member.member]
    ranks = [owner.member, *others]
    arounds = [_around(source, owner.run, member, window, _wanted(member)) for member in ranks]
    own = arounds[0]
    total_ms = _sum(own, STEP_TIME_MS)
    if not own.outside.size or total_ms is None:
        return RunFacts()
    shares = {
        stage: value / total_ms
        for stage, column in stage_columns(own.table.columns, "host").items()
        if (value := _sum(own, column)) is not None
    }
    gc_ms = _sum(own, GC_MS)
    slowest_rank, imbalance = _imbalance(ranks, arounds)
    return RunFacts(
        num_steps=int(own.outside.size),
        data_share=shares.get(_DATA_STAGE),
        stage_shares=tuple(sorted(shares.items(), key=lambda item: -item[1])),
        gc_share=None if gc_ms is None else gc_ms / total_ms,
        num_alloc_retries=_count(arounds, NUM_ALLOC_RETRIES),
        num_ooms=_count(arounds, NUM_OOMS),
        peak_reserved_bytes=_peak(arounds),
        recompiled_share=_recompiled_share(own, total_ms),
        slowest_rank=slowest_rank,
        rank_imbalance=imbalance,
    )


def _around(
    source: Source, run: RunInfo, member: MemberInfo, window: tuple[int, int], columns: Iterable[str]
) -> Around:
    read = source.reader(dataclasses.replace(Query(), run=run.run), member)
    return read_around(read, columns, *window)


def _wanted(member: MemberInfo) -> list[str]:
    figures = {GC_MS, NUM_ALLOC_RETRIES, NUM_OOMS, PEAK_RESERVED_BYTES} & set(member.columns)
    return [*sorted(figures), *stage_columns(member.columns, "host").values()]


def _values(around: Around, column: str) -> np.ndarray:
    """The measured values of a column, float64, outside of the window."""
    values = around.table.columns.get(column)
    if values is None:
        return np.zeros(0)
    values = values[around.outside].astype(np.float64)
    return values[np.isfinite(values)]


def _sum(around: Around, column: str) -> float | None:
    values = _values(around, column)
    return float(values.sum()) if values.size else None


def _count(arounds: Sequence[Around], column: str) -> int | None:
    sums = [value for around in arounds if (value := _sum(around, column)) is not None]
    return round(sum(sums)) if sums else None


def _peak(arounds: Sequence[Around]) -> int | None:
    peaks = [int(values.max()) for around in arounds if (values := _values(around, PEAK_RESERVED_BYTES)).size]
    return max(peaks, default=None)


def _recompiled_share(around: Around, total_ms: float) -> float | None:
    """None where no step says that it compiled: whether that was watched is not known."""
    rows = around.outside[(flag_bits(around.table.columns[FLAGS][around.outside]) & Flag.RECOMPILED) != 0]
    if not rows.size:
        return None
    return float(around.table.columns[STEP_TIME_MS][rows].sum(dtype=np.float64)) / total_ms


def _imbalance(ranks: Sequence[MemberInfo], arounds: Sequence[Around]) -> tuple[int | None, float | None]:
    """The rank with the most own work, and how many times the median rank's that is; only with labelled waiting.

    Without it, ranks that wait for the slowest look as slow as that one.
    """
    work_ms: dict[int, float] = {}
    for member, around in zip(ranks, arounds):
        stages = stage_columns(around.table.columns, "host")
        columns = [column for stage, column in stages.items() if not _WAITING.search(stage)]
        if columns and len(columns) < len(stages) and around.outside.size:
            parts = [around.table.columns[column][around.outside].astype(np.float64) for column in columns]
            work_ms[member.rank] = float(np.median(np.nansum(parts, axis=0)))
    usual_ms = float(np.median(list(work_ms.values()))) if len(work_ms) > 1 else 0.0
    if usual_ms <= 0:
        return None, None
    slowest = max(work_ms, key=lambda rank: work_ms[rank])
    return slowest, work_ms[slowest] / usual_ms
