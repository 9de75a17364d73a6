"""Two sides, each of one or more runs: is the candidate slower, by how much, and how sure is that?

`compare_runs` is the way in. Everything is computed on logarithms of step times, so a difference is a relative change.

sample → levels → measure (intervals, long_run, student) → verdict → result
"""

from tb_stepperf.statistics.comparison.comparability import COMPARED_FIELDS, FieldCheck, check_conditions
from tb_stepperf.statistics.comparison.compare import compare_runs
from tb_stepperf.statistics.comparison.intervals import Change
from tb_stepperf.statistics.comparison.quantile_difference import QuantileDifference, quantile_difference
from tb_stepperf.statistics.comparison.result import VERDICTS, Comparison, LevelChange, Needed, SideSample
from tb_stepperf.statistics.comparison.sample import RunSample
from tb_stepperf.statistics.comparison.verdict import describe

__all__ = [
    "COMPARED_FIELDS",
    "VERDICTS",
    "Change",
    "Comparison",
    "FieldCheck",
    "LevelChange",
    "Needed",
    "QuantileDifference",
    "RunSample",
    "SideSample",
    "check_conditions",
    "compare_runs",
    "describe",
    "quantile_difference",
]
