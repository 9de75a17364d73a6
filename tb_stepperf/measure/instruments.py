"""What measures a step besides the host's clock: the device that is waited for, its events, memory peaks."""

from __future__ import annotations

import sys
from typing import Any

from tb_stepperf.errors import ConfigError
from tb_stepperf.recorder.device import Accelerator, DeviceTimer, TorchDeviceClock, find_accelerator
from tb_stepperf.recorder.environment import Environment, torch_facts
from tb_stepperf.recorder.memory import MemoryProbe, find_memory_probe
from tb_stepperf.recorder.messages import Messages
from tb_stepperf.recorder.ranks import find_rank


class Instruments:
    """Found once: before the first step, or after it, where only then the process uses an accelerator.

    Args:
        device: a torch device, `cpu`, or None for the accelerator in use.
        warmup: number of warm-up steps, for the record.
        messages: where to say what cannot be used.

    Attributes:
        accelerator: what is waited for; None where there is none in use.
        probe: knows the memory peaks; None where they cannot be read.
        timer: times stages on the device; None without a device that has events.
        peak_note: why peaks are missing or not what they seem; None where there is nothing to say.
        is_distributed: whether there are several processes, whose steps may wait for each other.
        searches: whether the accelerator in use is looked for, since none was asked for.
        environment: the conditions, the same fields as a `StepPerfWriter` records.

    Raises:
        ConfigError: the device was asked for by name and cannot be used.
    """

    def __init__(self, device: Any, warmup: int, messages: Messages) -> None:
        place = find_rank(None, None)
        self.searches = device is None
        self.is_distributed = place.world_size > 1
        self._messages = messages
        self.peak_note: str | None = None
        self._is_found = False
        self.accelerator: Accelerator | None = None
        self.probe: MemoryProbe | None = None
        self.timer: DeviceTimer | None = None
        conditions = {
            "rank": place.rank,
            "world_size": place.world_size,
            "peak_memory": "off",
            "warmup_steps": warmup,
        }
        self.environment = Environment(messages, conditions, None)
        accelerator = self.in_use() if self.searches else _requested_accelerator(str(device), messages)
        try:
            self._use(accelerator)
        except Exception as error:  # whatever torch or a driver raises for a device that is not there
            raise ConfigError(
                f"device is {device!r}, which cannot be used: {type(error).__name__}: {error}; 'cpu' waits for none"
            ) from error

    def in_use(self) -> Accelerator | None:
        """Returns the accelerator that the process uses now, None without one."""
        return find_accelerator(None, self._messages) or _mps()

    def settle(self) -> None:
        """Ends the search: finds out what memory peaks there are and records the conditions. Once is enough."""
        if self._is_found:
            return
        self._is_found = True
        if self.accelerator is None and self.searches:
            self._use(self.in_use())
        try:
            self.probe, self.peak_note = find_memory_probe("per_step", self.accelerator, self._messages)
        except Exception as error:  # a driver or a torch that is not as expected
            self.peak_note = f"peaks cannot be read: {type(error).__name__}: {error}"
        if self.probe is not None:
            self.peak_note = self.probe.note
        self.environment.set(self.facts(), 0)

    def facts(self) -> dict[str, Any]:
        """Returns the conditions that hold for the steps, apart from those of the host."""
        return {
            **torch_facts(self.accelerator, self._messages),
            "peak_memory": "off" if self.probe is None else self.probe.mode,
            "peak_memory_note": self.peak_note,
            "clock": "host" if self.timer is None else "device",
        }

    def synchronise(self) -> None:
        """Waits until the accelerator has done all that it was given; does nothing without one."""
        if self.accelerator is not None:
            if self.accelerator.index is None:
                self.accelerator.module.synchronize()
            else:
                self.accelerator.module.synchronize(self.accelerator.index)

    @property
    def synchronised(self) -> str:
        """What was waited for, in words."""
        if self.accelerator is None:
            return "nothing: no accelerator in use"
        return f"{self.name} before and after each step"

    @property
    def name(self) -> str:
        """Name of the accelerator, or `cpu`."""
        if self.accelerator is None:
            return "cpu"
        index = self.accelerator.index
        return self.accelerator.kind if index is None else f"{self.accelerator.kind}:{index}"

    def read_peaks(self) -> dict[str, float]:
        """Returns the memory peaks since the last call by column, and begins new ones; empty without a probe."""
        if self.probe is None:
            return {}
        try:
            return dict(zip(self.probe.columns, self.probe.read()))
        except Exception as error:  # a driver that fails must not cost what was measured
            self.peak_note = f"peaks could not be read to the end: {type(error).__name__}: {error}"
            self.close()
            return {}

    def close(self) -> None:
        """Gives back what is held."""
        probe, self.probe = self.probe, None
        if probe is not None:
            probe.close()

    def _use(self, accelerator: Accelerator | None) -> None:
        self.accelerator = accelerator
        if accelerator is not None and hasattr(accelerator.module, "current_stream"):
            self.timer = DeviceTimer(TorchDeviceClock(accelerator))


def _requested_accelerator(requested: str, messages: Messages) -> Accelerator | None:
    """Returns the accelerator that was asked for, None for `cpu`.

    Raises:
        ConfigError: it cannot be used here.
    """
    kind = requested.partition(":")[0]
    if kind == "cpu":
        return None
    try:
        import torch  # noqa: F401  # found in sys.modules by the functions below
    except ImportError as error:
        raise ConfigError(
            f"device is {requested!r}, and torch cannot be imported: {error}; leave device out"
        ) from error
    found = _mps() if kind == "mps" else find_accelerator(requested, messages)
    if found is None:
        raise ConfigError(
            f"device is {requested!r}, which cannot be used here; a device that torch can use is allowed, such as "
            "'cuda:0' or 'cpu', or None for the one in use"
        )
    return found


def _mps() -> Accelerator | None:
    """Returns Apple's accelerator, which has no streams but can be waited for; None where it is not there."""
    torch = sys.modules.get("torch")
    mps = getattr(getattr(torch, "backends", None), "mps", None)
    return Accelerator("mps", torch.mps) if torch is not None and mps is not None and mps.is_available() else None
