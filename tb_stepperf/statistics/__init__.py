"""Pure statistics on arrays: no file, no HTTP, no TensorBoard; NumPy only.

Functions take arrays and return frozen dataclasses. Rows are steps in ascending order. Ranges are half-open
`[start, end)`. Values that cannot be a time (not finite, negative) are left out by `select` and counted, never
clipped; 0 is a value. Arguments out of range raise `ArgumentError`.
"""

from tb_stepperf.statistics.aggregates import BinExtremes, BinSums, bin_extremes, bin_sums, compact
from tb_stepperf.statistics.attribution import (
    UNLABELLED,
    Attribution,
    Coincidence,
    Event,
    PartChange,
    StageSample,
    attribute_change,
)
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
from tb_stepperf.statistics.changes import KINDS, Change, find_changes
from tb_stepperf.statistics.comparison import (
    COMPARED_FIELDS,
    VERDICTS,
    Comparison,
    FieldCheck,
    LevelChange,
    Needed,
    QuantileDifference,
    RunSample,
    SideSample,
    check_conditions,
    compare_runs,
    describe,
    quantile_difference,
)
from tb_stepperf.statistics.comparison import Change as MeasureChange
from tb_stepperf.statistics.comparison.quantile_difference import DEFAULT_PERCENTILES
from tb_stepperf.statistics.comparison.sample import MIN_STEPS as MIN_COMPARED_STEPS
from tb_stepperf.statistics.comparison.sample import warmup_end
from tb_stepperf.statistics.comparison.verdict import UNKNOWN_SPREAD
from tb_stepperf.statistics.quantiles import Bands, bands, nearest_rank_rows
from tb_stepperf.statistics.selection import Selection, everything, flag_bits, select, true_stretches
from tb_stepperf.statistics.shares import StageShare, StageShares, rate_per_s, stage_shares
from tb_stepperf.statistics.tails import PHRASES, TailCause, TailCauses, tail_causes

__all__ = [
    "COMPARED_FIELDS",
    "DEFAULT_PERCENTILES",
    "KINDS",
    "MAX_BINS",
    "MIN_COMPARED_STEPS",
    "PHRASES",
    "UNKNOWN_SPREAD",
    "UNLABELLED",
    "VERDICTS",
    "Attribution",
    "Axis",
    "Bands",
    "BinExtremes",
    "BinSums",
    "Bins",
    "Change",
    "ClockJumps",
    "Coincidence",
    "Comparison",
    "Event",
    "FieldCheck",
    "LevelChange",
    "MeasureChange",
    "Needed",
    "PartChange",
    "QuantileDifference",
    "RunSample",
    "Selection",
    "SideSample",
    "StageSample",
    "StageShare",
    "StageShares",
    "TailCause",
    "TailCauses",
    "attribute_change",
    "bands",
    "bin_extremes",
    "bin_sums",
    "check_conditions",
    "clock_jumps",
    "compact",
    "compare_runs",
    "describe",
    "everything",
    "find_changes",
    "flag_bits",
    "make_bins",
    "measured_ms",
    "nearest_rank_rows",
    "quantile_difference",
    "rate_per_s",
    "relative_axis",
    "rows_between",
    "select",
    "stage_shares",
    "step_axis",
    "tail_causes",
    "true_stretches",
    "wall_axis",
    "warmup_end",
]
