"""Change points of step time: what is real, since when, how large, and nothing else.

`find_changes` is the door. The way through, one module a phase: `prepare` (logarithm, warm-up, periods, bursts),
`candidates` (where a border may be), `verify` (which borders stand; `noise` tells how far chance goes), `patterns`
(recurring excursions), `levels` (all these together), `shapes` (steps, ramps, drifts), `spread` (tail and spread),
`intervals` (how large, how sure), `find` (all of it, as records).
"""

from tb_stepperf.statistics.changes.find import find_changes
from tb_stepperf.statistics.changes.records import KINDS, Change

__all__ = ["KINDS", "Change", "find_changes"]
