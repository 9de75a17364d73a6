"""How much a mean of autocorrelated step times can wander by chance: long-run variance in its several forms.

The long-run variance λ is the limit of n · Var(mean of n rows). For independent rows it is the variance; for an
autoregression of order 1 it is variance · (1 + φ) / (1 − φ).
"""

from __future__ import annotations

import math

import numpy as np

from tb_stepperf.statistics.pace import pause_point

_FLOOR = 1e-8
_LEAST_FOR_TREND = 12
_LEAST_FOR_DECAY = 200
"""Rows from which on the decay of the autocorrelation can be told at all."""


class Sums:
    """Running sums of a stream, so that the mean and noise of any range cost nothing.

    Args:
        stream: float64, shape (num_rows,).
        floor: least long-run variance per row that any range is given.
    """

    def __init__(self, stream: np.ndarray, floor: float = _FLOOR) -> None:
        self.num_rows = stream.size
        self.offset = float(stream.mean()) if stream.size else 0.0
        centred = stream - self.offset
        self.first = np.concatenate([[0.0], np.cumsum(centred)])
        self.second = np.concatenate([[0.0], np.cumsum(centred * centred)])
        self._moment = np.concatenate([[0.0], np.cumsum(centred * np.arange(stream.size))])
        self._lagged = {lag: np.concatenate([[0.0], np.cumsum(centred[lag:] * centred[:-lag])]) for lag in (1, 4)}
        self.floor = floor

    def mean(self, start: int, end: int) -> float:
        """Mean of rows [start, end), relative to `offset`."""
        return float(self.first[end] - self.first[start]) / (end - start)

    def variance(self, start: int, end: int) -> float:
        """Variance of rows [start, end)."""
        mean = self.mean(start, end)
        return max(float(self.second[end] - self.second[start]) / (end - start) - mean * mean, 0.0)

    def group_means(self, start: int, end: int, num_groups: int) -> np.ndarray:
        """Means of `num_groups` equal groups that fill [start, end) from its start."""
        size = (end - start) // num_groups
        edges = start + size * np.arange(num_groups + 1)
        return np.diff(self.first[edges]) / size

    def long_run_variance(self, start: int, end: int) -> float:
        """Long-run variance of rows [start, end): the largest of `noise_parts`, at least the floor."""
        return max(*self.noise_parts(start, end), self.floor)

    def noise_parts(self, start: int, end: int) -> tuple[float, ...]:
        """Four estimates of the long-run variance of rows [start, end).

        The first is the plug-in of an AR(1) whose coefficient is corrected for its bias −(1 + 4φ)/n (Marriott and
        Pope, Biometrika 41, 1954); the second that of an AR(1) with white noise on top, from the correlations at lags
        1 and 4. The others are from squared differences of adjacent means of 24 and of 10 groups
        (von Neumann's ratio): they see correlation of longer reach; 0 where rows are too few. Where a straight line
        explains nine tenths of the variance, all are of the rows about it: a ramp that was cut into steps has no more
        noise than any other stretch.
        """
        num = end - start
        if num < 4:
            return self.variance(start, end), 0.0, 0.0, 0.0
        mean, variance = self.mean(start, end), self.variance(start, end)
        trend = self._squared_slope(start, end, mean, variance)
        near = self._correlation(1, start, end, mean, variance, trend)
        phi = min(max(near + (1.0 + 4.0 * near) / num, 0.0), 0.97)
        about_trend = max(variance - trend * (num * num - 1) / 12.0, 1e-3 * variance) * num / (num - 1)
        parts = [about_trend * (1.0 + phi) / (1.0 - phi)]
        parts.append(0.0)
        if num >= _LEAST_FOR_DECAY and near > 3.0 / math.sqrt(num):
            far = self._correlation(4, start, end, mean, variance, trend)
            decay = min(max(far / near, 0.0) ** (1.0 / 3.0), 0.97)
            parts[1] = about_trend * (1.0 + 2.0 * near / (1.0 - decay))
        for num_groups in (24, 10):
            part = 0.0
            if num >= 8 * num_groups:
                steps = np.diff(self.group_means(start, end, num_groups))
                part = num // num_groups * float(np.var(steps) if trend else np.mean(steps * steps)) / 2.0
            parts.append(part)
        return tuple(parts)

    def _squared_slope(self, start: int, end: int, mean: float, variance: float) -> float:
        """Square of the slope per row of rows [start, end) where it explains most of their variance, else 0."""
        num = end - start
        if num < _LEAST_FOR_TREND:
            return 0.0
        total = float(self.first[end] - self.first[start])
        joint = float(self._moment[end] - self._moment[start]) - 0.5 * (start + end - 1) * total
        spread = num * (num * num - 1) / 12.0
        return (joint / spread) ** 2 if joint * joint / spread > 0.9 * num * variance else 0.0

    def _correlation(self, lag: int, start: int, end: int, mean: float, variance: float, trend: float) -> float:
        """Autocorrelation of rows [start, end) at a lag, about a line whose squared slope is `trend`."""
        num = end - start - lag
        if variance <= 0 or num < 1:
            return 0.0
        products = float(self._lagged[lag][end - lag] - self._lagged[lag][start])
        both = float(self.first[end - lag] - self.first[start]) + float(self.first[end] - self.first[start + lag])
        covariance = (products - mean * both) / num + mean * mean
        if trend:
            covariance -= trend * ((num * num - 1) - 3.0 * lag * lag) / 12.0
            variance = max(variance - trend * ((end - start) ** 2 - 1) / 12.0, 1e-3 * variance)
        return covariance / variance


def global_long_run_variance(sums: Sums, largest_group: int | None = None) -> float:
    """Long-run variance of a whole stream that may hold a few changes of level.

    The median absolute deviation of differences of adjacent group means is deaf to rare jumps, and, since it is taken
    about their median, to a trend; group sizes double as long as there are at least 24 groups (and up to
    `largest_group` rows), and the largest value counts.
    """
    pause_point()
    best, size = sums.floor, 1
    while sums.num_rows // size >= 24 and size <= (largest_group or sums.num_rows):
        means = sums.group_means(0, sums.num_rows // size * size, sums.num_rows // size)
        steps = np.diff(means)
        spread = 1.4826 * float(np.median(np.abs(steps - np.median(steps))))
        best = max(best, size * spread * spread / 2.0)
        size *= 2
    return best
