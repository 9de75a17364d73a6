"""`LoopState`: everything that the training loop's thread touches, and the slow ways through it.

The fast ways stand in `stages.py` and in `StepPerfWriter.step`. They are taken when the calling thread is `owner`.
Whatever is out of the ordinary makes `owner` a value that no thread has, so that one comparison on the fast way
covers them all: not yet begun, the first step (looked at more closely), another thread, a device clock, after close,
in a forked child.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from tb_stepperf.recorder.announcements import Announcements
from tb_stepperf.recorder.arguments import Checks
from tb_stepperf.recorder.buckets import Buckets
from tb_stepperf.recorder.gctime import GcTime
from tb_stepperf.recorder.messages import Messages
from tb_stepperf.recorder.numbering import Numbering
from tb_stepperf.recorder.profiled import NoProfiler, find_profiler
from tb_stepperf.recorder.stamps import DROP, EMPTY, ENTER, INTERRUPT, LEAVE, NO_STAGE, code

if TYPE_CHECKING:
    from tb_stepperf.recorder.device import DeviceStep, DeviceTimer
    from tb_stepperf.recorder.memory import MemoryProbe

NOBODY = -1
"""Not the identity of any thread."""

ROW_WIDTH = 9
"""Entries of `LoopState.rows` per step: the fields of `rows.StepColumns`, or a `LoggedRow` and eight times None."""

ENTRIES_PER_WAKE = 128 * ROW_WIDTH
"""The background thread is woken when this many entries of `rows` wait: 128 steps."""

MAX_WAITING_ROWS = 65_536
"""More steps than this waiting mean that the background thread hangs (a dead file system): they are given up."""

_ENDS_OF_ITERATION = (StopIteration, StopAsyncIteration, GeneratorExit)


def _nothing(*arguments: object) -> None:
    """Stands where the writer has not yet put a function of its own."""


class LoopState:
    """State of the loop, shared with the background thread through lists whose operations are atomic.

    Attributes:
        owner: identity of the thread that may take the fast way, or `NOBODY`.
        stamps: flat list of code, seconds, code, seconds…
        rows: flat list of what is known of each step at its boundary, in the order of the boundaries; `rows.py`.
        simple: whether stages may also be left without looking at the thread: `owner` is set, and no other thread has
            entered a stage.
        wake: messages to the background thread. A SimpleQueue, since its `put` may interrupt itself (signals).
        lock: held by whoever ends a step. Re-entrant, since a signal handler may end one.
        drain_lock: held while stamps and rows are taken or given up.
        counters: the counters of docs/format.md, since construction.
        checks: of the arguments that the loop passes.
        announcements: planned changes that wait to be written.
        buckets: numbers of the kinds of steps.
        profiler: whose `_is_profiler_enabled` a row takes; `profiled.py`.
        look_at_s: clock reading; the first boundary behind it calls `at_boundary` with the number and the time.
        look_after_s: seconds from any other boundary to `look_at_s`, then set anew; None leaves it. Minus infinity is
            each boundary.
    """

    __slots__ = (
        "_foreign",
        "_numbering",
        "_seen_row",
        "_seen_step",
        "_thread",
        "add_row",
        "announcements",
        "any_logged",
        "at_boundary",
        "begun",
        "begun_s",
        "buckets",
        "checks",
        "clock",
        "counters",
        "device",
        "drain_lock",
        "ended",
        "gc_time",
        "lock",
        "look_after_s",
        "look_at_s",
        "memory",
        "memory_columns",
        "memory_due_s",
        "messages",
        "next_step",
        "on_batch",
        "on_begin",
        "on_first_step",
        "on_stage",
        "owner",
        "profiler",
        "rows",
        "simple",
        "stamp",
        "stamps",
        "wake",
        "want_batch",
    )

    def __init__(self, *, clock: Callable[[], float], first_step: int, messages: Messages) -> None:
        self.clock = clock
        self.messages = messages
        self.owner = NOBODY
        self.stamps: list[float] = []
        self.stamp = self.stamps.extend
        self.rows: list[Any] = []
        self.add_row = self.rows.extend
        self.simple = False
        self.wake: SimpleQueue[Any] = SimpleQueue()
        self.lock = threading.RLock()
        self.drain_lock = threading.Lock()
        self.counters: dict[str, int] = {}
        self.checks = Checks(self.count, messages)
        self.announcements = Announcements(self.checks, messages)
        self.buckets = Buckets(self.checks, messages)
        self.next_step = first_step
        self.gc_time = GcTime(clock)
        self.profiler: Any = find_profiler()
        self.memory: MemoryProbe | None = None
        self.memory_columns: tuple[str, ...] = ()
        self.memory_due_s = math.inf
        self.device: DeviceTimer | None = None
        self.look_at_s = math.inf
        self.look_after_s: float | None = None
        self.at_boundary: Callable[[int, float], None] = _nothing
        self.want_batch = True
        self.on_begin: Callable[[], None] = _nothing
        self.on_first_step: Callable[[], None] = _nothing
        self.on_batch: Callable[[Any], None] = _nothing
        self.on_stage: Callable[[], None] = _nothing
        self.begun_s = clock()
        self._thread: threading.Thread | None = None
        self._seen_step = False
        self._seen_row = False
        self._foreign = False
        self._numbering = Numbering(first_step, self.checks, messages)
        self.any_logged = False
        self.begun = False
        self.ended = False

    def count(self, counter: str, number: int = 1) -> None:
        """Adds to a counter of docs/format.md."""
        self.counters[counter] = self.counters.get(counter, 0) + number

    # Admission -------------------------------------------------------------------------------------------------------

    def begin(self) -> bool:
        """Returns whether anything may be recorded; the first call starts the background thread."""
        if not self.begun and not self.ended:
            with self.lock:  # two threads may come first
                if not self.begun:
                    self.begun = True
                    self._begin()
        return not self.ended

    def _begin(self) -> None:
        try:
            self.on_begin()
        except Exception as error:  # no more threads, or an interpreter that ends
            self.end()
            self.messages.warn_once("begin", f"steps are not recorded: {type(error).__name__}: {error}")

    def admit(self) -> bool:
        """Returns whether the calling thread is the loop's; the first to call is, and so is one after it has died."""
        if not self.begin():
            return False
        thread = threading.current_thread()
        if self._thread is not thread:
            if self._thread is not None and self._thread.is_alive():
                return False
            self._thread = thread
            self._choose_way()
        return True

    def admit_step(self, now_s: float) -> bool:
        """Returns whether a step may end here, in whichever thread; begins the first step where nothing else did."""
        if not self.begin():
            return False
        if self._thread is None:
            self.admit()
            self._mark(code(NO_STAGE, LEAVE), min(self.begun_s, now_s))
        return True

    def end(self) -> None:
        """Lets nothing in from now on."""
        self.ended = True
        self._choose_way()

    def abandon(self) -> None:
        """Makes this copy, in a forked child, forget everything without touching a lock that the parent may hold."""
        self.end()
        self.lock = threading.RLock()
        self.drain_lock = threading.Lock()
        self.stamps.clear()
        self.rows.clear()
        self.gc_time.remove()

    def use_device(self, device: DeviceTimer) -> None:
        """Marks device events beside the stamps from now on."""
        self.device = device
        self._mark_device(code(NO_STAGE, LEAVE), self.clock())
        self._choose_way()

    def use_memory(self, memory: MemoryProbe) -> None:
        """Reads memory peaks at boundaries from now on."""
        self.memory = memory
        self.memory_columns = memory.columns
        self.memory_due_s = -math.inf

    def _choose_way(self) -> None:
        usual = self._seen_step and self.device is None and not self.ended
        self.owner = self._thread.ident or NOBODY if usual and self._thread is not None else NOBODY
        self.simple = self.owner != NOBODY and not self._foreign

    # Stages ----------------------------------------------------------------------------------------------------------

    def enter_slowly(self, stage: int) -> None:
        """Enters a stage where the fast way is closed."""
        if not self.admit():
            self._count_foreign()
            return
        self._mark(code(stage, ENTER), self.clock())
        if not self._seen_step:
            self.on_stage()

    def leave_slowly(self, stage: int, exception: type[BaseException] | None) -> None:
        """Leaves a stage by an exception, or where the fast way is closed."""
        if not self.admit():
            return
        if not self._seen_step:
            self.on_stage()
        if exception is None:
            self._mark(code(stage, LEAVE), self.clock())
        elif issubclass(exception, _ENDS_OF_ITERATION):
            self._mark(code(stage, EMPTY), self.clock())
        else:
            self.interrupt(stage)

    def lap_slowly(self, lap: float) -> None:
        """Labels the time since the last stamp where the fast way is closed."""
        if self.admit():
            self._mark(lap, self.clock())
        else:
            self._count_foreign()

    def interrupt(self, stage: int = NO_STAGE) -> None:
        """Marks that an exception left a stage, or the loop; the next step begins now, with nothing of this one."""
        now_s = self.clock()
        self._mark(code(stage, INTERRUPT), now_s)
        self.gc_time.take_s()
        self.read_memory(now_s)

    def _mark(self, stamp_code: float, now_s: float) -> None:
        self.stamp((stamp_code, now_s))
        if self.device is not None:
            self._mark_device(stamp_code, now_s)

    def _mark_device(self, stamp_code: float, now_s: float) -> None:
        try:
            if self.device is not None:
                self.device.mark(stamp_code, now_s)
        except Exception as error:  # a device in trouble must not be in more of it because of us
            self._lose_device(error)

    def end_device_step(self, stamp_code: float, now_s: float) -> DeviceStep | None:
        """Ends the device's part of a step; returns what will be known of it, None without a device."""
        try:
            return None if self.device is None else self.device.end_step(stamp_code, now_s)
        except Exception as error:
            self._lose_device(error)
            return None

    def finish_device(self) -> None:
        """Waits a bounded time for what the device has not yet measured."""
        try:
            if self.device is not None:
                self.device.finish(self.clock())
        except Exception as error:
            self._lose_device(error)

    def _lose_device(self, error: Exception) -> None:
        device, self.device = self.device, None
        if device is not None:
            device.abandon()
        self._choose_way()
        self.messages.warn_once("device", f"device times end here: {type(error).__name__}: {error}")

    def _count_foreign(self) -> None:
        if not self.ended:
            self._foreign = True
            self._choose_way()
            self.count("num_foreign_stages")
            self.messages.warn_once(
                "foreign",
                f"a stage was entered in thread {threading.current_thread().name!r}, but the loop runs in "
                f"{self._thread.name if self._thread else None!r}: stages of other threads are counted, not timed. "
                "Give each loop a StepPerfWriter of its own.",
            )

    # Steps -----------------------------------------------------------------------------------------------------------

    def take_step_number(self, given: Any) -> int | None:
        """Returns the number of a step that ends, as given or the next one; None where there is none left."""
        number = self._numbering.choose(given, self.next_step, self._seen_row)
        if number is not None:
            if self.announcements.waiting:
                self.announcements.place(self.next_step, number)
            self.next_step = number + 1
            self._seen_row = True
        return number

    def read_memory(self, now_s: float) -> tuple[float, ...] | None:
        """Reads the memory peaks; a probe that fails is given up."""
        if self.memory is None:
            return None
        try:
            self.memory_due_s = now_s + self.memory.interval_s
            return self.memory.read()
        except Exception as error:  # a failing driver must not end the training
            self.memory, self.memory_due_s = None, math.inf
            self.messages.warn_once("memory", f"memory peaks are no longer read: {type(error).__name__}: {error}")
            return None

    def see_batch(self, batch: Any) -> None:
        """Shows one batch to whoever records the conditions, once per time that `want_batch` is set."""
        self.want_batch = False
        try:
            if not self.ended:
                self.on_batch(batch)
        except Exception as error:  # a batch may be any object, with any attributes
            self.messages.warn_once("batch", f"shapes of batches are not recorded: {type(error).__name__}: {error}")

    def after_step(self) -> None:
        """What is done after every step off the fast way, and every 128 steps on it."""
        if not self._seen_step:
            self._seen_step = self._seen_row = True
            self.on_first_step()
            self._choose_way()
            self.wake.put(None)
        if self.profiler is NoProfiler:
            self.profiler = find_profiler()
        self._wake()

    def add_logged(self, row: Any) -> None:
        """Adds a sample that was measured elsewhere. The caller holds `lock`."""
        self.any_logged = True
        self.add_row((row,) + (None,) * (ROW_WIDTH - 1))
        self._wake()

    def _wake(self) -> None:
        if not len(self.rows) % ENTRIES_PER_WAKE:
            self.wake.put(None)
            if len(self.rows) >= ROW_WIDTH * MAX_WAITING_ROWS:
                self.give_up(f"{MAX_WAITING_ROWS} steps wait to be written: the log directory does not answer")

    def give_up(self, reason: str) -> None:
        """Drops and counts all stamps and rows that wait. The caller holds `lock`."""
        with self.drain_lock:
            num_rows = len(self.rows) // ROW_WIDTH
            self.rows.clear()
            self.stamps.clear()
            self.stamp((code(NO_STAGE, DROP), self.clock()))
            self.count("num_rows_lost", num_rows)
        self.messages.warn_once("dropped", f"{num_rows} steps are dropped and counted as lost: {reason}")
