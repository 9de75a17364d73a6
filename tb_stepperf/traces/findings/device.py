"""Rules on a device: starved by launches, stopped by waits, short of memory."""

from __future__ import annotations

from tb_stepperf.traces.facts import RunFacts
from tb_stepperf.traces.findings.figures import (
    LIMIT,
    largest_stage,
    matching,
    of_whole,
    part_ms,
    per_step,
    share,
    whole_ms,
    whole_name,
)
from tb_stepperf.traces.names import ALLOCATION, SYNCHRONISATION
from tb_stepperf.traces.summary import Finding, OperatorRow, TraceSummary
from tb_stepperf.traces.words import ms, percent

MIN_KERNELS_PER_STEP = 50
MAX_MEDIAN_KERNEL_US = 20.0
MIN_SHORT_GAP_SHARE = 0.15
"""Launch bound: at least so many kernels, half of them shorter than this (a launch takes 5 to 10 µs of the host), and
gaps of less than a millisecond between them that take at least this part of the step."""

MIN_SYNCHRONISATIONS_PER_STEP = 2.0
MIN_SYNCHRONISATION_SHARE = 0.05
MIN_IDLE_SHARE = 0.15
"""Stalls: more waits than the one a step that reading the loss takes, which last at least this part of the step, and a
device that is idle (data loading aside) for at least that part: waits behind a busy device cost nothing."""

NEAR_LIMIT = 0.95
MIN_ALLOCATION_SHARE = 0.02
"""Memory pressure: the allocator holds this part of the device's memory, or calls to the driver for memory take this
part of the step, some of which give memory back; in a steady state there are none."""


def launch_bound(summary: TraceSummary, facts: RunFacts) -> Finding | None:
    """Speaks of many short kernels with short gaps between them, see `MIN_SHORT_GAP_SHARE`."""
    launches = summary.launches
    if launches is None:
        return None
    gaps_ms = launches.gap_ms_per_step * launches.short_gap_share
    stake = share(gaps_ms, whole_ms(summary))
    if (
        launches.num_kernels_per_step < MIN_KERNELS_PER_STEP
        or launches.median_kernel_us > MAX_MEDIAN_KERNEL_US
        or stake < MIN_SHORT_GAP_SHARE
    ):
        return None
    return Finding(
        rule="launch-bound",
        candidate="The device waits for the host to start its many short kernels.",
        evidence=f"{launches.num_kernels_per_step:,.0f} kernels in {whole_name(summary)}, half of them shorter than "
        f"{launches.median_kernel_us:.3g} µs; gaps of less than 1 ms between them take {of_whole(summary, gaps_ms)}.",
        next_check="Try a larger batch: if the step hardly grows, launches are the limit, and torch.compile, CUDA "
        f"graphs or a fused optimizer (fused=True) help.{largest_stage(facts)}",
        limit=f"{LIMIT}: the profiler itself makes launches slower, so the gaps are shorter without it.",
        share=stake,
    )


def synchronisation_stalls(summary: TraceSummary, facts: RunFacts) -> Finding | None:
    """Speaks of repeated waits for an otherwise idle device, see `MIN_IDLE_SHARE`."""
    if summary.device_busy_share is None:
        return None
    calls = matching(summary, SYNCHRONISATION)
    num_calls = per_step(summary, sum(row.num_calls for row in calls))
    waiting = per_step(summary, sum(row.self_host_ms for row in calls))
    whole = whole_ms(summary)
    idle = 1 - summary.device_busy_share - share(part_ms(summary, "data_loading"), whole)
    if (
        num_calls < MIN_SYNCHRONISATIONS_PER_STEP
        or share(waiting, whole) < MIN_SYNCHRONISATION_SHARE
        or idle < MIN_IDLE_SHARE
    ):
        return None
    longest = next((f"; the longest is {wait.name}" for wait in summary.waits if wait.kind == "synchronisation"), "")
    return Finding(
        rule="synchronisation-stalls",
        candidate="The host waits for the device in the middle of the step, and then the device for the host.",
        evidence=f"{num_calls:,.3g} waits in {whole_name(summary)}, most in {_main_call(calls)}, take "
        f"{of_whole(summary, waiting)}{longest}; the device is idle for {percent(idle)} of it.",
        next_check="Look in the table of waits for what asks: .item(), .cpu(), printing a tensor, indexing by a mask. "
        f"torch.cuda.set_sync_debug_mode('warn') names the line.{largest_stage(facts)}",
        limit=f"{LIMIT}: some of the idle time may have other reasons, such as slow launches.",
        share=share(idle, 1.0),
    )


def _main_call(calls: list[OperatorRow]) -> str:
    return max(calls, key=lambda row: row.self_host_ms).name


def memory_pressure(summary: TraceSummary, facts: RunFacts) -> Finding | None:
    """Speaks of retries, of memory near the device's limit, and of calls to the driver, see `NEAR_LIMIT`."""
    reasons = []
    if facts.num_alloc_retries:
        reasons.append(f"the allocator had to empty its cache {facts.num_alloc_retries:,} times around the window")
    if facts.num_ooms:
        reasons.append(f"{facts.num_ooms:,} allocation{'s' if facts.num_ooms > 1 else ''} failed")
    reserved = [(facts.peak_reserved_bytes, summary.info.device_bytes)]
    reserved += [(curve.peak_reserved_bytes, curve.total_bytes) for curve in summary.memory]
    fullest = max((share(peak, total) for peak, total in reserved if peak and total), default=0.0)
    if fullest >= NEAR_LIMIT:
        reasons.append(f"the allocator holds {percent(fullest)} of the device's memory")
    calls = matching(summary, ALLOCATION)
    calling = per_step(summary, sum(row.self_host_ms for row in calls))
    stake = share(calling, whole_ms(summary))
    if stake >= MIN_ALLOCATION_SHARE and any("Free" in row.name or "Release" in row.name for row in calls):
        num_calls = per_step(summary, sum(row.num_calls for row in calls))
        reasons.append(f"{num_calls:,.3g} calls for memory to the driver take {ms(calling)} of {whole_name(summary)}")
    if not reasons:
        return None
    text = "; ".join(reasons)
    return Finding(
        rule="memory-pressure",
        candidate="The device is short of memory, and the allocator gives its cache back and gets it anew.",
        evidence=f"{text[0].upper()}{text[1:]}.",
        next_check="Lower the batch a little: if steps become much more even, memory is the matter. Then try "
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True or activation checkpointing.",
        limit=f"{LIMIT}: a full cache alone does no harm; retries do.",
        share=stake,
    )
