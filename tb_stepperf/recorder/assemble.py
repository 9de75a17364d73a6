"""Stamps to steps: exclusive stage times of every step, computed for many steps at once."""

from __future__ import annotations

import dataclasses

import numpy as np

from tb_stepperf.recorder.stamps import (
    BOUNDARY,
    EMPTY,
    ENTER,
    EXCLUDED,
    FIRST_STAGE,
    INTERRUPT,
    LAP,
    NO_STAGE,
    NUM_KINDS,
)

_KIND_BITS = NUM_KINDS.bit_length() - 1


@dataclasses.dataclass(frozen=True, eq=False)
class Steps:
    """Steps that ended, in order.

    Attributes:
        end_s: float64, shape (num_steps,): clock reading at the end of each step.
        step_time_s: float64, shape (num_steps,): time between the boundaries without excluded time.
        stage_time_s: float64, shape (num_steps, num_stages): exclusive time by stage number; column `NO_STAGE` is
            what no stage covers, column `EXCLUDED` the excluded time.
        num_micro_steps: int64, shape (num_steps,): times that the most often entered top-level stage was entered.
        after_interruption: bool, shape (num_steps,): an exception cut what came before.
        num_interrupted: steps that were cut by an exception and are not among these.
    """

    end_s: np.ndarray
    step_time_s: np.ndarray
    stage_time_s: np.ndarray
    num_micro_steps: np.ndarray
    after_interruption: np.ndarray
    num_interrupted: int

    @property
    def num_steps(self) -> int:
        """Number of steps."""
        return int(self.end_s.shape[0])

    def slice(self, start: int, end: int) -> Steps:
        """Returns steps [start, end), of which none was cut."""
        return Steps(
            self.end_s[start:end],
            self.step_time_s[start:end],
            self.stage_time_s[start:end],
            self.num_micro_steps[start:end],
            self.after_interruption[start:end],
            0,
        )


class Assembler:
    """Turns stamps into steps; what is left of an unfinished step waits here as sums, never as stamps."""

    def __init__(self) -> None:
        self._last_s: float | None = None
        self._start_s = 0.0
        self._current = NO_STAGE
        self._stage_time_s = np.zeros(FIRST_STAGE)
        self._num_entered = np.zeros(FIRST_STAGE, np.int64)
        self._any_entered = False
        self._interrupted = False

    def feed(self, stamps: np.ndarray) -> Steps:
        """Adds stamps and returns the steps that they complete.

        Args:
            stamps: float64, shape (num_stamps, 2): code and clock reading in seconds. A reading below the one before
                (two threads) counts as equal to it.
        """
        codes = stamps[:, 0].astype(np.int64)
        kinds, named = codes & (NUM_KINDS - 1), codes >> _KIND_BITS
        laps = kinds == LAP
        any_laps = bool(laps.any())
        after = np.where(laps, NO_STAGE, named) if any_laps else named
        before = np.empty_like(after)
        before[0], before[1:] = self._current, after[:-1]
        times_s = np.empty(len(stamps) + 1)
        times_s[0], times_s[1:] = stamps[0, 1] if self._last_s is None else self._last_s, stamps[:, 1]
        durations_s = times_s[1:] - times_s[:-1]
        if durations_s.min() < 0:
            times_s = np.maximum.accumulate(times_s)
            durations_s = np.diff(times_s)
        if self._last_s is None:
            self._start_s = float(times_s[0])

        ends = kinds >= BOUNDARY
        part: np.ndarray = np.cumsum(ends) - ends  # which part a stamp ends in; the last part is still open
        num_parts = int(part[-1]) + int(ends[-1]) + 1
        num_stages = max(int(named.max()) + 1, len(self._stage_time_s))

        owner = np.where(laps, named, before) if any_laps else before
        stage_time_s = _sums(part, owner, num_parts, num_stages, durations_s)
        stage_time_s[0, : len(self._stage_time_s)] += self._stage_time_s
        num_entered, any_entered = self._entered(kinds, named, before, part, num_parts, num_stages)

        end_at = np.flatnonzero(ends)
        end_s = times_s[1:][end_at]
        is_step = kinds[end_at] == BOUNDARY
        cut = (kinds[end_at] == INTERRUPT) & any_entered[:-1]
        num_cut = np.cumsum(cut)
        num_cut_before = np.concatenate(([-1 if self._interrupted else 0], num_cut[is_step][:-1]))
        starts_s = np.concatenate(([self._start_s], end_s))
        closed = stage_time_s[:-1][is_step]
        steps = Steps(
            end_s=end_s[is_step],
            step_time_s=(end_s - starts_s[:-1])[is_step] - closed[:, EXCLUDED],
            stage_time_s=closed,
            num_micro_steps=num_entered[:-1][is_step].max(axis=1, initial=0),
            after_interruption=num_cut[is_step] > num_cut_before[: int(is_step.sum())],
            num_interrupted=int(cut.sum()),
        )
        self._interrupted = bool(
            num_cut[-1] > num_cut[is_step][-1] if is_step.any() else self._interrupted or cut.any()
        )
        self._last_s, self._start_s, self._current = float(times_s[-1]), float(starts_s[-1]), int(after[-1])
        self._stage_time_s, self._num_entered = stage_time_s[-1].copy(), num_entered[-1].copy()
        self._any_entered = bool(any_entered[-1])
        return steps

    def _entered(
        self,
        kinds: np.ndarray,
        named: np.ndarray,
        before: np.ndarray,
        part: np.ndarray,
        num_parts: int,
        num_stages: int,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns how often each top-level stage was entered, by part and stage, and by part whether any stage was."""
        entering = (kinds == ENTER) | (kinds == LAP)
        top = entering & (before == NO_STAGE) & (named >= FIRST_STAGE)
        num_entered = _sums(part[top], named[top], num_parts, num_stages).astype(np.int64)
        num_entered[0, : len(self._num_entered)] += self._num_entered
        empty = (kinds == EMPTY) & (named == NO_STAGE)
        if empty.any():
            num_entered -= _sums(part[empty], before[empty], num_parts, num_stages).astype(np.int64)
        any_entered = np.bincount(part[entering], minlength=num_parts) > 0
        any_entered[0] |= self._any_entered
        return num_entered, any_entered


def _sums(
    rows: np.ndarray, columns: np.ndarray, num_rows: int, num_columns: int, weights: np.ndarray | None = None
) -> np.ndarray:
    """Returns sums (or counts) by (row, column), shape (num_rows, num_columns)."""
    flat = np.bincount(rows * num_columns + columns, weights, minlength=num_rows * num_columns)
    return flat.reshape(num_rows, num_columns)
