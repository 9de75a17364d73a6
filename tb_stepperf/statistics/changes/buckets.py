"""Takes the kinds of steps (sequence-length buckets, curriculum stages) out of a series, so that like meets like."""

from __future__ import annotations

import numpy as np

from tb_stepperf.statistics.pace import pause_point

_WINDOW = 32
_MAX_WINDOWS = 4096
_MAX_ROUNDS = 200
_SETTLED = 1e-5
_PRECISE = 0.01


def without_buckets(log_ms: np.ndarray, bucket: np.ndarray) -> np.ndarray:
    """Takes each bucket's own log time out and puts the common one in.

    How far buckets are apart is read where they stand side by side: the medians of each bucket in windows of 32 rows
    are fitted by a level of the window and an offset of the bucket (least squares, in turns). Were the offsets the
    buckets' medians over the whole series, a change of level would count as part of the buckets that are common after
    it, and would show again, the other way round, where the mix of buckets changes. Where buckets hardly meet, the
    offsets stay near those medians.

    Args:
        log_ms: float64, shape (num_rows,).
        bucket: shape (num_rows,): key of each row.
    """
    kinds, key = np.unique(bucket, return_inverse=True)
    key = key.reshape(-1)
    if kinds.size < 2:
        return log_ms
    window = np.arange(log_ms.size) // max(_WINDOW, -(-log_ms.size // _MAX_WINDOWS))
    whole = _cell_medians(log_ms, key)
    cell, index = np.unique(window * kinds.size + key, return_inverse=True)
    index = index.reshape(-1)
    middle = _cell_medians(log_ms, index)
    num_rows = np.bincount(index).astype(np.float64)
    of_window, of_kind = cell // kinds.size, cell % kinds.size
    # rows' worth of trust in the whole series' median: as many as would tell an offset to within 1 %
    scale = 1.4826 * float(np.median(np.abs(log_ms - middle[index])))
    trust = (scale / _PRECISE) ** 2
    rows_of_window = np.bincount(of_window, num_rows)
    rows_of_kind = np.bincount(of_kind, num_rows) + trust
    offset = whole.copy()
    for _ in range(_MAX_ROUNDS):
        pause_point()
        level = np.bincount(of_window, num_rows * (middle - offset[of_kind])) / rows_of_window
        # whole medians of a series whose level moved are off by a common amount, which is none of the buckets' business
        shift = float(np.average(offset - whole, weights=rows_of_kind))
        moved = np.bincount(of_kind, num_rows * (middle - level[of_window])) + trust * (whole + shift)
        moved /= rows_of_kind
        largest = float(np.abs(moved - offset).max())
        offset = moved
        if largest < _SETTLED:
            break
    alike = log_ms - offset[key]
    return alike + float(np.median(log_ms) - np.median(alike))


def _cell_medians(values: np.ndarray, cell: np.ndarray) -> np.ndarray:
    """Median (of an even number the upper one) of the values of each cell 0, 1, …, shape (num_cells,)."""
    pause_point()
    order = np.lexsort((values, cell))
    sizes = np.bincount(cell)
    first = np.cumsum(sizes) - sizes
    return values[order[first + sizes // 2]]
