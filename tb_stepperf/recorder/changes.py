"""Lasting changes of the step time, noticed while the training runs.

The question is that of `statistics/live.py`; here stand what it is asked about, when, and what it may cost. A full test
takes tens of milliseconds, whatever a step takes, in which the loop may have to wait for the interpreter. So the share
of time is bounded: rows wait until there is time for them, and where too many wait the oldest are passed over. All of
it happens on the background thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tb_stepperf.blocks.schema import BUCKET, FLAGS, LEFT_OUT_BY_DEFAULT, STEP_TIME_MS
from tb_stepperf.recorder.messages import Messages, logger
from tb_stepperf.recorder.rows import Rows

if TYPE_CHECKING:
    from tb_stepperf.statistics.live import LiveDetector

MAX_SHARE = 0.001
"""Share of the time since the start that may be spent: 1.4 µs of a step of 1.4 ms."""

TEST_TAKES_S = 0.02
"""About what one full test takes: nothing is looked at before there is time for one."""

HEAD_START_S = 0.1
"""What may be spent beyond the share, once a run: the first tests come when there is little time to have a share of,
and a run of a minute should hear of a slowdown, too."""

MAX_WAITING_ROWS = 32_768
"""Rows that wait at most; the newest are kept."""

MAX_SERIES = 8
"""Buckets that are watched, each on its own: the first ones."""

MAX_NOTICED = 256
"""Changes that are recorded of one attempt."""

_MIN_ROWS = 256  # with fewer nothing can be said
_ROWS_AT_ONCE = 512
_NUM_STEPS_KEPT = 4096  # a change lies within the last 2048 rows that were fed
_NO_BUCKET = -1
_WORK_S = 0.0002
_REST_S = 0.0002


class ChangeWatch:
    """Feeds the usable step times of an attempt to a `LiveDetector`; steps of a bucket to one of its own.

    Args:
        clock: monotonic seconds, for the time since the start.
        messages: where to say that it failed; it does so once and is then off.
        cpu_clock: seconds that the calling thread has worked.
    """

    def __init__(
        self, clock: Callable[[], float], messages: Messages, cpu_clock: Callable[[], float] | None = None
    ) -> None:
        self._clock = clock
        self._messages = messages
        self._cpu_clock = cpu_clock or time.thread_time
        self._began_s = clock()
        self._spent_s = 0.0
        self._failed = False
        self._new_detector: Callable[[], LiveDetector] | None = None
        self._forget()

    def begin_attempt(self) -> None:
        """Forgets everything: steps before and after a restart are not compared.

        It also loads the detector, which takes 30 ms once: the first steps of a run, when the first attempt begins, are
        the best time for it.
        """
        self._forget()
        if self._new_detector is None and not self._failed:
            try:
                from tb_stepperf.statistics.live import LiveDetector

                self._new_detector = LiveDetector
            except Exception as error:  # an incomplete installation
                self._fail(error)

    def _forget(self) -> None:
        self._waiting: list[np.ndarray] = []
        self._num_waiting = 0
        self._series: dict[int, _Series] = {}
        self._num_noticed = 0
        self._last: tuple[int, bool, int] | None = None

    def add(self, rows: Rows) -> None:
        """Takes in steps, in order; those whose flags leave them out of statistics, or without a time, are not used."""
        times_ms = rows.columns.get(STEP_TIME_MS)
        if self._failed or times_ms is None:
            return
        flags = rows.columns[FLAGS].astype(np.int64)
        with np.errstate(invalid="ignore"):
            used = (flags & int(LEFT_OUT_BY_DEFAULT) == 0) & np.isfinite(times_ms) & (times_ms > 0)
        buckets = rows.columns.get(BUCKET)
        part = np.empty(int(used.sum()), _ROW)
        part["step"] = rows.steps[used]
        part["time_ms"] = times_ms[used]
        part["bucket"] = _NO_BUCKET if buckets is None else np.nan_to_num(buckets[used], nan=_NO_BUCKET)
        self._waiting.append(part)
        self._num_waiting += len(part)
        if self._num_waiting > 2 * MAX_WAITING_ROWS:
            self._join(MAX_WAITING_ROWS)

    def look(self) -> list[dict[str, Any]] | None:
        """Looks at some of the steps that wait; returns what was noticed, as environment records.

        Returns:
            None where nothing is left to look at, or no time for it.
        """
        least = 1 if self._series else _MIN_ROWS
        if self._failed or self._num_waiting < least:
            return None
        share_s = MAX_SHARE * (self._clock() - self._began_s)
        if share_s < TEST_TAKES_S or self._spent_s + TEST_TAKES_S > share_s + HEAD_START_S:
            return None
        self._join(MAX_WAITING_ROWS)
        part, self._waiting[0] = self._waiting[0][:_ROWS_AT_ONCE], self._waiting[0][_ROWS_AT_ONCE:]
        self._num_waiting -= len(part)
        start_s = self._cpu_clock()
        try:
            from tb_stepperf.statistics.pace import pausing

            with pausing(_GivesWay()):
                return self._feed(part)
        except Exception as error:  # whatever is wrong with the detector, steps are written as before
            self._fail(error)
            return None
        finally:
            self._spent_s += self._cpu_clock() - start_s

    def _fail(self, error: Exception) -> None:
        self._failed = True
        self._forget()
        self._messages.warn_once(
            "changes", f"changes are not looked for while training: {type(error).__name__}: {error}"
        )

    def _join(self, num_rows: int) -> None:
        """Makes one array of what waits, and keeps its last `num_rows` rows."""
        if len(self._waiting) > 1:
            self._waiting = [np.concatenate(self._waiting)[-num_rows:].copy()]
            self._num_waiting = len(self._waiting[0])

    def _feed(self, part: np.ndarray) -> list[dict[str, Any]]:
        assert self._new_detector is not None
        noticed = []
        for bucket in np.unique(part["bucket"]).tolist():
            series = self._series.get(bucket)
            if series is None and len(self._series) < MAX_SERIES:
                series = self._series[bucket] = _Series(self._new_detector())
            if series is not None:
                for step, kind, change in series.feed(part[part["bucket"] == bucket]):
                    noticed += self._notice(bucket, step, kind, change, int(part["step"][-1]))
        return noticed

    def _notice(self, bucket: int, step: int, kind: str, change: float, seen_at: int) -> list[dict[str, Any]]:
        """Returns the record of a change, unless it was seen in another bucket already."""
        slower = change > 0
        if self._last is not None and self._last[0] != bucket and self._last[1] == slower and step <= self._last[2]:
            return []
        self._last = (bucket, slower, seen_at)
        self._num_noticed += 1
        if self._num_noticed > MAX_NOTICED:
            return []
        logger.info(
            "step time %+.1f %% (%s) since step %d, seen at step %d: provisional, the tab looks at the whole run",
            100 * change,
            kind,
            step,
            seen_at,
        )
        return [{"step": step, "provisional_change": {"step": step, "kind": kind, "change": change}}]


class _GivesWay:
    """Gives the interpreter to whoever waits for it, again and again while a test runs.

    A thread that wants it is otherwise made to wait for up to `sys.getswitchinterval()`, 5 ms, at every operation of
    the loop that let go of it.
    """

    def __init__(self) -> None:
        self._since_s = time.perf_counter()

    def __call__(self) -> None:
        if time.perf_counter() - self._since_s >= _WORK_S:
            time.sleep(_REST_S)
            self._since_s = time.perf_counter()


_ROW = np.dtype([("step", np.int64), ("time_ms", np.float64), ("bucket", np.int64)])


class _Series:
    """One detector, and the step numbers of the rows that it may speak of."""

    def __init__(self, detector: LiveDetector) -> None:
        self._detector = detector
        self._steps = np.zeros(_NUM_STEPS_KEPT, np.int64)

    def feed(self, part: np.ndarray) -> list[tuple[int, str, float]]:
        """Adds at most `_ROWS_AT_ONCE` rows; returns (first step, kind, relative change) of what is confirmed."""
        at = self._detector.num_rows + np.arange(len(part))
        self._steps[at % _NUM_STEPS_KEPT] = part["step"]
        return [
            (int(self._steps[found.row % _NUM_STEPS_KEPT]), found.change.kind, float(found.change.change))
            for found in self._detector.feed(part["time_ms"])
        ]
