"""Rules that name what may be the cause of a slow step: a candidate each, never a proven cause."""

from __future__ import annotations

from tb_stepperf.traces.facts import RunFacts
from tb_stepperf.traces.findings.device import launch_bound, memory_pressure, synchronisation_stalls
from tb_stepperf.traces.findings.host import data_pipeline_bound, garbage_collection, recompilation
from tb_stepperf.traces.findings.ranks import communication_not_overlapped, imbalance
from tb_stepperf.traces.summary import Finding, TraceSummary

RULES = (
    data_pipeline_bound,
    launch_bound,
    communication_not_overlapped,
    synchronisation_stalls,
    memory_pressure,
    imbalance,
    garbage_collection,
    recompilation,
)
"""Every rule: summary and facts in, a finding or None out."""


def find(summary: TraceSummary, facts: RunFacts | None = None) -> tuple[Finding, ...]:
    """Returns what the rules say, the largest share first; nothing of a healthy trace.

    Args:
        summary: of the trace.
        facts: of the run's samples around the window, None where there are none.
    """
    known = RunFacts() if facts is None else facts
    found = [finding for rule in RULES if (finding := rule(summary, known)) is not None]
    return tuple(sorted(found, key=lambda finding: (-finding.share, finding.rule)))
