"""How much a mean of autocorrelated step times can wander by chance: long-run variance in its several forms.

The long-run variance λ is the limit of n · Var(mean of n rows). For independent rows it is the variance; for an
autoregression of order 1 it is variance · (1 + φ) / (1 − φ).
"""

from __future__ import annotations

import numpy as np

_FLOOR = 1e-8


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
        self.lagged = np.concatenate([[0.0], np.cumsum(centred[1:] * centred[:-1])]) if stream.size else np.zeros(1)
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
        """Long-run variance of rows [start, end): the larger of a plug-in and of differences of group means.

        The plug-in is that of an AR(1) whose coefficient is corrected for its bias −(1 + 4φ)/n (Marriott and Pope,
        Biometrika 41, 1954). Differences of adjacent group means (von Neumann's ratio) see correlation of longer
        reach and are deaf to a trend.
        """
        num = end - start
        if num < 4:
            return max(self.variance(start, end), self.floor)
        mean, variance = self.mean(start, end), self.variance(start, end)
        both = float(self.first[end - 1] - self.first[start]) + float(self.first[end] - self.first[start + 1])
        lagged = (float(self.lagged[end - 1] - self.lagged[start]) - mean * both) / (num - 1) + mean * mean
        phi = lagged / variance if variance > 0 else 0.0
        phi = min(max(phi + (1.0 + 4.0 * phi) / num, 0.0), 0.97)
        best = variance * num / (num - 1) * (1.0 + phi) / (1.0 - phi)
        for num_groups in (24, 10):
            if num >= 8 * num_groups:
                steps = np.diff(self.group_means(start, end, num_groups))
                best = max(best, num // num_groups * float(np.mean(steps * steps)) / 2.0)
        return max(best, self.floor)


def global_long_run_variance(sums: Sums, largest_group: int | None = None) -> float:
    """Long-run variance of a whole stream that may hold a few changes of level.

    The median absolute difference of adjacent group means is deaf to rare jumps; group sizes double as long as there
    are at least 24 groups (and up to `largest_group` rows), and the largest value counts.
    """
    best, size = sums.floor, 1
    while sums.num_rows // size >= 24 and size <= (largest_group or sums.num_rows):
        means = sums.group_means(0, sums.num_rows // size * size, sums.num_rows // size)
        spread = 1.4826 * float(np.median(np.abs(np.diff(means))))
        best = max(best, size * spread * spread / 2.0)
        size *= 2
    return best
