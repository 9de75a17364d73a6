"""A few steps under `torch.profiler`: what they took, and which operators that time went to."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tb_stepperf.errors import MeasureError
from tb_stepperf.measure.evidence import Operator
from tb_stepperf.measure.instruments import Instruments
from tb_stepperf.measure.stages import StageLabels
from tb_stepperf.measure.steps import Step
from tb_stepperf.recorder.capture.others import noticing, profiler_in_the_way

MAX_OPERATORS = 20
"""Operators that an evidence holds, the hottest first."""


@dataclasses.dataclass
class Profiled:
    """What came of the profiled steps.

    Attributes:
        steps: those that were recorded.
        operators: the hottest first; empty where the profiler failed.
        problem: why there is nothing, a sentence; None where all went well.
    """

    steps: list[Step] = dataclasses.field(default_factory=list)
    operators: tuple[Operator, ...] = ()
    problem: str | None = None


def profile_steps(
    run: Callable[[str], Step],
    num_steps: int,
    labels: StageLabels,
    instruments: Instruments,
    make_profile: Callable[..., Any] | None,
    runs_profiler: bool,
) -> Profiled:
    """Runs one step to warm the profiler up and `num_steps` that it records; it is stopped in any case.

    Args:
        run: runs a step of that name.
        num_steps: at least 1.
        labels: their stages become annotations of the trace.
        instruments: say whether there is a device to be traced.
        make_profile: takes the place of `torch.profiler.profile`.
        runs_profiler: whether a step is known to begin a profiler of its own.

    Raises:
        MeasureError: the step function raised. What the profiler raises is a problem in the result.
    """
    profiled = Profiled()
    if "torch" not in sys.modules:
        profiled.problem = "not profiled: the step function has not imported torch"
        return profiled
    recorded = [f"profiled step {number} of {num_steps}" for number in range(1, num_steps + 1)]
    names = iter(["the profiler's warm-up step", *recorded])
    try:
        own = "a step begins a profiler of its own" if runs_profiler else None
        in_the_way = own or profiler_in_the_way(None, num_steps + 1)
        if in_the_way is None:
            _record(profiled, run, names, num_steps, labels, instruments, make_profile)
        else:
            profiled.problem = f"not profiled: {in_the_way}, and two at a time are not possible"
    except MeasureError:
        raise
    except Exception as error:  # whatever torch, its tracing libraries or a driver raise
        profiled.problem = f"the profiler failed: {type(error).__name__}: {error}"
        profiled.steps.clear()
    if instruments.is_distributed:
        for name in names:  # the steps of other ranks may wait for these
            run(name)
    return profiled


def _record(
    profiled: Profiled,
    run: Callable[[str], Step],
    names: Iterator[str],
    num_steps: int,
    labels: StageLabels,
    instruments: Instruments,
    make_profile: Callable[..., Any] | None,
) -> None:
    import torch

    labels.mirrors += (torch.profiler.record_function,)
    averages: list[Any] = []
    failure: MeasureError | None = None
    try:
        with (make_profile or torch.profiler.profile)(
            activities=[torch.profiler.ProfilerActivity.CPU] if instruments.accelerator is None else None,
            schedule=torch.profiler.schedule(wait=0, warmup=1, active=num_steps, repeat=1),
            on_trace_ready=lambda profile: averages.extend(profile.key_averages()),
        ) as profile:
            try:
                for name in names:
                    # the profile of a writer gives way by itself
                    with noticing(_refuse) if make_profile is None else contextlib.nullcontext():
                        profiled.steps.append(run(name))
                    profile.step()
                del profiled.steps[0]  # the warm-up
            except MeasureError as error:
                failure = error
    except Exception:
        if failure is None:
            raise
    if failure is not None:
        raise failure  # also where the profiler could not be stopped after it
    profiled.operators = _operators(averages, profiled.steps, torch.autograd.DeviceType.CPU)
    if not averages:
        profiled.problem = "the profiler recorded nothing; the log (logger tb_stepperf) may say why"
        profiled.steps.clear()  # so they tell nothing of its cost


def _refuse() -> None:
    """Stops a profiler of the step's own before it begins: the two together would end the process.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError("a profiler began in a step that measure_step profiles; profile_steps=0 leaves it alone")


def _operators(averages: Iterable[Any], steps: list[Step], host: Any) -> tuple[Operator, ...]:
    """Returns the hottest operators: by device time where there is any, else by host time.

    Annotations (stages, the optimizer's, the profiler's steps) are no operators. Entries of the device itself are
    left out, since their time stands at the operators that started them, too.
    """
    found = [one for one in averages if one.device_type == host and not getattr(one, "is_user_annotation", False)]
    found = [one for one in found if not one.key.startswith("ProfilerStep")]
    step_ms = sum(step.time_ms for step in steps)
    on_device = any(one.self_device_time_total > 0 for one in found)

    def hot_us(one: Any) -> float:
        return float(one.self_device_time_total if on_device else one.self_cpu_time_total)

    hottest = sorted(found, key=lambda one: (-hot_us(one), one.key))[:MAX_OPERATORS]
    return tuple(
        Operator(
            name=one.key,
            calls_per_step=one.count / len(steps),
            self_host_ms_per_step=one.self_cpu_time_total / 1e3 / len(steps),
            self_device_ms_per_step=one.self_device_time_total / 1e3 / len(steps) if on_device else None,
            share=hot_us(one) / 1e3 / step_ms if step_ms else None,
        )
        for one in hottest
    )
