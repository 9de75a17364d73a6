"""Changes of tail and spread: the same search on what is left when the levels are taken out."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tb_stepperf.statistics.changes.candidates import best_split, partition, thin
from tb_stepperf.statistics.changes.intervals import quantile
from tb_stepperf.statistics.changes.levels import segment_means
from tb_stepperf.statistics.changes.noise import Sums, global_long_run_variance
from tb_stepperf.statistics.changes.patterns import MIN_RECURRENCES
from tb_stepperf.statistics.changes.prepare import robust_scale
from tb_stepperf.statistics.changes.records import Settings
from tb_stepperf.statistics.changes.verify import Contrast, Verifier
from tb_stepperf.statistics.pace import pause_point

_SHORTEST = 40
_RATE_EFFECT = 0.015
"""A change of the share of slow steps by 1.5 points counts even where the 95th percentile stays."""


@dataclasses.dataclass(frozen=True)
class SpreadBorder:
    """A border of tail or spread.

    Attributes:
        row: first row of the new regime.
        start: first row of the stretch before.
        end: end of the stretch after.
        kind: `tail` or `variance`.
        z: standard errors.
    """

    row: int
    start: int
    end: int
    kind: str
    z: float


class SpreadVerifier(Verifier):
    """A verifier whose practical test reads the 95th percentile, and whose rates are compared under a common rate."""

    def __init__(self, stream: np.ndarray, residual: np.ndarray, settings: Settings, is_rate: bool) -> None:
        sums = Sums(stream)
        super().__init__(
            sums,
            stream,
            min_z=settings.min_tail_z,
            effect=1e-9,
            noise_floor=1e-6 if is_rate else 0.5 * global_long_run_variance(sums),
            shortest=_SHORTEST,
        )
        self._residual = residual
        self._is_rate = is_rate
        self._log_tail_effect = settings.log_tail_effect
        self._parts_cache: dict[tuple[int, int], tuple[float, ...]] = {}
        self._p95: dict[tuple[int, int], float] = {}

    def contrast(self, start: int, border: int, end: int) -> Contrast:
        """As for levels; of a rate, with the variance p·(1 − p) of the pooled rate (score test), times clustering."""
        if not self._is_rate:
            return super().contrast(start, border, end)
        num_before, num_after = border - start, end - border
        before = self.sums.mean(start, border) + self.sums.offset
        after = self.sums.mean(border, end) + self.sums.offset
        pooled = (before * num_before + after * num_after) / (end - start)
        variance = max(pooled * (1.0 - pooled), 1e-6)
        apart = before * (1.0 - before) * num_before + after * (1.0 - after) * num_after
        # rare events make the noise uncertain: estimates are pooled over both sides and the blunt ones averaged
        first, second = self._parts(start, border), self._parts(border, end)
        near, far, fine, coarse = (x * num_before + y * num_after for x, y in zip(first, second))
        groups = [part for part in (fine, coarse) if part > 0.0]
        blunt = 0.5 * (near + sum(groups) / len(groups)) if groups else near
        clustered = max(near, far, blunt)
        clustering = max(1.0, clustered / apart) if apart > 0 else 1.0
        # signed root of the likelihood ratio: nearer to Gaussian than the score test where events are few
        gain = num_before * _divergence(before, pooled) + num_after * _divergence(after, pooled)
        z = math.sqrt(max(2.0 * gain / clustering, 1e-12))
        delta = after - before
        least = math.sqrt(variance * clustering * (1.0 / num_before + 1.0 / num_after))
        return Contrast(delta, abs(delta) / z if delta else least, num_before, num_after)

    def split(self, start: int, end: int) -> int | None:
        """The best single border within rows [start, end), of a rate by its likelihood."""
        return best_split(self.sums, start, end, self._is_rate)

    def _parts(self, start: int, end: int) -> tuple[float, ...]:
        key = (start, end)
        if key not in self._parts_cache:
            self._parts_cache[key] = self.sums.noise_parts(start, end)
        return self._parts_cache[key]

    def score(self, start: int, border: int, end: int) -> float:
        """As for levels, with the practical test on the 95th percentile or on the rate."""
        found = self.contrast(start, border, end)
        shorter = float(min(found.num_before, found.num_after))
        informative = shorter
        if self._is_rate:
            rate = self.sums.mean(start, end) + self.sums.offset
            informative = max(4.0 * rate * (1.0 - rate) * shorter, 1.0)
        score = min(found.z / (self.min_z * (1.0 + 6.0 / informative)), shorter / self.shortest)
        if score < 1.0:
            return score
        effect = abs(self.p95(border, end) - self.p95(start, border)) / self._log_tail_effect
        if self._is_rate:
            effect = max(effect, abs(found.delta) / _RATE_EFFECT)
        return min(score, effect)

    def p95(self, start: int, end: int) -> float:
        """95th percentile of the residual of rows [start, end)."""
        key = (start, end)
        if key not in self._p95:
            self._p95[key] = quantile(self._residual[start:end], 0.95)
        return self._p95[key]


def _divergence(rate: float, pooled: float) -> float:
    """Kullback–Leibler divergence of a Bernoulli rate from another."""
    total = 0.0
    for p, q in ((rate, pooled), (1.0 - rate, 1.0 - pooled)):
        if p > 0:
            total += p * math.log(p / max(q, 1e-12))
    return total


def find_spread_borders(
    residual: np.ndarray, level_borders: list[int], tolerance: int, settings: Settings
) -> list[SpreadBorder]:
    """Finds borders of tail and spread.

    Args:
        residual: float64, shape (num_rows,): log time minus its fitted level.
        level_borders: borders of level; what changes there is part of that change and not reported again.
        tolerance: rows within which two borders are one.
        settings: thresholds.
    """
    scale = robust_scale(residual)
    streams = [((residual > max(4.0 * scale, 0.10)).astype(np.float64), "tail")]
    if scale < 0.06:
        streams.append(((residual > 0.25).astype(np.float64), "tail"))
    if scale < 0.02:
        streams.append(((residual > max(4.0 * scale, 0.04)).astype(np.float64), "tail"))
    size = np.abs(residual)
    streams.append((np.minimum(size, 3.0 * scale), "variance"))
    core = 1.4826 * float(np.median(size))
    if core < 0.7 * scale:
        streams.append((np.minimum(size, 2.5 * core), "variance"))
    found = [item for stream, kind in streams for item in _borders_of(stream, residual, kind, level_borders, settings)]
    kept: list[SpreadBorder] = []
    for border, verifier in sorted(found, key=lambda item: -item[0].z):
        if any(abs(border.row - level) <= tolerance for level in level_borders):
            continue
        if any(abs(border.row - other.row) <= max(2 * tolerance, 60) for other in kept):
            continue
        # what one stream has shown is taken for granted when the next is heard
        start = max([border.start, *(other.row for other in kept if other.row < border.row)])
        end = min([border.end, *(other.row for other in kept if other.row > border.row)])
        if verifier.score(start, border.row, end) >= 1.0:
            kept.append(_named(dataclasses.replace(border, start=start, end=end), residual))
    return sorted(kept, key=lambda b: b.row)


def _borders_of(
    stream: np.ndarray, residual: np.ndarray, kind: str, level_borders: list[int], settings: Settings
) -> list[tuple[SpreadBorder, SpreadVerifier]]:
    pause_point()
    is_rate = kind == "tail"
    if is_rate and stream.sum() < 8:
        return []
    verifier = SpreadVerifier(stream, residual, settings, is_rate)
    noise = global_long_run_variance(verifier.sums)
    if is_rate:
        rate = float(stream.mean())
        noise = max(noise, rate * (1.0 - rate))
    candidates = partition(verifier.sums, noise)
    candidates = thin(sorted({*candidates, *level_borders}), _SHORTEST, stream.size)
    block = -(-stream.size // 1024)
    borders = verifier.run(candidates, 3 * block + 150, resplit=True)
    edges = [0, *borders, stream.size]
    means = segment_means(verifier.sums, borders)
    turns = int((np.diff(np.sign(np.diff(means))) != 0).sum())
    if turns >= 2 * MIN_RECURRENCES - 2:
        # it comes and goes again and again: a pattern
        return []
    return [
        (SpreadBorder(edges[k], edges[k - 1], edges[k + 1], kind, verifier.contrast(*edges[k - 1 : k + 2]).z), verifier)
        for k in range(1, len(edges) - 1)
    ]


def _named(border: SpreadBorder, residual: np.ndarray) -> SpreadBorder:
    """Names the border after what moved: both ends of the distribution (`variance`) or the upper one (`tail`)."""
    before, after = residual[border.start : border.row], residual[border.row : border.end]
    middle = quantile(after, 0.5) - quantile(before, 0.5)
    lower = (quantile(after, 0.5) - quantile(after, 0.1)) - (quantile(before, 0.5) - quantile(before, 0.1))
    upper = quantile(after, 0.9) - quantile(before, 0.9) - middle
    both = lower * upper > 0 and min(abs(lower), abs(upper)) > 0.4 * max(abs(lower), abs(upper))
    return dataclasses.replace(border, kind="variance" if both else "tail")
