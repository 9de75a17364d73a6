"""Each rule speaks where it should, is silent where it should, and never claims more than a candidate."""

from __future__ import annotations

import dataclasses

import pytest

from tb_stepperf.traces.events import Category
from tb_stepperf.traces.facts import RunFacts
from tb_stepperf.traces.findings import find
from tb_stepperf.traces.summarise import summarise
from tb_stepperf.traces.summary import Finding, MemoryCurve, TraceSummary
from tests.traces.build import Event, annotation, call, event, kernel, op, step, trace

LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"


def healthy(*more: Event, num_steps: int = 3) -> list[Event]:
    """Steps of 10 ms, 95 % of them in a few long kernels, one read of the loss each."""
    events = list(more)
    for number in range(num_steps):
        at = 10_000 * number
        events += [step(number, at, 10_000), annotation(LOADER, at + 10, 100)]
        for i in range(19):
            events += [op("aten::mm", at + 200 + 30 * i, 20), call("cudaLaunchKernel", at + 205 + 30 * i, 8)]
            events.append(kernel("gemm", at + 300 + 500 * i, 500))
        events.append(call("cudaStreamSynchronize", at + 1000, 8900))
    return events


def rules(summary: TraceSummary, facts: RunFacts | None = None) -> list[str]:
    return [finding.rule for finding in find(summary, facts)]


def only(summary: TraceSummary, facts: RunFacts | None = None) -> Finding:
    (finding,) = find(summary, facts)
    return finding


@pytest.fixture(scope="module")
def fine() -> TraceSummary:
    return summarise(trace(*healthy()))


def test_a_healthy_trace_is_met_with_silence(fine: TraceSummary) -> None:
    assert fine.findings == ()
    facts = RunFacts(
        num_steps=400,
        data_share=0.02,
        stage_shares=(("forward", 0.5), ("data", 0.02)),
        gc_share=0.001,
        num_alloc_retries=0,
        num_ooms=0,
        peak_reserved_bytes=40_000_000_000,
        recompiled_share=0.0,
        slowest_rank=3,
        rank_imbalance=1.02,
    )
    assert find(fine, facts) == ()


def test_a_healthy_host_alone_too() -> None:
    assert summarise(trace(step(0, 0, 100), op("aten::mm", 5, 90), annotation(LOADER, 0, 4))).findings == ()


def test_data_pipeline_bound() -> None:
    events = [step(n, 10_000 * n, 10_000) for n in range(3)]
    events += [annotation(LOADER, 10_000 * n, 5200) for n in range(3)]
    events += [kernel("gemm", 10_000 * n + 5200, 4800) for n in range(3)]
    finding = only(summarise(trace(*events)))
    assert (finding.rule, finding.share) == ("data-pipeline-bound", 0.52)
    assert finding.evidence == "Data loading takes 52 % of the step (5.2 ms of 10 ms) in which no device works."


def test_loading_behind_a_busy_device_costs_nothing() -> None:
    events = [step(n, 10_000 * n, 10_000) for n in range(3)]
    events += [annotation(LOADER, 10_000 * n, 5200) for n in range(3)]
    assert "data-pipeline-bound" not in rules(summarise(trace(*events, kernel("gemm", 0, 30_000))))


def test_the_stage_data_speaks_where_the_trace_shows_no_loader(fine: TraceSummary) -> None:
    bare = summarise(trace(step(0, 0, 100), op("aten::mm", 50, 50)))
    finding = only(bare, RunFacts(data_share=0.4))
    assert (finding.rule, finding.share) == ("data-pipeline-bound", 0.4)
    assert rules(fine, RunFacts(data_share=0.4)) == []  # there the device is busy meanwhile


def test_launch_bound() -> None:
    events = [step(n, 10_000 * n, 10_000) for n in range(3)]
    events += [kernel("add", 10 * i, 4) for i in range(3000)]
    finding = only(summarise(trace(*events)))
    assert (finding.rule, round(finding.share, 3)) == ("launch-bound", 0.6)
    assert finding.evidence == (
        "1,000 kernels in the step, half of them shorter than 4 µs; gaps of less than 1 ms between them take 60 % of "
        "the step (6 ms of 10 ms)."
    )


