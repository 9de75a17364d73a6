"""Series with planted truth: every kind of change on every nuisance, and as many quiet ones; one seed, one suite.

A planted change is one that a perfect observer who knew the noise could be sure of: its size is at least 4 % (tail
and spread: p95 moves by 8 %), and at least eight standard errors of the long-run noise. Quiet series also hold
changes below the practical thresholds (a step of 1.5 %).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import series_noise

KINDS = ("regression", "improvement", "several", "transient", "tail", "variance", "ramp", "drift")
LENGTHS = (300, 600, 1000, 3000, 10_000, 30_000, 100_000, 300_000)
_LENGTH_WEIGHTS = np.array([4, 4, 6, 6, 4, 2, 1, 0.5])
_LEVEL_BASES = ("white", "skewed", "ar_0.5", "ar_0.9", "async_pairs", "buckets", "wander", "flipping", "recurring_slow")
_TAIL_BASES = ("white", "skewed", "ar_0.5", "async_pairs", "wander")
_VARIANCE_BASES = ("white", "skewed", "ar_0.5")
_BASES = {"tail": _TAIL_BASES, "variance": _VARIANCE_BASES, "transient": _LEVEL_BASES[:-2]}
"""Where not all noises are used: an excursion among excursions of the same kind is nothing one could tell apart."""


@dataclasses.dataclass(frozen=True)
class Truth:
    """One planted change.

    Attributes:
        step: first step of the new regime.
        end_step: where a transient, ramp or drift ends; None otherwise.
        kind: as `Change.kind`.
        change: planted relative change (of p95 for tail and variance).
    """

    step: int
    end_step: int | None
    kind: str
    change: float


@dataclasses.dataclass(frozen=True)
class Series:
    """One series of a suite.

    Attributes:
        name: kind, nuisances and length in words.
        kind: one of `KINDS`, or `quiet`.
        base: kind of noise.
        step_time_ms: shape (num_steps,).
        truth: what was planted, ascending; empty in a quiet series.
    """

    name: str
    kind: str
    base: str
    step_time_ms: np.ndarray
    truth: tuple[Truth, ...]


def suite(seed: int, num_series: int, max_length: int = 300_000) -> Iterator[Series]:
    """Yields `num_series` series, every second one quiet; the same for the same arguments."""
    bases = list(series_noise.BASES)
    for number in range(num_series):
        rng = np.random.default_rng([seed, number])
        allowed = [length for length in LENGTHS if length <= max_length]
        weights = _LENGTH_WEIGHTS[: len(allowed)]
        num = int(rng.choice(allowed, p=weights / weights.sum()) * rng.uniform(0.9, 1.1))
        if number % 2:
            base = bases[number // 2 % len(bases)]
            yield _quiet(rng, num, base)
        else:
            yield _changed(rng, num, KINDS[number // 2 % len(KINDS)])


def _quiet(rng: np.random.Generator, num: int, base: str) -> Series:
    sigma = 10 ** rng.uniform(-2.7, -1.3)
    log_ms = series_noise.BASES[base](rng, num, sigma)
    if rng.random() < 0.15:
        log_ms[int(num * rng.uniform(0.2, 0.8)) :] += rng.choice([-1, 1]) * 0.015
    values, names = _dress(rng, log_ms)
    return Series(f"quiet {base} {names} {num}", "quiet", base, values, ())


def _changed(rng: np.random.Generator, num: int, kind: str) -> Series:
    base = str(rng.choice(_BASES.get(kind, _LEVEL_BASES)))
    sigma = 10 ** rng.uniform(-2.7, -1.5)
    log_ms = series_noise.BASES[base](rng, num, sigma)
    truth = _PLANTERS[kind](rng, log_ms)
    values, names = _dress(rng, log_ms)
    return Series(f"{kind} {base} {names} {num}", kind, base, values, tuple(truth))


def _dress(rng: np.random.Generator, log_ms: np.ndarray) -> tuple[np.ndarray, str]:
    """Adds up to two extras and sometimes spoils the readings; returns step times and what was done."""
    names = []
    for name in rng.permutation(list(series_noise.EXTRAS))[: int(rng.integers(0, 3))]:
        log_ms = series_noise.EXTRAS[str(name)](rng, log_ms)
        names.append(str(name))
    values = np.exp(log_ms) * 10 ** rng.uniform(0.5, 3.5)
    for name, spoil in series_noise.READINGS.items():
        if rng.random() < 0.12:
            values = spoil(rng, values)
            names.append(name)
    return values, "+".join(names) or "plain"


def _needed(log_ms: np.ndarray, shorter: int) -> float:
    """Eight standard errors of a difference of means of `shorter` steps, from group means of the noise."""
    size = max(1, min(shorter // 4, log_ms.size // 30))
    means = log_ms[: log_ms.size // size * size].reshape(-1, size).mean(axis=1)
    return 8.0 * float(means.std()) * np.sqrt(2.0 * size / shorter)


def _size(rng: np.random.Generator, log_ms: np.ndarray, shorter: int) -> float:
    """Size of a change in logarithm: 4–60 %, and sure to be seen."""
    return max(float(np.exp(rng.uniform(np.log(0.04), np.log(0.5)))), _needed(log_ms, shorter))


def _step(rng: np.random.Generator, log_ms: np.ndarray, sign: float) -> list[Truth]:
    margin = max(60, log_ms.size // 8)
    step = int(rng.integers(margin, log_ms.size - margin))
    delta = sign * _size(rng, log_ms, min(step, log_ms.size - step))
    log_ms[step:] += delta
    return [Truth(step, None, "regression" if sign > 0 else "improvement", float(np.expm1(delta)))]


def _several(rng: np.random.Generator, log_ms: np.ndarray) -> list[Truth]:
    num_changes = int(rng.integers(2, 5)) if log_ms.size >= 600 else 2
    part = log_ms.size // (num_changes + 1)
    truth: list[Truth] = []
    level = 0.0
    for number in range(num_changes):
        step = part * (number + 1) + int(rng.integers(-part // 5, part // 5 + 1))
        sign = float(rng.choice([-1.0, 1.0])) if abs(level) < 0.2 else -float(np.sign(level))
        delta = sign * _size(rng, log_ms, part // 2)
        level += delta
        log_ms[step:] += delta
        truth.append(Truth(step, None, "regression" if delta > 0 else "improvement", float(np.expm1(delta))))
    return truth


def _transient(rng: np.random.Generator, log_ms: np.ndarray) -> list[Truth]:
    length = int(rng.uniform(30, max(60, min(500, 0.12 * log_ms.size))))
    step = int(rng.integers(60, log_ms.size - length - 60))
    delta = max(_size(rng, log_ms, length), float(np.log1p(0.08)))
    if rng.random() < 0.15:
        delta = -min(delta, 0.4) if _needed(log_ms, length) < 0.4 else delta
    log_ms[step : step + length] += delta
    return [Truth(step, step + length, "transient", float(np.expm1(delta)))]


def _ramp(rng: np.random.Generator, log_ms: np.ndarray) -> list[Truth]:
    length = int(rng.uniform(0.06, 0.3) * log_ms.size)
    margin = max(60, log_ms.size // 6)
    step = int(rng.integers(margin, max(margin + 1, log_ms.size - margin - length)))
    delta = float(rng.choice([-1.0, 1.0, 1.0])) * max(_size(rng, log_ms, margin), 0.06)
    log_ms += delta * np.clip((np.arange(log_ms.size) - step) / length, 0.0, 1.0)
    return [Truth(step, step + length, "ramp", float(np.expm1(delta)))]


def _drift(rng: np.random.Generator, log_ms: np.ndarray) -> list[Truth]:
    delta = float(rng.choice([-1.0, 1.0, 1.0])) * max(
        float(rng.uniform(0.06, 0.2)), 1.5 * _needed(log_ms, log_ms.size // 3)
    )
    log_ms += delta * np.linspace(0.0, 1.0, log_ms.size)
    return [Truth(0, log_ms.size, "drift", float(np.expm1(delta)))]


def _tail(rng: np.random.Generator, log_ms: np.ndarray) -> list[Truth]:
    margin = max(120, log_ms.size // 5)
    step = int(rng.integers(margin, max(margin + 1, log_ms.size - margin)))
    # enough slow steps on the shorter side for a perfect observer
    shorter = min(step, log_ms.size - step)
    share = max(float(rng.uniform(0.06, 0.2)), 40.0 / shorter)
    spread = float(np.percentile(np.abs(log_ms - np.median(log_ms)), 75))
    lift = max(float(rng.uniform(0.12, 0.7)), 6.0 * spread)
    first, last = (step, log_ms.size) if rng.random() < 0.75 else (0, step)
    chance = rng.random(last - first) < share
    # the stretch with slow steps begins and ends with one: that is what its borders mean
    chance[[0, -1]] = True
    hit = first + np.flatnonzero(chance)
    added = np.log1p(lift) * rng.uniform(0.7, 1.6, hit.size)
    quiet = log_ms.copy()
    for _ in range(20):
        # where steps are slow now and then anyway, the new ones must be slower to move the 95th percentile by 8 %
        log_ms[hit] = quiet[hit] + added
        if np.quantile(log_ms[first:last], 0.95) - np.quantile(quiet[first:last], 0.95) >= 0.08:
            break
        added *= 1.3
    return [Truth(step, None, "tail", lift if first else -lift)]


def _variance(rng: np.random.Generator, log_ms: np.ndarray) -> list[Truth]:
    margin = max(120, log_ms.size // 5)
    step = int(rng.integers(margin, max(margin + 1, log_ms.size - margin)))
    centre = float(np.median(log_ms))
    upper = float(np.percentile(log_ms, 95)) - centre
    factor = max(float(rng.uniform(1.8, 4.0)), 1.0 + 0.08 / max(upper, 1e-3))
    part = slice(step, None) if rng.random() < 0.75 else slice(0, step)
    log_ms[part] = centre + (log_ms[part] - centre) * factor
    change = float(np.expm1(upper * (factor - 1.0)))
    return [Truth(step, None, "variance", change if part.start else -change)]


_PLANTERS = {
    "regression": lambda rng, log_ms: _step(rng, log_ms, 1.0),
    "improvement": lambda rng, log_ms: _step(rng, log_ms, -1.0),
    "several": _several,
    "transient": _transient,
    "tail": _tail,
    "variance": _variance,
    "ramp": _ramp,
    "drift": _drift,
}
