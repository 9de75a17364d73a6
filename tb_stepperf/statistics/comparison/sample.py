"""What goes into a comparison, and what of it is used."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tb_stepperf.errors import ArgumentError

MIN_STEPS = 30
"""A run with fewer usable steps says nothing about quantiles."""

MIN_TIME_MS, MAX_TIME_MS = 1e-9, 1e12
"""A reading outside (a femtosecond to thirty years) is no step time."""

_MAX_WARMUP_STEPS = 400


@dataclasses.dataclass(frozen=True, eq=False)
class RunSample:
    """One run of one side, as measured.

    Attributes:
        step_time_ms: floating-point, shape (num_steps,), in the order of time; NaN is *not measured*.
        steps: int64, shape (num_steps,), strictly ascending step numbers; None means 0, 1, 2, …
        num_samples: samples per step, shape (num_steps,), or None.
        num_tokens: tokens per step, shape (num_steps,), or None.
        bucket: kind of each step (sequence-length bucket, curriculum stage), any sortable dtype, or None. Steps are
            compared with their own kind.
        conditions: what the run was measured under, such as `{"device_name": "H100", "world_size": 8}`.
        name: for messages.
    """

    step_time_ms: np.ndarray
    steps: np.ndarray | None = None
    num_samples: np.ndarray | None = None
    num_tokens: np.ndarray | None = None
    bucket: np.ndarray | None = None
    conditions: Mapping[str, Any] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        shape = np.shape(self.step_time_ms)
        if len(shape) != 1:
            raise ArgumentError(f"step_time_ms of run {self.name!r} has shape {shape}; a vector is allowed")
        for field in ("steps", "num_samples", "num_tokens", "bucket"):
            values = getattr(self, field)
            if values is not None and np.shape(values) != shape:
                raise ArgumentError(
                    f"{field} of run {self.name!r} has shape {np.shape(values)}; that of step_time_ms is {shape}"
                )
        if self.steps is not None and np.any(np.diff(np.asarray(self.steps)) <= 0):
            raise ArgumentError(f"steps of run {self.name!r} do not ascend; sort them, and keep one row per step")


@dataclasses.dataclass(frozen=True, eq=False)
class UsedRun:
    """The steps of a run that a comparison uses.

    Attributes:
        time_ms: float64, shape (num_used,), positive; coarse timers are smoothed, see `spread_ties`.
        steps: int64, shape (num_used,).
        num_samples: float64, NaN where not measured, or None.
        num_tokens: float64, NaN where not measured, or None.
        bucket: array or None.
        num_given: steps that the run had.
        num_warmup: steps left out as warm-up.
        num_unusable: steps left out because their time is not finite or not positive.
        resolution_ms: step of a coarse timer, 0 where none shows.
        blur: how far the timer may shift any statistic of the run, relative; see `timer_blur`.
    """

    time_ms: np.ndarray
    steps: np.ndarray
    num_samples: np.ndarray | None
    num_tokens: np.ndarray | None
    bucket: np.ndarray | None
    num_given: int
    num_warmup: int
    num_unusable: int
    resolution_ms: float
    blur: float

    def restricted(self, keep: np.ndarray) -> UsedRun:
        """Returns the run with only the steps where `keep` (bool, shape (num_used,)) is True."""
        return dataclasses.replace(
            self,
            time_ms=self.time_ms[keep],
            steps=self.steps[keep],
            num_samples=None if self.num_samples is None else self.num_samples[keep],
            num_tokens=None if self.num_tokens is None else self.num_tokens[keep],
            bucket=None if self.bucket is None else self.bucket[keep],
        )


def use_runs(
    baselines: Sequence[RunSample], candidates: Sequence[RunSample], trim_warmup: bool = True
) -> tuple[list[UsedRun], list[UsedRun]]:
    """Leaves out of every run what cannot be a step time and, if asked, the warm-up.

    Raises:
        ArgumentError: a side is empty.
    """
    if not baselines or not candidates:
        raise ArgumentError(
            f"{len(baselines)} baselines and {len(candidates)} candidates; each side needs at least one"
        )
    runs = [*baselines, *candidates]
    # A run of one reading only does not tell its timer's step; the other runs may.
    usable = [times[valid] for times, valid in (usable_times(run.step_time_ms) for run in runs)]
    everything = np.concatenate(usable)
    used = [_use_run(run, trim_warmup, seed, everything) for seed, run in enumerate(runs)]
    return used[: len(baselines)], used[len(baselines) :]


def usable_times(step_time_ms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns times as float64, and a mask of those that can be a step time: within the limits."""
    time_ms = np.asarray(step_time_ms, np.float64)
    with np.errstate(invalid="ignore"):  # comparing NaN is meant: it is not a time
        return time_ms, (time_ms >= MIN_TIME_MS) & (time_ms <= MAX_TIME_MS)


