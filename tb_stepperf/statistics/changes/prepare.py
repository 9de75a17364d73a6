"""From raw step times to a stream that can be tested: logarithm, warm-up, periodic pattern, clipped outliers."""

from __future__ import annotations

import dataclasses

import numpy as np

from tb_stepperf.statistics.changes.buckets import without_buckets
from tb_stepperf.statistics.changes.records import MIN_SEGMENT
from tb_stepperf.statistics.pace import pause_point
from tb_stepperf.statistics.selection import true_stretches

MAX_FILLED_RUN = 8
"""Longest run of unusable readings that is filled; longer ones are cut out."""

_LONGEST_BURST = 60
"""Rows of a restart that decays to the level it came from."""

_BURST_HEIGHT = 0.3
"""How far above the level, in logarithm, a burst is."""

_MAX_SCALE_SAMPLE = 100_000
_MAX_PERIOD_SAMPLE = 32_768


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A series made ready.

    Attributes:
        log_ms: float64, shape (num_rows,): logarithm of the step time from the end of warm-up on, without the periodic
            pattern and bucket offsets; readings that cannot be a step time are filled or cut out.
        centre: local median about which outliers are clipped, shape (num_rows,).
        index: int64, shape (num_rows,): position of each row in the series as given.
        scale: robust standard deviation of `log_ms` about its local median.
        warm_up: number of rows before the end of warm-up.
        warm_up_excess: how much slower, in logarithm, the first steps were than the first settled ones.
        period: length of the periodic pattern that was taken out, 1 where there is none.
    """

    log_ms: np.ndarray
    centre: np.ndarray
    index: np.ndarray
    scale: float
    warm_up: int
    warm_up_excess: float
    period: int


def prepare(step_time_ms: np.ndarray, bucket: np.ndarray | None = None) -> Prepared:
    """Prepares a series for the detector.

    Args:
        step_time_ms: float, shape (num_steps,); NaN, infinite, zero and negative readings are not used.
        bucket: optional, shape (num_steps,): key of each step; steps of one key are compared with their own kind.

    Returns:
        A `Prepared`, with no rows where no reading can be used.
    """
    log_ms, index = _usable(step_time_ms)
    if not log_ms.size:
        return Prepared(log_ms, log_ms, index, 1.0, 0, 0.0, 1)
    if bucket is not None:
        log_ms = without_buckets(log_ms, bucket[index])
    settled = min(log_ms.size // 3, 1000)
    residual = log_ms[settled:] - local_median(log_ms[settled:])
    limit = 4.0 * robust_scale(residual)
    period = find_period(np.clip(residual, -limit, limit))
    if period > 1:
        # learned where warm-up is over for certain, and taken out everywhere, so that warm-up can be seen
        log_ms = log_ms - _phase_offsets(residual, index[settled:], period)[index % period]
    warm_up, excess = warm_up_end(log_ms)
    log_ms, index = without_bursts(log_ms[warm_up:]), index[warm_up:]
    centre = local_median(log_ms)
    return Prepared(log_ms, centre, index, robust_scale(log_ms - centre), warm_up, excess, period)


def without_bursts(log_ms: np.ndarray) -> np.ndarray:
    """Fills bursts with the level about them: evaluations, starts of an epoch and restarts are no level of the run.

    A burst is a run of rows far above the median of the 160 rows around them (fewer in short series): too short to
    be a level, or a slow start again, which decays. Up to 8 rows need no filling: the local median does not follow
    them, and as slow steps they may be part of a tail.
    """
    level = local_median(log_ms, min(80, max(40, log_ms.size // 6)))
    above = log_ms - level
    is_above = above > max(4.0 * robust_scale(above), 0.03)
    num_above = np.concatenate([[0], np.cumsum(is_above)])
    # pauses of one or two rows belong to the run around them, if they are few
    for gap in (2, 1):
        is_above[gap:-1] |= is_above[: -gap - 1] & is_above[gap + 1 :]
    first, last = true_stretches(is_above)
    lengths = last - first
    some = (lengths > MAX_FILLED_RUN) & (lengths < _LONGEST_BURST)
    some &= num_above[last] - num_above[first] >= 0.8 * lengths
    first, last, lengths = first[some], last[some], lengths[some]
    if not first.size:
        return log_ms
    total = np.concatenate([[0.0], np.cumsum(np.minimum(above, 2.0 * _BURST_HEIGHT))])
    quarter = lengths // 4
    early = (total[first + quarter] - total[first]) / quarter
    late = (total[last] - total[last - quarter]) / quarter
    mean = (total[last] - total[first]) / lengths
    is_burst = np.where(lengths < MIN_SEGMENT, mean >= _BURST_HEIGHT, (early >= _BURST_HEIGHT) & (early >= 2.5 * late))
    out = log_ms.copy()
    for start, end in zip(first[is_burst], last[is_burst]):
        out[start:end] = level[start:end]
    return out


def local_median(log_ms: np.ndarray, half: int | None = None) -> np.ndarray:
    """Median of the rows around each row, shape (num_rows,).

    Windows of 2 · `half` rows (32; 20 in series below 1,000) overlap by half, so that each row lies in two; it takes
    the median that is nearer to it. A stretch of 20 rows on another level so fills at least one window by more than
    half, and stalls of up to 8 rows fill none.
    """
    pause_point()
    half = half or (16 if log_ms.size >= 1000 else 10)
    size = 2 * half
    if log_ms.size < 2 * size:
        return np.full(log_ms.size, np.median(log_ms))
    centres = []
    for shift in (0, half):
        whole = (log_ms.size - shift) // size * size
        medians = np.median(log_ms[shift : shift + whole].reshape(-1, size), axis=1)
        rows = np.repeat(medians, size)
        head = np.full(shift, np.median(log_ms[:size]))
        tail = np.full(log_ms.size - shift - whole, np.median(log_ms[-size:]))
        centres.append(np.concatenate([head, rows, tail]))
    first, second = centres
    return np.where(np.abs(log_ms - first) <= np.abs(log_ms - second), first, second)


def robust_scale(residual: np.ndarray) -> float:
    """Standard deviation of a Gaussian core: the larger of MAD and trimmed mean deviation, at least 0.001.

    The second keeps a series whose readings are mostly equal (a coarse timer) from having no noise at all.
    """
    pause_point()
    size = np.abs(thinned(residual, _MAX_SCALE_SAMPLE))
    mad = 1.4826 * float(np.median(size))
    trimmed = size[size <= np.quantile(size, 0.9)]
    return max(mad, 1.25 * float(trimmed.mean()), 1e-3)


def thinned(values: np.ndarray, most: int) -> np.ndarray:
    """At most `most` values, evenly spread."""
    if values.size <= most:
        return values
    return values[np.linspace(0, values.size - 1, most).astype(np.int64)]


def find_period(residual: np.ndarray) -> int:
    """Length of a repeating pattern in shape (num_rows,) values, 1 where there is none.

    The autocorrelation (by FFT, on at most 32,768 rows from the middle) must have peaks that are above 0.35, stand
    0.15 above both neighbours and recur at twice the lag; the smallest lag that comes near the highest of them is the
    period (a pattern over 12 steps may also repeat roughly every 3).
    """
    pause_point()
    if residual.size > _MAX_PERIOD_SAMPLE:
        first = (residual.size - _MAX_PERIOD_SAMPLE) // 2
        residual = residual[first : first + _MAX_PERIOD_SAMPLE]
    num = residual.size
    max_lag = min(num // 6, 2000)
    if max_lag < 3:
        return 1
    centred = residual - residual.mean()
    size = 1 << (2 * num - 1).bit_length()
    power = np.abs(np.fft.rfft(centred, size)) ** 2
    correlation = np.fft.irfft(power, size)[: 2 * max_lag + 2]
    if correlation[0] <= 0:
        return 1
    correlation = correlation / correlation[0] * (num / (num - np.arange(correlation.size)))
    lags = np.arange(2, max_lag + 1)
    here = correlation[lags]
    good = (here > 0.35) & (here - correlation[lags - 1] > 0.15) & (here - correlation[lags + 1] > 0.15)
    good &= correlation[2 * lags] > 0.3
    if not good.any():
        return 1
    near_best = here[good] >= here[good].max() - 0.08
    period = int(lags[good][near_best][0])
    # what begins or ends half-way is a change and no pattern of the run: each part must hold its share of the whole
    products = centred[period:] * centred[:-period]
    parts = np.array_split(products, max(1, min(8, num // (6 * period))))
    return period if min(float(part.mean()) for part in parts) > 0.4 * float(products.mean()) else 1


def warm_up_end(log_ms: np.ndarray) -> tuple[int, float]:
    """First settled row, and how much slower (in logarithm) the rows before it were.

    Row i has settled when the running median of 5 rows agrees, within the larger of 4 % and three standard deviations,
    with the median of the 40 rows that follow, for six of eight successive rows; a decay is then followed to its end.
    At most a third of the series and at most 1,000 rows are warm-up.
    """
    pause_point()
    limit = min(log_ms.size // 3, 400)
    if limit < 8:
        return 0, 0.0
    ahead = min(40, max(20, log_ms.size // 6))
    head = log_ms[: limit + ahead + 16]
    short = np.median(np.lib.stride_tricks.sliding_window_view(head, 5), axis=1)
    following = np.median(np.lib.stride_tricks.sliding_window_view(head, ahead), axis=1)
    rows = min(limit + 8, short.size, following.size - 5)
    if rows < 9:
        return 0, 0.0
    sigma = 1.4826 * float(np.median(np.abs(np.diff(head[head.size // 3 :])))) / np.sqrt(2.0)
    agrees = np.abs(short[:rows] - following[5 : rows + 5]) <= max(0.04, 3.0 * sigma / np.sqrt(2.5))
    count = np.convolve(agrees, np.ones(8), mode="valid")
    settled = np.flatnonzero((count >= 6) & agrees[: count.size])
    end = int(settled[0]) if settled.size else limit
    end = min(end, limit)
    if end == 0:
        # the running median hides one or two slow first steps; they are warm-up all the same
        level = float(np.median(head[:ahead]))
        slow = np.flatnonzero(head[:4] > level + max(0.3, 6.0 * sigma))
        end = int(slow[-1]) + 1 if slow.size else 0
    if end == 0:
        return 0, 0.0
    excess = float(np.median(log_ms[: max(1, end // 2)]) - np.median(log_ms[end : end + ahead]))
    if excess > 0.1:
        end = _end_of_decay(log_ms, end, min(log_ms.size // 3, 1000), sigma)
    return end, excess


def _end_of_decay(log_ms: np.ndarray, start: int, limit: int, sigma: float) -> int:
    """First row from `start` on whose next 10 rows are no slower than the 40 after them, but for 1 % or noise."""
    for row in range(start, limit, 2):
        slower = float(np.median(log_ms[row : row + 10]) - np.median(log_ms[row + 10 : row + 50]))
        if slower <= max(0.01, 2.0 * sigma / np.sqrt(10.0)):
            return row
    return limit


def _usable(step_time_ms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Logarithm of the readings that can be used, with short runs of others filled, and their positions."""
    good = np.isfinite(step_time_ms) & (step_time_ms > 0)
    if good.all():
        return np.log(step_time_ms), np.arange(step_time_ms.size)
    if not good.any():
        return np.zeros(0), np.zeros(0, np.int64)
    keep = np.ones(good.size, bool)
    for first, last in zip(*true_stretches(~good)):
        if last - first > MAX_FILLED_RUN or first == 0 or last == good.size:
            keep[first:last] = False
    index = np.flatnonzero(keep)
    log_ms = np.full(index.size, np.nan)
    usable = good[index]
    log_ms[usable] = np.log(step_time_ms[index[usable]])
    # a filled reading takes the median of the eight usable ones before it, so that it carries no noise of its own
    rows = np.flatnonzero(usable)
    for row in np.flatnonzero(~usable):
        last = int(np.searchsorted(rows, row))
        log_ms[row] = np.median(log_ms[rows[max(0, last - 8) : last + 1]])
    return log_ms, index


def _phase_offsets(residual: np.ndarray, index: np.ndarray, period: int) -> np.ndarray:
    """Median of each phase of the pattern, shape (period,); phases are counted in steps, so that holes do not shift."""
    phase = index % period
    order = np.argsort(phase, kind="stable")
    edges = np.searchsorted(phase[order], np.arange(1, period))
    return np.array([np.median(part) if part.size else 0.0 for part in np.split(residual[order], edges)])
