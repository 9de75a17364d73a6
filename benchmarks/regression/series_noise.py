"""Step times in which nothing changes, with what real step times have: every nuisance that a detector must live with.

A nuisance is a function of a random generator, a length and a noise level. It returns log step times about 0, shape
(num_steps,), or what to do to such an array. Nothing here is a change of level, tail or spread that matters.
"""

from __future__ import annotations

import numpy as np


def white(rng: np.random.Generator, num: int, sigma: float) -> np.ndarray:
    """Independent Gaussian noise."""
    return sigma * rng.standard_normal(num)


def skewed(rng: np.random.Generator, num: int, sigma: float) -> np.ndarray:
    """Independent gamma noise: step times have a floor and a long upper side."""
    shape = rng.uniform(1.5, 6.0)
    return sigma * (rng.gamma(shape, 1.0, num) - shape) / np.sqrt(shape)


def autoregressive(rng: np.random.Generator, num: int, sigma: float, phi: float) -> np.ndarray:
    """AR(1) noise with standard deviation `sigma`."""
    burn = int(10 / (1 - phi))
    shocks = rng.standard_normal(num + burn) * sigma * np.sqrt(1 - phi * phi)
    # the filter in blocks: powers of φ over 64 steps, then the carry
    out = np.empty(num + burn)
    carry = 0.0
    size = 64
    kernel = phi ** np.arange(size)
    lower = np.tril(phi ** np.abs(np.subtract.outer(np.arange(size), np.arange(size))))
    for start in range(0, num + burn, size):
        part = shocks[start : start + size]
        block = lower[: part.size, : part.size] @ part + carry * phi * kernel[: part.size]
        out[start : start + part.size] = block
        carry = block[-1]
    return out[burn:]


def async_pairs(rng: np.random.Generator, num: int, sigma: float) -> np.ndarray:
    """White noise; some steps take longer and the next is shorter by as much."""
    log_ms = white(rng, num, sigma)
    first = np.flatnonzero(rng.random(num - 1) < rng.uniform(0.02, 0.15))
    lift = rng.uniform(0.05, 0.35, first.size)
    log_ms[first] += np.log1p(lift)
    log_ms[first + 1] += np.log1p(-lift)
    return log_ms


def buckets(rng: np.random.Generator, num: int, sigma: float) -> np.ndarray:
    """A random mixture of two to five sequence-length buckets."""
    num_buckets = int(rng.integers(2, 6))
    levels = np.cumsum(rng.uniform(0.05, 0.25, num_buckets))
    shares = rng.dirichlet(np.full(num_buckets, 3.0))
    return white(rng, num, sigma) + levels[rng.choice(num_buckets, num, p=shares)]


def wander(rng: np.random.Generator, num: int, sigma: float) -> np.ndarray:
    """Slow wander of ±1 % about the level."""
    time = np.arange(num) / num
    slow = sum(
        np.sin(2 * np.pi * (rng.uniform(0.7, 6.0) * time + rng.random())) * rng.uniform(0.3, 1.0) for _ in range(3)
    )
    slow = slow / max(float(np.abs(slow).max()), 1e-9) * rng.uniform(0.004, 0.011)
    return white(rng, num, sigma) + slow


def flipping(rng: np.random.Generator, num: int, sigma: float) -> np.ndarray:
    """Two states, 4–15 % apart, each held for a random while, at least a dozen times."""
    dwell = max(3.0, min(rng.uniform(5, 200), num / 25))
    lengths = rng.geometric(1.0 / dwell, int(3 * num / dwell) + 60)
    state = np.repeat(np.arange(lengths.size) % 2, lengths)[:num]
    if state.size < num:
        state = np.pad(state, (0, num - state.size), mode="edge")
    return white(rng, num, sigma) + state * rng.uniform(0.04, 0.15)


