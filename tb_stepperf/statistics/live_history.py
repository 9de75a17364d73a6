"""What the live detector remembers of a run: its level in groups of steps, far beyond the rows that it keeps.

It answers one question: how long has the run been at such a level before, only to leave it again? An excursion that
comes again is no news, and that it is one shows only when it has lasted longer than those before it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tb_stepperf.statistics.selection import true_stretches

GROUP = 16
_MAX_GROUPS = 4096
NEVER = 1 << 31
"""More rows than anybody waits for."""

LONGEST_VISIT = 1024
"""A level that was held for more rows than this was no excursion, but a level of its own."""

_NEAR = 0.65
"""Part of the way to a level from which on the run counts as having been there."""

_SAME = 0.015
"""Levels that differ by no more, in logarithm, are one."""

_NOW = 4
"""Groups that tell the present level."""

_CLEAR = 10.0
_AWAY = 3
_MANY = 2.0
_ONE = 4.0
_MOST_SMOOTHED = 8


class LevelHistory:
    """The typical log step time of each group of `GROUP` rows, of the last 65,536 rows at most."""

    def __init__(self) -> None:
        self._levels = np.empty(2 * _MAX_GROUPS)
        self._relative = np.empty(2 * _MAX_GROUPS)
        self._num_kept = 0
        self._first_group = 0

    @property
    def num_rows(self) -> int:
        """Rows taken in so far; a multiple of `GROUP`."""
        return (self._first_group + self._num_kept) * GROUP

    def add(self, log_ms: np.ndarray) -> None:
        """Takes in whole groups.

        Args:
            log_ms: shape (num_groups * GROUP,), fewer than 65,536; NaN where a reading cannot be used.
        """
        ranked = np.sort(log_ms.reshape(-1, GROUP), axis=1)
        # the middle half: deaf to spikes, stalls and single slow steps
        levels = ranked[:, GROUP // 4 : -GROUP // 4].mean(axis=1)
        if self._num_kept + levels.size > self._levels.size:
            first = self._num_kept - _MAX_GROUPS
            for array in (self._levels, self._relative):
                array[:_MAX_GROUPS] = array[first : self._num_kept].copy()
            self._first_group += first
            self._num_kept = _MAX_GROUPS
        for array in (self._levels, self._relative):
            array[self._num_kept : self._num_kept + levels.size] = levels
        self._num_kept += levels.size

    def step(self, row: int, delta: float) -> None:
        """Notes a change of level that lasts: what came before is from now on also seen as if at the new level."""
        at = -(-row // GROUP) - self._first_group
        self._relative[: max(at, 0)] += delta

    def stay(self) -> tuple[int, int]:
        """Returns for how many rows the run has been at its present level, and the longest earlier stay there."""
        levels = self._levels[: self._num_kept]
        levels = levels[np.isfinite(levels)]
        if levels.size < 2 * _NOW:
            return 0, 0
        present = float(np.median(levels[-_NOW:]))
        noise = float(np.median(np.abs(np.diff(levels))))
        is_there = np.abs(levels - present) <= max(_SAME, _CLEAR / 2 * noise)
        # a group that a stall spoils does not end a stay
        is_there[1:-1] |= is_there[:-2] & is_there[2:]
        starts, ends = true_stretches(is_there)
        lengths = ends - starts
        if not lengths.size or ends[-1] <= levels.size - _NOW:
            return 0, 0  # on the way from one level to another
        return int(lengths[-1]) * GROUP, int(lengths[:-1].max(initial=0)) * GROUP

    def rows_to_outlast(
        self,
        start_row: int,
        row: int,
        end_row: int,
        pending: Sequence[tuple[int, float]] = (),
        last_row: int | None = None,
    ) -> int:
        """Rows that a level must be held to be more than another excursion, 0 where there was none like it.

        Excursions are the earlier stays near the new level that began and ended, and the stay away from it that `row`
        ends where the run had come from there. One must be outlasted six times, many alike two to three times; what
        was held for more than 1,024 rows is none. To come back to where the run had been for longer than it was away
        is no change at all, unless the step away was one (`last_row`): then it must last three times as long as that.
        Levels are compared as they were, and relative to the steps that lasted, so that a pattern is known again on
        top of one.

        Args:
            start_row: where the old level begins.
            row: first row of the new level.
            end_row: where the new level ends, or the number of rows so far.
            pending: steps of level (row, difference of logarithms) that may last, besides those noted by `step`.
            last_row: first row of the last change that was confirmed.
        """
        start, at, end = (max(edge // GROUP - self._first_group, 0) for edge in (start_row, row, end_row))
        relative = self._relative[:end].copy()
        for step_row, delta in pending:
            relative[: max(-(-step_row // GROUP) - self._first_group, 0)] += delta
        # the group in which the level changes says nothing
        held = None if last_row is None else at - (last_row // GROUP - self._first_group)
        return max(
            _to_outlast(part[start:at], part[at + 1 : end], part[:at], held) for part in (self._levels, relative)
        )


def _to_outlast(before: np.ndarray, after: np.ndarray, earlier: np.ndarray, confirmed: int | None) -> int:
    """`rows_to_outlast`, of groups at the old level, at the new one, and all earlier ones.

    Args:
        before, after, earlier: the groups.
        confirmed: how many groups ago the last confirmed change was.
    """
    before, after, earlier = (part[np.isfinite(part)] for part in (before, after, earlier))
    if not before.size or not after.size:
        return 0
    old, new = float(np.median(before)), float(np.median(after))
    noise = float(np.median(np.abs(np.diff(earlier)))) if earlier.size > 1 else 0.0
    # as many groups together as make the noise small beside the change
    height = max(abs(new - old), 1e-6)
    width = int(min(max(1, math.ceil((_CLEAR * noise / height) ** 2)), _MOST_SMOOTHED, earlier.size))
    smooth = np.convolve(earlier, np.full(width, 1.0 / width), mode="valid")
    is_new = (smooth - old) / (new - old) > _NEAR if new != old else np.zeros(smooth.size, bool)
    visits = np.diff(np.concatenate([[0], np.flatnonzero(np.diff(is_new)) + 1, [is_new.size]])) * GROUP
    if visits.size < 2:
        return 0
    # they alternate, the last is away from the new level, and where the first began is not known
    stays = visits[-2:0:-2]
    stays = stays[stays <= LONGEST_VISIT]
    away = int(min(visits[-1], visits[-2]))
    demanded = _AWAY * away if away <= LONGEST_VISIT else 0.0
    is_back = visits[-2] >= visits[-1] and demanded > 0
    if is_back and (confirmed is None or abs(confirmed - visits[-1] // GROUP) > _NOW):
        return NEVER
    if stays.size:
        longest = int(stays.max())
        num_alike = int((3 * stays >= longest).sum())
        demanded = max(demanded, (_MANY + _ONE / num_alike) * longest)
    return int(demanded)
