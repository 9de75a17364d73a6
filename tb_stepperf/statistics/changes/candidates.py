"""Where a level may change: optimal partitioning, short windows beside it, and exact placing of each border."""

from __future__ import annotations

import itertools

import numpy as np

from tb_stepperf.statistics.changes.noise import Sums
from tb_stepperf.statistics.changes.prepare import thinned
from tb_stepperf.statistics.changes.records import MIN_SEGMENT
from tb_stepperf.statistics.pace import pause_point

MAX_BLOCKS = 4096
_MAX_SHORT_EVENTS = 2000
_PENALTY = 4.3**2
_TAIL_SHARES = (0.02, 0.05, 0.95, 0.98)


def partition(sums: Sums, long_run_variance: float, max_blocks: int = 1024, shortest: int = MIN_SEGMENT) -> list[int]:
    """Borders of the piecewise constant fit that is best under a penalty per border.

    Exact optimal partitioning of block means with pruning (PELT: Killick, Fearnhead and Eckley, JASA 107, 2012).

    Args:
        sums: the stream.
        long_run_variance: per row; a border must lower the squared error of the block means by 4.3² times their
            variance.
        max_blocks: the stream is cut into at most this many blocks.
        shortest: rows of the shortest level.

    Returns:
        Ascending rows at which a new level begins, without 0 and the end.
    """
    size = max(1, -(-sums.num_rows // max_blocks))
    num_blocks = sums.num_rows // size
    shortest = -(-shortest // size)
    if num_blocks < 2 * shortest:
        return []
    means = sums.group_means(0, num_blocks * size, num_blocks)
    penalty = _PENALTY * long_run_variance / size
    total = np.concatenate([[0.0], np.cumsum(means)])
    square = np.concatenate([[0.0], np.cumsum(means * means)])
    best = np.full(num_blocks + 1, np.inf)
    best[0] = -penalty
    previous = np.zeros(num_blocks + 1, np.int64)
    live = np.zeros(num_blocks + 1, np.int64)
    num_live = 0
    # best[t] - square[t] turns cost(s, t) into terms that need only one gather per candidate
    base = np.zeros(num_blocks + 1)
    base[0] = -penalty
    for end in range(shortest, num_blocks + 1):
        if not end % 16:
            pause_point()
        live[num_live] = end - shortest
        num_live += 1
        starts = live[:num_live]
        lift = total[end] - total[starts]
        cost = base[starts] - lift * lift / (end - starts)
        choice = int(cost.argmin())
        least = float(cost[choice])
        base[end] = least + penalty
        best[end] = least + square[end] + penalty
        previous[end] = starts[choice]
        keep = cost <= least + penalty
        kept = starts[keep]
        num_live = kept.size
        live[:num_live] = kept
    borders: list[int] = []
    end = num_blocks
    while previous[end] > 0:
        end = int(previous[end])
        borders.append(end * size)
    return borders[::-1]


def short_windows(sums: Sums, log_effect: float, widths: tuple[int, ...] = (24, 64, 160)) -> list[int]:
    """Borders of events that are too short for the blocks of a long series.

    At each row the means of the `width` rows before and after it are compared (moving sums); a peak counts where it
    stands out by six robust standard deviations and by the practical effect.
    """
    pause_point()
    found: list[int] = []
    for width in widths:
        num = sums.num_rows - 2 * width + 1
        if num < 4 * width:
            continue
        first = sums.first
        contrast = (first[2 * width :] - 2.0 * first[width:-width] + first[: -2 * width]) / width
        size = np.abs(contrast)
        sample = size[:: max(1, num // 20_000)]
        threshold = max(6.0 * 1.4826 * float(np.median(sample)), log_effect)
        rows = np.flatnonzero(size > threshold)
        # runs of exceedances, cut where they pause or change sign; the largest value of each run is the candidate
        cuts = (np.diff(rows) > width // 2) | (np.diff(np.sign(contrast[rows])) != 0)
        runs = np.split(rows, np.flatnonzero(cuts) + 1) if rows.size else []
        if len(runs) > _MAX_SHORT_EVENTS:
            continue
        found += [int(run[size[run].argmax()]) + width for run in runs]
    return sorted(set(found))


def sharpened(sums: Sums, borders: list[int], reach: int, least: float) -> list[int]:
    """Moves each border to where the rows pass from the mean before to the mean after, by at most `reach` rows.

    Borders at which the mean then moves by less than `least` are dropped.
    """
    edges = [0, *borders, sums.num_rows]
    for k in range(1, len(edges) - 1):
        start, border, end = edges[k - 1 : k + 2]
        before, after = sums.mean(start, border), sums.mean(border, end)
        low, high = max(start + 1, border - reach), min(end - 1, border + reach)
        rows = np.arange(low, high + 1)
        # sum of (row − middle) up to each place, with the sign that makes it smallest at the passage
        walk = (sums.first[rows] - 0.5 * (before + after) * rows) * (1.0 if after > before else -1.0)
        edges[k] = int(rows[walk.argmin()])
    kept = [0]
    for border, end in itertools.pairwise(edges[1:]):
        if abs(sums.mean(border, end) - sums.mean(kept[-1], border)) >= least:
            kept.append(border)
    return kept[1:]


def thin(borders: list[int], spacing: int, num_rows: int) -> list[int]:
    """Drops borders that are nearer than `spacing` rows to the one before or to either end."""
    kept: list[int] = []
    for border in sorted(borders):
        if border < spacing or border > num_rows - spacing:
            continue
        if not kept or border - kept[-1] >= spacing:
            kept.append(border)
    return kept


def best_split(sums: Sums, start: int, end: int, is_rate: bool = False, margin: int = MIN_SEGMENT) -> int | None:
    """Row in [start + margin, end − margin] that divides rows [start, end) into the two most different parts.

    Different in mean by least squares, or, where the stream consists of zeros and ones, by Bernoulli likelihood. Looks
    at 1,024 rows at most, then at every row near the best of them. None where the range is too short.
    """
    low, high = start + margin, end - margin
    if high < low:
        return None
    gain = _rate_gain if is_rate else _mean_gain
    stride = max(1, (high - low) // 1024)
    rows = np.arange(low, high + 1, stride)
    best = int(rows[gain(sums, start, end, rows).argmax()])
    if stride > 1:
        rows = np.arange(max(low, best - stride), min(high, best + stride) + 1)
        best = int(rows[gain(sums, start, end, rows).argmax()])
    return best


def _mean_gain(sums: Sums, start: int, end: int, rows: np.ndarray) -> np.ndarray:
    left = (sums.first[rows] - sums.first[start]) / (rows - start)
    right = (sums.first[end] - sums.first[rows]) / (end - rows)
    return (left - right) ** 2 * (rows - start) * (end - rows)


def _rate_gain(sums: Sums, start: int, end: int, rows: np.ndarray) -> np.ndarray:
    left = (sums.first[rows] - sums.first[start]) / (rows - start) + sums.offset
    right = (sums.first[end] - sums.first[rows]) / (end - rows) + sums.offset
    return -(rows - start) * _entropy(left) - (end - rows) * _entropy(right)


def _entropy(rate: np.ndarray) -> np.ndarray:
    p = np.clip(rate, 1e-12, 1.0 - 1e-12)
    return -p * np.log(p) - (1.0 - p) * np.log1p(-p)


def place(values: np.ndarray, start: int, border: int, end: int, reach: int) -> int:
    """Moves a border to where the rows' own distribution changes.

    Histograms of both sides over pooled quantiles give each row a log-likelihood ratio; its running sum peaks at the
    border. The whole distribution counts, so a border of tail or spread is placed as well as one of level.

    Args:
        values: float64, shape (num_rows,), not clipped.
        start: first row of the side before.
        border: the border so far.
        end: end of the side after.
        reach: how far, in rows, the border may move.

    Returns:
        The new border, at least `MIN_SEGMENT` rows from both ends where it was so before.
    """
    pause_point()
    low = max(start + min(MIN_SEGMENT, border - start), border - reach)
    high = min(end - min(MIN_SEGMENT, end - border), border + reach)
    if high <= low:
        return border
    guard = min(reach, (border - start) // 3, (end - border) // 3)
    before = values[max(start, border - guard - 4000) : border - guard]
    after = values[border + guard : min(end, border + guard + 4000)]
    if before.size < 8 or after.size < 8:
        return border
    num_bins = int(min(16, max(4, min(before.size, after.size) // 8)))
    # both sides count alike, however long they are
    most = min(before.size, after.size, 1000)
    pooled = np.concatenate([thinned(before, most), thinned(after, most)])
    shares = np.concatenate([np.arange(1, num_bins) / num_bins, _TAIL_SHARES])
    # half-way between the sides: a row beyond all rows of one side, but short of the other's, is of the nearer one
    middle = 0.5 * (np.median(before) + np.median(after))
    cuts = np.unique(np.append(np.quantile(pooled, shares), middle))
    num = cuts.size + 1
    left = np.bincount(np.searchsorted(cuts, before), minlength=num) + 0.5
    right = np.bincount(np.searchsorted(cuts, after), minlength=num) + 0.5
    ratio = np.log(left / left.sum()) - np.log(right / right.sum())
    walk = np.cumsum(ratio[np.searchsorted(cuts, values[low:high])])
    walk = np.concatenate([[0.0], walk])
    return low + int(walk.argmax())
