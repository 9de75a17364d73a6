"""`find_changes`: the whole way from step times to changes."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np

from tb_stepperf.errors import ArgumentError
from tb_stepperf.statistics.changes.intervals import level_interval, p_value, relative, tail_interval
from tb_stepperf.statistics.changes.levels import Levels, find_levels
from tb_stepperf.statistics.changes.prepare import Prepared, prepare
from tb_stepperf.statistics.changes.records import MIN_STEPS, Change, Settings
from tb_stepperf.statistics.changes.shapes import Slope, find_slopes, shape_of
from tb_stepperf.statistics.changes.spread import SpreadBorder, find_spread_borders
from tb_stepperf.statistics.changes.verify import Contrast, Verifier

_LEAST_Z = 4.0
"""Standard errors of whatever is reported, however its neighbours were told apart."""


def find_changes(
    step_time_ms: np.ndarray,
    *,
    min_effect: float = 0.03,
    min_tail_effect: float = 0.05,
    bucket: np.ndarray | None = None,
) -> tuple[Change, ...]:
    """Finds the changes of a run's step time that are sure and large enough to matter; silent otherwise.

    Args:
        step_time_ms: shape (num_steps,), in the order of steps, any unit of time. NaN, infinite, zero and negative
            readings are not used. Series with fewer than 60 usable steps after warm-up get no verdict.
        min_effect: smallest relative change of the typical step that counts.
        min_tail_effect: smallest relative change of the 95th percentile that counts.
        bucket: optional, shape (num_steps,): key of each step (sequence-length bucket, curriculum stage); steps are
            then compared with steps of the same key.

    Returns:
        The changes in ascending order of `step`; empty where there is none.

    Raises:
        ArgumentError: the array is not one-dimensional, `bucket` does not match it, or an effect is out of range.
    """
    settings = Settings(min_effect=min_effect, min_tail_effect=min_tail_effect)
    series = np.asarray(step_time_ms, dtype=np.float64)
    if series.ndim != 1:
        raise ArgumentError(f"step_time_ms has shape {series.shape}; one dimension (num_steps,) is allowed")
    if bucket is not None:
        bucket = np.asarray(bucket)
        if bucket.shape != series.shape:
            raise ArgumentError(f"bucket has shape {bucket.shape}; that of step_time_ms, {series.shape}, is allowed")
    if series.size < MIN_STEPS:
        return ()
    prepared = prepare(series, bucket)
    if prepared.log_ms.size < MIN_STEPS:
        return ()
    return _changes_of(prepared, settings)


def _changes_of(prepared: Prepared, settings: Settings) -> tuple[Change, ...]:
    levels = find_levels(prepared, settings)
    while levels.borders and _ends_warm_up(prepared, levels):
        prepared = _cut(prepared, levels.borders[0], levels)
        if prepared.log_ms.size < MIN_STEPS:
            return ()
        levels = find_levels(prepared, settings)
    verifier, borders, flattened = levels.verifier, levels.borders, levels.log_ms
    slopes, steps = find_slopes(verifier, borders, settings)
    slopes = [slope for slope in slopes if not _is_warm_up(prepared, slope)]
    found = _level_and_slope_changes(prepared, verifier, steps, slopes, settings)
    if slopes and not all(map(_is_sure, found)):
        # each border was sure before slopes took the place of some
        slopes, steps = [], borders
        found = _level_and_slope_changes(prepared, verifier, steps, slopes, settings)
    found = [change for change in found if _is_sure(change)]
    num_rows = flattened.size
    marks = _marks(steps, slopes, num_rows)
    residual = flattened - shape_of(num_rows, steps, slopes, verifier.sums)
    tolerance = max(20, num_rows // 100)
    # where stretches of another level come and go, so does the tail: that is the pattern, not news
    spread = find_spread_borders(residual, marks, tolerance, settings) if levels.pattern is None else []
    found += _spread_changes(prepared, flattened, residual, spread, settings)
    return tuple(sorted(found, key=lambda change: change.step))


def _level_and_slope_changes(
    prepared: Prepared, verifier: Verifier, steps: list[int], slopes: list[Slope], settings: Settings
) -> list[Change]:
    marks = _marks(steps, slopes, prepared.log_ms.size)
    found = _level_changes(prepared, verifier, marks, steps, settings)
    return found + [_slope_change(prepared, verifier, slope) for slope in slopes]


def _marks(steps: list[int], slopes: list[Slope], num_rows: int) -> list[int]:
    """Rows at which something begins or ends, ascending."""
    return sorted({*steps, *(s.start for s in slopes), *(s.end for s in slopes)} - {0, num_rows})


def _is_sure(change: Change) -> bool:
    """Whether a change can be told from none: what is reported must not contradict itself."""
    return abs(change.z) >= _LEAST_Z and not change.change_low <= 0.0 <= change.change_high


def _spread_changes(
    prepared: Prepared, flattened: np.ndarray, residual: np.ndarray, borders: list[SpreadBorder], settings: Settings
) -> list[Change]:
    """Borders of tail or spread as changes; pairs that return soon become one with an end."""
    index = prepared.index
    found: list[tuple[Change, float]] = []
    for border in borders:
        slow = tail_interval(
            residual[border.start : border.row], residual[border.row : border.end], settings.log_tail_effect
        )
        if slow is None or (prepared.warm_up > 0 and border.row <= 60 and slow.delta < 0.0):
            # no quantile shows it, or it is the last of a slow start
            continue
        step = int(index[border.row])
        if found and _is_return(found[-1], border, slow.delta, longest=_longest_excursion(index.size), index=index):
            found[-1] = dataclasses.replace(found[-1][0], end_step=step), math.nan
            continue
        # the level here: either side may hold other levels, whose changes are markers of their own
        level_ms = math.exp(float(flattened[border.row] - residual[border.row]))
        change = Change(
            step=step,
            kind=border.kind,
            change=relative(slow.delta),
            change_low=relative(slow.low),
            change_high=relative(slow.high),
            p_value=p_value(border.z, index.size),
            end_step=None,
            measure=slow.measure,
            before_ms=slow.before * level_ms,
            after_ms=slow.after * level_ms,
            z=border.z,
            num_before=border.row - border.start,
            num_after=border.end - border.row,
        )
        found.append((change, slow.delta))
    return [change for change, _ in found]


def _is_return(
    last: tuple[Change, float], border: SpreadBorder, delta: float, *, longest: int, index: np.ndarray
) -> bool:
    """Whether a border of spread undoes the one before it."""
    change, first = last
    soon = change.step == int(index[border.start]) and border.row - border.start <= longest
    return soon and first * delta < 0 and abs(first + delta) <= max(0.1, 0.25 * max(abs(first), abs(delta)))


def _longest_excursion(num_rows: int) -> int:
    """Rows within which what returns has been no lasting change."""
    return max(60, min(500, int(0.15 * num_rows)))


def _ends_warm_up(prepared: Prepared, levels: Levels) -> bool:
    """Whether the first border is the late end of a slow start and no improvement."""
    borders = levels.borders
    edges = [0, *borders, levels.log_ms.size]
    delta = levels.verifier.contrast(*edges[:3]).delta
    if prepared.warm_up == 0:
        return borders[0] <= 60 and delta < -0.3
    largest = max(0.15, 5.0 * prepared.scale, min(0.3, 0.3 * prepared.warm_up_excess))
    return borders[0] <= _warm_up_reach(prepared) and 0.0 < -delta < min(largest, prepared.warm_up_excess)


def _warm_up_reach(prepared: Prepared) -> int:
    """Rows after the end of warm-up within which getting faster is still part of it."""
    longest = max(60, min(prepared.warm_up, 300), min(prepared.log_ms.size // 20, 200))
    # one or two slow steps at the very start are followed by less than a long decay is
    return min(longest, 20 + 10 * prepared.warm_up)


def _is_warm_up(prepared: Prepared, slope: Slope) -> bool:
    """Whether a falling slope is the last of a slow start."""
    early = slope.start < 60 and slope.end <= 2 * _warm_up_reach(prepared)
    slow_start = prepared.warm_up > 0 or slope.before - slope.after > 0.3
    return slow_start and early and slope.after < slope.before


def _cut(prepared: Prepared, row: int, levels: Levels) -> Prepared:
    slower = levels.verifier.sums.mean(0, row) - levels.verifier.sums.mean(row, prepared.log_ms.size)
    return dataclasses.replace(
        prepared,
        log_ms=prepared.log_ms[row:],
        centre=prepared.centre[row:],
        index=prepared.index[row:],
        warm_up=prepared.warm_up + row,
        warm_up_excess=max(prepared.warm_up_excess, slower),
    )


def _level_changes(
    prepared: Prepared, verifier: Verifier, marks: list[int], steps: list[int], settings: Settings
) -> list[Change]:
    """Steps of level as changes; pairs that return soon become one transient."""
    num_rows = verifier.sums.num_rows
    edges = [0, *marks, num_rows]
    contrasts = {edges[k]: verifier.contrast(*edges[k - 1 : k + 2]) for k in range(1, len(edges) - 1)}
    place = {edge: k for k, edge in enumerate(edges)}
    longest = _longest_excursion(num_rows)
    found: list[Change] = []
    used: set[int] = set()
    pairs = [(a, b) for a, b in itertools.pairwise(marks) if a in steps and b in steps]
    for first, last in sorted(pairs, key=lambda pair: pair[1] - pair[0]):
        if first in used or last in used or last - first > longest or not _returns(contrasts[first], contrasts[last]):
            continue
        used |= {first, last}
        start, end = edges[place[first] - 1], edges[place[last] + 1]
        found.append(_transient(prepared, verifier, start, first, last, end))
    for step in steps:
        if step in used:
            continue
        contrast = contrasts[step]
        following = edges[place[step] + 1]
        recovers = following in contrasts and following in steps and _returns(contrast, contrasts[following])
        level = verifier.sums.mean(edges[place[step] - 1], step) + verifier.sums.offset
        found.append(
            _change(
                prepared,
                "regression" if contrast.delta > 0 else "improvement",
                step,
                following if recovers and following not in used else None,
                contrast,
                level,
            )
        )
    return found


def _returns(first: Contrast, last: Contrast) -> bool:
    """Whether two successive steps of level cancel."""
    rest = abs(first.delta + last.delta)
    return first.delta * last.delta < 0 and rest <= max(0.02, 0.25 * max(abs(first.delta), abs(last.delta)))


def _transient(prepared: Prepared, verifier: Verifier, start: int, first: int, last: int, end: int) -> Change:
    """An excursion against both sides together."""
    sums = verifier.sums
    num_before, num_inside, num_after = first - start, last - first, end - last
    outside = (sums.mean(start, first) * num_before + sums.mean(last, end) * num_after) / (num_before + num_after)
    noise_outside = (verifier.noise(start, first) * num_before + verifier.noise(last, end) * num_after) / (
        num_before + num_after
    ) ** 2
    noise_inside = verifier.noise(first, last)
    if num_inside < 100:
        noise_inside = max(noise_inside, 0.8 * noise_outside * (num_before + num_after))
    error = math.sqrt(noise_outside + noise_inside / num_inside)
    contrast = Contrast(sums.mean(first, last) - outside, error, num_before, num_inside)
    return _change(prepared, "transient", first, last, contrast, outside + sums.offset)


def _slope_change(prepared: Prepared, verifier: Verifier, slope: Slope) -> Change:
    """A ramp, or a drift where the slope fills its stretch and is small."""
    contrast = Contrast(
        slope.after - slope.before, max(slope.error, 1e-9), slope.start - slope.range_start, slope.range_end - slope.end
    )
    fills = slope.end - slope.start >= 0.9 * (slope.range_end - slope.range_start)
    kind = "drift" if fills and abs(contrast.delta) < 0.1 else "ramp"
    end = slope.end if slope.end < verifier.sums.num_rows else None
    return _change(prepared, kind, slope.start, end, contrast, slope.before + verifier.sums.offset)


def _change(prepared: Prepared, kind: str, row: int, end_row: int | None, contrast: Contrast, level: float) -> Change:
    shorter = max(8, min(contrast.num_before, contrast.num_after))
    change, low, high = level_interval(contrast.delta, contrast.error, shorter)
    index = prepared.index
    return Change(
        step=int(index[row]),
        kind=kind,
        change=change,
        change_low=low,
        change_high=high,
        p_value=p_value(contrast.z, index.size),
        end_step=None if end_row is None else int(index[min(end_row, index.size - 1)]),
        measure="typical",
        before_ms=math.exp(level),
        after_ms=math.exp(level + contrast.delta),
        z=contrast.z,
        num_before=contrast.num_before,
        num_after=contrast.num_after,
    )
