"""Memory peaks: a probe is read at step boundaries, and each reading begins a new peak.

A probe is small: the columns that it fills, the shortest time between two readings, and `read()`.
"""

from __future__ import annotations

import os
import resource
from typing import Protocol

from tb_stepperf.blocks.schema import (
    NUM_ALLOC_RETRIES,
    NUM_OOMS,
    PEAK_ALLOCATED_BYTES,
    PEAK_RESERVED_BYTES,
    PEAK_RESIDENT_BYTES,
)
from tb_stepperf.recorder.device import Accelerator
from tb_stepperf.recorder.messages import Messages

_KIB = 1024
_FAST_INTERVAL_S = 0.005
_SLOW_INTERVAL_S = 0.05
_TOLERANCE_BYTES = 16 * 2**20
_CLEAR_REFS = "/proc/self/clear_refs"
_STATUS = "/proc/self/status"


class MemoryProbe(Protocol):
    """Something that knows peaks of memory.

    Attributes:
        columns: names of the columns, in the order of what `read` returns.
        interval_s: shortest time between two readings, so that reading stays cheap; 0 for every step.
        mode: `per_step` or `cumulative`.
        note: what a reader should know, such as why not every step has a value; None where there is nothing.
    """

    @property
    def columns(self) -> tuple[str, ...]:
        """See the class."""

    @property
    def interval_s(self) -> float:
        """See the class."""

    @property
    def mode(self) -> str:
        """See the class."""

    @property
    def note(self) -> str | None:
        """See the class."""

    def read(self) -> tuple[float, ...]:
        """Returns the peaks since the last reading (or since the start, if cumulative), and begins new ones."""

    def close(self) -> None:
        """Gives back what the probe holds."""


class ResidentMemory:
    """Peak resident memory of this process on Linux.

    Writing 5 to `clear_refs` (proc(5)) sets the peak back to what is resident now. The peak is then read through
    `getrusage`, in a microsecond; where that still shows what another program left behind before `exec`, through
    `VmHWM`, which costs ten times as much and is therefore read less often.

    Raises:
        OSError: the kernel does not allow it.
    """

    columns = (PEAK_RESIDENT_BYTES,)

    def __init__(self, cumulative: bool = False) -> None:
        self.mode = "cumulative" if cumulative else "per_step"
        self.note: str | None = None
        self.interval_s = _FAST_INTERVAL_S
        self._clear_refs = -1 if cumulative else os.open(_CLEAR_REFS, os.O_WRONLY | os.O_CLOEXEC)
        self._status = os.open(_STATUS, os.O_RDONLY | os.O_CLOEXEC)
        self._reset()
        self._through_status = abs(self._from_usage() - self._from_status()) > _TOLERANCE_BYTES
        if self._through_status:
            self.interval_s = _SLOW_INTERVAL_S

    def read(self) -> tuple[float, ...]:
        """Returns the peak in bytes."""
        peak = self._from_status() if self._through_status else self._from_usage()
        self._reset()
        return (peak,)

    def close(self) -> None:
        """Gives the file descriptors back."""
        for descriptor in (self._clear_refs, self._status):
            if descriptor >= 0:
                os.close(descriptor)

    def _reset(self) -> None:
        if self._clear_refs >= 0:
            os.pwrite(self._clear_refs, b"5", 0)

    def _from_usage(self) -> float:
        return float(resource.getrusage(resource.RUSAGE_THREAD).ru_maxrss * _KIB)

    def _from_status(self) -> float:
        text = os.pread(self._status, 4096, 0)
        start = text.index(b"VmHWM:") + len(b"VmHWM:")
        return float(int(text[start : text.index(b"kB", start)]) * _KIB)


