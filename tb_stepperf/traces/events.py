"""What a trace file holds, as columns: the value that crosses from the reader to the analysis."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping

import numpy as np

ABSENT = -1
"""Stands in integer columns for what an event does not say."""


class Category(enum.IntEnum):
    """What kind of interval an event is, whatever its writer's version called it."""

    OTHER = 0
    STEP = 1
    """A step as the host saw it, `ProfilerStep#N`."""
    CPU_OP = 2
    """An operator on the host (`cpu_op`, once `Operator`)."""
    ANNOTATION = 3
    """A `record_function` on the host, the optimizer's and the data loader's included (`user_annotation`)."""
    DEVICE_ANNOTATION = 4
    """The device's repetition of an annotation or step: a span of kernels, never a step."""
    RUNTIME = 5
    """A call of the device's runtime or driver on the host."""
    KERNEL = 6
    COPY = 7
    """A copy from, to or on a device (`gpu_memcpy`)."""
    SET = 8
    """A fill of device memory (`gpu_memset`)."""
    SYNC = 9
    """A wait of a device or stream as the profiler records it (`cuda_sync`)."""
    PYTHON = 10
    """A Python function (`with_stack`)."""
    OVERHEAD = 11
    """The profiler's own work."""


DEVICE_WORK = (Category.KERNEL, Category.COPY, Category.SET)
"""Categories during which a device is busy."""


@dataclasses.dataclass(frozen=True)
class Track:
    """One line of the time line: a thread of the host or a stream of a device.

    Attributes:
        process: the file's `pid`, as text.
        thread: the file's `tid`, as text.
        device: number of the device, None for a thread of the host.
        stream: number of the device's stream, None where it is not said.
    """

    process: str
    thread: str
    device: int | None = None
    stream: int | None = None


@dataclasses.dataclass(frozen=True)
class Device:
    """A device that the file describes. `name` is None where it does not; so is `total_bytes`."""

    number: int
    name: str | None
    total_bytes: int | None


@dataclasses.dataclass(frozen=True, eq=False)
class MemoryEvents:
    """Allocations and frees, in order of time; every array has shape (n,).

    Attributes:
        at_ns: int64, relative to `TraceEvents.origin_us`.
        device: int32, number of the device; `ABSENT` is the host.
        change_bytes: int64, positive for an allocation.
        allocated_bytes: int64, held by tensors after it; `ABSENT` where the file does not say.
        reserved_bytes: int64, held by the allocator after it; `ABSENT` where the file does not say.
    """

    at_ns: np.ndarray
    device: np.ndarray
    change_bytes: np.ndarray
    allocated_bytes: np.ndarray
    reserved_bytes: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class TraceEvents:
    """The complete events of a trace, sorted by start, at one start the longest first.

    Every array has shape (num_events,) and is read-only. An event without an end, or with one that cannot be
    (negative, beyond the trace by centuries), is not here but counted in `oddities`.

    Attributes:
        start_ns: int64, relative to `origin_us`.
        duration_ns: int64, at least 0.
        category: uint8, a `Category`.
        name: int32, index into `names`.
        track: int32, index into `tracks`.
        correlation: int64, the same number for a runtime call and the device work that it started; or `ABSENT`.
        external_id: int64, the same number for an operator and what it started; or `ABSENT`.
        shape: int32, index into `shapes`; or `ABSENT`.
        names: text of every name, control characters and broken bytes replaced.
        shapes: input shapes as text, such as `[64, 3, 224, 224], [64]`.
        tracks: lines of the time line.
        memory: allocations, None where none are recorded.
        devices: those that the file describes or uses, by number.
        origin_us: time stamp of the first event, microseconds as in the file.
        rank, world_size: from `distributedInfo` or our own metadata; None where the file does not say.
        backend: of the distributed job, such as `nccl`; or None.
        step_offset: training step − number of the profiler's step, from our own metadata; or None.
        num_bytes: length of the text, decompressed.
        oddities: sentence → how often: what was repaired or left out, such as "unfinished event" → 1.
        profiler: what the file says of how it was recorded (`record_shapes`, `profile_memory`, `with_stack`): only
            these keys, never other metadata of the file.
    """

    start_ns: np.ndarray
    duration_ns: np.ndarray
    category: np.ndarray
    name: np.ndarray
    track: np.ndarray
    correlation: np.ndarray
    external_id: np.ndarray
    shape: np.ndarray
    names: tuple[str, ...]
    shapes: tuple[str, ...]
    tracks: tuple[Track, ...]
    memory: MemoryEvents | None
    devices: tuple[Device, ...]
    origin_us: float
    rank: int | None = None
    world_size: int | None = None
    backend: str | None = None
    step_offset: int | None = None
    num_bytes: int = 0
    oddities: Mapping[str, int] = dataclasses.field(default_factory=dict)
    profiler: Mapping[str, bool] = dataclasses.field(default_factory=dict)

    @property
    def num_events(self) -> int:
        """Number of events."""
        return int(self.start_ns.shape[0])
