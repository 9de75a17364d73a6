"""The three integer axes of a member: step, relative (measured time) and wall (time of day)."""

from __future__ import annotations

import dataclasses

import numpy as np

from tb_stepperf.errors import ArgumentError

_MAX_POSITION = 2**63 - 1024
"""Largest integer below 2**63 that float64 holds: where a sum of times saturates."""

MIN_CLOCK_JUMP_S = 1.0
"""Differences between wall clock and monotonic clock below this are drift and rounding, not a jump."""


@dataclasses.dataclass(frozen=True, eq=False)
class Axis:
    """Where each row stands on an axis.

    Attributes:
        positions: int64, shape (num_rows,), not descending.
        end: end of the axis, above every position (a Python integer: it may be 2**63).
        is_gapless: whether each row lasts until the position of the next (the last until `end`); otherwise a row is
            the point `[position, position + 1)`.
    """

    positions: np.ndarray
    end: int
    is_gapless: bool = False

    def row_end(self, row: int) -> int:
        """Returns where a row ends, above its position."""
        start = int(self.positions[row])
        if not self.is_gapless:
            return start + 1
        return max(int(self.positions[row + 1]) if row + 1 < self.positions.size else self.end, start + 1)


def step_axis(steps: np.ndarray) -> Axis:
    """Returns the axis of step numbers.

    Args:
        steps: int64 vector, strictly ascending.

    Raises:
        ArgumentError: steps do not strictly ascend.
    """
    if steps.dtype != np.int64 or np.any(steps[1:] <= steps[:-1]):
        raise ArgumentError(f"steps are {steps.dtype}{steps.shape}; a strictly ascending int64 vector is allowed")
    return Axis(steps, int(steps[-1]) + 1 if steps.size else 0)


def relative_axis(step_time_ms: np.ndarray, excluded_ms: np.ndarray | None = None) -> Axis:
    """Returns the axis of measured time: a row stands where its step began, in ms since the first row began.

    A row's time is its step time plus the time excluded from it; what was not measured (NaN) or cannot be a time
    counts 0, and so do pauses between attempts. Sums are taken in float64 and then rounded to whole milliseconds.

    Args:
        step_time_ms: floating-point vector.
        excluded_ms: floating-point vector of the same shape, or None where nothing was excluded.

    Raises:
        ArgumentError: the shapes differ.
    """
    elapsed_ms = np.cumsum(measured_ms(step_time_ms, excluded_ms))
    ends = np.rint(np.minimum(elapsed_ms, float(_MAX_POSITION))).astype(np.int64)
    positions = np.zeros_like(ends)
    positions[1:] = ends[:-1]
    end = max(int(ends[-1]), int(positions[-1]) + 1) if ends.size else 0
    return Axis(positions, end, is_gapless=True)


def wall_axis(wall_time_s: np.ndarray) -> Axis:
    """Returns the axis of wall time at the end of each step, in ms since the epoch (UTC).

    Where the clock went back, the position is held until the clock catches up, so that positions never descend. A
    time that is not finite takes the position of the row before it.

    Args:
        wall_time_s: float64 vector, seconds since the epoch.
    """
    finite = np.isfinite(wall_time_s)
    if not finite.any():
        return Axis(np.zeros(wall_time_s.shape, np.int64), 1 if wall_time_s.size else 0)
    first_s = wall_time_s[finite.argmax()]
    held_ms = np.maximum.accumulate(np.where(finite, wall_time_s, first_s)) * 1000.0
    positions = np.rint(np.clip(held_ms, -float(_MAX_POSITION), float(_MAX_POSITION))).astype(np.int64)
    return Axis(positions, int(positions[-1]) + 1)


def measured_ms(step_time_ms: np.ndarray, excluded_ms: np.ndarray | None = None) -> np.ndarray:
    """Returns step time plus excluded time, float64; 0 where neither is a time (NaN, infinite, negative).

    Raises:
        ArgumentError: the shapes differ.
    """
    total_ms = _times(step_time_ms)
    if excluded_ms is not None:
        if excluded_ms.shape != step_time_ms.shape:
            raise ArgumentError(f"excluded_ms has shape {excluded_ms.shape}; step_time_ms has {step_time_ms.shape}")
        total_ms += _times(excluded_ms)
    return total_ms


def rows_between(axis: Axis, start: int, end: int) -> tuple[int, int]:
    """Returns the half-open range of rows whose positions lie in `[start, end)`; any Python integers are allowed.

    Raises:
        ArgumentError: start is above end.
    """
    if start > end:
        raise ArgumentError(f"the range [{start}, {end}) is reversed; start must not be above end")
    return _rows_below(axis.positions, start), _rows_below(axis.positions, end)


@dataclasses.dataclass(frozen=True, eq=False)
class ClockJumps:
    """Rows before which the wall clock was set.

    Attributes:
        rows: int64, shape (num_jumps,), ascending: the first row that carries the new time.
        jump_s: float64, shape (num_jumps,): how far the wall clock moved beyond the time that passed.
    """

    rows: np.ndarray
    jump_s: np.ndarray


def clock_jumps(wall_time_s: np.ndarray, elapsed_s: np.ndarray, follows: np.ndarray) -> ClockJumps:
    """Finds where the wall clock was set, by comparing it with the monotonic step times.

    Args:
        wall_time_s: float64, shape (num_rows,): wall time at the end of each row.
        elapsed_s: float64, shape (num_rows,): monotonic time that passed from the end of the row before to the end of
            this one; NaN where unknown: then only a clock that goes back is a jump.
        follows: bool, shape (num_rows,): whether the row before belongs to the same process lifetime.

    Returns:
        Differences of at least 1 s.

    Raises:
        ArgumentError: the shapes differ.
    """
    if not wall_time_s.shape == elapsed_s.shape == follows.shape:
        raise ArgumentError(
            f"wall_time_s, elapsed_s and follows have shapes {wall_time_s.shape}, {elapsed_s.shape}, {follows.shape}; "
            "equal shapes are allowed"
        )
    if wall_time_s.size < 2:
        return ClockJumps(np.zeros(0, np.int64), np.zeros(0))
    moved_s = np.diff(wall_time_s)
    known = np.isfinite(elapsed_s[1:])
    jump_s = np.where(known, moved_s - np.where(known, elapsed_s[1:], 0.0), np.minimum(moved_s, 0.0))
    found = np.flatnonzero(follows[1:] & (np.abs(jump_s) >= MIN_CLOCK_JUMP_S) & np.isfinite(jump_s))
    return ClockJumps(found + 1, jump_s[found])


def _times(values: np.ndarray) -> np.ndarray:
    wide = values.astype(np.float64)
    wide[~(np.isfinite(wide) & (wide > 0))] = 0.0
    return wide


def _rows_below(positions: np.ndarray, bound: int) -> int:
    if not positions.size or bound <= int(positions[0]):
        return 0
    if bound > int(positions[-1]):
        return positions.size
    return int(np.searchsorted(positions, np.int64(bound), side="left"))
