"""What a loop says besides its steps: samples measured elsewhere, planned changes, conditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tb_stepperf.recorder.environment import Environment
from tb_stepperf.recorder.logged import LoggedSteps
from tb_stepperf.recorder.loop import LoopState


class Statements:
    """The part of `StepPerfWriter` that takes statements."""

    __slots__ = ()

    _environment: Environment
    _logged: LoggedSteps
    _loop: LoopState

    def log_step(
        self,
        *,
        step_time_ms: float,
        step: int | None = None,
        stages: Mapping[str, float] | None = None,
        device_step_time_ms: float | None = None,
        num_samples: float | None = None,
        num_tokens: float | None = None,
        num_micro_steps: float | None = None,
        peak_allocated_bytes: float | None = None,
        peak_reserved_bytes: float | None = None,
        peak_resident_bytes: float | None = None,
        bucket: int | str | None = None,
        wall_time_s: float | None = None,
    ) -> None:
        """Records a step that was measured elsewhere; it carries the flag `logged`.

        Args:
            step_time_ms: its duration.
            step: its number, by default one more than the last. One that does not ascend begins a new attempt, unless
                the whole sample repeats the one before: then it is counted and dropped.
            stages: stage name to exclusive milliseconds.
            device_step_time_ms: its duration on the device.
            num_samples: samples that this rank processed in the step.
            num_tokens: tokens that this rank processed in the step.
            num_micro_steps: forward/backward passes of the step.
            peak_allocated_bytes: peak of device memory held by tensors.
            peak_reserved_bytes: peak of device memory held by the allocator.
            peak_resident_bytes: peak resident memory of the process.
            bucket: kind of the step, as in `step`.
            wall_time_s: seconds since the epoch at its end, by default now.
        """
        values = {
            "step_time_ms": step_time_ms,
            "device_step_time_ms": device_step_time_ms,
            "num_samples": num_samples,
            "num_tokens": num_tokens,
            "num_micro_steps": num_micro_steps,
            "peak_allocated_bytes": peak_allocated_bytes,
            "peak_reserved_bytes": peak_reserved_bytes,
            "peak_resident_bytes": peak_resident_bytes,
        }
        with self._loop.lock:
            if self._loop.begin():
                self._logged.log(step, wall_time_s, values, stages, bucket)

    def expect_change(self, text: str) -> None:
        """Announces that the next step begins something planned: a change there is then shown as planned.

        Args:
            text: what changes, such as `batch size 64 → 128`; 200 characters are kept.
        """
        loop = self._loop
        with loop.lock:
            if not loop.ended:
                loop.announcements.announce(text, loop.next_step)

    def update_environment(self, **fields: Any) -> None:
        """Adds to the environment record what holds from the next step on.

        `seed`, `compile`, `autocast`, `deterministic`, `driver` and `launcher` take the place of what was found; any
        other name stands under `user`.
        """
        if not self._loop.ended:
            self._environment.update(fields, self._loop.next_step)