def warmup_end(time_ms: np.ndarray) -> int:
    """Returns the row at which warm-up is over: from there the steps look like those that follow them.

    That is the first row whose running median of 5 agrees with the median of the 40 steps after it (within 4 % or
    three times the noise of such a median) and does so for six of eight rows; at most a third of the run, and at
    most 400 steps.

    Args:
        time_ms: positive, shape (num_steps,).
    """
    limit = min(time_ms.size // 3, _MAX_WARMUP_STEPS)
    if time_ms.size < 60:
        return 0
    logs = np.log(time_ms[: limit + 60])
    tail = logs[limit // 2 :]
    noise = 1.4826 * float(np.median(np.abs(np.diff(tail)))) / np.sqrt(2)
    tolerance = max(0.04, 3 * noise)
    short = np.median(np.lib.stride_tricks.sliding_window_view(logs, 5), axis=1)
    long = np.median(np.lib.stride_tricks.sliding_window_view(logs, 40), axis=1)[5:]
    num_rows = min(short.size, long.size)
    # Slow steps after a slow start, never fast ones: a run that begins fast has no warm-up to hide.
    agrees = short[:num_rows] - long[:num_rows] < tolerance
    enough = np.convolve(agrees, np.ones(8), mode="valid") >= 6
    return min(int(np.argmax(enough)), limit) if enough.any() else limit


def timer_resolution_ms(time_ms: np.ndarray) -> float:
    """Returns the step of a timer so coarse that many readings tie, else 0; shape (num_steps,) in."""
    distinct = np.unique(time_ms)
    if time_ms.size < MIN_STEPS or distinct.size < 2 or distinct.size > time_ms.size / 3:
        return 0.0
    resolution = float(np.diff(distinct).min())
    ratio = distinct / resolution
    return resolution if np.all(np.abs(ratio - np.rint(ratio)) < 0.02) else 0.0


def timer_blur(time_ms: np.ndarray, resolution_ms: float) -> float:
    """Returns how far a coarse timer may shift the run's statistics, relative to the median.

    Where noise spreads the readings over several of the timer's steps, they dither it and averages are exact. Where
    most readings are equal, all that is known is the half step on either side of them; in between, proportionally.

    Args:
        time_ms: readings, shape (num_steps,).
        resolution_ms: the timer's step, or 0.
    """
    if not resolution_ms:
        return 0.0
    most = np.unique(time_ms, return_counts=True)[1].max() / time_ms.size
    return float(max(2 * most - 1, 0.0) * resolution_ms / 2 / np.median(time_ms))


def spread_ties(time_ms: np.ndarray, resolution_ms: float, seed: int) -> np.ndarray:
    """Spreads the readings of a coarse timer evenly over the cell that each stands for.

    Without this a median of tied readings cannot move by less than the timer's step. The offsets are an
    even grid, shuffled: the same at every call, without a memory, and different for each seed.

    Args:
        time_ms: shape (num_steps,).
        resolution_ms: the timer's step; 0 leaves the readings as they are.
        seed: number of the run, so that two runs of equal readings do not tie step by step.
    """
    if not resolution_ms:
        return time_ms
    offsets = (np.random.default_rng(seed).permutation(time_ms.size) + 0.5) / time_ms.size - 0.5
    return np.maximum(time_ms + offsets * resolution_ms, resolution_ms * 1e-3)


def _use_run(run: RunSample, trim_warmup: bool, seed: int, everything: np.ndarray) -> UsedRun:
    time_ms, usable = usable_times(run.step_time_ms)
    rows = np.flatnonzero(usable)
    num_warmup = warmup_end(time_ms[rows]) if trim_warmup else 0
    rows = rows[num_warmup:]
    steps = np.arange(time_ms.size) if run.steps is None else np.asarray(run.steps, np.int64)
    alike = rows.size and np.all(time_ms[rows] == time_ms[rows[0]])
    resolution_ms = timer_resolution_ms(everything if alike else time_ms[rows])
    return UsedRun(
        time_ms=spread_ties(time_ms[rows], resolution_ms, seed),
        steps=steps[rows],
        num_samples=_amounts(run.num_samples, rows),
        num_tokens=_amounts(run.num_tokens, rows),
        bucket=None if run.bucket is None else np.asarray(run.bucket)[rows],
        num_given=time_ms.size,
        num_warmup=num_warmup,
        num_unusable=int(time_ms.size - np.count_nonzero(usable)),
        resolution_ms=resolution_ms,
        blur=timer_blur(time_ms[rows], resolution_ms),
    )


def _amounts(values: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    if values is None:
        return None
    amounts = np.asarray(values, np.float64)[rows]
    with np.errstate(invalid="ignore"):  # comparing NaN is meant: it is not an amount
        valid = np.isfinite(amounts) & (amounts > 0)
    return np.where(valid, amounts, np.nan) if valid.any() else None
