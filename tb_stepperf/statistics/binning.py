"""Bins of an integer axis with exact edges.

Positions are int64 up to 2**63 - 1, and a range may be wider than 2**53: edges are Python integers, never floats.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from tb_stepperf.errors import ArgumentError

MAX_BINS = 2000
"""Most bins of one chart: more than a screen has pixels to show."""


@dataclasses.dataclass(frozen=True, eq=False)
class Bins:
    """Successive bins `[start, end)` of an axis, and the rows in each.

    Attributes:
        start: lower edges, one for each bin, in the unit of the axis (Python integers: an edge may be 2**63).
        end: upper edges, not in the bin.
        rows: int64, shape (num_bins + 1,): bin k holds the rows `[rows[k], rows[k + 1])`.
        one_row_each: True where every bin holds exactly one row: the raw samples.
    """

    start: tuple[int, ...]
    end: tuple[int, ...]
    rows: np.ndarray
    one_row_each: bool

    @property
    def num_bins(self) -> int:
        """Number of bins."""
        return len(self.start)


def make_bins(positions: np.ndarray, max_bins: int) -> Bins:
    """Divides rows into at most `max_bins` bins that cover them without a gap.

    With no more rows than bins, each row gets its own bin `[position, position + 1)`. Otherwise the bins are equally
    wide between the first position and the last (their widths differ by at most 1, since edges are integers), and may
    be empty. Rows that share a position are never torn apart in that case.

    Args:
        positions: int64 vector of the rows' positions, not descending; may be empty (then there are no bins).
        max_bins: in [1, 2000].

    Raises:
        ArgumentError: positions descend, or max_bins is out of its range.
    """
    if not 1 <= max_bins <= MAX_BINS:
        raise ArgumentError(f"max_bins is {max_bins}; an integer in [1, {MAX_BINS}] is allowed")
    if positions.ndim != 1 or positions.dtype != np.int64:
        raise ArgumentError(f"positions are {positions.dtype}{positions.shape}; an int64 vector is allowed")
    if np.any(positions[1:] < positions[:-1]):
        raise ArgumentError("positions descend; sort the rows along the axis first")
    num_rows = positions.size
    if num_rows <= max_bins:
        starts = positions.tolist()
        ends = [position + 1 for position in starts]
        return Bins(tuple(starts), tuple(ends), np.arange(num_rows + 1), one_row_each=True)
    first = int(positions[0])
    width = int(positions[-1]) + 1 - first
    num_bins = min(max_bins, width)
    edges = [first + index * width // num_bins for index in range(num_bins + 1)]
    rows = np.empty(num_bins + 1, np.int64)
    # The last edge may be 2**63, which int64 does not hold; all rows lie below it.
    rows[:-1] = np.searchsorted(positions, np.array(edges[:-1], np.int64), side="left")
    rows[-1] = num_rows
    return Bins(tuple(edges[:-1]), tuple(edges[1:]), rows, one_row_each=False)
