"""What borders mean together: steps, ramps, drifts, transients."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np

from tb_stepperf.statistics.changes.candidates import thin
from tb_stepperf.statistics.changes.noise import Sums
from tb_stepperf.statistics.changes.records import MIN_SEGMENT, Settings
from tb_stepperf.statistics.changes.verify import Verifier
from tb_stepperf.statistics.pace import pause_point

_LEAST_GROUPS = 8
"""Groups of rows that can tell a stretch's own noise."""

_NARROWEST = 2 * MIN_SEGMENT

_MIN_WHOLE_TREND_Z = 5.5
_MIN_TREND_Z = 6.5
"""Standard errors that a slope within a segment must reach; it is searched over all pairs of knots."""


@dataclasses.dataclass(frozen=True)
class Slope:
    """A stretch over which the level moves evenly.

    Attributes:
        start: first row of the stretch.
        end: first row after it.
        range_start: first row of the level before it.
        range_end: end of the level after it.
        before: level before, in the units of `Sums.first`.
        after: level after.
        error: standard error of `after − before`.
    """

    start: int
    end: int
    range_start: int
    range_end: int
    before: float
    after: float
    error: float


def find_slopes(verifier: Verifier, borders: list[int], settings: Settings) -> tuple[list[Slope], list[int]]:
    """Replaces staircases in one direction by slopes where a slope fits better, and finds trends within segments.

    Returns:
        The slopes, and the borders that remain steps.
    """
    sums = verifier.sums
    slopes: list[Slope] = []
    steps: list[int] = []
    edges = [0, *borders, sums.num_rows]
    signs = [np.sign(verifier.contrast(*edges[k - 1 : k + 2]).delta) for k in range(1, len(edges) - 1)]
    first = 0
    while first < len(borders):
        last = first
        while last + 1 < len(borders) and signs[last + 1] == signs[first]:
            last += 1
        chain = borders[first : last + 1]
        slope = _best_slope(verifier, edges[first], edges[last + 2], chain, settings)
        if slope is None and len(chain) > 2:
            # a staircase may be a ramp and a step: try the parts
            slope_found = False
            for cut in range(len(chain), 1, -1):
                for begin in range(len(chain) - cut + 1):
                    part = chain[begin : begin + cut]
                    left = edges[first + begin]
                    right = edges[first + begin + cut + 1]
                    slope = _best_slope(verifier, left, right, part, settings)
                    if slope is not None and cut < len(chain):
                        slopes.append(slope)
                        steps += [border for border in chain if border not in part]
                        slope_found = True
                        break
                if slope_found:
                    break
            if not slope_found:
                steps += chain
        elif slope is not None:
            slopes.append(slope)
        else:
            steps += chain
        first = last + 1
    edges = sorted([*steps, *(slope.start for slope in slopes), *(slope.end for slope in slopes)])
    for slope in _trends(verifier, edges, slopes, settings):
        sudden = verifier.split(slope.range_start, slope.range_end)
        if slope.end - slope.start >= _NARROWEST or sudden is None:
            slopes.append(slope)
        elif verifier.score(slope.range_start, sudden, slope.range_end) >= 1.0:
            steps = sorted([*steps, sudden])
    return sorted(slopes, key=lambda slope: slope.start), steps


