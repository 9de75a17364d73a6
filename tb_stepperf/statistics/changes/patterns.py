"""Excursions that come again and again: a run in two states is a pattern, and what counts is each state by itself.

A pattern is recognised in a fine segmentation. Then each segment is given a state (base or excursion) and the base a
piecewise constant path, together and at the least cost: a new base must pay for itself, and a step on top of a pattern
is seen because neither state stays where it was.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from tb_stepperf.statistics.changes.noise import Sums
from tb_stepperf.statistics.changes.prepare import local_median, robust_scale
from tb_stepperf.statistics.changes.records import Settings
from tb_stepperf.statistics.pace import pause_point

MIN_RECURRENCES = 4
"""An excursion that returns and comes again at least this often is a pattern."""

_UNLIKE = 4.0
"""How many times higher or lower than typical an excursion of a pattern may be: evaluations are not all alike."""

_ALIKE = 0.2
"""Heights that differ by less, as a share of them, are taken for one."""

_LONGEST_STALL = 8
"""Rows of a stall: excursions of so few rows that come at random are outliers and no state of the run."""

_CLEARLY_APART = 6.0
"""Standard deviations of the noise between two states from which on a single row tells in which it is."""

_NEW_BASE = 25.0
"""What a new base costs, in squared standard errors."""

_BASE_MOVE = 2.0
"""What it costs to move the base by `_WANDER`: a slow rise is many small moves."""

_WANDER = 0.01
"""How far segments in one state may lie from each other, in logarithm, without it counting for much."""


@dataclasses.dataclass(frozen=True, eq=False)
class Pattern:
    """Excursions from a level and back that come again and again.

    Attributes:
        height: typical height in logarithm, with its sign.
        highest: the largest height, without sign.
        unlike: robust standard deviation of the heights, as a share of the typical one.
        longest: rows of the longest of them.
        lift: shape (num_rows,): what they add to the series.
    """

    height: float
    highest: float
    unlike: float
    longest: int
    lift: np.ndarray

    @property
    def is_regular(self) -> bool:
        """Whether the excursions are alike, and longer or more frequent than stalls are."""
        is_up = self.lift != 0.0
        num = max(1, int(np.count_nonzero(np.diff(is_up))) // 2)
        num_up = int(np.count_nonzero(is_up))
        return self.unlike <= _ALIKE and (num_up > _LONGEST_STALL * num or num_up > 0.2 * is_up.size)

    def doubt(self, start: int, border: int, end: int, delta: float) -> float:
        """How many times longer than it is a side must be before a step is more than another excursion.

        A side that shows both states cannot be one; nor can a step that is larger than all excursions.
        """
        if abs(delta) > max(1.5 * abs(self.height), 1.1 * self.highest):
            return 0.0
        needed = max(3 * self.longest, self.lift.size // 4)
        rows = [last - first for first, last in ((start, border), (border, end)) if self._num_switches(first, last) < 2]
        return needed / min(rows) if rows else 0.0

    def _num_switches(self, start: int, end: int) -> int:
        """Beginnings and ends of excursions within rows [start, end)."""
        return int(np.count_nonzero(np.diff(self.lift[start:end] != 0.0)))


def recurring_pattern(sums: Sums, values: np.ndarray, borders: list[int], settings: Settings) -> Pattern | None:
    """Finds excursions from a level and back that come again and again: a pattern, not changes.

    Each must be as large as a change that counts and six standard errors of its own noise, and their heights must not
    differ beyond all measure.

    Args:
        sums: the clipped stream.
        values: shape (num_rows,), the same, not clipped.
        borders: of its segmentation, ascending.
        settings: thresholds.
    """
    if len(borders) < 2 * MIN_RECURRENCES - 1:
        return None
    edges = np.array([0, *borders, sums.num_rows])
    lengths = np.diff(edges)
    means = np.diff(sums.first[edges]) / lengths
    noise = _noise(sums, edges, lengths)
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
    longest = int(lengths[chosen + 1].max())
    return _decoded(values - sums.offset, edges, means, noise, heights[chosen], longest)


def _noise(sums: Sums, edges: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Squared standard error of the mean of each segment; short ones borrow from all."""
    guards = np.minimum(4, lengths // 8)
    own = np.array([sums.long_run_variance(*rows) for rows in zip(edges[:-1] + guards, edges[1:] - guards)])
    pooled = float(np.average(own, weights=lengths))
    return np.where(lengths < 100, np.maximum(own, 0.5 * pooled), own) / lengths


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


def _decoded(
    values: np.ndarray, edges: np.ndarray, means: np.ndarray, noise: np.ndarray, heights: np.ndarray, longest: int
) -> Pattern | None:
    """The pattern whose excursions are like those of `heights`, after each segment has got its state."""
    sign = float(np.sign(heights[0]))
    size = np.abs(heights)
    typical = float(np.median(size))
    num_rows = int(edges[-1])
    lengths = np.diff(edges)
    too_long = max(3 * longest, num_rows // 4)
    hold = _move_cost(typical) * (lengths / too_long) ** 2
    is_up, base = _states(sign * means, noise, lengths, hold, typical, float(size.min()), float(size.max()))
    if not is_up.any():
        return None
    found, unlike = _heights(is_up, base, sign * means, edges)
    found *= sign
    lift = np.repeat(found, lengths)
    if unlike <= _ALIKE:
        lift = _row_by_row(values, lift, sign * np.repeat(base, lengths))
    return Pattern(
        height=sign * typical,
        highest=float(np.quantile(np.abs(found[is_up]), 0.9)),
        unlike=unlike,
        longest=int(lengths[is_up].max()),
        lift=lift,
    )


def _row_by_row(values: np.ndarray, lift: np.ndarray, base: np.ndarray) -> np.ndarray:
    """The lift of each row by its own state, where two states of one height stand clearly apart; else as it was.

    Visits of a few rows, too short for a segment, would otherwise move the level of the segment they are in.
    """
    height = float(lift[np.flatnonzero(lift)[0]])
    rest = values - lift
    if abs(height) < _CLEARLY_APART * robust_scale(rest - local_median(rest)):
        return lift
    above = (values - base) / height
    return np.where((above > 0.5) & (above < 1.5), height, np.where(np.abs(above) <= 0.5, 0.0, lift))


def _states(
    means: np.ndarray,
    noise: np.ndarray,
    lengths: np.ndarray,
    hold: np.ndarray,
    typical: float,
    lowest: float,
    highest: float,
) -> tuple[np.ndarray, np.ndarray]:
    """State and base of each segment, at the least cost (dynamic programming over segments, bases and two states).

    Args:
        means: shape (num_segments,), with excursions upwards.
        noise: squared standard error of each mean.
        lengths: rows of each segment.
        hold: what it costs for a segment to be an excursion.
        typical: typical height of an excursion.
        lowest: the smallest height.
        highest: the largest height.

    Returns:
        Whether each segment is an excursion, and its base.
    """
    grid = max(0.004, typical / 25.0)
    base = np.unique(np.round(np.concatenate([means, means - typical]) / grid)) * grid
    weight = 1.0 / (noise + _WANDER**2)
    num = means.size
    # two excursions in a row are one that was cut, if they are alike, or none
    cut = 0.25 * _NEW_BASE * np.minimum(np.abs(np.diff(means, prepend=means[:1])) / (0.5 * typical), 1.0)
    came_from = np.zeros((num, 2, base.size), np.int32)
    cost = np.zeros((2, base.size))
    for k in range(num):
        pause_point()
        above = means[k] - base
        outside = np.maximum(0.8 * lowest - above, 0.0) + np.maximum(above - 1.25 * highest, 0.0)
        # a few rows that are on neither level (two visits that were not told apart) do not move the base
        misfit = np.minimum(np.stack([above**2, outside**2]) * weight[k], lengths[k])
        misfit[1] += hold[k]
        if k:
            for state in (0, 1):
                before = np.stack([cost[0], cost[1] + cut[k] * state])
                arrived, source = _moved(before.min(axis=0), base)
                came_from[k, state] = before.argmin(axis=0)[source] * base.size + source
                misfit[state] += arrived
        cost = misfit
    is_up, level = np.zeros(num, bool), np.zeros(num, np.int64)
    place = int(cost.argmin())
    for k in range(num - 1, -1, -1):
        is_up[k], level[k] = place >= base.size, place % base.size
        place = int(came_from[k].ravel()[place])
    return is_up, base[level]


def _move_cost(distance: float) -> float:
    """What it costs to move the base by a distance: by its length, at most `_NEW_BASE`."""
    return min(_NEW_BASE, _BASE_MOVE * distance / _WANDER)


def _moved(cost: np.ndarray, base: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least cost of arriving at each base from any, and from which."""
    slope = _BASE_MOVE / _WANDER * base
    best, source = np.full(base.size, cost.min() + _NEW_BASE), np.full(base.size, cost.argmin())
    index = np.arange(base.size)
    for order, sign in ((index, -1.0), (index[::-1], 1.0)):
        bare = (cost + sign * slope)[order]
        least = np.minimum.accumulate(bare)
        at = order[np.maximum.accumulate(np.where(bare == least, index, 0))]
        arrived = np.empty_like(best)
        arrived[order] = least
        arrived -= sign * slope
        origin = np.empty_like(source)
        origin[order] = at
        better = arrived < best
        best[better], source[better] = arrived[better], origin[better]
    return best, source


def _heights(is_up: np.ndarray, base: np.ndarray, means: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, float]:
    """Height of each segment above its base, 0 for those that are no excursion, and how unlike they are.

    Where the excursions on one base are alike, all get the typical height: what else moved is then left to be seen.
    """
    centre = 0.5 * (edges[1:] + edges[:-1])
    heights = np.zeros(means.size)
    for part in np.split(np.arange(means.size), np.flatnonzero(np.abs(np.diff(base)) > 2.0 * _WANDER) + 1):
        down, up = part[~is_up[part]], part[is_up[part]]
        if not up.size:
            continue
        if down.size:
            heights[up] = means[up] - np.interp(centre[up], centre[down], means[down])
        else:
            heights[up] = np.nan
    known = is_up & np.isfinite(heights)
    if not known.any():
        return np.zeros(means.size), 0.0
    # a row, a vote: short stretches are often two visits that were not told apart
    votes = np.diff(edges)[known]
    typical = _weighted_median(heights[known], votes)
    unlike = 1.4826 * _weighted_median(np.abs(heights[known] - typical), votes) / abs(typical)
    if unlike <= _ALIKE:
        return np.where(is_up, typical, 0.0), unlike
    return np.where(np.isnan(heights), typical, heights), unlike


def _weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    """The value on both sides of which half of the weight lies."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(reached, 0.5 * reached[-1])]])
