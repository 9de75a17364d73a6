"""What is taken of a trace's metadata. Everything else in it (environments, host names, paths) is never kept."""

from __future__ import annotations

from typing import Any

from tb_stepperf.traces.events import Device, Track

DEVICES = "deviceProperties"
DISTRIBUTED = "distributedInfo"
OURS = "stepperf"
PROFILER = ("record_shapes", "profile_memory", "with_stack")
WANTED = frozenset((DEVICES, DISTRIBUTED, OURS, *PROFILER))


class Metadata:
    """The values that count, as they come; those that are not what they should be are taken as missing."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def add(self, key: str, value: Any) -> None:
        """Takes one value; `key` is one of `WANTED`."""
        self._values[key] = value

    def fields(self, tracks: tuple[Track, ...]) -> dict[str, Any]:
        """Returns the arguments of `TraceEvents` that come from metadata.

        Args:
            tracks: those of the trace; they may lie on devices that the metadata does not describe.
        """
        distributed, ours = self._object(DISTRIBUTED), self._object(OURS)
        backend = distributed.get("backend")
        return {
            "devices": self._devices(tracks),
            "rank": _first_int(distributed.get("rank"), ours.get("rank")),
            "world_size": _first_int(distributed.get("world_size"), ours.get("world_size")),
            "backend": backend[:40] if isinstance(backend, str) else None,
            "step_offset": _first_int(ours.get("step_offset")),
            "profiler": {key: bool(self._values[key]) for key in PROFILER if key in self._values},
        }

    def _object(self, key: str) -> dict[str, Any]:
        value = self._values.get(key)
        return value if isinstance(value, dict) else {}

    def _devices(self, tracks: tuple[Track, ...]) -> tuple[Device, ...]:
        found = {track.device: Device(track.device, None, None) for track in tracks if track.device is not None}
        described = self._values.get(DEVICES)
        for entry in described if isinstance(described, list) else ():
            number = _first_int(entry.get("id")) if isinstance(entry, dict) else None
            if number is not None:
                name = entry.get("name")
                found[number] = Device(
                    number, name[:100] if isinstance(name, str) else None, _first_int(entry.get("totalGlobalMem"))
                )
        return tuple(found[number] for number in sorted(found))


def _first_int(*values: Any) -> int | None:
    """Returns the first that is an integer (written as text or not) from −2⁶³ to 2⁶³ − 1."""
    for value in values:
        if isinstance(value, str) and value.strip().isdecimal() and len(value) < 20:
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and -(1 << 63) <= value < 1 << 63:
            return value
    return None