class DeviceMemory:
    """Peaks of torch's caching allocator on one device: one call for all numbers, one to begin new peaks.

    Resetting the peaks is process-wide; `peak_allocated_bytes_overall` keeps what a reader of
    `torch.cuda.max_memory_allocated()` would otherwise have seen.

    Args:
        accelerator: whose allocator it is.
        cumulative: leave the peaks alone.
        messages: where to say that an allocator's numbers cannot be true.
    """

    columns = (PEAK_ALLOCATED_BYTES, PEAK_RESERVED_BYTES, NUM_ALLOC_RETRIES, NUM_OOMS)
    interval_s = 0.0

    def __init__(self, accelerator: Accelerator, cumulative: bool, messages: Messages) -> None:
        self.mode = "cumulative" if cumulative else "per_step"
        self.note: str | None = None
        self.peak_allocated_bytes_overall = 0.0
        self._read_stats = accelerator.module.memory_stats_as_nested_dict
        self._reset_peaks = accelerator.module.reset_peak_memory_stats
        self._index = accelerator.index
        self._messages = messages
        self._num_retries, self._num_ooms = 0.0, 0.0
        self._baseline()

    def read(self) -> tuple[float, ...]:
        """Returns peak allocated bytes, peak reserved bytes, and retries and OOMs since the last reading."""
        stats = self._read_stats(self._index)
        if not stats:
            return (float("nan"),) * len(self.columns)
        allocated, reserved = stats["allocated_bytes"]["all"], stats["reserved_bytes"]["all"]
        peak, num_retries, num_ooms = float(allocated["peak"]), stats["num_alloc_retries"], stats["num_ooms"]
        new_retries, new_ooms = num_retries - self._num_retries, num_ooms - self._num_ooms
        self._num_retries, self._num_ooms = num_retries, num_ooms
        self.peak_allocated_bytes_overall = max(self.peak_allocated_bytes_overall, peak)
        if peak < allocated["current"]:
            self.note = "the allocator reported a peak below what was allocated; such values are left out"
            self._messages.warn_once(
                "peak", f"peak of {peak:.0f} bytes below the {allocated['current']} allocated: not measured"
            )
            peak = float("nan")
        if self.mode == "per_step":
            self._reset_peaks(self._index)
        return peak, float(reserved["peak"]), float(new_retries), float(new_ooms)

    def close(self) -> None:
        """Holds nothing."""

    def _baseline(self) -> None:
        """Begins new peaks, unless the allocator loses what is alive when they are reset: then they stay cumulative."""
        stats = self._read_stats(self._index)
        if not stats:
            return
        self._num_retries, self._num_ooms = stats["num_alloc_retries"], stats["num_ooms"]
        self.peak_allocated_bytes_overall = float(stats["allocated_bytes"]["all"]["peak"])
        if self.mode == "per_step":
            self._reset_peaks(self._index)
            before, after = (
                each["allocated_bytes"]["all"]["current"] for each in (stats, self._read_stats(self._index))
            )
            if after < before // 2:
                self.mode = "cumulative"
                self.note = "resetting this allocator's peak also loses what is allocated, so peaks are cumulative"
                self._messages.warn_once(
                    "peak", f"resetting the peak changed the allocated bytes from {before} to {after}: {self.note}"
                )


def find_memory_probe(
    mode: str, accelerator: Accelerator | None, messages: Messages
) -> tuple[MemoryProbe | None, str | None]:
    """Returns the probe for the loop's memory, or None and the reason.

    Args:
        mode: `per_step`, `cumulative` or `off`.
        accelerator: the device, None for the host.
        messages: where to say that numbers cannot be true.
    """
    if mode == "off":
        return None, None
    cumulative = mode == "cumulative"
    if accelerator is not None:
        needed = ("memory_stats_as_nested_dict", "reset_peak_memory_stats")
        if not all(hasattr(accelerator.module, name) for name in needed):
            return None, f"torch.{accelerator.kind} does not report peaks of its allocator"
        return DeviceMemory(accelerator, cumulative, messages), None
    try:
        return ResidentMemory(cumulative), None
    except (OSError, ValueError, AttributeError) as error:
        return None, f"this kernel does not report or reset the peak resident memory: {error}"
