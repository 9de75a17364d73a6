"""What the background thread does with stamps: assemble, wait for device times, form blocks, write, account.

One thread at a time calls it; it knows nothing of intervals (`thread.py` says when).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tb_stepperf.recorder.assemble import Assembler, Steps
from tb_stepperf.recorder.attempts import Attempt, Identity, ascending_runs
from tb_stepperf.recorder.capture.captures import Captures
from tb_stepperf.recorder.capture.decisions import Decisions
from tb_stepperf.recorder.changes import ChangeWatch
from tb_stepperf.recorder.devicerows import DeviceRows
from tb_stepperf.recorder.environment import Environment
from tb_stepperf.recorder.loop import ROW_WIDTH, LoopState
from tb_stepperf.recorder.rows import LoggedRow, Rows, StepColumns, logged_rows, measured_rows
from tb_stepperf.recorder.scalars import Scalars
from tb_stepperf.recorder.sink import Sink

_FLOATS_PER_DRAIN = 4096
_LOGGED_PER_DRAIN = 512
_ROWS_PER_BLOCK = 512


class Pipeline:
    """From the loop's lists to the sink.

    Args:
        loop: where stamps and rows are taken from.
        stage_names: name of each stage by number; grows while the loop runs.
        sink: where events go.
        identity: what all attempts share.
        environment: the conditions, written once per attempt and again where they change.
        scalars: ordinary scalars, one point per flush; None without.
        watch: notices lasting changes of the step time; None without.
        captures: windows of the profiler, whose traces are compressed and recorded here.
        decisions: asks for such windows; None where nothing is captured without being asked for.
        wall_clock: seconds since the epoch.
    """

    def __init__(
        self,
        loop: LoopState,
        stage_names: Sequence[str],
        sink: Sink,
        identity: Identity,
        environment: Environment,
        scalars: Scalars | None,
        watch: ChangeWatch | None,
        captures: Captures,
        decisions: Decisions | None,
        wall_clock: Callable[[], float],
    ) -> None:
        self._loop = loop
        self._stage_names = stage_names
        self._sink = sink
        self._identity = identity
        self._environment = environment
        self._scalars = scalars
        self._watch = watch
        self._captures = captures
        self._decisions = decisions
        self._notes: list[dict[str, Any]] = []
        self._wall_clock = wall_clock
        self._assembler = Assembler()
        self._device_rows = DeviceRows()
        self._profiled_before = 0
        self._attempt: Attempt | None = None
        self._num_taken = 0
        self._num_settled = 0
        self.began_wall_s = wall_clock()

    @property
    def look_every_s(self) -> float:
        """How often `drain` is to be called at least, in seconds."""
        return math.inf if self._decisions is None else self._decisions.look_every_s

    @property
    def want_write(self) -> bool:
        """Whether a whole block waits and writing it costs little."""
        return self._sink.at_once and self._attempt is not None and self._attempt.num_waiting >= _ROWS_PER_BLOCK

    def drain(self) -> bool:
        """Takes a bounded number of stamps and rows; returns whether more may be waiting."""
        loop = self._loop
        with loop.drain_lock:
            taken = loop.stamps[:_FLOATS_PER_DRAIN]
            del loop.stamps[: len(taken)]
            wall_minus_clock_s = self._wall_clock() - loop.clock()
            steps = self._assembler.feed(np.fromiter(taken, np.float64, len(taken)).reshape(-1, 2)) if taken else None
            rows = self._take_rows(steps.num_steps if steps is not None else 0)
        if steps is not None:
            loop.count("num_interrupted", steps.num_interrupted)
            self._count_open(steps.still_open)
        self._queue(steps, rows, wall_minus_clock_s)
        self._release()
        self._captures.place_traces()
        if self._decisions is not None:
            self._decisions.decide()
        loop.want_batch = self._environment.wants_batches
        return len(taken) == _FLOATS_PER_DRAIN or len(rows) >= _LOGGED_PER_DRAIN * ROW_WIDTH

    def look_for_changes(self) -> bool:
        """Looks at some of the steps that came; returns whether there may be more to look at."""
        noticed = None if self._watch is None else self._watch.look()
        self._note(noticed or [])
        return noticed is not None

    def write(self, with_scalars: bool = True) -> None:
        """Writes everything that waits; with a point of each scalar at a flush."""
        if self._attempt is not None:
            self._write(None, with_scalars)

    def finish(self, end: str) -> None:
        """Takes and writes everything, and says how it ended."""
        while self.drain():
            continue
        self._release(everything=True)
        if self._loop.begun:
            self._write(end, with_scalars=True)

    def close(self) -> None:
        """Closes the sink."""
        self._sink.close()

    def recover(self, error: Exception) -> None:
        """Accounts for what an unforeseen error lost; what follows is recorded again."""
        with self._loop.lock:
            self._loop.give_up(f"{type(error).__name__}: {error}")
        num_waiting = self._device_rows.num_rows + (self._attempt.num_waiting if self._attempt is not None else 0)
        self._settle(0, self._num_taken - self._num_settled - num_waiting)

    def _count_open(self, stages: tuple[int, ...]) -> None:
        if stages:
            names = ", ".join(repr(self._stage_names[stage]) for stage in dict.fromkeys(stages))
            self._loop.count("num_open_stages", len(stages))
            self._loop.messages.warn_once(
                "open",
                f"step() was called while {names} was open: the stage is counted up to there. Leave every `with` "
                "before step(), and close generators that hold one.",
            )

    def _take_rows(self, num_measured: int) -> list[Any]:
        """Takes the rows of `num_measured` steps, and the logged samples that lie before, between and behind them."""
        rows = self._loop.rows
        num = _num_rows_to_take(rows[::ROW_WIDTH], num_measured) if self._loop.any_logged else num_measured
        taken = rows[: num * ROW_WIDTH]
        del rows[: num * ROW_WIDTH]
        self._num_taken += num
        return taken

    def _queue(self, steps: Steps | None, rows: list[Any], wall_minus_clock_s: float) -> None:
        """Puts steps and logged samples into the queue in the order in which they ended."""
        if not self._loop.any_logged:
            if steps is not None and rows:
                self._queue_measured(steps, rows, wall_minus_clock_s)
            return
        start = num_queued = 0
        for is_logged, group in itertools.groupby(rows[::ROW_WIDTH], lambda first: isinstance(first, LoggedRow)):
            members = list(group)
            end = start + len(members)
            if is_logged:
                self._device_rows.put(logged_rows(members), [None] * len(members), np.zeros(len(members)))
            elif steps is not None:
                part = steps.slice(num_queued, num_queued + len(members))
                self._queue_measured(part, rows[start * ROW_WIDTH : end * ROW_WIDTH], wall_minus_clock_s)
                num_queued += len(members)
            start = end

    def _queue_measured(self, steps: Steps, rows: list[Any], wall_minus_clock_s: float) -> None:
        known = StepColumns(*(rows[at::ROW_WIDTH] for at in range(ROW_WIDTH)))
        memory_columns = self._loop.memory_columns
        block = measured_rows(
            steps, known, self._stage_names, memory_columns, wall_minus_clock_s, self._profiled_before
        )
        self._profiled_before = known.profiled[-1]
        if self._decisions is not None:
            self._decisions.see_rows(block)
        self._environment.see_memory(known, self._loop.memory)
        self._device_rows.put(block, known.device, steps.end_s)

    def _release(self, everything: bool = False) -> None:
        loop = self._loop
        for rows in self._device_rows.take(loop.clock(), self._stage_names, loop.count, everything):
            self._add(rows)

    def _add(self, rows: Rows) -> None:
        last_step = self._attempt.last_step if self._attempt is not None else -1
        for start, end, goes_on in ascending_runs(rows.steps, last_step):
            if not goes_on and self._attempt is not None:
                self._write("replaced", with_scalars=False)
                self._begin_attempt(max(self._attempt.started_s + 1e-3, self._attempt.last_wall_time_s))
            attempt = self._attempt or self._begin_attempt(self.began_wall_s)
            part = attempt.add(rows.slice(start, end))
            if self._scalars is not None:
                self._scalars.add(part)
            if self._watch is not None:
                self._watch.add(part)

    def _begin_attempt(self, started_s: float) -> Attempt:
        counters = self._loop.counters if self._attempt is not None else {}
        self._attempt = Attempt(self._identity, started_s, counters)
        self._environment.begin_attempt()
        if self._watch is not None:
            self._watch.begin_attempt()
        return self._attempt

    def _write(self, end: str | None, with_scalars: bool) -> None:
        attempt = self._attempt or self._begin_attempt(self.began_wall_s)
        if self._sink.lost_what_was_written():
            self._environment.begin_attempt()
        self._take_notes()
        record = self._environment.next_record()
        blocks = attempt.take_events(self._loop.counters, end)
        point = self._scalars.take_event() if with_scalars and self._scalars is not None else None
        records = [*([] if record is None else [record]), *self._notes]
        events = [attempt.environment_event(one, self._wall_clock()) for one in records]
        events += [event for event, _ in blocks]
        if point is not None:
            events.append(point)
        if not events:
            return
        num_safe = self._sink.write(events)
        if record is not None and num_safe:
            self._environment.mark_written(record)
        del self._notes[: max(num_safe - (record is not None), 0)]
        num_rows = attempt.position.num_rows
        num_safe_blocks = min(max(num_safe - len(records), 0), len(blocks))
        if num_safe_blocks:
            attempt.position = blocks[num_safe_blocks - 1][1]
        if blocks:
            num_written = attempt.position.num_rows - num_rows
            self._settle(num_written, blocks[-1][1].num_rows - num_rows - num_written)

    def _take_notes(self) -> None:
        """Takes what the loop announced, the names of its buckets and the windows that have ended, to be written."""
        loop = self._loop
        self._environment.bucket_names = loop.buckets.names
        if loop.announcements.waiting:
            with loop.lock:
                planned = loop.announcements.take(loop.next_step)
            self._note(planned)
        self._note(self._captures.take_records())

    def _note(self, records: list[dict[str, Any]]) -> None:
        self._notes += records
        if self._decisions is not None:
            self._decisions.see_records(records)

    def _settle(self, num_written: int, num_lost: int) -> None:
        self._num_settled += num_written + num_lost
        if num_lost > 0:
            self._loop.count("num_rows_lost", num_lost)


def _num_rows_to_take(firsts: Sequence[Any], num_measured: int) -> int:
    """Returns how many rows hold `num_measured` steps and the logged samples around them, a bounded number of them."""
    num_logged = 0
    for num, first in enumerate(firsts):
        if isinstance(first, LoggedRow):
            num_logged += 1
            if num_logged > _LOGGED_PER_DRAIN and not num_measured:
                return num
        elif num_measured:
            num_measured -= 1
        else:
            return num
    return len(firsts)
