"""`StepPerfWriter`: what a training loop uses."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from threading import get_ident
from types import TracebackType
from typing import Any, TypeVar, cast

from tb_stepperf.recorder import lifetime
from tb_stepperf.recorder.arguments import MAX_STEP
from tb_stepperf.recorder.attempts import Identity
from tb_stepperf.recorder.capture.captures import Captures
from tb_stepperf.recorder.capture.decisions import Decisions
from tb_stepperf.recorder.capture.peers import find_peers
from tb_stepperf.recorder.capture.rules import CaptureRules, rules_of
from tb_stepperf.recorder.capture.tracefile import TraceFiles
from tb_stepperf.recorder.changes import ChangeWatch
from tb_stepperf.recorder.environment import Environment
from tb_stepperf.recorder.hardware import Hardware
from tb_stepperf.recorder.logged import LoggedSteps
from tb_stepperf.recorder.loop import ENTRIES_PER_WAKE, LoopState
from tb_stepperf.recorder.messages import Messages
from tb_stepperf.recorder.options import check_options, make_sink
from tb_stepperf.recorder.pipeline import Pipeline
from tb_stepperf.recorder.profiling import Profiling
from tb_stepperf.recorder.ranks import find_rank
from tb_stepperf.recorder.scalars import Scalars
from tb_stepperf.recorder.stages import Batches, Stage, StageNames, Stages
from tb_stepperf.recorder.stamps import BOUNDARY, DROP, NO_STAGE, code
from tb_stepperf.recorder.statements import Statements
from tb_stepperf.recorder.thread import FlushThread

_BOUNDARY = code(NO_STAGE, BOUNDARY)
_DROP = code(NO_STAGE, DROP)
_MAX_COUNT = 2**63

T = TypeVar("T")


class StepPerfWriter(Statements, Profiling):
    """Measures every step of a training loop and writes it where TensorBoard reads it.

    ::

        with StepPerfWriter("runs/resnet50") as perf:
            for batch in perf.data(loader):
                with perf.stage("forward"):
                    loss = model(batch)
                with perf.stage("backward"):
                    loss.backward()
                perf.step(num_samples=len(batch))

    A step lasts from one `step()` to the next. The first begins with the first stage or batch; where `step()` itself
    comes first, with the `with` (or else the construction). What lies between the last `step()` and the end is part of
    no step.

    Only the constructor raises. Afterwards whatever goes wrong is logged once (logger `tb_stepperf`) and counted, and
    the loop goes on: a full disk, a deleted directory, a stage that was left open, a value that is not finite. After
    `os.fork` the child's copy does nothing; a pickled copy is a writer that does nothing. One thread runs the stages
    (the first to use one); `step`, `log_step`, `flush` and `close` may be called from any.

    Args:
        logdir: directory of the run; with more than one process each rank writes into `rank_<n>` below it. Anything
            that TensorBoard can read, also `gs://…`. Exactly one of `logdir` and `summary_writer` is given.
        summary_writer: a `SummaryWriter` (torch's or tensorboardX's) to write through. It stays open at the end.
        enabled: False gives an object with the same methods that does nothing.
        warmup_steps: how many steps at the start of an attempt are flagged as warm-up.
        flush_interval_s: longest time that a finished step waits to be written, at the start; the interval grows to
            1/64 of the time since the start, at most 300 s. Blocks of 512 steps are written at once.
        first_step: number of the first step, such as the global step of a checkpoint.
        rank: rank of this process; by default from `torch.distributed`, else from `RANK`, else 0.
        world_size: number of processes; by default likewise.
        peak_memory: `per_step` resets the allocator's (or the process's) peak at each step, `cumulative` leaves it
            alone, `off` reads none.
        device: a torch device whose events time the steps as well, such as `cuda`; by default the accelerator that the
            process uses at the end of the first step. `cpu` measures on the host only.
        scalars: also write the ordinary scalars of `scalars.py`, one point per flush.
        user: what the environment record should hold besides what is found; JSON values.
        detect_changes: look for lasting changes of the step time while the loop runs, on the background thread and with
            at most 0.1 % of the time (and 0.1 s, once). What is noticed is logged (INFO) and marked as provisional.
        capture: `regression` captures short windows of `torch.profiler` by itself: one right after the warm-up, to
            compare with, and one when a lasting slowdown or a single slow step is noticed. `CaptureRules` says how
            many, how long, and what is slow. `off` captures nothing unless the loop asks for it.
        max_stages: how many stage names are kept apart.
        clock: monotonic seconds.
        wall_clock: seconds since the epoch.
        hardware: replaces the search for devices and memory probes.

    Raises:
        ConfigError: an argument cannot be used. A directory that cannot be written does not raise: it is logged.
    """

    __slots__ = (
        "__weakref__",
        "_captures",
        "_environment",
        "_hardware",
        "_lap_codes",
        "_life",
        "_logdir",
        "_logged",
        "_loop",
        "_names",
        "_stage_by_name",
        "_stages",
    )

    def __new__(cls, logdir: Any = None, *, enabled: bool = True, **options: Any) -> StepPerfWriter:
        if not enabled:
            from tb_stepperf.recorder.null import NullWriter

            return object.__new__(NullWriter)
        return object.__new__(cls)

    def __init__(
        self,
        logdir: str | os.PathLike[str] | None = None,
        *,
        summary_writer: Any = None,
        enabled: bool = True,
        warmup_steps: int = 10,
        flush_interval_s: float = 10.0,
        first_step: int = 0,
        rank: int | None = None,
        world_size: int | None = None,
        peak_memory: str = "per_step",
        device: Any = None,
        scalars: bool = True,
        user: Mapping[str, Any] | None = None,
        detect_changes: bool = True,
        capture: str | CaptureRules = "off",
        max_stages: int = 64,
        clock: Callable[[], float] = time.perf_counter,
        wall_clock: Callable[[], float] = time.time,
        hardware: Hardware | None = None,
    ) -> None:
        check_options(warmup_steps, flush_interval_s, first_step, peak_memory, max_stages, user)
        rules = rules_of(capture)
        messages = Messages()
        place = find_rank(rank, world_size)
        sink = make_sink(logdir, summary_writer, place, messages, wall_clock)
        self._logdir = sink.logdir
        conditions = {
            "rank": place.rank,
            "world_size": place.world_size,
            "peak_memory": peak_memory,
            "warmup_steps": warmup_steps,
        }
        self._environment = Environment(messages, conditions, user)
        hardware = hardware or Hardware(None if device is None else str(device), peak_memory, messages)
        self._hardware = hardware
        environment = self._environment
        loop = LoopState(clock=clock, first_step=first_step, messages=messages)
        self._loop = loop
        self._names = StageNames(loop, max_stages)
        self._stages = Stages(loop, self._names)
        self._stage_by_name = self._stages.by_name
        self._lap_codes = self._stages.lap_codes
        self._logged = LoggedSteps(loop, self._names, wall_clock)
        self._captures = Captures(loop, TraceFiles(sink.logdir, place), rules, warmup_steps, messages)
        decisions = None
        if rules is not None:
            peers = find_peers(sink, place, clock, wall_clock, messages)
            decisions = Decisions(self._captures, rules, detect_changes, warmup_steps, peers, loop)
        identity = Identity(uuid.uuid4().hex, place.rank, place.world_size, warmup_steps)
        pipeline = Pipeline(
            loop,
            self._names.names,
            sink,
            identity,
            environment,
            Scalars() if scalars else None,
            ChangeWatch(clock, messages) if detect_changes else None,
            self._captures,
            decisions,
            wall_clock,
        )
        thread = FlushThread(loop, pipeline, flush_interval_s, messages)
        self._life = lifetime.Life(loop, thread, self._captures, hardware, messages)

        def begin() -> None:
            pipeline.began_wall_s = wall_clock()
            loop.gc_time.install()
            thread.start()

        loop.on_begin = begin
        loop.on_first_step = lambda: hardware.attach(loop, environment)
        loop.on_batch = lambda batch: environment.see_batch(batch, loop.next_step)
        loop.on_stage = lambda: environment.see_autocast(loop.next_step)
        lifetime.watch(self, self._life)

    # The loop --------------------------------------------------------------------------------------------------------

    def data(self, iterable: Iterable[T]) -> Iterable[T]:
        """Returns the batches of an iterable; the wait for each is the stage `data`.

        Making the iterator (a `DataLoader` starts its workers then) is part of the wait for the first batch. The
        result has the length and the attributes of the iterable and can be gone through as often.
        """
        return cast("Iterable[T]", Batches(self._loop, self.stage("data"), iterable))

    def stage(self, name: str) -> Stage:
        """Returns a context manager whose time is the stage `name`, any text.

        Stages are exclusive: one opened inside another pauses the outer one. The object of a name is always the same
        and may be kept and entered again, also inside itself.
        """
        try:
            return self._stage_by_name[name]
        except (KeyError, TypeError):  # a new name, or nothing that can be one
            return self._stages.add(name)

    def exclude(self, name: str = "evaluation") -> Stage:
        """Returns a context manager whose time is no part of the step: evaluation, a checkpoint.

        What happens inside, stages included, is no part of the step either; the sum is the column `excluded_ms`.

        Args:
            name: says in the code what it is; all excluded time is one column.
        """
        return self._stages.exclude

    def lap(self, name: str) -> None:
        """Says that the time since the last mark was the stage `name`: cheaper than a `with`.

        Marks are the ends and beginnings of stages, laps and steps. Inside a `with` the time since it was entered (or
        since the last mark) goes to `name`, the rest to the stage of the `with`.
        """
        loop = self._loop
        try:
            lap = self._lap_codes[name]
        except (KeyError, TypeError):
            lap = self._stages.add_lap(name)
        if get_ident() == loop.owner:
            loop.stamp((lap, loop.clock()))
        else:
            loop.lap_slowly(lap)

    def step(
        self,
        *,
        step: int | None = None,
        num_samples: float | None = None,
        num_tokens: float | None = None,
        num_micro_steps: float | None = None,
        bucket: int | str | None = None,
    ) -> None:
        """Ends a step; the next one begins.

        Args:
            step: its number, by default one more than the last. One that does not ascend begins a new attempt.
            num_samples: samples that this rank processed in the step.
            num_tokens: tokens that this rank processed in the step.
            num_micro_steps: forward/backward passes of the step; by default how often its most often entered top-level
                stage was entered.
            bucket: kind of the step, such as a sequence-length bucket or a stage of a curriculum: steps are then
                compared with their own kind. At most 256 are kept apart.
        """
        loop = self._loop
        loop.lock.acquire()  # half the cost of `with`
        try:
            now_s = loop.clock()
            usual = get_ident() == loop.owner
            if not usual and not loop.admit_step(now_s):
                return
            number = loop.next_step
            if step is None and number <= MAX_STEP:
                loop.next_step = number + 1
            else:
                taken = loop.take_step_number(step)
                if taken is None:
                    loop.stamp((_DROP, now_s))
                    return
                number = taken
            # Plain integers, the usual case, need no call.
            if num_samples is not None and (type(num_samples) is not int or not 0 <= num_samples < _MAX_COUNT):
                num_samples = loop.checks.amount("num_samples", num_samples)
            if num_tokens is not None and (type(num_tokens) is not int or not 0 <= num_tokens < _MAX_COUNT):
                num_tokens = loop.checks.amount("num_tokens", num_tokens)
            if num_micro_steps is not None:
                num_micro_steps = loop.checks.amount("num_micro_steps", num_micro_steps)
            gc_time = loop.gc_time
            # In the order of rows.StepColumns; it lies there before the stamp that completes it.
            loop.add_row(
                (
                    number,
                    num_samples,
                    num_tokens,
                    num_micro_steps,
                    gc_time.take_s() if gc_time.seconds else 0.0,
                    loop.profiler._is_profiler_enabled,
                    loop.read_memory(now_s) if now_s >= loop.memory_due_s else None,
                    None if loop.device is None else loop.end_device_step(_BOUNDARY, now_s),
                    None if bucket is None else loop.buckets.number(bucket),
                )
            )
            loop.stamp((_BOUNDARY, now_s))
            if not usual or not len(loop.rows) % ENTRIES_PER_WAKE:
                loop.after_step()
            if now_s >= loop.look_at_s:
                loop.at_boundary(number, now_s)
            elif loop.look_after_s is not None:
                loop.look_at_s = now_s + loop.look_after_s
        finally:
            loop.lock.release()

    # Its end ---------------------------------------------------------------------------------------------------------

    def flush(self, timeout_s: float = 30.0) -> bool:
        """Writes what is there by now; returns whether that was done within `timeout_s`."""
        return self._life.flush(timeout_s)

    def close(self, timeout_s: float = 30.0) -> None:
        """Writes what is left and ends; later calls of any method do nothing."""
        self._life.close("closed", timeout_s)

    def __enter__(self) -> StepPerfWriter:
        self._loop.begun_s = self._loop.clock()
        return self

    def __exit__(
        self, exception: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._life.close("closed" if exception is None else "exception", 30.0)

    # What it knows ---------------------------------------------------------------------------------------------------

    @property
    def logdir(self) -> str:
        """The directory that is written to, with `rank_<n>` where there are several ranks."""
        return self._logdir

    @property
    def step_number(self) -> int:
        """The number that the step under way will get."""
        return self._loop.next_step

    @property
    def counters(self) -> dict[str, int]:
        """The counters of docs/format.md since construction, those above 0; complete up to the last flush."""
        return {name: count for name, count in self._loop.counters.items() if count}

    @property
    def peak_allocated_bytes_overall(self) -> float:
        """Largest device memory held by tensors since the start, which resetting the peak hides; NaN without device."""
        return self._hardware.peak_allocated_bytes_overall

    def __reduce__(self) -> tuple[Any, ...]:
        from tb_stepperf.recorder.null import null_writer

        return null_writer, ()
