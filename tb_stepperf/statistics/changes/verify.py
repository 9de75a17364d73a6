"""Which candidate borders are real: backward elimination, each border against the noise of its own two sides."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable

import numpy as np

from tb_stepperf.statistics.changes.candidates import best_split, place
from tb_stepperf.statistics.changes.noise import Sums
from tb_stepperf.statistics.changes.patterns import Pattern
from tb_stepperf.statistics.changes.records import MIN_SEGMENT
from tb_stepperf.statistics.pace import pause_point

_SHORT = 60

MAX_PLACED = 300
"""Of more candidates than this most are noise or a pattern: only what stands is placed exactly."""


@dataclasses.dataclass(frozen=True)
class Contrast:
    """Two neighbouring stretches compared.

    Attributes:
        delta: mean after minus mean before.
        error: standard error of `delta` under autocorrelation.
        num_before: rows before.
        num_after: rows after.
    """

    delta: float
    error: float
    num_before: int
    num_after: int

    @property
    def z(self) -> float:
        """`delta` in standard errors, without sign."""
        return abs(self.delta) / self.error


class Verifier:
    """Decides over borders of one stream.

    Args:
        sums: the stream.
        values: float64, shape (num_rows,): what `place` reads.
        min_z: standard errors that a border must reach in long stretches.
        effect: smallest |difference of means| that counts.
        noise_floor: least long-run variance per row of any stretch.
        shortest: rows that a stretch must have.
        noise: long-run variance of rows [start, end); by default that of `sums`.

    Attributes:
        pattern: excursions that were taken out of the stream: what could be one of them is no change.
    """

    def __init__(
        self,
        sums: Sums,
        values: np.ndarray,
        *,
        min_z: float,
        effect: float,
        noise_floor: float,
        shortest: int = MIN_SEGMENT,
        noise: Callable[[int, int], float] | None = None,
    ) -> None:
        self.sums = sums
        self.values = values
        self.min_z = min_z
        self.effect = effect
        self.noise_floor = noise_floor
        self.shortest = shortest
        self.pattern: Pattern | None = None
        self._noise = noise or sums.long_run_variance
        self._cache: dict[tuple[int, int], float] = {}

    def noise(self, start: int, end: int) -> float:
        """Long-run variance of rows [start, end), at least the floor.

        A few rows at both ends are left out: were a border off by as much, the neighbour's level would look like noise.
        """
        key = (start, end)
        if key not in self._cache:
            guard = min(4, (end - start) // 8)
            self._cache[key] = max(self._noise(start + guard, end - guard), self.noise_floor)
        return self._cache[key]

    def contrast(self, start: int, border: int, end: int) -> Contrast:
        """Compares rows [start, border) with rows [border, end)."""
        pause_point()
        num_before, num_after = border - start, end - border
        before, after = self.noise(start, border), self.noise(border, end)
        # the noise of a short stretch is itself uncertain: it borrows from its neighbour
        if num_before < 100:
            before = max(before, 0.8 * after)
        if num_after < 100:
            after = max(after, 0.8 * before)
        delta = self.sums.mean(border, end) - self.sums.mean(start, border)
        return Contrast(delta, math.sqrt(before / num_before + after / num_after), num_before, num_after)

    def split(self, start: int, end: int) -> int | None:
        """The best single border within rows [start, end)."""
        return best_split(self.sums, start, end)

    def score(self, start: int, border: int, end: int) -> float:
        """How far a border is above all that is asked of it; below 1 it falls."""
        found = self.contrast(start, border, end)
        shorter = min(found.num_before, found.num_after)
        needed = self.min_z * (1.0 + 10.0 / shorter)
        if self.pattern is not None:
            doubt = self.pattern.doubt(start, border, end, found.delta)
            if doubt > 1.0:
                # no larger and no longer than what recurs here anyway
                return 0.99 * min(found.z / needed, 1.0 / doubt)
        score = min(found.z / needed, abs(found.delta) / self.effect, shorter / self.shortest)
        if score >= 1.0 and shorter < _SHORT:
            # stalls of a few rows can lift the mean of a short stretch; they do not lift three quarters of its rows
            before, after = self.values[start:border][-4 * _SHORT :], self.values[border:end][: 4 * _SHORT]
            sign = 1.0 if found.delta > 0 else -1.0
            if found.num_after <= found.num_before:
                apart = sign * np.median(before) * -1.0 - np.quantile(-sign * after, 0.75)
            else:
                apart = sign * np.median(after) - np.quantile(sign * before, 0.75)
            score = min(score, float(apart) / (0.5 * self.effect))
        return score

    def eliminate(self, borders: list[int], least: float = 1.0) -> list[int]:
        """Drops the weakest border until all score `least`; places the neighbours of a dropped one anew."""
        edges = [0, *borders, self.sums.num_rows]
        scores = [self.score(*edges[k - 1 : k + 2]) for k in range(1, len(edges) - 1)]
        while scores:
            weakest = int(np.argmin(scores))
            if scores[weakest] >= least:
                break
            del edges[weakest + 1], scores[weakest]
            for k in (weakest, weakest + 1):
                if 1 <= k < len(edges) - 1:
                    moved = self.split(edges[k - 1], edges[k + 1])
                    if moved is not None:
                        edges[k] = moved
            for k in range(weakest - 1, weakest + 3):
                if 1 <= k < len(edges) - 1:
                    scores[k - 1] = self.score(*edges[k - 1 : k + 2])
        return edges[1:-1]

    def rescue(self, borders: list[int], max_added: int = 40) -> list[int]:
        """Adds single splits of a stretch that stand alone."""
        edges = [0, *borders, self.sums.num_rows]
        pending = list(itertools.pairwise(edges))
        added: list[int] = []
        while pending and len(added) < max_added:
            start, end = pending.pop()
            border = self.split(start, end)
            if border is not None and self.score(start, border, end) >= 1.0:
                added.append(border)
                pending += [(start, border), (border, end)]
        return sorted(borders + added)

    def refine(self, borders: list[int], reach: int) -> list[int]:
        """Places each border exactly, from left to right."""
        edges = [0, *borders, self.sums.num_rows]
        for k in range(1, len(edges) - 1):
            edges[k] = place(self.values, edges[k - 1], edges[k], edges[k + 1], reach)
        return edges[1:-1]

    def run(self, candidates: list[int], reach: int, resplit: bool = False) -> list[int]:
        """Elimination, rescue, exact placing, and elimination once more; `resplit` places by the mean before."""
        borders = self.eliminate(self.refine(candidates, reach) if len(candidates) <= MAX_PLACED else candidates)
        borders = self.rescue(borders)
        if resplit:
            edges = [0, *borders, self.sums.num_rows]
            for k in range(1, len(edges) - 1):
                edges[k] = self.split(edges[k - 1], edges[k + 1]) or edges[k]
            borders = edges[1:-1]
        # what has stood once is not dropped for a little noise that came in with a row or two
        return self.eliminate(self.refine(borders, reach), 0.85)
