"""Pure statistics on arrays: no file, no HTTP, no TensorBoard; NumPy only.

Functions take arrays and return frozen dataclasses. Rows are steps in ascending order. Ranges are half-open
`[start, end)`. Values that cannot be a time (not finite, negative) are left out by `select` and counted, never
clipped; 0 is a value. Arguments out of range raise `ArgumentError`.
"""

from tb_stepperf.statistics.aggregates import BinExtremes, BinSums, bin_extremes, bin_sums, compact
from tb_stepperf.statistics.axes import (
    Axis,
    ClockJumps,
    clock_jumps,
    measured_ms,
    relative_axis,
    rows_between,
    step_axis,
    wall_axis,
)
from tb_stepperf.statistics.binning import MAX_BINS, Bins, make_bins
from tb_stepperf.statistics.quantiles import Bands, bands, nearest_rank_rows
from tb_stepperf.statistics.selection import Selection, everything, flag_bits, select, true_stretches
from tb_stepperf.statistics.shares import StageShare, StageShares, rate_per_s, stage_shares

__all__ = [
    "MAX_BINS",
    "Axis",
    "Bands",
    "BinExtremes",
    "BinSums",
    "Bins",
    "ClockJumps",
    "Selection",
    "StageShare",
    "StageShares",
    "bands",
    "bin_extremes",
    "bin_sums",
    "clock_jumps",
    "compact",
    "everything",
    "flag_bits",
    "make_bins",
    "measured_ms",
    "nearest_rank_rows",
    "rate_per_s",
    "relative_axis",
    "rows_between",
    "select",
    "stage_shares",
    "step_axis",
    "true_stretches",
    "wall_axis",
]
