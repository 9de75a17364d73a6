"""`StepEvidence`: everything that one call found out, frozen and ready for JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

CLAIM = "a candidate, not a proven cause"
"""What a hot spot is, in the words of every record and table."""

NO_STAGE = "(no stage)"
"""The time of a step that no stage covers."""

FORMAT = 1


@dataclasses.dataclass(frozen=True)
class Throughput:
    """Work per second, None where the call was not told how much a step does; `definition` says what was divided."""

    steps_per_s: float | None
    samples_per_s: float | None
    tokens_per_s: float | None
    definition: str


@dataclasses.dataclass(frozen=True)
class Stage:
    """Exclusive time of a stage, the mean of the measured steps; `(no stage)` is what no stage covers.

    Attributes:
        name: as the step function labelled it.
        host_ms_per_step: on the host's clock.
        host_share: of the measured steps' host time, in [0, 1].
        device_ms_per_step: between device events; None without a device clock.
        device_share: of the measured steps' device time.
    """

    name: str
    host_ms_per_step: float
    host_share: float | None
    device_ms_per_step: float | None = None
    device_share: float | None = None


@dataclasses.dataclass(frozen=True)
class Operator:
    """An operator as `key_averages()` of `torch.profiler` has it, per profiled step.

    Attributes:
        name: such as `aten::mm`.
        calls_per_step: how often it was called.
        self_host_ms_per_step: host time without that of operators inside it.
        self_device_ms_per_step: time of the device work that it started itself; None where there was none at all.
        share: of the profiled steps' time; of the device time where there was any, else of the host time. Operators on
            several streams or threads at once may add up to more than 1.
    """

    name: str
    calls_per_step: float
    self_host_ms_per_step: float
    self_device_ms_per_step: float | None
    share: float | None


@dataclasses.dataclass(frozen=True)
class HotSpot:
    """Where most time went: a name, its share, what that is a share of, and what it is worth."""

    name: str
    share: float
    share_of: str
    claim: str = CLAIM


@dataclasses.dataclass(frozen=True)
class Memory:
    """Largest peak of the measured steps, in bytes; None where it was not measured.

    Attributes:
        peak_allocated_bytes: of the device, held by tensors.
        peak_reserved_bytes: of the device, held by torch's allocator.
        peak_resident_bytes: of the process, resident; only without a device.
    """

    peak_allocated_bytes: float | None = None
    peak_reserved_bytes: float | None = None
    peak_resident_bytes: float | None = None


@dataclasses.dataclass(frozen=True)
class Trace:
    """The trace file of the profiled steps: where it lies, and how many entries its `traceEvents` has."""

    path: str
    num_events: int


@dataclasses.dataclass(frozen=True)
class StepEvidence:
    """What `measure_step` found out. `print` shows it as a table.

    Attributes:
        step_times_ms: latency of each measured step, in order, none left out.
        median_ms: nearest-rank median, a sample that occurred.
        p95_ms: nearest-rank 95th percentile, a sample that occurred.
        min_ms: the shortest.
        max_ms: the longest.
        warmup_times_ms: latency of each warm-up step; in no other figure.
        profiled_times_ms: latency of each step under the profiler; in no other figure but the ratio.
        profiled_ratio: median profiled step over median measured step, the observer's effect; None where not profiled.
        throughput: work per second.
        stages: in the order of first use, `(no stage)` last; empty where none was labelled.
        hot_stage: None where no stage was labelled.
        operators: the hottest first; empty where not profiled.
        hot_operator: None where not profiled.
        memory: peaks.
        clock: `host` or `host and device`: what times were taken with.
        clock_resolution_ms: smallest difference of two readings of the host's clock that was seen; None where it stood
            still.
        synchronised: what was waited for, in words.
        environment: the conditions, with the fields of the environment record of docs/format.md.
        trace: None without a logdir, or where the profiler failed.
        logdir: directory of the run; None without.
        notes: what a reader of these figures should know, sentences.
    """

    step_times_ms: tuple[float, ...]
    median_ms: float
    p95_ms: float
    min_ms: float
    max_ms: float
    warmup_times_ms: tuple[float, ...]
    profiled_times_ms: tuple[float, ...]
    profiled_ratio: float | None
    throughput: Throughput
    stages: tuple[Stage, ...]
    hot_stage: HotSpot | None
    operators: tuple[Operator, ...]
    hot_operator: HotSpot | None
    memory: Memory
    clock: str
    clock_resolution_ms: float | None
    synchronised: str
    environment: Mapping[str, Any]
    trace: Trace | None
    logdir: str | None
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Returns everything as dictionaries, lists, texts, finite numbers and None, for `json.dumps`."""
        return {"format": FORMAT, **_plain(dataclasses.asdict(self))}

    def table(self) -> str:
        """Returns everything but the single samples as plain text for people."""
        from tb_stepperf.measure.table import as_table

        return as_table(self)

    def __str__(self) -> str:
        return self.table()


def _plain(value: Any) -> Any:
    """Returns a value with lists in the place of tuples."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
