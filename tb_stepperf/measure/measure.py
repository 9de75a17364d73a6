"""`measure_step`: one call for a first answer."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from tb_stepperf.measure import figures, notes, profiling
from tb_stepperf.measure.evidence import StepEvidence, Trace
from tb_stepperf.measure.instruments import Instruments
from tb_stepperf.measure.log import RunLog
from tb_stepperf.measure.options import check_options, takes_perf
from tb_stepperf.measure.steps import Step, StepRunner
from tb_stepperf.recorder.capture.others import noticing
from tb_stepperf.recorder.environment import Environment
from tb_stepperf.recorder.messages import Messages

_NUM_READINGS = 100


def measure_step(
    step_fn: Callable[..., Any],
    *,
    warmup: int = 3,
    repeats: int = 30,
    profile_steps: int = 3,
    num_samples: float | None = None,
    num_tokens: float | None = None,
    logdir: str | os.PathLike[str] | None = None,
    device: Any = None,
    clock: Callable[[], float] = time.perf_counter,
    wall_clock: Callable[[], float] = time.time,
) -> StepEvidence:
    """Measures a step function: how long it takes, where in it the time goes, and how far that can be relied on.

    ::

        def step(perf):
            with perf.stage("forward"):
                loss = model(batch)
            with perf.stage("backward"):
                loss.backward()

        print(measure_step(step, num_samples=64))

    It is run `warmup` times, then `repeats` times without a profiler, which give all figures, then once to warm
    `torch.profiler` up and `profile_steps` times under it, which give operators and the trace. An accelerator is
    waited for before and after each step. Reading memory peaks begins new ones, process-wide.

    A function with one argument (one without a default, or one called `perf`) is given an object whose
    `stage(name)` labels what happens inside its `with`; stages are exclusive.

    Args:
        step_fn: runs one step; what it returns is dropped.
        warmup: steps before the measured ones; at least 1 with a logdir.
        repeats: measured steps, at least 1; from 20 on the p95 is not just the longest.
        profile_steps: steps under the profiler; 0 for none. Without an imported torch there are none, either.
        num_samples: samples that a step processes, for the throughput.
        num_tokens: tokens that a step processes.
        logdir: directory of a run, such as `runs/first`: it gets the same samples, and the trace, for the tab.
        device: the torch device to wait for, such as `cuda:1`; by default the accelerator that the process uses. `cpu`
            waits for none.
        clock: monotonic seconds.
        wall_clock: seconds since the epoch.

    Raises:
        ConfigError: an argument cannot be used.
        MeasureError: the step function raised, or returned a coroutine or a generator. A profiler that fails does not
            raise: the notes say so.
    """
    check_options(warmup, repeats, profile_steps, num_samples, num_tokens, logdir)
    wants_perf = takes_perf(step_fn)
    instruments = Instruments(device, warmup, Messages())
    with contextlib.ExitStack() as stack:
        stack.callback(instruments.close)
        runner = StepRunner(step_fn, wants_perf, instruments, clock, wall_clock)
        log = None
        if logdir is not None:
            amounts = {"num_samples": num_samples, "num_tokens": num_tokens}
            log = RunLog(logdir, warmup, amounts, instruments, clock, wall_clock)
            stack.enter_context(log.writer)
        measurement = _Measurement(runner, instruments, log)
        warmed = measurement.warm_up(warmup)
        resolution_ms = _resolution_ms(clock)
        profiler_recorded = _profiler_records()
        measured = measurement.measure(repeats)
        profiled, trace = measurement.profile(profile_steps)

        times_ms = [step.time_ms for step in measured]
        median_ms, p95_ms = figures.quantiles_ms(times_ms, [50, 95])
        profiled_ms = [step.time_ms for step in profiled.steps]
        ratio = figures.profiled_ratio(profiled_ms, median_ms)
        stages = figures.stages(measured)
        environment = instruments.environment.next_record() or {}
        said = [
            *(["a profiler was recording while the steps were measured: they are slower for it"] * profiler_recorded),
            *notes.of_samples(times_ms, warmup, resolution_ms),
            *notes.of_stages(measured, stages),
            *notes.of_conditions(instruments),
            *notes.of_profile(ratio),
            *([] if profiled.problem is None else [profiled.problem]),
        ]
        return StepEvidence(
            step_times_ms=tuple(times_ms),
            median_ms=median_ms,
            p95_ms=p95_ms,
            min_ms=min(times_ms),
            max_ms=max(times_ms),
            warmup_times_ms=tuple(step.time_ms for step in warmed),
            profiled_times_ms=tuple(profiled_ms),
            profiled_ratio=ratio,
            throughput=figures.throughput(measured, num_samples, num_tokens),
            stages=stages,
            hot_stage=figures.hot_stage(stages, repeats),
            operators=profiled.operators,
            hot_operator=figures.hot_operator(profiled.operators, len(profiled_ms)),
            memory=figures.memory(measured),
            clock="host" if instruments.timer is None else "host and device",
            clock_resolution_ms=resolution_ms,
            synchronised=instruments.synchronised,
            environment={name: value for name, value in environment.items() if name != "step"},
            trace=trace,
            logdir=None if log is None else log.logdir,
            notes=tuple(said),
        )


class _Measurement:
    """The three phases, in their order."""

    def __init__(self, runner: StepRunner, instruments: Instruments, log: RunLog | None) -> None:
        self._runner = runner
        self._instruments = instruments
        self._log = log
        self._mirrors = () if log is None else (log.writer.stage,)
        self._runs_profiler = False

    def _run(self, name: str) -> Step:
        """Runs a step that the writer measures as well, where there is one."""
        return self._runner.run(name, None if self._log is None else self._log.step())

    def warm_up(self, num_steps: int) -> list[Step]:
        """Runs the warm-up steps; the device and the conditions are known once the first has run."""
        labels, steps = self._runner.labels, []
        labels.mirrors = (*self._mirrors, lambda name: _see_autocast(self._instruments.environment))
        with noticing(self._see_profiler):
            for number in range(1, num_steps + 1):
                steps.append(self._run(f"warm-up step {number} of {num_steps}"))
                self._instruments.settle()
                labels.timer = self._instruments.timer
        self._instruments.settle()
        labels.timer = self._instruments.timer
        if self._log is not None:
            self._log.flush()
        return steps

    def measure(self, num_steps: int) -> list[Step]:
        """Runs the measured steps, with nothing else under way."""
        self._runner.labels.mirrors = ()
        self._instruments.read_peaks()
        names = [f"measured step {number} of {num_steps}" for number in range(1, num_steps + 1)]
        with noticing(self._see_profiler):
            steps = [self._runner.run(name) for name in names]
        if self._log is not None:
            self._log.add(steps)
            self._log.flush()
        return steps

    def _see_profiler(self) -> None:
        self._runs_profiler = True

    def profile(self, num_steps: int) -> tuple[profiling.Profiled, Trace | None]:
        """Runs the profiled steps; returns the trace that they left in the run as well."""
        if not num_steps:
            return profiling.Profiled(), None
        log, labels = self._log, self._runner.labels
        labels.mirrors = self._mirrors
        make_profile = None if log is None else log.writer.profile
        options = (num_steps, labels, self._instruments, make_profile, self._runs_profiler)
        if log is None:
            return profiling.profile_steps(self._run, *options), None
        known = log.trace_files()
        log.go_on()
        profiled = profiling.profile_steps(self._run, *options)
        log.flush()
        trace = None
        try:
            trace = log.find_trace(known)
        except (OSError, EOFError) as error:
            profiled.problem = f"the trace cannot be read back: {error}"
        if trace is None and profiled.problem is None:
            profiled.problem = (
                f"no trace file is to be seen in {log.logdir}: the log (logger tb_stepperf) may say why; only local "
                "directories are looked into"
            )
        return profiled, trace


@contextlib.contextmanager
def _see_autocast(environment: Environment) -> Iterator[None]:
    environment.see_autocast(0)
    yield
    environment.see_autocast(0)


def _resolution_ms(clock: Callable[[], float]) -> float | None:
    """Returns the smallest difference of successive readings that is not 0, None where the clock stands still."""
    readings_s = [clock() for _ in range(_NUM_READINGS)]
    differences_s = [end - start for start, end in itertools.pairwise(readings_s) if end > start]
    return min(differences_s) * 1e3 if differences_s else None


def _profiler_records() -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.autograd.profiler._is_profiler_enabled)
