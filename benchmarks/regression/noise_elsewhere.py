"""Noise of the second generator: models of training loops, and block bootstraps of recorded step times.

The recorded series are those of `tests/statistics/data`; its README names their origin and licences.
"""

from __future__ import annotations

import csv
import functools
import gzip
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

RECORDED = Path(__file__).parents[2] / "tests" / "statistics" / "data"
RECORDED_FILES = {
    "gpt3_15b_a100": 60,
    "gpt3_15b_h100": 60,
    "bert_shards_run9": 150,
    "nanogpt_window_warmup": 50,
    "nanogpt_every_tenth": 0,
    "deepseekv3_proxy_h100": 0,
}
MODELS = (
    *("normal", "lognormal", "student", "mixture", "autoregressive", "autoregressive", "bimodal", "flip", "wander"),
    *("seasonal", "spikes", "gamma", "pairs", "buckets", "accumulate", "queue", "queue"),
    *("recorded",) * 7,
)


def autoregressive(rng: np.random.Generator, num: int, phi: float, sd: float) -> np.ndarray:
    """AR(1) of standard deviation `sd`, as a moving average cut where its weights reach 1e-5."""
    reach = int(np.ceil(np.log(1e-5) / np.log(phi)))
    noise = np.convolve(rng.normal(size=num + reach), phi ** np.arange(reach), "valid")[:num]
    return noise * sd * np.sqrt(1 - phi * phi)


def wander(rng: np.random.Generator, num: int) -> np.ndarray:
    """1/f noise whose means over a twentieth of the series stay within 1.2 %, below the practical threshold."""
    frequency = np.fft.rfftfreq(num)
    frequency[0] = frequency[1]
    phase = np.exp(2j * np.pi * rng.random(frequency.size))
    noise = np.fft.irfft(rng.normal(size=frequency.size) * frequency**-0.5 * phase, num)
    width = max(num // 20, 5)
    noise /= noise.std()
    return noise * min(0.012 / np.ptp(np.convolve(noise, np.full(width, 1 / width), "valid")), 0.02)


def queue(rng: np.random.Generator, num: int, workers: int, load: float, sigma: float) -> np.ndarray:
    """Step times, in units of the compute, of a loop fed in order by `workers` with two batches ahead each."""
    loads = (load * np.exp(rng.normal(size=num) * sigma - sigma**2 / 2)).tolist()
    ready, taken, now = [0.0] * workers, [0.0] * num, 0.0
    time = np.empty(num)
    for step in range(num):
        worker, slot = step % workers, step - 2 * workers
        ready[worker] = max(ready[worker], taken[slot] if slot >= 0 else 0.0) + loads[step]
        before, now = now, max(now, ready[worker])
        taken[step] = now
        now += 1.0
        time[step] = now - before
    return time


@functools.cache
def recorded(name: str) -> np.ndarray:
    """Log of a recorded series about its running median, or about its median where it is a pattern of its own."""
    with gzip.open(RECORDED / f"{name}.csv.gz", "rt") as file:
        time = np.array([float(row["step_time_ms"]) for row in csv.DictReader(file) if row["step_time_ms"]])[20:]
    log, half = np.log(time), RECORDED_FILES[name]
    if name.startswith("deepseek"):
        log = np.concatenate([log[:5900], log[6200:]])  # without its slow stretch
    if not half:
        return log - np.median(log)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(log, half, mode="reflect"), 2 * half + 1)
    return log - np.median(windows, axis=1)


