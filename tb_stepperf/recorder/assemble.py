"""Stamps to steps: exclusive stage times of every step, computed for many steps at once."""

from __future__ import annotations

import dataclasses

import numpy as np

from tb_stepperf.recorder.nesting import Nesting
from tb_stepperf.recorder.stamps import BOUNDARY, ENTER, EXCLUDED, FIRST_STAGE, INTERRUPT, KIND_BITS, LAP, NO_STAGE


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
        still_open: numbers of the stages that were open at boundaries.
    """

    end_s: np.ndarray
    step_time_s: np.ndarray
    stage_time_s: np.ndarray
    num_micro_steps: np.ndarray
    after_interruption: np.ndarray
    num_interrupted: int = 0
    still_open: tuple[int, ...] = ()

    @property
    def num_steps(self) -> int:
        """Number of steps."""
        return int(self.end_s.shape[0])

    def slice(self, start: int, end: int) -> Steps:
        """Returns steps [start, end), without the counts."""
        return Steps(
            self.end_s[start:end],
            self.step_time_s[start:end],
            self.stage_time_s[start:end],
            self.num_micro_steps[start:end],
            self.after_interruption[start:end],
        )


class Assembler:
    """Turns stamps into steps; what is left of an unfinished step waits here as sums, never as stamps."""

    def __init__(self) -> None:
        self._nesting = Nesting()
        self._last_s: float | None = None
        self._start_s = 0.0
        self._stage_time_s = np.zeros(FIRST_STAGE)
        self._num_entered = np.zeros(FIRST_STAGE, np.int64)
        self._any_entered = False
        self._interrupted = False

    def feed(self, stamps: np.ndarray) -> Steps:
        """Adds stamps and returns the steps that they complete.

        Args:
            stamps: float64, shape (num_stamps, 2), at least one: code and clock reading in seconds. A reading below the
                one before (two threads) counts as equal to it.
        """
        codes = stamps[:, 0].astype(np.int64)
        followed = self._nesting.follow_all(codes)
        times_s = np.empty(len(stamps) + 1)
        times_s[0], times_s[1:] = stamps[0, 1] if self._last_s is None else self._last_s, stamps[:, 1]
        durations_s = times_s[1:] - times_s[:-1]
        if durations_s.min() < 0:
            times_s = np.maximum.accumulate(times_s)
            durations_s = np.diff(times_s)
        if self._last_s is None:
            self._start_s = float(times_s[0])

        ends = followed.kinds >= BOUNDARY
        part: np.ndarray = np.cumsum(ends) - ends  # which part a stamp ends in; the last part is still open
        num_parts = int(part[-1]) + int(ends[-1]) + 1
        num_stages = max((int(codes.max()) >> KIND_BITS) + 1, len(self._stage_time_s))

        stage_time_s = _sums(part, followed.owners, num_parts, num_stages, durations_s)
        stage_time_s[0, : len(self._stage_time_s)] += self._stage_time_s
        num_entered = _sums(part, followed.entered, num_parts, num_stages)
        if followed.emptied.any():
            num_entered = num_entered - _sums(part, followed.emptied, num_parts, num_stages)
        num_entered[:, NO_STAGE] = 0
        num_entered[0, : len(self._num_entered)] += self._num_entered

        end_at = np.flatnonzero(ends)
        end_s = times_s[1:][end_at]
        starts_s = np.concatenate(([self._start_s], end_s))
        is_step = followed.kinds[end_at] == BOUNDARY
        closed = stage_time_s[:-1][is_step]
        num_interrupted, after_interruption = self._interruptions(followed.kinds, part, num_parts, end_at, is_step)
        steps = Steps(
            end_s=end_s[is_step],
            step_time_s=(end_s - starts_s[:-1])[is_step] - closed[:, EXCLUDED],
            stage_time_s=closed,
            num_micro_steps=num_entered[:-1][is_step].max(axis=1, initial=0),
            after_interruption=after_interruption,
            num_interrupted=num_interrupted,
            still_open=followed.still_open,
        )
        self._last_s, self._start_s = float(times_s[-1]), float(starts_s[-1])
        self._stage_time_s, self._num_entered = stage_time_s[-1].copy(), num_entered[-1].copy()
        return steps

    def _interruptions(
        self, kinds: np.ndarray, part: np.ndarray, num_parts: int, end_at: np.ndarray, is_step: np.ndarray
    ) -> tuple[int, np.ndarray]:
        """Returns how many parts were cut, and for each step whether one was since the step before.

        An exception that leaves several stages cuts once: a part in which nothing was entered is none.
        """
        entering = (kinds == ENTER) | (kinds == LAP)
        if not self._interrupted and kinds.max() < INTERRUPT:
            start = int(end_at[-1]) + 1 if len(end_at) else 0
            self._any_entered = bool(entering[start:].any()) or (start == 0 and self._any_entered)
            return 0, np.zeros(len(end_at), bool)
        any_entered = np.bincount(part[entering], minlength=num_parts) > 0
        any_entered[0] |= self._any_entered
        self._any_entered = bool(any_entered[-1])
        num_cut = np.cumsum((kinds[end_at] == INTERRUPT) & any_entered[:-1])
        num_cut_at_steps = np.concatenate(([-1 if self._interrupted else 0], num_cut[is_step]))
        total = int(num_cut[-1]) if len(num_cut) else 0
        self._interrupted = total > num_cut_at_steps[-1]
        return total, num_cut_at_steps[1:] > num_cut_at_steps[:-1]


def _sums(
    rows: np.ndarray, columns: np.ndarray, num_rows: int, num_columns: int, weights: np.ndarray | None = None
) -> np.ndarray:
    """Returns sums (or counts) by (row, column), shape (num_rows, num_columns)."""
    flat = np.bincount(rows * num_columns + columns, weights, minlength=num_rows * num_columns)
    return flat.reshape(num_rows, num_columns)