@pytest.mark.parametrize(
    ("num_kernels", "period", "length"),
    [
        pytest.param(3000, 10, 9.5, id="no gaps"),
        pytest.param(100, 300, 200, id="long kernels"),
        pytest.param(90, 20, 4, id="few kernels, one long gap"),
    ],
)
def test_not_launch_bound(num_kernels: int, period: float, length: float) -> None:
    events = [step(n, 10_000 * n, 10_000) for n in range(3)]
    events += [kernel("add", period * i, length) for i in range(num_kernels)]
    assert rules(summarise(trace(*events))) == []


def test_communication_not_overlapped() -> None:
    hidden = [kernel(NCCL, 10_000 * n + 1000, 2000, stream=20) for n in range(3)]
    assert summarise(trace(*healthy(*hidden))).findings == ()
    events = [step(n, 10_000 * n, 10_000) for n in range(3)]
    events += [kernel("gemm", 10_000 * n, 6000) for n in range(3)]
    events += [kernel(NCCL, 10_000 * n + 5000, 4000, stream=20) for n in range(3)]
    finding = only(summarise(trace(*events)))
    assert (finding.rule, finding.share) == ("communication-not-overlapped", 0.3)
    assert "30 % of the step (3 ms of 10 ms); 25 % of all communication is hidden" in finding.evidence


def stalls(num_waits: int, wait_us: float, kernel_us: float) -> list[Event]:
    events = []
    for number in range(3):
        events.append(step(number, 10_000 * number, 10_000))
        for i in range(num_waits):
            at = 10_000 * number + i * 10_000 / num_waits
            events += [
                kernel("gemm", at, kernel_us),
                op("aten::item", at, wait_us + 5),
                call("cudaStreamSynchronize", at + 2, wait_us),
            ]
    return events


def test_synchronisation_stalls() -> None:
    finding = only(summarise(trace(*stalls(5, 900, 1000))))
    assert (finding.rule, finding.share) == ("synchronisation-stalls", 0.5)
    assert finding.evidence == (
        "5 waits in the step, most in cudaStreamSynchronize, take 45 % of the step (4.5 ms of 10 ms); the device is "
        "idle for 50 % of it."
    )


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(stalls(1, 4900, 5000), id="one a step reads the loss"),
        pytest.param(stalls(5, 1900, 1990), id="the device is busy"),
        pytest.param(stalls(5, 20, 1000), id="short waits"),
    ],
)
def test_waits_that_are_no_stalls(events: list[Event]) -> None:
    assert "synchronisation-stalls" not in rules(summarise(trace(*events)))


def test_memory_pressure_from_the_samples(fine: TraceSummary) -> None:
    finding = only(fine, RunFacts(num_alloc_retries=4, num_ooms=1, peak_reserved_bytes=79_000_000_000))
    assert finding.rule == "memory-pressure"
    assert finding.evidence == (
        "The allocator had to empty its cache 4 times around the window; 1 allocation failed; the allocator holds "
        "99 % of the device's memory."
    )
    assert rules(fine, RunFacts(peak_reserved_bytes=70_000_000_000)) == []
    of_how_much = summarise(trace(*healthy(), devices=()))
    assert of_how_much.info.device_bytes is None
    assert rules(of_how_much, RunFacts(peak_reserved_bytes=79_000_000_000)) == []


def test_memory_pressure_from_the_trace(fine: TraceSummary) -> None:
    calls = [call("cudaFree", 10_000 * n + 9000, 400, thread="other") for n in range(3)]
    calls += [call("cudaMalloc", 10_000 * n + 9500, 100, thread="other") for n in range(3)]
    finding = only(summarise(trace(*healthy(*calls))))
    assert (finding.rule, round(finding.share, 3)) == ("memory-pressure", 0.05)
    assert finding.evidence == "2 calls for memory to the driver take 0.5 ms of the step."
    growing = [one for one in calls if one.name == "cudaMalloc"]
    assert rules(summarise(trace(*healthy(*growing)))) == []
    full = MemoryCurve("cuda:0", 80_000, 70_000, 78_000, 0.0, (0.0,), (70_000,), False)
    assert rules(dataclasses.replace(fine, memory=(full,))) == ["memory-pressure"]
    assert rules(dataclasses.replace(fine, memory=(dataclasses.replace(full, total_bytes=None),))) == []


