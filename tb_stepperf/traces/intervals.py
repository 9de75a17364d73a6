"""Sets of moments as sorted, disjoint intervals: unions, differences and how much of a window they cover."""

from __future__ import annotations

import dataclasses

import numpy as np

_BEGINNING, _END = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@dataclasses.dataclass(frozen=True, eq=False)
class Intervals:
    """Disjoint half-open intervals in order of time.

    Attributes:
        start, end: int64 ns, shape (num_intervals,); `start < end`, and the next start lies after the end before it.
    """

    start: np.ndarray
    end: np.ndarray

    @property
    def num(self) -> int:
        """Number of intervals."""
        return int(self.start.shape[0])

    @property
    def lengths(self) -> np.ndarray:
        """Durations, int64 ns, shape (num_intervals,)."""
        return self.end - self.start

    def covered(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Returns how much of each window is covered.

        Args:
            start, end: int64 ns, shape (num_windows,); windows may overlap.

        Returns:
            int64 ns, shape (num_windows,).
        """
        before = np.concatenate([[0], np.cumsum(self.lengths)])
        return self._until(end, before) - self._until(start, before)

    def _until(self, at: np.ndarray, before: np.ndarray) -> np.ndarray:
        num_begun = np.searchsorted(self.start, at, side="right")
        if not self.num:
            return np.zeros(num_begun.shape, np.int64)
        excess = self.end[np.maximum(num_begun - 1, 0)] - at
        return before[num_begun] - np.where(num_begun > 0, np.maximum(excess, 0), 0)


NOTHING = Intervals(np.empty(0, np.int64), np.empty(0, np.int64))


def union(start: np.ndarray, end: np.ndarray) -> Intervals:
    """Returns the moments that any of the intervals holds; empty ones hold none.

    Args:
        start, end: int64 ns, shape (n,), in any order, overlapping or not.
    """
    held = end > start
    start, end = start[held], end[held]
    if not start.size:
        return NOTHING
    if np.any(start[1:] < start[:-1]):
        order = np.argsort(start, kind="stable")
        start, end = start[order], end[order]
    reach = np.maximum.accumulate(end)
    opens = np.concatenate([[True], start[1:] > reach[:-1]])
    return Intervals(start[opens], reach[np.concatenate([opens[1:], [True]])])


def joined(*sets: Intervals) -> Intervals:
    """Returns the moments that any of the sets holds."""
    return union(np.concatenate([s.start for s in sets]), np.concatenate([s.end for s in sets]))


def common(one: Intervals, other: Intervals) -> Intervals:
    """Returns the moments that both sets hold."""
    first = np.searchsorted(other.end, one.start, side="right")
    num = np.maximum(np.searchsorted(other.start, one.end, side="left") - first, 0)
    mine = np.repeat(np.arange(one.num), num)
    theirs = np.arange(mine.size) - np.repeat(np.cumsum(num) - num, num) + np.repeat(first, num)
    return Intervals(
        np.maximum(one.start[mine], other.start[theirs]),
        np.minimum(one.end[mine], other.end[theirs]),
    )


def without(one: Intervals, other: Intervals) -> Intervals:
    """Returns the moments that `one` holds and `other` does not."""
    rest = Intervals(np.concatenate([[_BEGINNING], other.end]), np.concatenate([other.start, [_END]]))
    return common(one, rest)
