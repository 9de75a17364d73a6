"""What a slow step is: one that takes a multiple of the running median of its kind."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from tb_stepperf.blocks.schema import BUCKET, FLAGS, LEFT_OUT_BY_DEFAULT, STEP_TIME_MS
from tb_stepperf.recorder.rows import Rows

MIN_STEPS = 32
"""Steps of a kind before any of them is called slow."""

_NUM_KEPT = 256
_MAX_KINDS = 8
_NO_BUCKET = -1


class SlowSteps:
    """Follows the typical step of each kind (bucket). On the background thread.

    Args:
        factor: a slow step takes at least this many times the median.
        excess_ms: and at least this much more.
        num_warmup_steps: steps at the start, and after a step number that went back, that are passed over.
    """

    def __init__(self, factor: float, excess_ms: float, num_warmup_steps: int) -> None:
        self._factor = factor
        self._excess_ms = excess_ms
        self._kept_ms: dict[float, deque[float]] = {}
        self._median_ms: dict[float, float] = {}
        self._num_warmup_steps = max(num_warmup_steps, 1)
        self._num_to_pass = self._num_warmup_steps
        self._last_step = -1

    def see(self, rows: Rows) -> int | None:
        """Takes in measured steps; returns the number of the last slow one, None without."""
        times_ms, flags = rows.columns[STEP_TIME_MS], rows.columns[FLAGS].astype(np.int64)
        used = self._is_settled(rows.steps) & (flags & int(LEFT_OUT_BY_DEFAULT) == 0) & (times_ms > 0)
        buckets = rows.columns.get(BUCKET)
        if buckets is None:
            return self._see_kind(_NO_BUCKET, rows.steps[used], times_ms[used])
        buckets = np.nan_to_num(buckets, nan=_NO_BUCKET)
        slow = None
        for bucket in np.unique(buckets[used]).tolist():
            kind = used & (buckets == bucket)
            found = self._see_kind(bucket, rows.steps[kind], times_ms[kind])
            slow = found if slow is None or (found is not None and found > slow) else slow
        return slow

    def _see_kind(self, bucket: float, steps: np.ndarray, times_ms: np.ndarray) -> int | None:
        if not len(steps) or (bucket not in self._kept_ms and len(self._kept_ms) >= _MAX_KINDS):
            return None
        found = steps[times_ms >= self._limit_ms(self._median_ms.get(bucket, math.inf))]
        kept_ms = self._kept_ms.setdefault(bucket, deque(maxlen=_NUM_KEPT))
        kept_ms.extend(times_ms.tolist())
        if len(kept_ms) >= MIN_STEPS:
            self._median_ms[bucket] = sorted(kept_ms)[len(kept_ms) // 2]
        return int(found[-1]) if len(found) else None

    @property
    def typical_ms(self) -> float | None:
        """The median of the kind that has the longest steps; None before there is one."""
        return max(self._median_ms.values(), default=None)

    @property
    def limit_ms(self) -> float:
        """The time from which a step of every known kind is slow; infinity before there is one."""
        return self._limit_ms(max(self._median_ms.values(), default=math.inf))

    def _is_settled(self, steps: np.ndarray) -> np.ndarray:
        """Returns whether each step lies behind the warm-up, shape (num_steps,)."""
        settled: np.ndarray = np.ones(len(steps), bool)
        before = np.concatenate(([self._last_step], steps[:-1]))
        for start in [0, *np.flatnonzero(steps <= before).tolist()]:
            self._num_to_pass = self._num_warmup_steps if steps[start] <= before[start] else self._num_to_pass
            settled[start : start + self._num_to_pass] = False
            self._num_to_pass = max(self._num_to_pass - (len(steps) - start), 0)
        self._last_step = int(steps[-1])
        return settled

    def _limit_ms(self, median_ms: float) -> float:
        return max(self._factor * median_ms, median_ms + self._excess_ms)
