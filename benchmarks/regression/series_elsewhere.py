"""A second generator of planted series, written without sight of the first: training loops and recorded noise.

Half of the series is quiet. Noise comes from models (a data loader's prefetch queue among them) and from block
bootstraps of the recorded series in `tests/statistics/data`, on top of which lie garbage collections, evaluations,
checkpoints, recompilations, retries, epoch starts, warm-up, restarts, neighbours and holes.

A change is *asked for* only where an observer who knows the noise could be sure of it: the noise is drawn anew
`NUM_DRAWS` times, the difference of clipped means of log step time between both adjacent segments gives the standard
error without change, and a level must differ by 8 of these and by 1.2 times the practical effect, with 40 steps on
either side, at a place that is knowable within the tolerance (11 λ / δ² steps, Bai, Econometric Theory 10, 1994).
Other planted changes are *optional*: neither their marker nor its absence counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from noise_elsewhere import draw_noise

MIN_EFFECT = float(np.log(1.03))
MIN_TAIL_EFFECT = float(np.log(1.05))
NUM_DRAWS = 16

Noise = Callable[[np.random.Generator, int], np.ndarray]

KINDS = (
    *("level", "small", "improvement", "multi", "curriculum", "transient", "recover", "ramp", "throttle", "drift"),
    *("tail", "spread", "level and spread", "period", "late", "early", "threshold"),
)
OVERLAYS = (
    *("none", "none", "none", "none", "none", "collection", "evaluation", "evaluation", "checkpoint", "recompile"),
    *("retries", "epochs", "warm-up", "warm-up", "restarts", "holes", "neighbour", "quantised", "mixed"),
)
MIXED = ("collection", "evaluation", "checkpoint", "warm-up", "retries", "holes", "epochs")
PLAIN = ("normal", "lognormal", "student", "mixture", "autoregressive", "gamma", "pairs", "spikes")


@dataclass(frozen=True)
class Planted:
    """A planted change.

    Attributes:
        step: first step of the new regime.
        kinds: kinds of marker that describe it.
        change: relative change of the level (of tails and spread: of the 95th percentile).
        tolerance: steps within which a marker is at it.
        asked: whether it counts; else it is optional.
        end_step: where it ends, or None; a marker there is no fault.
    """

    step: int
    kinds: tuple[str, ...]
    change: float
    tolerance: float
    asked: bool
    end_step: int | None = None


@dataclass
class Series:
    """A series with its truth.

    Attributes:
        kind: one of `KINDS`, "quiet" or "below" (a change below the practical effect).
        noise, overlay: names of what it is made of.
        step_time_ms: shape (num_steps,).
        planted: changes in the order of steps.
        excused: half-open ranges of steps where a marker is no fault (warm-up, restarts, recoveries).
    """

    kind: str
    noise: str
    overlay: str
    step_time_ms: np.ndarray
    planted: list[Planted] = field(default_factory=list)
    excused: list[tuple[int, int]] = field(default_factory=list)


def standard_error(rng: np.random.Generator, noise: Noise, num_before: int, num_after: int) -> tuple[float, float]:
    """Standard error of the difference between two segments without change, and the long-run variance per step."""
    before, after = min(num_before, 3000), min(num_after, 3000)
    sample = noise(rng, 2000)
    center = np.median(sample)
    scale = max(1.48 * np.median(np.abs(sample - center)), np.mean(np.abs(sample - center)), 1e-4)
    differences = []
    for _ in range(NUM_DRAWS):
        drawn = np.clip(noise(rng, before + after), center - 4 * scale, center + 4 * scale)
        differences.append(np.mean(drawn[before:]) - np.mean(drawn[:before]))
    # 16 draws give their spread with an error of 18 %; be on the safe side.
    error = max(1.15 * float(np.sqrt(np.mean(np.square(differences)))), 1e-5)
    return error, error**2 / (1 / before + 1 / after)


class _Planter:
    """Plants changes into the log of one series."""

    def __init__(self, rng: np.random.Generator, noise: Noise, num: int) -> None:
        self.rng, self.noise, self.num = rng, noise, num
        self.log = noise(rng, num)
        self.tolerance = max(20.0, num / 100)
        self.planted: list[Planted] = []
        self.excused: list[tuple[int, int]] = []

    def level(self, step: int, delta: float, num_before: int, num_after: int, end_step: int | None = None) -> None:
        """Adds `delta` from `step` to `end_step`."""
        self.log[step:end_step] += delta
        error, variance = standard_error(self.rng, self.noise, num_before, num_after)
        size, tolerance = abs(delta), self.tolerance
        asked = size >= max(8 * error, 1.2 * MIN_EFFECT) and min(num_before, num_after) >= 40
        asked &= 11 * variance / size**2 <= tolerance
        if not asked:
            tolerance = max(tolerance, min(22 * variance / max(size, 0.01) ** 2, self.num / 3))
        kinds = ("regression",) if delta > 0 else ("improvement",)
        if end_step is not None:
            kinds += ("transient",)
        self.planted.append(Planted(step, kinds, float(np.expm1(delta)), tolerance, bool(asked), end_step))

    def slope(self, kind: str) -> None:
        """Adds a ramp; for "throttle" one that recovers, for "drift" over the whole series."""
        rng, num, steps = self.rng, self.num, np.arange(self.num)
        delta = np.log1p(rng.uniform(0.08, 0.4)) * (1 if kind == "throttle" or rng.random() < 0.8 else -1)
        start, length = 0, num
        if kind != "drift":
            start = int(rng.uniform(0.1, 0.5) * num)
            length = rng.uniform(100, 600) if kind == "throttle" else num * rng.uniform(0.1, 0.45)
            length = int(min(length, num - start - 60))
        shape = np.clip((steps - start) / length, 0, 1)
        tolerance = max(self.tolerance, 0.3 * length)
        if kind == "throttle":
            end = start + length + int((num - start - length) * rng.uniform(0.3, 0.7))
            cooling = rng.uniform(20, 200)
            shape *= np.clip(1 - (steps - end) / cooling, 0, 1)
            self.excused.append((int(end - self.tolerance), int(end + cooling + self.tolerance)))
        self.log += delta * shape
        error, _ = standard_error(rng, self.noise, max(start, length // 3, 50), max(length // 3, 50))
        asked = bool(abs(delta) >= 12 * error)
        if not asked:
            self.excused.append((int(start - tolerance), int(start + length + tolerance)))
        change = float(np.expm1(delta))
        self.planted.append(Planted(start, ("ramp", "drift"), change, tolerance, asked, start + length))

    def tail(self) -> None:
        """More slow steps from some step on, or fewer."""
        rng, num = self.rng, self.num
        rates = [rng.uniform(0.003, 0.02), rng.uniform(0.07, 0.2)][:: rng.choice([-1, 1])]
        size, step = rng.uniform(0.25, 1.5), int(rng.uniform(0.25, 0.75) * num)
        slow = rng.random(num) < np.where(np.arange(num) < step, *rates)
        self.log += slow * np.log1p(size * rng.exponential(1, num) + 0.15)
        sample = self.noise(rng, 4000)
        before, after = (
            np.quantile(sample + (rng.random(4000) < rate) * np.log1p(size * rng.exponential(1, 4000) + 0.15), 0.95)
            for rate in rates
        )
        difference = abs(rates[1] - rates[0])
        error = np.sqrt(sum(r * (1 - r) / n for r, n in zip(rates, (step, num - step), strict=True)))
        asked = difference >= 8 * error and abs(after - before) >= 1.5 * MIN_TAIL_EFFECT
        asked &= 11 * max(rates) / difference**2 <= 1.5 * self.tolerance
        tolerance = 1.5 * self.tolerance if asked else max(1.5 * self.tolerance, num / 8)
        change = float(np.expm1(after - before))
        self.planted.append(Planted(step, ("tail", "variance"), change, tolerance, bool(asked)))

    def spread(self, heavy: bool, with_level: bool) -> None:
        """Wider noise from some step on or, without a change of level, up to it."""
        rng, num = self.rng, self.num
        ratio, step, want = rng.uniform(2, 4), int(rng.uniform(0.25, 0.75) * num), rng.uniform(0.03, 0.06)
        sample = self.noise(rng, 4000)
        unit = want / np.quantile(sample - np.median(sample), 0.95)
        self.log = (self.log - np.median(self.log)) * unit
        grows = with_level or rng.random() < 0.75
        self.log[slice(step, num) if grows else slice(0, step)] *= ratio
        effect = want * (ratio - 1)
        z = np.log(ratio) / np.sqrt(1.23 * (3 if heavy else 1) * (1 / step + 1 / (num - step)))
        place = 11 * 1.23 * (3 if heavy else 1) / np.log(ratio) ** 2
        asked = not with_level and z >= 10 and effect >= 1.5 * MIN_TAIL_EFFECT and place <= self.tolerance
        if with_level:
            narrow = self.noise
            self.noise = lambda g, n: (narrow(g, n) - np.median(sample)) * unit * ratio
            self.level(step, np.log1p(rng.uniform(0.08, 0.3)), step, num - step)
        tolerance = 1.5 * self.tolerance if place <= self.tolerance else max(1.5 * self.tolerance, num / 8)
        change = float(np.expm1(effect if grows else -effect))
        self.planted.append(Planted(step, ("variance", "tail"), change, tolerance, bool(asked)))

    def period(self) -> None:
        """Every a-th step is slow, then every b-th."""
        rng, num = self.rng, self.num
        lags = [int(rng.integers(40, 120)), int(rng.integers(5, 16))][:: rng.choice([-1, 1], p=[0.3, 0.7])]
        height, step = rng.uniform(0.3, 3), int(rng.uniform(0.25, 0.75) * num)
        first, second = lags
        self.log[np.r_[np.arange(first - 1, step, first), np.arange(step + second - 1, num, second)]] += np.log1p(
            height
        )
        z = abs(1 / first - 1 / second) / np.sqrt(1 / first / step + 1 / second / (num - step))
        asked = bool(z >= 8 and min(step / first, (num - step) / second) >= 4)
        tolerance = max(1.5 * self.tolerance, 2 * max(lags))
        kinds = ("tail", "variance", "regression" if first > second else "improvement")
        self.planted.append(Planted(step, kinds, height if first > second else -height, tolerance, asked))

    def levels(self, kind: str) -> None:
        """Several levels: up and down ("multi"), or planned growth ("curriculum")."""
        rng, num = self.rng, self.num
        many = int(rng.integers(2, 6)) if kind == "multi" else int(rng.integers(4, 9))
        steps = np.sort(rng.choice(np.arange(1, 3 * many), many, replace=False)) * num // (3 * many)
        steps = steps + rng.integers(-num // (12 * many), num // (12 * many) + 1, many)
        deltas = np.log1p(rng.uniform(0.05, 0.25, many)) * (rng.choice([-1, 1], many) if kind == "multi" else 1)
        borders = [0, *steps.tolist(), num]
        for i, delta in enumerate(deltas):
            before, step, after = borders[i : i + 3]
            self.level(step, float(delta), step - before, after - step)

    def one_level(self, kind: str) -> None:
        """One change of level."""
        rng, num = self.rng, self.num
        low, high = {"small": (0.04, 0.06), "threshold": (0.026, 0.034), "late": (0.06, 0.4), "early": (0.06, 0.4)}.get(
            kind, (0.04, 0.5)
        )
        delta = np.log1p(np.exp(rng.uniform(np.log(low), np.log(high))))
        if kind == "improvement" or (kind in ("small", "threshold") and rng.random() < 0.4):
            delta = -delta
        step = int(rng.uniform(0.15, 0.85) * num)
        if kind == "late":
            step = num - int(rng.uniform(25, 110))
        elif kind == "early" and num > 320:
            step = int(rng.uniform(60, 160))
        self.level(step, float(delta), step, num - step)

    def stretch(self, kind: str) -> None:
        """A slow stretch that passes."""
        rng, num = self.rng, self.num
        length = rng.uniform(50, 50 + min(150, num / 10)) if kind == "transient" else num * rng.uniform(0.2, 0.35)
        step = int(min(rng.uniform(0.15, 0.8 if kind == "transient" else 0.6) * num, num - 95))
        end = step + int(min(length, num - step - 45))
        self.level(step, np.log1p(rng.uniform(0.06, 0.5)), step, end - step, end)

    def plant(self, kind: str, heavy: bool) -> None:
        """Plants what `kind` names."""
        if kind == "below":
            self.log[int(self.rng.uniform(0.2, 0.8) * self.num) :] += self.rng.choice([-1, 1]) * self.rng.uniform(
                0.008, 0.02
            )
        elif kind in ("level", "small", "improvement", "late", "early", "threshold"):
            self.one_level(kind)
        elif kind in ("multi", "curriculum"):
            self.levels(kind)
        elif kind in ("transient", "recover"):
            self.stretch(kind)
        elif kind in ("ramp", "throttle", "drift"):
            self.slope(kind)
        elif kind in ("spread", "level and spread"):
            self.spread(heavy, kind != "spread")
        elif kind == "tail":
            self.tail()
        elif kind == "period":
            self.period()


def overlay(rng: np.random.Generator, name: str, time: np.ndarray, excused: list[tuple[int, int]]) -> None:
    """Lays a nuisance over step times whose typical value is 1, in place."""
    num, uniform = time.size, rng.uniform

    def every(shortest: float, fewest: float) -> int:
        return int(np.exp(uniform(np.log(shortest), np.log(max(num / fewest, 1.6 * shortest)))))

    if name == "mixed":
        for part in rng.choice(MIXED, 3, replace=False):
            overlay(rng, str(part), time, excused)
    elif name == "collection":
        lag = uniform(30, 900)
        steps = np.cumsum(np.maximum(3, rng.normal(lag, lag * 0.05, num // 20 + 2))).astype(int)
        steps = steps[steps < num]
        time[steps] += uniform(0.2, 3) * (1 + 0.1 * rng.normal(size=steps.size))
    elif name == "evaluation":
        lag, height = every(20, 6), uniform(1.5, 6)
        length = int(rng.integers(1, min(10, lag // 6 + 1) + 1))
        for start in range(int(rng.integers(lag)), num, lag):
            part = time[start : start + length]
            part *= height * np.exp(0.05 * rng.normal(size=part.size))
    elif name == "checkpoint":
        steps = np.arange(lag := every(25, 5), num, lag)
        time[steps] += np.exp(rng.normal(uniform(0, 2), uniform(0.1, 0.8), steps.size))
    elif name == "recompile":
        steps = np.unique((num * rng.random(int(rng.integers(3, 25))) ** uniform(1, 3)).astype(int))
        time[steps] += uniform(3, 60, steps.size)
    elif name == "retries":
        steps = np.flatnonzero(rng.random(num) < uniform(0.001, 0.01))
        time[steps] += rng.exponential(uniform(0.5, 5), steps.size)
    elif name == "epochs":
        lag, length, height = every(60, 5), int(rng.integers(1, 16)), uniform(0.3, 3)
        for start in range(lag, num, lag):
            part = time[start : start + length]
            part += height * np.exp(-np.arange(part.size) / (length / 3)) * uniform(0.6, 1.4)
    elif name == "warm-up":
        decay = uniform(2, min(25, num / 25))
        time += uniform(8, 100) * np.exp(-np.arange(num) / decay)
        excused.append((0, int(decay * 9) + 5))
    elif name == "restarts":
        decay = uniform(1.5, 8)
        for start in rng.integers(50, num - 40, int(rng.integers(1, 6))):
            time[start:] += uniform(5, 15) * np.exp(-np.arange(num - start) / decay)
            excused.append((int(start) - 2, int(start + decay * 8)))
    elif name == "holes":
        holes = rng.random(num) < uniform(0.001, 0.03)
        time[holes] = rng.choice([np.nan, 0, np.inf], int(holes.sum()))
    elif name == "neighbour":
        visits, height, share = int(rng.integers(8, 25)), uniform(0.04, 0.3), uniform(0.15, 0.5)
        room = num / visits
        for visit in range(visits):
            length = int(room * share * uniform(0.6, 1.4))
            start = int(room * visit + uniform(0, max(room - length, 1)))
            time[start : start + length] *= 1 + height * uniform(0.9, 1.1)
    elif name == "quantised":
        quantum = uniform(0.003, 0.012)
        time[:] = np.maximum(np.round(time / quantum), 1) * quantum


def series(seed: int, number: int) -> Series:
    """Returns series `number` of a seed; even numbers are quiet."""
    rng = np.random.default_rng([77, seed, number])
    quiet = number % 2 == 0
    kind = str(rng.choice(("quiet",) * 8 + ("below",))) if quiet else KINDS[int(rng.integers(len(KINDS)))]
    bounds = (8000, 50_000) if rng.random() < 0.07 else (100 if quiet else 150, 8000)
    num = int(np.exp(rng.uniform(*np.log(bounds))))
    if kind in ("tail", "spread"):
        num = max(num, int(rng.uniform(1500, 6000)))
    elif kind in ("period", "ramp", "throttle", "drift", "multi", "curriculum", "level and spread"):
        num = max(num, 700)
    shaped = kind in ("tail", "spread", "level and spread", "period")
    label, noise = draw_noise(rng, kind == "small" or rng.random() < 0.3, PLAIN if shaped else None)
    cover = OVERLAYS[int(rng.integers(len(OVERLAYS)))]
    if num < 150 or (kind in ("tail", "spread", "period", "drift", "late", "early") and rng.random() < 0.7):
        cover = "none"
    elif not quiet and cover == "neighbour":
        cover = "evaluation"
    elif kind == "below" and cover == "quantised":
        cover = "none"  # a quantum can make a larger change of it
    planter = _Planter(rng, noise, num)
    planter.plant(kind, heavy=label in ("student", "mixture", "spikes") or label.startswith("autoregressive"))
    time = np.exp(planter.log)
    overlay(rng, cover, time, planter.excused)
    # Within 60 steps of a warm-up's end nobody can tell a change from it.
    warm = max((end for start, end in planter.excused if start == 0), default=-60) + 60
    planted = [replace(p, asked=p.asked and p.step >= warm) for p in planter.planted]
    typical_ms = np.exp(rng.uniform(np.log(15), np.log(900)))
    return Series(kind, label, cover, time * typical_ms, planted, planter.excused)