def bootstrap(rng: np.random.Generator, num: int, name: str, block: int) -> np.ndarray:
    """Blocks of a recorded series, drawn with replacement; a period of ten keeps its phase."""
    log = recorded(name)
    starts = rng.integers(0, log.size - block + 1, num // block + 1)
    if name == "nanogpt_every_tenth":
        starts -= starts % 10
    return np.concatenate([log[start : start + block] for start in starts])[:num]


def _spikes(rng: np.random.Generator, num: int, sd: float, rate: float, alpha: float) -> np.ndarray:
    noise = rng.normal(size=num) * sd
    for step in np.flatnonzero(rng.random(num) < rate):
        length = 1 if rng.random() < 0.6 else int(rng.integers(2, 9))
        noise[step : step + length] += np.log1p(0.2 * min(1 + rng.pareto(alpha), 100))
    return noise


def _flip(rng: np.random.Generator, num: int, distance: float, dwells: tuple[float, float], sd: float) -> np.ndarray:
    stays = np.stack([rng.geometric(1 / dwell, num) for dwell in dwells], 1).ravel()
    return np.repeat(np.arange(stays.size) % 2, stays)[:num] * distance + rng.normal(size=num) * sd


def _pairs(rng: np.random.Generator, num: int, rate: float, size: float, sd: float) -> np.ndarray:
    time = np.exp(rng.normal(size=num) * sd)
    steps = np.flatnonzero(rng.random(num - 1) < rate)
    moved = size * rng.random(steps.size)
    np.add.at(time, steps, moved)
    np.add.at(time, steps + 1, -moved)
    return np.log(np.maximum(time, 0.1))


def draw_noise(
    rng: np.random.Generator, low: bool, among: Sequence[str] | None = None
) -> tuple[str, Callable[[np.random.Generator, int], np.ndarray]]:
    """Draws a noise.

    Args:
        rng: generator of the noise's parameters.
        low: whether it should be small.
        among: names to draw from; `MODELS` if None.

    Returns:
        Its name, and a function (generator, number of steps) to log step times about a constant level.
    """
    names = MODELS if among is None else among
    name, uniform = names[int(rng.integers(len(names)))], rng.uniform
    sd = float(np.exp(uniform(np.log(0.003), np.log(0.01 if low else 0.04))))
    if name == "lognormal":
        wide = 0.01 if low else uniform(0.05, 0.15)
        return name, lambda g, n: g.normal(size=n) * wide
    if name == "student":
        freedom = uniform(2.2, 4)
        return name, lambda g, n: np.clip(g.standard_t(freedom, n) * sd * 0.7, -0.6, 3)
    if name == "mixture":
        rate, ratio = uniform(0.03, 0.2), uniform(3, 6)
        return name, lambda g, n: np.clip(g.normal(size=n) * sd * np.where(g.random(n) < rate, ratio, 1), -0.7, 3)
    if name == "autoregressive":
        phi = float(rng.choice([0.3, 0.6, 0.8, 0.9]))
        return f"{name} {phi}", lambda g, n: autoregressive(g, n, phi, sd) + g.normal(size=n) * sd * 0.2
    if name == "bimodal":
        distance, rate = uniform(0.03, 0.08 if low else 0.3), uniform(0.15, 0.5)
        return name, lambda g, n: (g.random(n) < rate) * distance + g.normal(size=n) * min(sd, distance / 6)
    if name == "flip":
        distance, dwells = uniform(0.03, 0.08 if low else 0.25), (uniform(3, 12), uniform(3, 12))
        return name, lambda g, n: _flip(g, n, distance, dwells, min(sd, distance / 6))
    if name == "wander":
        return name, lambda g, n: wander(g, n) + g.normal(size=n) * sd * 0.5
    if name == "seasonal":
        height, cycles = uniform(0.004, 0.009), uniform(0.8, 6)
        return (
            name,
            lambda g, n: height * np.sin(2 * np.pi * (cycles * np.arange(n) / n + g.random())) + g.normal(size=n) * sd,
        )
    if name == "spikes":
        rate, alpha = uniform(0.002, 0.03), uniform(1.2, 3)
        return name, lambda g, n: _spikes(g, n, sd, rate, alpha)
    if name == "gamma":
        shape = uniform(0.7, 3)
        return name, lambda g, n: np.log1p(g.gamma(shape, 1.5 * sd, n))
    if name == "pairs":
        rate, size = uniform(0.01, 0.15), uniform(0.05, 0.4)
        return name, lambda g, n: _pairs(g, n, rate, size, sd)
    if name == "buckets":
        levels = np.sort(uniform(0, 0.1 if low else 0.8, int(rng.integers(2, 6))))
        weights = rng.dirichlet(np.full(levels.size, 3))
        return name, lambda g, n: g.choice(levels, n, p=weights) + g.normal(size=n) * sd * 0.5
    if name == "accumulate":
        pattern = uniform(0, 0.05, int(rng.integers(2, 17)))
        pattern[-1] += uniform(0.1, 1.2)
        return name, lambda g, n: np.resize(pattern, n) + g.normal(size=n) * sd * 0.6
    if name == "queue":
        workers, sigma = int(rng.choice([2, 4, 8])), uniform(0.1, 0.7)
        load = uniform(0.6, 1.35) * workers
        return name, lambda g, n: np.log(queue(g, n + 200, workers, load, sigma)[200:]) + g.normal(size=n) * sd * 0.5
    if name == "recorded":
        origin, block = str(rng.choice(sorted(RECORDED_FILES))), int(rng.choice([40, 100]))
        return f"{name} {origin}", lambda g, n: bootstrap(g, n, origin, block)
    return name, lambda g, n: g.normal(size=n) * sd
