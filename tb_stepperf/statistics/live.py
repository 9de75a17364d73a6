"""The live detector: has the training just become slower for good? Asked while it runs, in bounded memory.

A pure state machine. Blocks of step times go in, provisional changes come out; there is no clock, no thread and no file
here. A cheap watch (a two-sided cumulative sum over groups of 16 steps: Page, Biometrika 41, 1954) runs on every block;
only when it is alarmed, when the run stays at a level as never before, and at a few fixed ages, is the full question
put to the last 2,048 steps with `find_changes`. What it says of levels and ramps is confirmed when it has lasted: the
first 600 rows are only listened to, a first level that was short is no base yet, an excursion that came back is no
news, and where the run was at such a level before (`live_history`), the new stay must be longer by far. Tails, spread
and drifts are left to the full analysis: they are seldom sure before the run is long.
The training thread does nothing for all this but what it does anyway: append a number.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from tb_stepperf.statistics.changes import Change, find_changes
from tb_stepperf.statistics.changes.noise import Sums
from tb_stepperf.statistics.changes.prepare import prepare
from tb_stepperf.statistics.changes.records import Settings
from tb_stepperf.statistics.live_history import GROUP, LONGEST_VISIT, LevelHistory

WINDOW = 2048
_REFERENCE = 192
_MIN_BEFORE = 100
_MIN_AFTER = 32
_MIN_SHAPE = 512
"""Rows that a ramp must have lasted."""
_SETTLED = 600
"""Rows before which nothing is confirmed: the first excursion of a pattern and a lasting change look alike."""
_YOUNG = 700
"""Age at which a change that comes after one level alone need not last any longer for that."""
_LONGEST_WAIT = 16_384
_NEWS = 64
"""Rows after which a stay at a level where the run never was is worth a question out of turn."""
_DRIFT = math.log1p(0.015)
_STEPS = ("regression", "improvement")


@dataclasses.dataclass(frozen=True)
class ProvisionalChange:
    """A change that the live detector vouches for until the full analysis has the whole run.

    Attributes:
        row: the first row of the new regime, counted from the first row ever fed.
        seen_at_row: number of rows fed when it was confirmed; the difference is the delay.
        change: what `find_changes` says of it; its `step` and `end_step` are rows as above.
    """

    row: int
    seen_at_row: int
    change: Change


@dataclasses.dataclass(frozen=True)
class _Reference:
    """What the watch compares with, in logarithm.

    Attributes:
        level: what steps take.
        limit: how far from the level a single step counts; more than the allowance, or nothing could ever add up.
        drift: allowance of the cumulative sum.
        threshold: of the cumulative sum.
    """

    level: float
    limit: float
    drift: float
    threshold: float


class LiveDetector:
    """Watches one series of step times.

    Args:
        min_effect: smallest relative change of the typical step that counts.
        min_tail_effect: smallest relative change of the 95th percentile that counts.

    Raises:
        ArgumentError: an effect is out of range.
    """

    def __init__(self, *, min_effect: float = 0.03, min_tail_effect: float = 0.05) -> None:
        self._settings = Settings(min_effect=min_effect, min_tail_effect=min_tail_effect)
        self._window = np.empty(2 * WINDOW)
        self._num_kept = 0
        self._num_rows = 0
        self._num_grouped = 0
        self._reference: _Reference | None = None
        self._up = self._down = 0.0
        self._up_since = self._down_since = 0
        self._next_age = _SETTLED
        self._blocked_until = 0
        self._wait = GROUP
        self._news_due = 0
        self._last_row = 0
        self._refer_from = self._refer_due = 0
        self._history = LevelHistory()
        self._ask_at = 0

    @property
    def num_rows(self) -> int:
        """Rows fed so far."""
        return self._num_rows

    def feed(self, step_time_ms: Sequence[float] | np.ndarray) -> tuple[ProvisionalChange, ...]:
        """Takes the next step times, in order, and returns what is newly confirmed (mostly nothing).

        Args:
            step_time_ms: shape (num_steps,), any number of rows; readings that are no time are passed over.
        """
        found: list[ProvisionalChange] = []
        block = np.asarray(step_time_ms, dtype=np.float64)
        for start in range(0, block.size, WINDOW // 4):
            part = block[start : start + WINDOW // 4]
            self._keep(part)
            found += self._advance()
        return tuple(found)

    def _keep(self, part: np.ndarray) -> None:
        """Appends rows to the window; what is older than `WINDOW` rows goes when the buffer is full."""
        if self._num_kept + part.size > self._window.size:
            keep = self._window[self._num_kept - WINDOW : self._num_kept].copy()
            self._window[:WINDOW] = keep
            self._num_kept = WINDOW
        self._window[self._num_kept : self._num_kept + part.size] = part
        self._num_kept += part.size
        self._num_rows += part.size
        if self._num_rows - self._history.num_rows >= WINDOW // 4:
            self._remember()

    def _remember(self) -> None:
        """Brings the history up to the last whole group."""
        num_new = self._num_rows - self._history.num_rows
        rows = self._rows(num_new)[: num_new // GROUP * GROUP]
        with np.errstate(divide="ignore", invalid="ignore"):
            log_ms = np.log(rows)
        self._history.add(np.where(np.isfinite(log_ms), log_ms, np.nan))

    def _rows(self, num_rows: int) -> np.ndarray:
        """The newest `num_rows` rows that are kept."""
        num_rows = min(num_rows, self._num_kept)
        return self._window[self._num_kept - num_rows : self._num_kept]

    def _advance(self) -> list[ProvisionalChange]:
        """Runs the watch over whole groups that are new, and the full test if it is due."""
        if self._num_rows < _SETTLED:
            return []
        alarmed = self._watch()
        if self._refer_due and self._num_rows >= self._refer_due and not alarmed:
            self._refer(self._refer_from)
        if self._num_rows >= self._next_age:
            while self._num_rows >= self._next_age:
                self._next_age = self._next_age * 3 // 2
        elif 0 < self._ask_at <= self._num_rows:
            self._ask_at = 0
        elif not (alarmed and self._num_rows >= self._blocked_until) and not self._is_news():
            return []
        return self._test(alarmed)

    def _is_news(self) -> bool:
        """Whether the run has been held at its present level for much longer than ever before.

        That needs no reference, which may be spoilt by an excursion within it, and waits for no back-off. A stay is
        news when it is `_NEWS` rows long, and again whenever it is twice as long as last time.
        """
        if self._num_rows < self._news_due:
            return False
        self._news_due = self._num_rows + 4 * GROUP
        self._remember()
        stay, longest = self._history.stay()
        if stay < max(_NEWS, 2 * longest):
            return False
        self._news_due = self._num_rows + stay
        return True

    def _watch(self) -> bool:
        """Cumulative sums over the new groups; whether either has been above zero long enough and is high enough."""
        reference = self._reference
        if reference is None:
            return False
        num_groups = (self._num_rows - self._num_grouped) // GROUP
        if not num_groups:
            return False
        rest = self._num_rows - self._num_grouped - num_groups * GROUP
        rows = self._rows(num_groups * GROUP + rest)[: num_groups * GROUP]
        with np.errstate(divide="ignore", invalid="ignore"):
            residual = np.log(rows) - reference.level
        residual = np.nan_to_num(residual, nan=0.0, posinf=0.0, neginf=0.0)
        means = np.clip(residual, -reference.limit, reference.limit).reshape(-1, GROUP).mean(axis=1)
        self._num_grouped += num_groups * GROUP
        up, down = self._up, self._down
        row = self._num_grouped - num_groups * GROUP
        for mean in means.tolist():
            row += GROUP
            up = max(0.0, up + mean - reference.drift)
            down = max(0.0, down - mean - reference.drift)
            if up == 0.0:
                self._up_since = row
            if down == 0.0:
                self._down_since = row
        self._up, self._down = up, down
        slower = up > reference.threshold and row - self._up_since >= _MIN_AFTER
        faster = down > reference.threshold and row - self._down_since >= _MIN_AFTER
        return slower or faster

    def _refer(self, first_row: int) -> None:
        """Takes a new reference from the rows since `first_row`, which are thought to hold one level."""
        rows = self._rows(self._num_rows - first_row)
        prepared = prepare(rows)
        log_ms = prepared.log_ms[:_REFERENCE]
        if log_ms.size < 48:
            return
        limited = prepared.centre[:_REFERENCE] + np.clip(
            log_ms - prepared.centre[:_REFERENCE], -4.0 * prepared.scale, 4.0 * prepared.scale
        )
        sums = Sums(limited)
        noise = sums.long_run_variance(0, limited.size)
        drift = max(_DRIFT, 3.0 * math.sqrt(noise / limited.size))
        per_group = noise / GROUP
        threshold = max(11.0 * per_group / (2.0 * drift), 2.0 * drift)
        # the watch reads raw rows, periodic slow steps and all: its level is what they average to when clipped alike
        raw = rows[prepared.index[:_REFERENCE]]
        raw = np.log(raw[np.isfinite(raw) & (raw > 0)])
        level = float(np.median(raw))
        limit = max(4.0 * prepared.scale, 0.1)
        for _ in range(3):
            level += float(np.mean(np.clip(raw - level, -limit, limit)))
        self._reference = _Reference(level, max(limit, 3.0 * drift), drift, threshold)
        self._up = self._down = 0.0
        self._num_grouped = self._num_grouped or self._num_rows
        self._up_since = self._down_since = self._num_grouped
        if rows.size >= _REFERENCE:
            self._refer_due = 0

    def _test(self, alarmed: bool) -> list[ProvisionalChange]:
        """Puts the full question to the window."""
        self._remember()
        rows = self._rows(WINDOW)
        first_row = self._num_rows - rows.size
        changes = find_changes(
            rows, min_effect=self._settings.min_effect, min_tail_effect=self._settings.min_tail_effect
        )
        fresh = [change for change in changes if first_row + change.step >= self._last_row + GROUP]
        found = []
        # the first answer may be spoilt by a change right before it
        self._ask_at = self._num_rows + 2 * _MIN_AFTER if self._reference is None else 0
        previous: Change | None = None
        pending: list[tuple[int, float]] = []
        for number, change in enumerate(fresh):
            row = first_row + change.step
            if change.kind not in (*_STEPS, "ramp") or row < _MIN_BEFORE:
                continue
            # what passes by itself does not end the stay at a level, unless it leads back to the level before
            ends = (later for later in fresh[number + 1 :] if later.kind != "transient" or _undoes(change, later))
            following = next(ends, None)
            if previous is not None and _undoes(previous, change):
                # back from where it was not said to have gone
                previous = None
                continue
            missing = self._missing(change, following, first_row, pending)
            previous = None
            if missing <= 0:
                found.append(self._confirm(change, first_row))
                continue
            if change.kind in _STEPS:
                previous = change
                pending.append((row, math.log1p(change.change)))
            if following is None:
                self._ask_at = self._num_rows + missing
        if found or self._reference is None:
            self._refer_from = first_row + max((change.end_step or change.step for change in changes), default=0)
            self._refer_due = self._refer_from + _REFERENCE
            if self._reference is None or self._num_rows - self._refer_from >= _REFERENCE // 2:
                self._refer(self._refer_from)
        if found:
            self._wait = GROUP
            self._blocked_until = 0
            return found
        if not alarmed:
            return []
        # not (yet) confirmed: ask again, ever more rarely
        self._blocked_until = self._num_rows + self._wait
        self._wait = min(max(self._wait * 3 // 2, self._wait + GROUP // 2), _LONGEST_WAIT)
        if self._wait > 128 and not fresh:
            # alarmed several times for nothing: the reference is off
            self._refer(self._num_rows - 512)
        return []

    def _missing(
        self, change: Change, following: Change | None, first_row: int, pending: list[tuple[int, float]]
    ) -> int:
        """Rows that a change must yet last before it is confirmed; 0 or fewer where none are missing.

        Args:
            change: what is asked about.
            following: the change that ends it, if any.
            first_row: row of the window's first.
            pending: earlier steps of level that are not confirmed, as (row, difference of logarithms).
        """
        row = first_row + change.step
        missing = max(_MIN_AFTER - (self._num_rows - row), _SETTLED - self._num_rows)
        if change.kind not in _STEPS:
            return max(missing, _MIN_SHAPE - (self._num_rows - row))
        end = self._num_rows if following is None else first_row + following.step
        if following is not None and end - row <= LONGEST_VISIT and _undoes(change, following):
            return 1
        # one short stay alone is no base: the next must last as long, unless a third level shows that they are no pair
        is_second = row - change.num_before < _MIN_BEFORE and (following is None or _undoes(change, following))
        young = min(row, _YOUNG - row) if is_second else 0
        to_outlast = self._history.rows_to_outlast(row - change.num_before, row, end, pending, self._last_row)
        return max(missing, max(to_outlast, young) - (end - row))

    def _confirm(self, change: Change, first_row: int) -> ProvisionalChange:
        """Reports a change; what lies before it is no longer asked about."""
        row = first_row + change.step
        end_row = None if change.end_step is None else first_row + change.end_step
        if change.measure == "typical":
            delta = math.log1p(change.change)
            self._history.step(row, delta)
            if self._reference is not None:
                # at once from the new level on; what its noise is, a few more rows will tell
                self._reference = dataclasses.replace(self._reference, level=self._reference.level + delta)
                self._up = self._down = 0.0
                self._up_since = self._down_since = self._num_grouped
        self._last_row = row if change.kind != "ramp" or end_row is None else end_row
        return ProvisionalChange(row, self._num_rows, dataclasses.replace(change, step=row, end_step=end_row))


def _undoes(change: Change, following: Change) -> bool:
    """Whether the second of two successive changes takes the level back to where it was before the first."""
    first, second = math.log1p(change.change), math.log1p(following.change)
    return first * second < 0 and abs(first + second) < 0.3 * max(abs(first), abs(second))