def _best_slope(verifier: Verifier, start: int, end: int, chain: list[int], settings: Settings) -> Slope | None:
    """The two-knot slope over rows [start, end), if it explains the steps of `chain` away."""
    sums = verifier.sums
    num = end - start
    num_groups = int(min(240, num // 5))
    if num_groups < 12:
        return None
    size = num // num_groups
    values = sums.group_means(start, start + size * num_groups, num_groups)
    centre = start + size * (np.arange(num_groups) + 0.5)
    inner = [start, *chain, start + size * num_groups]
    fitted = np.zeros(num_groups)
    for left, right in itertools.pairwise(inner):
        inside = (centre >= left) & (centre < right)
        if inside.any():
            fitted[inside] = values[inside].mean()
    knots = _fit_knots(values)
    if knots is None:
        return None
    first, last, before, after, _, noise = knots
    width = (last - first) * size
    # a single step is no slope for a rise that is as good as sudden
    narrowest = _NARROWEST if len(chain) == 1 else MIN_SEGMENT
    if width < max(narrowest, 3 * size) or abs(after - before) < settings.log_effect:
        return None
    # each step costs a level and a place, the slope two of each; a single step is given up only on strong evidence,
    # a staircase as soon as a slope is nearly as good
    shape = np.clip((np.arange(num_groups) + 0.5 - first) / (last - first), 0.0, 1.0)
    misfits = [values - fitted, values - before - (after - before) * shape]
    # a group in which a border lies is on neither level: it would speak for the slope, however sharp the step
    clean = np.abs(centre[:, None] - np.array(chain)).min(axis=1) >= 0.5 * size
    misfits = [misfit * clean for misfit in misfits]
    # where a pattern was taken out, what is left may be off by a part of its height
    least_noise = 0.0 if verifier.pattern is None else (0.25 * verifier.pattern.height) ** 2
    advantage = _advantage(*misfits, np.searchsorted(centre, inner), least_noise) + 2.0 * (2 * len(chain) + 1 - 4)
    if advantage < (10.0 if len(chain) == 1 else -6.0):
        return None
    if _are_sharp(verifier, start, end, chain):
        return None
    row_first = round(start + first * size)
    row_last = round(start + last * size)
    error = np.sqrt(noise * (1.0 / max(first, 3.0) + 1.0 / max(num_groups - last, 3.0)) * 1.5)
    return Slope(row_first, min(row_last, end), start, end, before, after, float(error))


def _advantage(steps: np.ndarray, slope: np.ndarray, edges: np.ndarray, least_noise: float) -> float:
    """How much smaller the squared misfit of the slope is than that of the steps, in units of the noise.

    Each stretch between two edges has its own noise: where a step makes the run noisier too, a slope could follow what
    is chance there, and would gain much if that were measured by the noise before. The noise is that of the better
    fit: the other's misfit looks like noise.
    """
    everywhere = min(_residual_noise(steps, edges.size), _residual_noise(slope, 4))
    total = 0.0
    for start, end in itertools.pairwise(edges):
        first, second = steps[start:end], slope[start:end]
        noise = everywhere
        if first.size >= _LEAST_GROUPS:
            noise = min(_residual_noise(first, 1), _residual_noise(second, 1))
        total += float((first * first).sum() - (second * second).sum()) / max(noise, least_noise, 1e-12)
    return total


def _are_sharp(verifier: Verifier, start: int, end: int, chain: list[int]) -> bool:
    """Whether most borders of a chain are jumps: the level is another one right after them, not only further on."""
    sums = verifier.sums
    edges = [start, *chain, end]
    num_sharp = num_asked = 0
    for left, border, right in zip(edges[:-2], edges[1:-1], edges[2:]):
        delta = sums.mean(border, right) - sums.mean(left, border)
        noise = max(verifier.noise(left, border), verifier.noise(border, right))
        # wide enough to know the jump to a quarter of the step; not asked where that is not narrow beside the stretches
        width = int(max(20.0, 2.0 * noise / (0.25 * delta) ** 2))
        if width > min(border - left, right - border) / 5:
            continue
        jump = sums.mean(border, border + width) - sums.mean(border - width, border)
        num_asked += 1
        num_sharp += jump / delta > 0.7
    return num_asked > 0 and 2 * num_sharp > num_asked


def _fit_knots(values: np.ndarray) -> tuple[float, float, float, float, float, float] | None:
    """Least-squares level–slope–level fit to shape (num,) values.

    Returns:
        First and last knot (in groups), levels before and after, squared error, and the long-run noise variance of one
        group. None where nothing fits.
    """
    num = values.size
    grid = np.linspace(0.0, num, 31)
    best = _scan_knots(values, grid, grid)
    for span in (num / 30.0, num / 90.0, num / 300.0):
        first = np.clip(np.linspace(best[1] - span, best[1] + span, 13), 0.0, num)
        last = np.clip(np.linspace(best[2] - span, best[2] + span, 13), 0.0, num)
        best = min(best, _scan_knots(values, np.unique(first), np.unique(last)))
    error, first_knot, last_knot = best
    if not np.isfinite(error):
        return None
    shape = np.clip((np.arange(num) + 0.5 - first_knot) / (last_knot - first_knot), 0.0, 1.0)
    centred = shape - shape.mean()
    rise = float((centred * values).sum() / (centred * centred).sum())
    before = float(values.mean() - rise * shape.mean())
    residual = values - before - rise * shape
    return first_knot, last_knot, before, before + rise, error, _residual_noise(residual, 4)


def _residual_noise(residual: np.ndarray, num_fitted: int) -> float:
    """Long-run variance of residuals by the AR(1) plug-in, for `num_fitted` fitted parameters."""
    total = float((residual * residual).sum())
    phi = float((residual[1:] * residual[:-1]).sum()) / max(total, 1e-300)
    phi = min(max(phi, 0.0), 0.9)
    return total / max(residual.size - num_fitted, 1) * (1.0 + phi) / (1.0 - phi)


def _scan_knots(values: np.ndarray, firsts: np.ndarray, lasts: np.ndarray) -> tuple[float, float, float]:
    """Smallest squared error over all pairs of knots, with the pair."""
    pause_point()
    first, last = (part.ravel() for part in np.meshgrid(firsts, lasts))
    valid = last - first >= 1.0
    first, last = first[valid], last[valid]
    if not first.size:
        return float("inf"), 0.0, 0.0
    rows = np.arange(values.size) + 0.5
    shape = np.clip((rows[None, :] - first[:, None]) / (last - first)[:, None], 0.0, 1.0)
    pause_point()
    shape -= shape.mean(axis=1, keepdims=True)
    power = (shape * shape).sum(axis=1)
    pause_point()
    power[power < 1e-9] = np.inf
    centred = values - values.mean()
    gain = (shape @ centred) ** 2 / power
    choice = int(gain.argmax())
    return float((centred * centred).sum() - gain[choice]), float(first[choice]), float(last[choice])


def _trends(verifier: Verifier, borders: list[int], slopes: list[Slope], settings: Settings) -> list[Slope]:
    """Slopes of one and a half minimum effects within segments that are long enough to show one."""
    sums = verifier.sums
    found: list[Slope] = []
    edges = [0, *borders, sums.num_rows]
    taken = {(slope.start, slope.end) for slope in slopes}
    for start, end in itertools.pairwise(edges):
        num = end - start
        if num < 120 or (start, end) in taken:
            continue
        num_groups = int(min(240, num // 5))
        size = num // num_groups
        values = sums.group_means(start, start + size * num_groups, num_groups)
        knots = _fit_knots(values)
        if knots is None:
            continue
        first, last, before, after, error, noise = knots
        noise = max(noise, verifier.noise_floor / size)
        gain = float(((values - values.mean()) ** 2).sum()) - error
        z = math.sqrt(max(gain, 0.0) / noise)
        rise = after - before
        middle = 0.5 * (first + last)
        # a slope over nearly the whole segment is one of few shapes, a short one is one of many
        least = _MIN_WHOLE_TREND_Z if last - first > 0.7 * num_groups else _MIN_TREND_Z
        needed = least * (1.0 + 6.0 / min(middle, num_groups - middle))
        if abs(rise) < 1.5 * settings.log_effect or z < needed or (last - first) * size < MIN_SEGMENT:
            continue
        rows = round(start + first * size), min(round(start + last * size), end)
        found.append(Slope(*rows, start, end, before, after, abs(rise) / z))
    return found


def shape_of(num_rows: int, borders: list[int], slopes: list[Slope], sums: Sums) -> np.ndarray:
    """Fitted level of each row, shape (num_rows,): constant between borders, sloped along slopes."""
    marks = thin(sorted({*borders, *(s.start for s in slopes), *(s.end for s in slopes)}), 1, num_rows)
    edges = [0, *marks, num_rows]
    level = np.zeros(num_rows)
    for start, end in itertools.pairwise(edges):
        level[start:end] = sums.mean(start, end)
    for slope in slopes:
        num = slope.end - slope.start
        if num > 0:
            level[slope.start : slope.end] = np.linspace(slope.before, slope.after, num)
    return level + sums.offset
