"""Memory over the window, one curve a device."""

from __future__ import annotations

import numpy as np

from tb_stepperf.traces.events import ABSENT, Category, Device, MemoryEvents, TraceEvents
from tb_stepperf.traces.summary import MemoryCurve

MAX_POINTS = 1000
"""Of a curve; each is the largest value of its stretch of allocations and frees."""

_KIND_BY_CALL = (("cuda", "cuda"), ("hip", "cuda"), ("cu", "cuda"), ("ur", "xpu"), ("ze", "xpu"), ("aclrt", "npu"))


def memory_curves(events: TraceEvents) -> tuple[MemoryCurve, ...]:
    """Returns the curves, devices first; none where the trace records no memory."""
    if events.memory is None:
        return ()
    known = {device.number: device for device in events.devices}
    kind = device_kind(events)
    numbers = np.unique(events.memory.device)
    return tuple(
        _curve(events.memory, number, _device_name(number, kind), known.get(number))
        for number in sorted(numbers.tolist(), key=lambda n: (n == ABSENT, n))
    )


def device_kind(events: TraceEvents) -> str | None:
    """Returns how PyTorch calls the devices (`cuda` for AMD's too), told by the calls of their runtime, or None."""
    used = np.unique(events.name[events.category == Category.RUNTIME])
    for prefix, kind in _KIND_BY_CALL:
        if any(events.names[name].startswith(prefix) for name in used):
            return kind
    return None


def _device_name(number: int, kind: str | None) -> str:
    if number == ABSENT:
        return "cpu"
    return f"device {number}" if kind is None else f"{kind}:{number}"


def _curve(memory: MemoryEvents, number: int, name: str, device: Device | None) -> MemoryCurve:
    here = memory.device == number
    at_ns, allocated = memory.at_ns[here], memory.allocated_bytes[here]
    reserved = memory.reserved_bytes[here]
    is_relative = bool(np.any(allocated == ABSENT))
    if is_relative:
        allocated = np.cumsum(memory.change_bytes[here])
    peak = int(np.argmax(allocated))
    starts = np.unique(np.linspace(0, at_ns.size, MAX_POINTS, endpoint=False).astype(np.int64))
    points = [begin + int(np.argmax(allocated[begin:end])) for begin, end in zip(starts, [*starts[1:], at_ns.size])]
    return MemoryCurve(
        device=name,
        total_bytes=None if device is None else device.total_bytes,
        peak_allocated_bytes=int(allocated[peak]),
        peak_reserved_bytes=int(reserved.max()) if np.any(reserved != ABSENT) else None,
        peak_at_ms=float(at_ns[peak] / 1e6),
        at_ms=tuple((at_ns[points] / 1e6).tolist()),
        allocated_bytes=tuple(allocated[points].tolist()),
        is_relative=is_relative,
    )
