"""What is measured by `writer_cost.py`: ways to record a step of five stages, ours and those of peers.

Each subject gives a function that does all the recording of one step around a body that it is given: five calls for
the five stages, so that an empty body leaves only the recording. Peers that only take values get constants, which
favours them: their loop would still have to read a clock.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import pathlib
import time
from collections.abc import Callable, Sequence
from typing import Any

from tb_stepperf import StepPerfWriter

STAGES = ("data", "forward", "loss", "backward", "optimizer")
TAGS = tuple(f"time/{name}" for name in (*STAGES, "step", "memory"))

Body = Sequence[Callable[[], Any]]
RecordStep = Callable[[int, Body], None]


@dataclasses.dataclass
class Subject:
    """A way to record a step.

    Attributes:
        record: runs the five parts of a step and records it.
        flush: writes what is left; part of the process's time, not of the training thread's.
        close: ends it.
        logdir: where it writes, None where it writes nothing.
    """

    record: RecordStep
    flush: Callable[[], Any] = lambda: None
    close: Callable[[], Any] = lambda: None
    logdir: pathlib.Path | None = None


def nothing(logdir: pathlib.Path) -> Subject:
    """The bare loop."""

    def record(step: int, body: Body) -> None:
        for part in body:
            part()

    return Subject(record)


def floor(logdir: pathlib.Path) -> Subject:
    """Six chained clock readings and one append of their differences: the least that timing five stages can cost."""
    rows: list[tuple[float, ...]] = []
    clock = time.perf_counter

    def record(step: int, body: Body) -> None:
        one, two, three, four, five = body
        t0 = clock()
        one()
        t1 = clock()
        two()
        t2 = clock()
        three()
        t3 = clock()
        four()
        t4 = clock()
        five()
        t5 = clock()
        rows.append((t1 - t0, t2 - t1, t3 - t2, t4 - t3, t5 - t4))

    return Subject(record, rows.clear)


def _writer(logdir: pathlib.Path, **options: Any) -> StepPerfWriter:
    return StepPerfWriter(logdir, device="cpu", scalars=True, **options)


def _stages(perf: StepPerfWriter, logdir: pathlib.Path) -> Subject:
    def record(step: int, body: Body) -> None:
        one, two, three, four, five = body
        with perf.stage("data"):
            one()
        with perf.stage("forward"):
            two()
        with perf.stage("loss"):
            three()
        with perf.stage("backward"):
            four()
        with perf.stage("optimizer"):
            five()
        perf.step(num_samples=32)

    return Subject(record, perf.flush, perf.close, logdir)


def with_stages(logdir: pathlib.Path) -> Subject:
    """`stage()` five times and `step()`, without memory."""
    return _stages(_writer(logdir, peak_memory="off"), logdir)


def with_stages_and_memory(logdir: pathlib.Path) -> Subject:
    """`stage()` five times and `step()`, with peak resident memory."""
    return _stages(_writer(logdir), logdir)


def with_laps(logdir: pathlib.Path) -> Subject:
    """`lap()` five times and `step()`, without memory."""
    perf = _writer(logdir, peak_memory="off")

    def record(step: int, body: Body) -> None:
        one, two, three, four, five = body
        one()
        perf.lap("data")
        two()
        perf.lap("forward")
        three()
        perf.lap("loss")
        four()
        perf.lap("backward")
        five()
        perf.lap("optimizer")
        perf.step(num_samples=32)

    return Subject(record, perf.flush, perf.close, logdir)


def disabled(logdir: pathlib.Path) -> Subject:
    """`StepPerfWriter(enabled=False)`."""
    return _stages(StepPerfWriter(enabled=False), logdir)


def _scalars(add_scalar: Callable[..., Any]) -> RecordStep:
    def record(step: int, body: Body) -> None:
        for part in body:
            part()
        for tag in TAGS:
            add_scalar(tag, 0.5, step)

    return record


def summary_writer(logdir: pathlib.Path) -> Subject:
    """`torch.utils.tensorboard.SummaryWriter.add_scalar` seven times."""
    writer = importlib.import_module("torch.utils.tensorboard").SummaryWriter(str(logdir))
    return Subject(_scalars(writer.add_scalar), writer.flush, writer.close, logdir)


def tensorboardx(logdir: pathlib.Path) -> Subject:
    """`tensorboardX.SummaryWriter.add_scalar` seven times."""
    writer = importlib.import_module("tensorboardX").SummaryWriter(str(logdir))
    return Subject(_scalars(writer.add_scalar), writer.flush, writer.close, logdir)


def record_function(logdir: pathlib.Path) -> Subject:
    """`torch.profiler.record_function` five times, with no profiler on: nothing is kept."""
    label = importlib.import_module("torch.profiler").record_function

    def record(step: int, body: Body) -> None:
        for name, part in zip(STAGES, body):
            with label(name):
                part()

    return Subject(record)


def simple_profiler(logdir: pathlib.Path) -> Subject:
    """Lightning's `SimpleProfiler.profile` five times; it keeps every duration in memory."""
    profiler = importlib.import_module("pytorch_lightning.profilers").SimpleProfiler()

    def record(step: int, body: Body) -> None:
        for name, part in zip(STAGES, body):
            with profiler.profile(name):
                part()

    return Subject(record, profiler.recorded_durations.clear)


def wandb_offline(logdir: pathlib.Path) -> Subject:
    """`wandb` in offline mode, one `log` of seven values; its service process is not counted."""
    os.environ["WANDB_SILENT"] = "true"
    logdir.mkdir(parents=True, exist_ok=True)
    wandb = importlib.import_module("wandb")
    run = wandb.init(mode="offline", dir=str(logdir), project="writer-cost")

    def record(step: int, body: Body) -> None:
        for part in body:
            part()
        run.log(dict.fromkeys(TAGS, 0.5), step=step)

    return Subject(record, lambda: None, run.finish, logdir)


OURS: dict[str, Callable[[pathlib.Path], Subject]] = {
    "disabled": disabled,
    "5 × lap + step": with_laps,
    "5 × stage + step": with_stages,
    "5 × stage + step, memory": with_stages_and_memory,
}
PEERS: dict[str, Callable[[pathlib.Path], Subject]] = {
    "Lightning SimpleProfiler × 5": simple_profiler,
    "record_function × 5": record_function,
    "tensorboardX add_scalar × 7": tensorboardx,
    "SummaryWriter add_scalar × 7": summary_writer,
    "wandb offline, log of 7": wandb_offline,
}
