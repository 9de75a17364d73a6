"""Leaves what is measured in a run for the tab, through an ordinary `StepPerfWriter`."""

from __future__ import annotations

import contextlib
import glob
import gzip
import os
from collections.abc import Callable, Iterator, Sequence

from tb_stepperf.measure.evidence import Trace
from tb_stepperf.measure.instruments import Instruments
from tb_stepperf.measure.steps import Step
from tb_stepperf.recorder import StepPerfWriter
from tb_stepperf.recorder.environment import Environment
from tb_stepperf.recorder.hardware import Hardware
from tb_stepperf.recorder.loop import LoopState
from tb_stepperf.recorder.messages import Messages

_FLUSH_INTERVAL_S = 86_400.0  # its thread sleeps while steps are measured: flushed between the phases
_CHUNK_BYTES = 1 << 20
_KEY = b'"ph":'


class RunLog:
    """Warm-up and profiled steps are measured by the writer itself, so that they carry their flags; the measured ones
    are handed over with `log_step`, so that the very same samples stand in the run.

    Args:
        logdir: directory of the run.
        warmup: number of warm-up steps.
        amounts: `num_samples` and `num_tokens` of each step.
        instruments: their conditions are recorded; the writer looks for no device of its own.
        clock: monotonic seconds.
        wall_clock: seconds since the epoch.

    Raises:
        ConfigError: the directory is none that a `StepPerfWriter` takes.
    """

    def __init__(
        self,
        logdir: str | os.PathLike[str],
        warmup: int,
        amounts: dict[str, float | None],
        instruments: Instruments,
        clock: Callable[[], float],
        wall_clock: Callable[[], float],
    ) -> None:
        self._clock = _InterruptedClock(clock)
        self._amounts = amounts
        self._goes_on = False
        self.writer = StepPerfWriter(
            logdir,
            warmup_steps=warmup,
            flush_interval_s=_FLUSH_INTERVAL_S,
            detect_changes=False,
            clock=self._clock,
            wall_clock=wall_clock,
            hardware=_Conditions(instruments),
        )

    @property
    def logdir(self) -> str:
        """The directory that is written to."""
        return self.writer.logdir

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Around a step that the writer measures."""
        self._clock.go_on()
        yield
        if not self._goes_on:
            self._clock.stop()
        self.writer.step(**self._amounts)

    def go_on(self) -> None:
        """Has the writer's clock go on between steps, too: what a profiler does there is its cost."""
        self._goes_on = True
        self._clock.go_on()

    def flush(self) -> None:
        """Writes what is there."""
        self.writer.flush()

    def add(self, steps: Sequence[Step]) -> None:
        """Adds steps that were measured here."""
        for step in steps:
            self.writer.log_step(
                step_time_ms=step.time_ms,
                stages=step.stages.host_ms,
                device_step_time_ms=step.stages.device_step_ms,
                wall_time_s=step.wall_time_s,
                **{name: value for name, value in step.peaks.items() if name.startswith("peak_")},
                **self._amounts,
            )

    def find_trace(self, known: set[str]) -> Trace | None:
        """Returns the trace file that was left besides `known` ones, None where there is none to be seen."""
        new = sorted(self.trace_files() - known)
        return Trace(new[-1], count_events(new[-1])) if new else None

    def trace_files(self) -> set[str]:
        """Returns the paths of this process's trace files in the directory, if it is one of this machine."""
        return set(glob.glob(os.path.join(glob.escape(self.logdir), f"*_{os.getpid()}.*.pt.trace.json.gz")))


class _InterruptedClock:
    """Stands still between the steps that the writer measures: what happens there is part of none."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._behind_s = 0.0
        self._stopped_s: float | None = clock()

    def __call__(self) -> float:
        stopped_s = self._stopped_s  # once: the writer's thread asks, too
        return self._clock() - self._behind_s if stopped_s is None else stopped_s

    def stop(self) -> None:
        self._stopped_s = self()

    def go_on(self) -> None:
        self._behind_s = self._clock() - self()
        self._stopped_s = None


class _Conditions(Hardware):
    """Records the conditions that the measurement found, and measures nothing."""

    def __init__(self, instruments: Instruments) -> None:
        super().__init__("cpu", "off", Messages())
        self._instruments = instruments

    def attach(self, loop: LoopState, environment: Environment) -> None:
        """Records the conditions."""
        self._instruments.settle()
        environment.set(self._instruments.facts(), loop.next_step)


def count_events(path: str) -> int:
    """Returns the number of entries in `traceEvents` of a compressed trace file.

    Each has one member `ph`. Inside texts its quotes would be escaped, so its bytes can be counted as they stand,
    in little memory whatever the size of the file.
    """
    num_events, kept = 0, b""
    with gzip.open(path) as file:
        while chunk := file.read(_CHUNK_BYTES):
            text = kept + chunk
            num_events += text.count(_KEY)
            kept = text[-(len(_KEY) - 1) :]
    return num_events