def test_imbalance(fine: TraceSummary) -> None:
    finding = only(fine, RunFacts(rank_imbalance=2.0, slowest_rank=0))
    assert (finding.rule, finding.share) == ("imbalance", 0.5)
    assert finding.candidate.startswith("Rank 0 takes longer")
    assert only(fine, RunFacts(rank_imbalance=1.25)).candidate.startswith("One rank")
    assert rules(fine, RunFacts(rank_imbalance=1.09, slowest_rank=0)) == []


def test_garbage_collection(fine: TraceSummary) -> None:
    finding = only(fine, RunFacts(gc_share=0.08))
    assert (finding.rule, finding.share) == ("garbage-collection", 0.08)
    assert rules(fine, RunFacts(gc_share=0.02)) == []
    collections = [event(Category.PYTHON, "Python GC", 10_000 * n + 50, 500, thread="other") for n in range(3)]
    finding = only(summarise(trace(*healthy(*collections))))
    assert finding.evidence == "Collections take 5 % of the step (0.5 ms of 10 ms)."
    assert rules(summarise(trace(*healthy(collections[0])))) == []


def test_recompilation(fine: TraceSummary) -> None:
    finding = only(fine, RunFacts(recompiled_share=0.3))
    assert (finding.rule, finding.share) == ("recompilation", 0.3)
    assert rules(fine, RunFacts(recompiled_share=0.04)) == []
    compiling = [
        annotation("_compile.compile_inner (dynamo_timed)", 10_000 * n + 50, 3000, thread="other") for n in range(3)
    ]
    compiling += [annotation("bytecode_tracing (dynamo_timed)", 10_000 * n + 60, 900, thread="other") for n in range(3)]
    finding = only(summarise(trace(*healthy(*compiling))))
    assert (finding.rule, round(finding.share, 3)) == ("recompilation", 0.3)
    assert "torch.compile is at work for 30 % of the step (3 ms of 10 ms)" in finding.evidence
    short = [dataclasses.replace(one, duration_us=300) for one in compiling]
    assert rules(summarise(trace(*healthy(*short)))) == []


def test_the_stages_say_where_to_look() -> None:
    facts = RunFacts(stage_shares=(("forward", 0.3), ("backward", 0.5)))
    finding = only(summarise(trace(*stalls(5, 900, 1000))), facts)
    assert finding.next_check.endswith(
        "Around the window the largest stage is backward (50 % of the step): look there first."
    )


def test_the_largest_share_comes_first(fine: TraceSummary) -> None:
    facts = RunFacts(gc_share=0.08, rank_imbalance=1.5, recompiled_share=0.2)
    assert rules(fine, facts) == ["imbalance", "recompilation", "garbage-collection"]


def test_every_finding_says_what_it_is_and_is_not(fine: TraceSummary) -> None:
    facts = RunFacts(gc_share=0.08, rank_imbalance=1.5, recompiled_share=0.2, num_ooms=2)
    events = [step(n, 10_000 * n, 10_000) for n in range(3)]
    events += [kernel("add", 10 * i, 2) for i in range(200)] + [kernel(NCCL, 4000 + 10_000 * n, 2000) for n in range(3)]
    events += [call("cudaStreamSynchronize", 3000 * n, 1000) for n in range(9)] + [
        annotation(LOADER, 0, 9000, thread="b")
    ]
    found = find(summarise(trace(*events)), facts)
    assert len(found) >= 6
    for finding in found:
        assert "a candidate, not a proven cause" in finding.limit
        assert 0 <= finding.share <= 1
        assert all(
            text.endswith(".") for text in (finding.candidate, finding.evidence, finding.next_check, finding.limit)
        )
