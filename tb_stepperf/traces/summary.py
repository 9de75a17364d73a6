"""What is said of a trace: small, frozen, and the same as JSON over HTTP, in the terminal and between processes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from tb_stepperf.errors import ArgumentError

BREAKDOWN = (
    "kernel", "copy", "set", "exposed_communication", "runtime", "data_loading", "cpu_operators", "other",
)  # fmt: skip
"""Parts of a step in the order of their priority: a moment belongs to the first that has an event there."""

MAX_ROWS = 1000
"""Rows of a table of operators or kernels; the least of the rest are summed in its last row."""


@dataclasses.dataclass(frozen=True)
class StepSlice:
    """One step of a trace.

    Attributes:
        step: its number: the training's where `TraceInfo.numbering` is `training`, else the profiler's.
        start_ms: relative to the first event of the trace.
        duration_ms: as the host saw it.
        cut: `start` or `end` where the window may have cut it; such a step is left out of means. Else None.
        breakdown_ms: a part of `BREAKDOWN` each; they add up to `duration_ms`.
        device_busy_ms: time in which any device works (union); None without device events.
        communication_ms: time in which any communication runs (union), on the device where there is one.
        overlapped_ms: the part of it during which other device work runs.
        num_kernels: kernels that start in the step.
    """

    step: int
    start_ms: float
    duration_ms: float
    cut: str | None
    breakdown_ms: tuple[float, ...]
    device_busy_ms: float | None
    communication_ms: float
    overlapped_ms: float
    num_kernels: int


@dataclasses.dataclass(frozen=True)
class OperatorRow:
    """An operator, annotation or call of the device's runtime, over the steps that count (all of the trace where it has
    no step).

    Attributes:
        name: as recorded; `ProfilerStep*` for the steps themselves, whose own time is what runs outside of all others;
            `(N more)` for the summed rest.
        shapes: of its inputs, None where they were not recorded.
        num_calls: how often.
        self_host_ms, total_host_ms: without and with what it calls, on the host.
        self_device_ms, total_device_ms: device work that it started itself, and with what it calls.
        is_annotation: a `record_function` of the user, not an operator.
    """

    name: str
    shapes: str | None
    num_calls: int
    self_host_ms: float
    total_host_ms: float
    self_device_ms: float
    total_device_ms: float
    is_annotation: bool


@dataclasses.dataclass(frozen=True)
class KernelRow:
    """A kernel, copy or fill on the devices, over the steps that count.

    Attributes:
        name: as recorded; `(N more)` for the summed rest.
        kind: `kernel`, `communication` (a kernel too), `copy` or `set`.
        num_calls: how often.
        total_ms, mean_us, max_us: of its durations.
        operator: that started most of its time; None where that is not known.
    """

    name: str
    kind: str
    num_calls: int
    total_ms: float
    mean_us: float
    max_us: float
    operator: str | None


@dataclasses.dataclass(frozen=True)
class MemoryCurve:
    """Memory of one device.

    Attributes:
        device: such as `cuda:0` (`device 0` where the kind is not known), or `cpu`.
        total_bytes: that the device has, None where the file does not say.
        peak_allocated_bytes, peak_reserved_bytes: None where not recorded.
        peak_at_ms: where the allocated peak is.
        at_ms, allocated_bytes: at most 1,000 points, the largest of each stretch; sums of changes where totals are
            not recorded (then `is_relative`: the height at the start is not known and taken as 0).
        is_relative: see above.
    """

    device: str
    total_bytes: int | None
    peak_allocated_bytes: int | None
    peak_reserved_bytes: int | None
    peak_at_ms: float | None
    at_ms: tuple[float, ...]
    allocated_bytes: tuple[int, ...]
    is_relative: bool


@dataclasses.dataclass(frozen=True)
class Wait:
    """A stretch in which the host waits (`kind` `synchronisation` or `data`) or no device works (`device idle`).

    Attributes:
        kind: see above.
        name: the call that waits, or what the host does meanwhile; None where nothing is recorded.
        step: that it begins in, None outside of steps.
        start_ms, duration_ms: relative to the first event of the trace.
    """

    kind: str
    name: str | None
    step: int | None
    start_ms: float
    duration_ms: float


@dataclasses.dataclass(frozen=True)
class Launches:
    """Whether the device starves on many short kernels.

    Attributes:
        num_kernels_per_step: mean.
        median_kernel_us: duration.
        short_share: share of kernels shorter than 10 µs.
        num_gaps: stretches of at least 1 µs between device work within the steps.
        gap_ms_per_step: their sum, a step.
        short_gap_share: share of that time in gaps of less than 1 ms.
    """

    num_kernels_per_step: float
    median_kernel_us: float
    short_share: float
    num_gaps: int
    gap_ms_per_step: float
    short_gap_share: float


@dataclasses.dataclass(frozen=True)
class Finding:
    """A rule that speaks: what may be the cause, never what is proven to be.

    Attributes:
        rule: its name, such as `data-pipeline-bound`.
        candidate: what may be the cause, in a sentence.
        evidence: the figures that made the rule speak, in a sentence.
        next_check: what to try to learn more.
        limit: what the rule cannot see; it holds the words "a candidate, not a proven cause".
        share: part of the step that is at stake, in [0, 1]; findings are sorted by it.
    """

    rule: str
    candidate: str
    evidence: str
    next_check: str
    limit: str
    share: float


@dataclasses.dataclass(frozen=True)
class TraceInfo:
    """The file as a whole.

    Attributes:
        num_bytes: of the text, decompressed.
        num_events: complete events.
        span_ms: from the first start to the last end.
        rank, world_size, backend: None where the file does not say.
        devices: names of those that work, such as `NVIDIA H100 80GB HBM3`; where none does, those that the file
            describes.
        device_bytes: memory of the one that has the least of those that work; None where the file does not say.
        steps_from: `profiler` (`ProfilerStep#N`), `optimizer` (inferred: one `Optimizer.step` each) or `none`.
        numbering: `training` or `profiler`, what the numbers of steps are.
        origin_s: time stamp of the first event in seconds, as Perfetto shows it.
        options: of the profiler that the file says were on, such as `record_shapes`.
        notes: sentences for people: what is missing in the file and how to record it, what was repaired.
    """

    num_bytes: int
    num_events: int
    span_ms: float
    rank: int | None
    world_size: int | None
    backend: str | None
    devices: tuple[str, ...]
    device_bytes: int | None
    steps_from: str
    numbering: str
    origin_s: float
    options: tuple[str, ...]
    notes: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class TraceSummary:
    """A trace in small.

    Attributes:
        info: the file as a whole.
        steps: in order; empty where the file marks none.
        num_steps_used: steps that means and tables are over: those that are not cut, or all where all are. 0 where
            there is none; then tables are over the whole trace and nothing is "per step".
        step_ms: mean duration of the steps used; None without steps.
        breakdown_ms: mean of each part of `BREAKDOWN` over the steps used (over the whole trace without steps).
        device_busy_share: of the time of the steps used; None without device events.
        communication_ms, overlapped_ms: means per used step.
        operators: the largest self time (device first, then host) first.
        num_operators: before the least were summed.
        kernels: the largest total first.
        num_kernels: before the least were summed.
        memory: one curve a device, empty where memory was not recorded.
        waits: the ten longest, the longest first.
        launches: None without device events.
        findings: the largest share first.
    """

    info: TraceInfo
    steps: tuple[StepSlice, ...]
    num_steps_used: int
    step_ms: float | None
    breakdown_ms: tuple[float, ...]
    device_busy_share: float | None
    communication_ms: float
    overlapped_ms: float
    operators: tuple[OperatorRow, ...]
    num_operators: int
    kernels: tuple[KernelRow, ...]
    num_kernels: int
    memory: tuple[MemoryCurve, ...]
    waits: tuple[Wait, ...]
    launches: Launches | None
    findings: tuple[Finding, ...]


_NESTED: dict[str, type] = {
    "info": TraceInfo,
    "steps": StepSlice,
    "operators": OperatorRow,
    "kernels": KernelRow,
    "memory": MemoryCurve,
    "waits": Wait,
    "launches": Launches,
    "findings": Finding,
}


def to_json(summary: TraceSummary) -> dict[str, Any]:
    """Returns the summary as JSON-able values: keys are the attributes' names, tuples are lists.

    Step numbers are integers here; `/trace` makes decimal strings of them.
    """
    return dataclasses.asdict(summary)


def from_json(value: Mapping[str, Any]) -> TraceSummary:
    """Returns the summary that `to_json` made this of.

    Raises:
        ArgumentError: keys are missing or unknown: another version of this package wrote it.
    """
    return _build(TraceSummary, {key: _nested(key, item) for key, item in value.items()})


def _nested(key: str, item: Any) -> Any:
    made_of = _NESTED.get(key)
    if made_of is None or item is None:
        return _frozen(item)
    return _build(made_of, item) if isinstance(item, Mapping) else tuple(_build(made_of, one) for one in item)


def _build(made_of: type, item: Mapping[str, Any]) -> Any:
    names = {field.name for field in dataclasses.fields(made_of)}
    if set(item) != names:
        raise ArgumentError(
            f"{made_of.__name__} has the keys {sorted(item)}; exactly {sorted(names)} are allowed. It was written by "
            "another version: read the trace again"
        )
    return made_of(**{key: _frozen(part) for key, part in item.items()})


def _frozen(part: Any) -> Any:
    return tuple(part) if isinstance(part, list) else part