def recurring_slow(rng: np.random.Generator, num: int, sigma: float) -> np.ndarray:
    """A slow stretch that comes again and again, at least five times."""
    every = int(min(rng.uniform(60, 1500), num / 6))
    length = int(max(6, every * rng.uniform(0.08, 0.4)))
    start = np.arange(int(rng.integers(0, every - length)), num, every)
    jitter = rng.integers(0, max(1, (every - length) // 4), start.size)
    log_ms = white(rng, num, sigma)
    lift = rng.uniform(0.05, 0.4)
    for first in start + jitter:
        log_ms[first : first + length] += lift
    return log_ms


def spikes(rng: np.random.Generator, log_ms: np.ndarray) -> np.ndarray:
    """Adds Pareto spikes to single steps."""
    hit = np.flatnonzero(rng.random(log_ms.size) < rng.uniform(0.001, 0.02))
    out = log_ms.copy()
    out[hit] += np.log1p(np.minimum(rng.pareto(rng.uniform(1.1, 2.5), hit.size) * 0.3, 100.0))
    return out


def stalls(rng: np.random.Generator, log_ms: np.ndarray) -> np.ndarray:
    """Adds stalls of 2–8 steps."""
    out = log_ms.copy()
    for first in np.flatnonzero(rng.random(log_ms.size) < rng.uniform(0.0005, 0.003)):
        out[first : first + int(rng.integers(2, 9))] += np.log1p(rng.uniform(0.2, 4.0))
    return out


def periodic(rng: np.random.Generator, log_ms: np.ndarray) -> np.ndarray:
    """Makes every k-th step slower: checkpoints, evaluations, a logging step."""
    every = int(rng.choice([5, 10, 20, 50, 100, 250]))
    out = log_ms.copy()
    out[int(rng.integers(every)) :: every] += np.log(rng.uniform(1.3, 6.0))
    return out


def accumulation(rng: np.random.Generator, log_ms: np.ndarray) -> np.ndarray:
    """A deterministic pattern over 2–16 steps, as gradient accumulation makes it."""
    period = int(rng.integers(2, 17))
    pattern = rng.uniform(0.0, 0.3, period)
    pattern[-1] += rng.uniform(0.1, 0.8)
    return log_ms + pattern[np.arange(log_ms.size) % period]


def warm_up(rng: np.random.Generator, log_ms: np.ndarray) -> np.ndarray:
    """A first stretch that is 10–100 times slower and decays."""
    decay = rng.uniform(1.0, min(25.0, log_ms.size / 60))
    factor = 10.0 ** rng.uniform(1.0, 2.0)
    return log_ms + np.log1p((factor - 1.0) * np.exp(-np.arange(log_ms.size) / decay))


def damaged(rng: np.random.Generator, step_time_ms: np.ndarray) -> np.ndarray:
    """Puts NaN, zero, infinity and a long hole into step times (not logarithms)."""
    out = step_time_ms.copy()
    hit = np.flatnonzero(rng.random(out.size) < rng.uniform(0.001, 0.05))
    out[hit] = rng.choice([np.nan, 0.0, np.inf, -1.0], hit.size)
    if rng.random() < 0.5:
        first = int(rng.integers(out.size // 2))
        out[first : first + int(rng.integers(5, max(6, out.size // 20)))] = np.nan
    return out


def quantised(rng: np.random.Generator, step_time_ms: np.ndarray) -> np.ndarray:
    """Rounds to a coarse timer, of 0.3–3 % of the step."""
    tick = float(np.nanmedian(step_time_ms)) * rng.uniform(0.003, 0.03)
    return np.round(step_time_ms / tick) * tick


BASES = {
    "white": white,
    "skewed": skewed,
    "ar_0.5": lambda rng, num, sigma: autoregressive(rng, num, sigma, 0.5),
    "ar_0.9": lambda rng, num, sigma: autoregressive(rng, num, sigma * 0.6, 0.9),
    "async_pairs": async_pairs,
    "buckets": buckets,
    "wander": wander,
    "flipping": flipping,
    "recurring_slow": recurring_slow,
}
"""Name to function (rng, num_steps, sigma) that makes log step times."""

EXTRAS = {
    "spikes": spikes,
    "stalls": stalls,
    "periodic": periodic,
    "accumulation": accumulation,
    "warm_up": warm_up,
}
"""Name to function (rng, log_ms) that adds something to log step times."""

READINGS = {"damaged": damaged, "quantised": quantised}
"""Name to function (rng, step_time_ms) that spoils the readings."""
