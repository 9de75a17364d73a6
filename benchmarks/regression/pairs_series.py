"""Pairs of runs with planted truth: step times as real training has them, with and without a difference.

Every kind draws its parameters anew for each seed; both sides of a pair share what a program shares (level, noise,
period, schedule) and nothing else. All times are in ms.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from tb_stepperf.statistics.comparison import RunSample


@dataclasses.dataclass(frozen=True)
class Program:
    """What both sides of a pair share.

    Attributes:
        kind: a key of `KINDS`.
        seed: parameters that the kind draws come from it.
        base_ms: typical step time.
        noise: relative standard deviation of a step.
    """

    kind: str
    seed: int
    base_ms: float
    noise: float


Maker = Callable[[np.random.Generator, np.random.Generator, int, float], tuple[np.ndarray, dict[str, np.ndarray]]]


def program(kind: str, seed: int) -> Program:
    """Draws a program: 5 ms to 2 s a step, noise of 0.5 to 5 %."""
    rng = np.random.default_rng([seed, 1])
    return Program(
        kind, seed, float(np.exp(rng.uniform(np.log(5), np.log(2000)))), float(np.exp(rng.uniform(-5.3, -3)))
    )


def run_of(
    of: Program, run_seed: int, num_steps: int, *, slower: float = 0.0, tail: float = 0.0, offset: float = 0.0
) -> RunSample:
    """Draws one run.

    Args:
        of: the program.
        run_seed: of the noise; different for each run.
        num_steps: length.
        slower: planted relative slowdown of every step.
        tail: planted: a tenth of the steps is slower by this.
        offset: standard deviation of the run's own, unplanted, relative offset.
    """
    shared = np.random.default_rng([of.seed, 2])
    rng = np.random.default_rng([of.seed, 3, run_seed])
    factor, extra = KINDS[of.kind](shared, rng, num_steps, of.noise)
    time_ms = of.base_ms * factor * (1 + slower) * np.exp(offset * rng.standard_normal())
    if tail:
        time_ms = time_ms * np.where(rng.random(num_steps) < 0.1, 1 + tail, 1.0)
    if of.kind == "quantised":
        resolution = of.base_ms / shared.integers(15, 60)
        time_ms = np.maximum(np.rint(time_ms / resolution), 1) * resolution
    return RunSample(time_ms, **extra)


def _ar(rng: np.random.Generator, num_steps: int, phi: float, sd: float) -> np.ndarray:
    """A stationary AR(1) series."""
    shocks = rng.standard_normal(num_steps) * sd * np.sqrt(1 - phi**2)
    series = np.empty(num_steps)
    value = rng.standard_normal() * sd
    for index, shock in enumerate(shocks.tolist()):
        value = phi * value + shock
        series[index] = value
    return series


def _independent(shared, rng, n, noise):
    return np.exp(noise * rng.standard_normal(n)), {}


def _skewed(shared, rng, n, noise):
    return 1 + noise * rng.gamma(1.5, 1.0, n), {}


def _ar_of(phi: float) -> Maker:
    return lambda shared, rng, n, noise: (np.exp(_ar(rng, n, phi, noise)), {})


def _spikes(shared, rng, n, noise):
    rate, shape = shared.uniform(0.005, 0.03), shared.uniform(1.3, 2.5)
    spikes = (rng.random(n) < rate) * (rng.pareto(shape, n) + 0.3)
    return np.exp(_ar(rng, n, 0.3, noise)) + spikes, {}


def _stalls(shared, rng, n, noise):
    factor = np.exp(_ar(rng, n, 0.3, noise))
    rate, size = shared.uniform(0.002, 0.006), shared.uniform(0.5, 4)
    for start in np.flatnonzero(rng.random(n) < rate):
        factor[start : start + rng.integers(2, 9)] *= 1 + size * rng.random()
    return factor, {}


def _periodic(shared, rng, n, noise):
    """Slow every k-th step, at a phase of its own in each run."""
    period, size = int(shared.integers(5, 60)), shared.uniform(1.3, 5)
    slow = (np.arange(n) + rng.integers(period)) % period == 0
    return np.exp(_ar(rng, n, 0.3, noise)) * np.where(slow, size, 1.0), {}


def _pattern(shared, rng, n, noise):
    """Gradient accumulation seen step by step: a fixed pattern at the same phase."""
    pattern = shared.uniform(0.7, 1.4, int(shared.integers(2, 9)))
    return np.exp(_ar(rng, n, 0.2, noise)) * np.resize(pattern, n), {}


def _buckets(shared, rng, n, noise):
    sizes = np.sort(shared.uniform(0.5, 2.0, int(shared.integers(2, 7))))
    bucket = rng.integers(sizes.size, size=n)
    return np.exp(_ar(rng, n, 0.3, noise)) * sizes[bucket], {}


def _named_buckets(shared, rng, n, noise):
    sizes = np.sort(shared.uniform(0.5, 2.0, int(shared.integers(2, 7))))
    mix = rng.dirichlet(np.full(sizes.size, 3.0))
    bucket = rng.choice(sizes.size, size=n, p=mix)
    return np.exp(_ar(rng, n, 0.3, noise)) * sizes[bucket], {"bucket": bucket}


def _wander(shared, rng, n, noise):
    """Below the practical threshold, slower than any short lag shows."""
    sd, span = shared.uniform(0.003, 0.012), shared.uniform(0.02, 0.1) * n
    slow = _ar(rng, n, float(np.exp(-1 / span)), sd)
    return np.exp(slow + _ar(rng, n, 0.3, noise)), {}


def _cancelling(shared, rng, n, noise):
    """Work that drifts to the next synchronisation: a slow step, then a short one."""
    shift = np.where(rng.random(n) < shared.uniform(0.05, 0.4), shared.uniform(0.1, 0.6), 0.0)
    return np.exp(noise * rng.standard_normal(n)) + shift - np.concatenate([[0.0], shift[:-1]]), {}


def _two_states(shared, rng, n, noise):
    stay, size = shared.uniform(10, 60), shared.uniform(0.02, 0.08)
    flips = np.cumsum(rng.random(n) < 1 / stay) + rng.integers(2)
    return np.exp(noise * rng.standard_normal(n)) * np.where(flips % 2, 1 + size, 1.0), {}


def _slow_stretches(shared, rng, n, noise):
    every, length, size = int(shared.integers(80, 200)), int(shared.integers(8, 25)), shared.uniform(0.1, 0.6)
    slow = (np.arange(n) + rng.integers(every)) % every < length
    return np.exp(_ar(rng, n, 0.3, noise)) * np.where(slow, 1 + size, 1.0), {}


def _warmup(shared, rng, n, noise):
    rows = np.arange(n)
    decay = shared.uniform(5, 100) * np.exp(-rows / shared.uniform(2, 15)) * rng.uniform(0.7, 1.3)
    return np.exp(_ar(rng, n, 0.5, noise)) + decay, {}


def _planned(shared, rng, n, noise):
    """A batch-size schedule: the same levels at the same steps on both sides."""
    num_levels = int(shared.integers(2, 5))
    borders = np.sort(shared.uniform(0.1, 0.9, num_levels - 1))
    sizes = np.cumprod(np.concatenate([[1.0], shared.uniform(1.2, 2.0, num_levels - 1)]))
    level = np.searchsorted(borders, np.arange(n) / n, side="right")
    return np.exp(_ar(rng, n, 0.5, noise)) * sizes[level], {}


def _ramp(shared, rng, n, noise):
    return np.exp(_ar(rng, n, 0.3, noise)) * (1 + shared.uniform(0.1, 0.5) * np.arange(n) / n), {}


KINDS: dict[str, Maker] = {
    "independent": _independent,
    "skewed": _skewed,
    "AR 0.5": _ar_of(0.5),
    "AR 0.9": _ar_of(0.9),
    "spikes": _spikes,
    "stalls": _stalls,
    "periodic": _periodic,
    "pattern": _pattern,
    "buckets": _buckets,
    "named buckets": _named_buckets,
    "wander": _wander,
    "cancelling": _cancelling,
    "two states": _two_states,
    "slow stretches": _slow_stretches,
    "warm-up": _warmup,
    "planned levels": _planned,
    "ramp": _ramp,
    "quantised": _independent,
}
"""Kind to what makes a run: (rng of the program, rng of the run, steps, noise) to factors and extra columns."""
