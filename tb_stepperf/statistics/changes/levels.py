"""Levels of a series: borders, and patterns that recur and are therefore no changes."""

from __future__ import annotations

import dataclasses

import numpy as np

from tb_stepperf.statistics.changes.candidates import MAX_BLOCKS, partition, sharpened, short_windows, thin
from tb_stepperf.statistics.changes.noise import Sums, global_long_run_variance
from tb_stepperf.statistics.changes.patterns import MIN_RECURRENCES, Pattern, recurring_pattern
from tb_stepperf.statistics.changes.prepare import Prepared, local_median, robust_scale, thinned
from tb_stepperf.statistics.changes.records import MIN_SEGMENT, Settings
from tb_stepperf.statistics.changes.verify import MAX_PLACED, Verifier

_MAX_LEVEL_SAMPLE = 20_000

_SHORTEST_EXCURSION = 6
"""Rows of an excursion that a pattern may consist of."""


@dataclasses.dataclass(frozen=True)
class Levels:
    """The levels of a series.

    Attributes:
        log_ms: float64, shape (num_rows,): log time without recurring excursions.
        verifier: knows the clipped stream of `log_ms` and its noise.
        borders: first row of each level but the first, ascending.
        pattern: the recurring excursions that were flattened, if any.
    """

    log_ms: np.ndarray
    verifier: Verifier
    borders: list[int]
    pattern: Pattern | None


def find_levels(prepared: Prepared, settings: Settings) -> Levels:
    """Finds the levels of a series, after recurring excursions are flattened."""
    log_ms, centre = prepared.log_ms, prepared.centre
    max_blocks = 1024 if log_ms.size <= 20_000 else MAX_BLOCKS
    reach = 3 * -(-log_ms.size // max_blocks) + 60
    rough = Sums(clipped(log_ms, centre, prepared.scale))
    noise = global_long_run_variance(rough)
    pattern = _fine_pattern(log_ms, rough, noise, settings)
    if pattern is None:
        verifier, candidates = _candidates(log_ms, centre, prepared.scale, rough, noise, settings, reach)
        borders = verifier.run(candidates, reach)
        pattern = recurring_pattern(verifier.sums, log_ms, borders, settings)
        if pattern is None:
            return Levels(log_ms, verifier, borders, None)
    flat_ms = log_ms - pattern.lift
    flat_centre = local_median(flat_ms)
    scale = robust_scale(flat_ms - flat_centre)
    rough = Sums(clipped(flat_ms, flat_centre, scale))
    noise = global_long_run_variance(rough)
    verifier, candidates = _candidates(flat_ms, flat_centre, scale, rough, noise, settings, reach)
    verifier.pattern = pattern
    return Levels(flat_ms, verifier, verifier.run(candidates, reach), pattern)


def _fine_pattern(log_ms: np.ndarray, rough: Sums, noise: float, settings: Settings) -> Pattern | None:
    """The pattern that shows with the eyes of the noise within a few rows, if any."""
    within = global_long_run_variance(rough, 2)
    if log_ms.size > 3 * 1024 and noise < 3.0 * within:
        return None
    max_blocks = 1024 if log_ms.size <= 3 * 1024 else MAX_BLOCKS
    block = -(-log_ms.size // max_blocks)
    borders = partition(rough, within, max_blocks, max(_SHORTEST_EXCURSION, 2 * block))
    if len(borders) < 2 * MIN_RECURRENCES - 1:
        return None
    borders = sharpened(rough, borders, 2 * block + 6, 0.5 * settings.log_effect)
    pattern = recurring_pattern(rough, log_ms, borders, settings)
    return pattern if pattern is not None and pattern.is_regular else None


def _candidates(
    log_ms: np.ndarray,
    centre: np.ndarray,
    scale: float,
    rough: Sums,
    noise: float,
    settings: Settings,
    reach: int,
) -> tuple[Verifier, list[int]]:
    """Candidate borders under a long-run variance, and the verifier that knows them."""
    max_blocks = 1024 if log_ms.size <= 20_000 else MAX_BLOCKS
    candidates = partition(rough, noise, max_blocks)
    if log_ms.size > 8 * max_blocks:
        candidates = sorted({*candidates, *short_windows(rough, settings.log_effect)})
    candidates = thin(candidates, MIN_SEGMENT, log_ms.size)
    if len(candidates) <= MAX_PLACED:
        candidates = _verifier(log_ms, centre, scale, [], noise, settings).refine(candidates, reach)
    return _verifier(log_ms, centre, scale, candidates, noise, settings), candidates


def clipped(log_ms: np.ndarray, centre: np.ndarray, scale: float) -> np.ndarray:
    """Values clipped at four scales about their centres."""
    return centre + np.clip(log_ms - centre, -4.0 * scale, 4.0 * scale)


def _verifier(
    log_ms: np.ndarray, centre: np.ndarray, scale: float, borders: list[int], noise: float, settings: Settings
) -> Verifier:
    """A verifier of the stream that is clipped about the nearer of local median and median of the segment.

    Without the second, the ends of a short excursion would be clipped towards the level outside.
    """
    for start, end in zip([0, *borders] if borders else [], [*borders, log_ms.size]):
        part = log_ms[start:end]
        middle = float(np.median(thinned(part, _MAX_LEVEL_SAMPLE)))
        nearer = np.abs(part - middle) < np.abs(part - centre[start:end])
        centre = centre if start else centre.copy()
        centre[start:end][nearer] = middle
    return Verifier(
        Sums(clipped(log_ms, centre, scale)),
        log_ms,
        min_z=settings.min_z,
        effect=settings.log_effect,
        noise_floor=0.5 * noise,
        shortest=max(MIN_SEGMENT, min(3 * MIN_SEGMENT, log_ms.size // 5000)),
    )


def segment_means(sums: Sums, borders: list[int]) -> np.ndarray:
    """Mean of each segment, shape (len(borders) + 1,)."""
    edges = np.array([0, *borders, sums.num_rows])
    return np.diff(sums.first[edges]) / np.diff(edges)
