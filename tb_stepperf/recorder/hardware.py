"""What is measured besides the host's clock, found at the end of the first step, when the loop has shown its device."""

from __future__ import annotations

from tb_stepperf.recorder.device import Accelerator, DeviceTimer, TorchDeviceClock, find_accelerator
from tb_stepperf.recorder.environment import Environment, torch_facts
from tb_stepperf.recorder.loop import LoopState
from tb_stepperf.recorder.memory import MemoryProbe, find_memory_probe
from tb_stepperf.recorder.messages import Messages


class Hardware:
    """Finds the device clock and the memory probe; tests put in their own.

    Args:
        device: a torch device, `cpu`, or None for the accelerator in use.
        peak_memory: `per_step`, `cumulative` or `off`.
        messages: where to say what cannot be used.
    """

    def __init__(self, device: str | None, peak_memory: str, messages: Messages) -> None:
        self._device = device
        self._peak_memory = peak_memory
        self._messages = messages
        self._probe: MemoryProbe | None = None

    def attach(self, loop: LoopState, environment: Environment) -> None:
        """Begins to use what there is, and records it. Called in the loop's thread, after its first step."""
        step = loop.next_step
        try:
            accelerator = self.find()
            environment.set(torch_facts(accelerator, self._messages), step)
            self._probe, note = self.memory_probe(accelerator)
            timer = self.device_timer(accelerator)
        except Exception as error:  # a driver or a torch that is not as expected
            self._messages.warn_once("hardware", f"device and memory are not measured: {type(error).__name__}: {error}")
            environment.set({"peak_memory": "off", "peak_memory_note": str(error)}, step)
            return
        if self._probe is not None:
            loop.use_memory(self._probe)
            environment.set({"peak_memory": self._probe.mode, "peak_memory_note": self._probe.note}, step)
        else:
            environment.set({"peak_memory": "off", "peak_memory_note": note}, step)
        if timer is not None:
            loop.use_device(timer)
            environment.set({"clock": "device"}, step)

    def find(self) -> Accelerator | None:
        """Returns the accelerator, None for the host."""
        return find_accelerator(self._device, self._messages)

    def memory_probe(self, accelerator: Accelerator | None) -> tuple[MemoryProbe | None, str | None]:
        """Returns the memory probe, or None and the reason."""
        return find_memory_probe(self._peak_memory, accelerator, self._messages)

    def device_timer(self, accelerator: Accelerator | None) -> DeviceTimer | None:
        """Returns the timer of the accelerator, None for the host."""
        return None if accelerator is None else DeviceTimer(TorchDeviceClock(accelerator))

    @property
    def peak_allocated_bytes_overall(self) -> float:
        """Largest device memory held by tensors, in bytes, since the start; NaN where it is not measured."""
        return getattr(self._probe, "peak_allocated_bytes_overall", float("nan"))

    def close(self) -> None:
        """Gives back what the probe holds."""
        probe, self._probe = self._probe, None
        if probe is not None:
            probe.close()
