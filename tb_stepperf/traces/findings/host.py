"""Rules on what the host does: loading data, collecting garbage, compiling."""

from __future__ import annotations

from tb_stepperf.traces.facts import RunFacts
from tb_stepperf.traces.findings.figures import LIMIT, matching, of_whole, part_ms, per_step, share, whole_ms
from tb_stepperf.traces.names import COLLECTION, COMPILATION
from tb_stepperf.traces.summary import Finding, TraceSummary
from tb_stepperf.traces.words import percent

MIN_DATA_SHARE = 0.1
"""Of the step, in data loading while no device works: below it, a faster loader gains less than a tenth."""

BUSY_SHARE = 0.9
"""A device that works this much has no time to gain from a faster loader."""

MIN_GC_SHARE = 0.03
"""Of the step, in Python's garbage collection; an ordinary loop spends well below one percent."""

MIN_COMPILE_SHARE = 0.05
"""Of the step, in compiling; it should end with the warm-up."""


def data_pipeline_bound(summary: TraceSummary, facts: RunFacts) -> Finding | None:
    """Speaks from `MIN_DATA_SHARE` on: of the trace where it shows a loader, else of the stage `data`."""
    loading = part_ms(summary, "data_loading")
    stake = share(loading, whole_ms(summary))
    evidence = f"Data loading takes {of_whole(summary, loading)} in which no device works"
    if summary.device_busy_share is None:
        evidence = f"Data loading takes {of_whole(summary, loading)}"
    if facts.data_share is not None:
        evidence += f"; around the window the stage data takes {percent(facts.data_share)}"
    if loading == 0 and facts.data_share is not None and (summary.device_busy_share or 0) < BUSY_SHARE:
        stake = facts.data_share
        evidence = f"Around the window the stage data takes {percent(stake)} of the step; the trace shows no DataLoader"
    if stake < MIN_DATA_SHARE:
        return None
    return Finding(
        rule="data-pipeline-bound",
        candidate="The training waits for its data.",
        evidence=f"{evidence}.",
        next_check="Run the loop over the loader without the model: if it is as slow, try more num_workers, "
        "persistent_workers and cheaper transforms; if not, look at what the workers compete for.",
        limit=f"{LIMIT}: the trace does not see into the loader's worker processes.",
        share=stake,
    )


def garbage_collection(summary: TraceSummary, facts: RunFacts) -> Finding | None:
    """Speaks from `MIN_GC_SHARE` on, of the trace (with `record_python_gc_info`) or of the run's samples."""
    collecting = per_step(summary, sum(row.total_host_ms for row in matching(summary, COLLECTION)))
    stake = share(collecting, whole_ms(summary))
    evidence = f"Collections take {of_whole(summary, collecting)}"
    if (facts.gc_share or 0.0) > stake:
        stake = share(facts.gc_share or 0.0, 1.0)
        evidence = f"Around the window, collections take {percent(stake)} of the step"
    if stake < MIN_GC_SHARE:
        return None
    return Finding(
        rule="garbage-collection",
        candidate="Python's garbage collector stops the loop.",
        evidence=f"{evidence}.",
        next_check="Call gc.freeze() after setting up, or gc.disable() with a gc.collect() every some hundred steps, "
        "and see whether the slow steps go.",
        limit=f"{LIMIT}: a collection runs when objects were made, so what makes them may be the matter.",
        share=stake,
    )


def recompilation(summary: TraceSummary, facts: RunFacts) -> Finding | None:
    """Speaks from `MIN_COMPILE_SHARE` on, of compiling in the trace or of recompiled steps in the samples."""
    compiling = max((per_step(summary, row.total_host_ms) for row in matching(summary, COMPILATION)), default=0.0)
    stake = share(compiling, whole_ms(summary))
    evidence = f"torch.compile is at work for {of_whole(summary, compiling)}"
    if (facts.recompiled_share or 0.0) > stake:
        stake = share(facts.recompiled_share or 0.0, 1.0)
        evidence = f"Around the window, recompiling takes {percent(stake)} of the time"
    if stake < MIN_COMPILE_SHARE:
        return None
    return Finding(
        rule="recompilation",
        candidate="The model is compiled again and again, or still.",
        evidence=f"{evidence}.",
        next_check="Run with TORCH_LOGS=recompiles, which names the guard that failed; pad inputs to few shapes or "
        "mark the changing dimension as dynamic.",
        limit=f"{LIMIT}: a window right after the start shows the first compilation, which is no fault.",
        share=stake,
    )
