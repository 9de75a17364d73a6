"""Levels of a series: borders, and patterns that recur and are therefore no changes."""

from __future__ import annotations

import dataclasses

import numpy as np

from tb_stepperf.statistics.changes.candidates import MAX_BLOCKS, partition, short_windows, thin
from tb_stepperf.statistics.changes.noise import Sums, global_long_run_variance
from tb_stepperf.statistics.changes.prepare import Prepared
from tb_stepperf.statistics.changes.records import MIN_SEGMENT, Settings
from tb_stepperf.statistics.changes.verify import MAX_PLACED, Verifier

_DECODE_ROWS = 9

_UNLIKE = 4.0
"""How many times higher or lower than typical an excursion of a pattern may be: evaluations are not all alike."""

MIN_RECURRENCES = 4
"""An excursion that returns and comes again at least this often is a pattern."""


@dataclasses.dataclass(frozen=True, eq=False)
class Pattern:
    """Excursions from a level and back that come again and again.

    Attributes:
        height: typical height in logarithm, with its sign.
        lowest: the smallest height, without sign.
        highest: the largest height, without sign.
        longest: rows of the longest of them, or of the longest pause where that is shorter.
        lift: shape (num_rows,): what they add to the series.
    """

    height: float
    lowest: float
    highest: float
    longest: int
    lift: np.ndarray


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
    local_noise = global_long_run_variance(rough, MIN_SEGMENT // 2)
    pattern: Pattern | None = None
    if noise > 6.0 * local_noise:
        # far more noise over long stretches than over short ones: look for a pattern with the eyes of the latter
        verifier, candidates = _candidates(log_ms, centre, prepared.scale, rough, local_noise, settings, reach)
        pattern = recurring_pattern(verifier, candidates, settings)
    if pattern is None:
        verifier, candidates = _candidates(log_ms, centre, prepared.scale, rough, noise, settings, reach)
        borders = verifier.run(candidates, reach)
        pattern = recurring_pattern(verifier, borders, settings)
        if pattern is None:
            return Levels(log_ms, verifier, borders, None)
    lift = pattern.lift
    for _ in range(3):
        flat_ms, flat_centre = log_ms - lift, centre - lift
        rough = Sums(clipped(flat_ms, flat_centre, prepared.scale))
        noise = global_long_run_variance(rough)
        verifier, candidates = _candidates(flat_ms, flat_centre, prepared.scale, rough, noise, settings, reach)
        verifier.doubtful_effect = max(1.5 * abs(pattern.height), 1.1 * pattern.highest)
        verifier.doubtful_rows = max(3 * pattern.longest, log_ms.size // 4)
        borders = verifier.run(candidates, reach)
        decoded = decode_excursions(log_ms, verifier.sums, borders, pattern)
        if np.abs(decoded - lift).mean() < 1e-3:
            break
        lift = decoded
    return Levels(flat_ms, verifier, borders, pattern)


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
        middle = float(np.median(part))
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


def recurring_pattern(verifier: Verifier, borders: list[int], settings: Settings) -> Pattern | None:
    """Finds excursions from a level and back that come again and again: a pattern, not changes.

    Each must be as large as a change that counts and six standard errors of its own noise, and their heights must not
    differ beyond all measure.
    """
    if len(borders) < 2 * MIN_RECURRENCES - 1:
        return None
    sums = verifier.sums
    means = segment_means(sums, borders)
    edges = np.array([0, *borders, sums.num_rows])
    lengths = np.diff(edges)
    guards = np.minimum(4, lengths // 8)
    noise = [sums.long_run_variance(*rows) for rows in zip(edges[:-1] + guards, edges[1:] - guards)] / lengths
    heights = means[1:-1] - 0.5 * (means[:-2] + means[2:])
    errors = np.sqrt(noise[1:-1] + 0.25 * (noise[:-2] + noise[2:]))
    size = np.abs(heights)
    eligible = np.abs(means[2:] - means[:-2]) <= np.maximum(0.02, 0.4 * size)
    eligible &= (size >= settings.log_effect) & (size >= 6.0 * errors)
    best: tuple[int, np.ndarray] | None = None
    for sign in (1.0, -1.0):
        same = np.flatnonzero(eligible & (np.sign(heights) == sign))
        typical = float(np.median(size[same])) if same.size else 0.0
        similar = same[(size[same] > typical / _UNLIKE) & (size[same] < typical * _UNLIKE)]
        total = int(lengths[similar + 1].sum())
        if similar.size >= MIN_RECURRENCES and (best is None or total < best[0]):
            best = (total, similar)
    chosen = best[1] if best is not None else _two_states(heights, eligible)
    if not chosen.size:
        return None
    lift = np.zeros(sums.num_rows)
    for k in chosen:
        lift[edges[k + 1] : edges[k + 2]] = heights[k]
    return Pattern(
        float(np.median(heights[chosen])),
        float(size[chosen].min()),
        float(size[chosen].max()),
        int(lengths[chosen + 1].max()),
        lift,
    )


def _two_states(heights: np.ndarray, eligible: np.ndarray) -> np.ndarray:
    """Excursions of a stretch that goes to and fro between two levels at least five times, as indices; else empty."""
    best = np.zeros(0, np.int64)
    first = 0
    for last in range(1, heights.size + 1):
        goes_on = (
            last < heights.size
            and eligible[last]
            and eligible[last - 1]
            and heights[last] * heights[last - 1] < 0
            and abs(heights[last] + heights[last - 1]) <= 0.25 * abs(heights[last])
        )
        if goes_on:
            continue
        if last - first > max(best.size, MIN_RECURRENCES - 1):
            best = np.arange(first, last)
        first = last
    # one of the two levels is the base; the excursions to the other are every second stretch
    return best[1::2] if best.size % 2 == 0 else best[::2]


def decode_excursions(log_ms: np.ndarray, sums: Sums, borders: list[int], pattern: Pattern) -> np.ndarray:
    """Decides for each row whether the pattern is up there, given the levels without it.

    Returns:
        What the pattern adds to the series, shape (num_rows,): the mean height of each excursion, limited to what is
        near the heights seen.
    """
    edges = np.array([0, *borders, log_ms.size])
    level = np.repeat(segment_means(sums, borders) + sums.offset, np.diff(edges))
    sign = np.sign(pattern.height)
    height = abs(pattern.height)
    above = sign * (log_ms - level)
    lowest, highest = 0.5 * min(height, pattern.lowest / 0.65), 1.5 * max(height, pattern.highest / 1.35)
    limited = np.clip(above, -lowest, highest)
    width = _DECODE_ROWS
    padded = np.pad(limited, (width // 2, width // 2), mode="edge")
    running = np.cumsum(np.concatenate([[0.0], padded]))
    smooth = (running[width:] - running[:-width]) / width
    up = smooth > lowest
    starts = np.flatnonzero(np.diff(np.concatenate([[-1], up.astype(np.int8)])))
    lengths = np.diff(np.concatenate([starts, [log_ms.size]]))
    heights = np.clip(np.add.reduceat(limited, starts) / lengths, lowest, highest)
    return sign * np.repeat(np.where(up[starts], heights, 0.0), lengths)
