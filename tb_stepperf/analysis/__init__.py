"""What the tab and the terminal both say of runs: changes with their stages, and comparisons, in words and as JSON.

Between the store, which has rows, and the statistics, which have arrays: rows are chosen (`series`), what happened is
gathered (`events`), changes are found and put down to stages (`member`, `attribute`), sides are compared (`pair`), and
all of it is said (`words`, `as_json`). No web and no terminal here: `plugin/` and `cli/` are the two ways out.
"""

from tb_stepperf.analysis.environment import latest_environment
from tb_stepperf.analysis.events import Provisional, open_provisional
from tb_stepperf.analysis.member import MIN_STEPS, Marker, MemberAnalysis, Thresholds, analyse_member
from tb_stepperf.analysis.pair import RunsCompared, Side, compare_members
from tb_stepperf.analysis.series import CLOCKS, LEAVING_OUT, Reader, sample_of

__all__ = [
    "CLOCKS",
    "LEAVING_OUT",
    "MIN_STEPS",
    "Marker",
    "MemberAnalysis",
    "Provisional",
    "Reader",
    "RunsCompared",
    "Side",
    "Thresholds",
    "analyse_member",
    "compare_members",
    "latest_environment",
    "open_provisional",
    "sample_of",
]
