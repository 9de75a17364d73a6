"""Rules on several ranks: communication, and ranks that wait for one another."""

from __future__ import annotations

from tb_stepperf.traces.facts import RunFacts
from tb_stepperf.traces.findings.figures import LIMIT, of_whole, part_ms, share, whole_ms
from tb_stepperf.traces.summary import Finding, TraceSummary
from tb_stepperf.traces.words import percent

MIN_EXPOSED_SHARE = 0.1
"""Of the step, in communication while no other work runs."""

MIN_IMBALANCE = 1.1
"""Own work of the slowest rank against the median of all ranks."""


def communication_not_overlapped(summary: TraceSummary, facts: RunFacts) -> Finding | None:
    """Speaks from `MIN_EXPOSED_SHARE` on."""
    exposed = part_ms(summary, "exposed_communication")
    stake = share(exposed, whole_ms(summary))
    if stake < MIN_EXPOSED_SHARE:
        return None
    hidden = percent(share(summary.overlapped_ms, summary.communication_ms))
    return Finding(
        rule="communication-not-overlapped",
        candidate="Ranks exchange data while nothing else runs.",
        evidence=f"Communication without other work beside it takes {of_whole(summary, exposed)}; {hidden} of all "
        "communication is hidden behind work.",
        next_check="Compare this window on all ranks: where one rank communicates much less, the others wait for it. "
        "Else try larger buckets (bucket_cap_mb), gradient_as_bucket_view, or no_sync() while accumulating.",
        limit=f"{LIMIT}: waiting for a slower rank looks like communication.",
        share=stake,
    )


def imbalance(summary: TraceSummary, facts: RunFacts) -> Finding | None:
    """Speaks from `MIN_IMBALANCE` on, of the run's samples: one trace shows one rank."""
    if facts.rank_imbalance is None or facts.rank_imbalance < MIN_IMBALANCE:
        return None
    who = "One rank" if facts.slowest_rank is None else f"Rank {facts.slowest_rank}"
    return Finding(
        rule="imbalance",
        candidate=f"{who} takes longer than the others, which wait for it.",
        evidence=f"Around the window its own work takes {facts.rank_imbalance:.3g} times the median of all ranks.",
        next_check="Compare this window's trace of that rank with another's: the same operators at a slower rate speak "
        "for the machine, more calls or larger shapes for its share of the data.",
        limit=f"{LIMIT}: own work is measured on the host, and a rank that waits inside an operator seems to work.",
        share=1 - 1 / facts.rank_imbalance,
    )
