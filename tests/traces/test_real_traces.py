"""Numbers that people read off real traces, and that must come out. tests/data/traces/README.md names their origin."""

from __future__ import annotations

import functools
import pathlib

import pytest

from tb_stepperf.traces.compare import compare_windows
from tb_stepperf.traces.read import read_trace
from tb_stepperf.traces.summarise import summarise
from tb_stepperf.traces.summary import BREAKDOWN, StepSlice, TraceSummary
from tests.traces.build import tiled

DATA = pathlib.Path(__file__).parent.parent / "data" / "traces"
BERT = "gaunernst_bert-small-uncased__1016001.json.gz"
FILES = (
    "kineto/before_fix_trace.json",
    "hta/mi250_minitoy_train_ROCm6_2_kineto.json.gz",
    "hta/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz",
    "hta/distributed_info_not_found.json.gz",
    "hta/rank_not_found.json.gz",
    "hta/sampled_rank-0.json.gz",
    "hta/sampled_rank-1.json.gz",
    "hta/triton_example.json.gz",
    "hta/large_integer_trace.pt.trace.json.gz",
    f"tracelens/h100/{BERT}",
    f"tracelens/mi300/{BERT}",
)


@functools.cache
def summary(file: str) -> TraceSummary:
    return summarise(read_trace(str(DATA / file)))


def only_step(file: str) -> StepSlice:
    (step,) = summary(file).steps
    return step


@pytest.mark.parametrize("file", FILES)
def test_every_step_adds_up_and_nothing_is_negative(file: str) -> None:
    found = summary(file)
    for step in found.steps:
        assert sum(step.breakdown_ms) == pytest.approx(step.duration_ms, rel=1e-9)
        assert min(step.breakdown_ms) >= 0
        assert step.overlapped_ms <= step.communication_ms
        assert (step.device_busy_ms or 0) <= step.duration_ms
    assert found.operators
    assert all(0 <= row.self_host_ms <= row.total_host_ms + 1e-9 for row in found.operators if row.num_calls == 1)
    assert all(row.self_device_ms <= row.total_device_ms + 1e-9 for row in found.operators)
    assert found.info.notes


def test_an_empty_last_step_of_rocm() -> None:
    found = summary("hta/mi250_minitoy_train_ROCm6_2_kineto.json.gz")
    assert [(step.step, step.cut) for step in found.steps] == [(1, None), (2, "end")]
    assert (found.num_steps_used, found.step_ms) == (1, 9.288291)
    assert (found.steps[0].num_kernels, found.info.devices) == (14, ("AMD Radeon Graphics",))
    assert {row.operator for row in found.kernels} >= {"aten::addmm", "aten::copy_"}


def test_a_rank_without_a_device() -> None:
    found = summary("hta/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz")
    assert (found.info.rank, found.info.world_size, found.info.backend) == (34, 300, "gloo")
    assert (found.steps[0].step, round(found.steps[0].duration_ms)) == (551, 210)
    assert found.device_busy_share is None
    # two threads of gloo at the same time: a union, never more than the step
    assert round(found.steps[0].communication_ms) == 179
    assert [finding.rule for finding in found.findings] == ["communication-not-overlapped"]


@pytest.mark.parametrize("file", ["hta/distributed_info_not_found.json.gz", "hta/rank_not_found.json.gz"])
def test_a_trace_without_its_place_in_the_job(file: str) -> None:
    found = summary(file)
    assert (found.info.rank, found.info.world_size) == (None, None)
    assert only_step(file).duration_ms == 75.473
    assert found.kernels == ()
    assert found.steps[0].breakdown_ms[BREAKDOWN.index("data_loading")] == 0.071
    assert any("no device work" in note for note in found.info.notes)
    assert any("on NCCL just its start" in note for note in found.info.notes)


def test_two_ranks_of_a_job() -> None:
    zero, one = summary("hta/sampled_rank-0.json.gz"), summary("hta/sampled_rank-1.json.gz")
    assert [round(found.steps[1].duration_ms, 1) for found in (zero, one)] == [622.9, 630.6]
    assert [found.steps[1].step for found in (zero, one)] == [552, 552]
    assert [found.info.rank for found in (zero, one)] == [0, 1]
    assert sum(row.num_calls for row in zero.kernels if row.kind == "communication") == 10
    assert "Different ranks: 0 before, 1 after." in compare_windows(zero, one).notes


def test_a_step_that_is_longer_than_its_trace() -> None:
    found = summary("hta/triton_example.json.gz")
    assert found.step_ms == 13336.315805
    assert any("Step 1 is marked as 13,336 ms long" in note for note in found.info.notes)
    assert [(row.name, row.operator) for row in found.kernels] == [
        ("triton_poi_fused_add_cos_sin_0", "triton_poi_fused_add_cos_sin_0")
    ]


def test_a_trace_of_a_few_nanoseconds_without_a_step() -> None:
    found = summary("kineto/before_fix_trace.json")
    assert (found.info.steps_from, found.steps, found.step_ms) == ("none", (), None)
    assert found.kernels[0].num_calls == 1
    assert sum(found.breakdown_ms) == pytest.approx(0.0003)


def test_one_model_on_two_vendors_is_compared_by_operator() -> None:
    nvidia, amd = summary(f"tracelens/h100/{BERT}"), summary(f"tracelens/mi300/{BERT}")
    gemms = [{row.name for row in one.kernels if row.operator == "aten::addmm"} for one in (nvidia, amd)]
    assert gemms[0] and gemms[1] and gemms[0].isdisjoint(gemms[1])
    assert [sum(row.num_calls for row in one.kernels if row.kind == "kernel") for one in (nvidia, amd)] == [60, 60]
    found = compare_windows(nvidia, amd)
    assert found.notes[0] == "Different devices: NVIDIA H100 80GB HBM3 before, AMD Instinct MI300X VF after."
    changes = {change.name: change for change in found.operators}
    assert (changes["aten::addmm"].before_calls, changes["aten::addmm"].after_calls) == (26, 26)


@pytest.mark.parametrize(("vendor", "peak"), [("h100", 101305344), ("mi300", 146394112)])
def test_memory_of_a_real_trace(vendor: str, peak: int) -> None:
    device, host = summary(f"tracelens/{vendor}/{BERT}").memory
    assert (device.device, device.peak_allocated_bytes, device.is_relative) == ("cuda:0", peak, False)
    assert host.device == "cpu"


def test_the_devices_repetition_of_a_step_is_left_aside() -> None:
    assert only_step(f"tracelens/h100/{BERT}").duration_ms == 4.426114
    assert only_step(f"tracelens/mi300/{BERT}").duration_ms == 4.007334


def test_a_long_trace_of_the_same_kind_has_the_same_means() -> None:
    file, times = "hta/sampled_rank-0.json.gz", 20
    short, long = summary(file), summarise(tiled(read_trace(str(DATA / file)), times))
    assert long.info.num_events == times * short.info.num_events
    assert long.num_steps_used == times * short.num_steps_used
    assert long.step_ms == pytest.approx(short.step_ms)
    assert long.breakdown_ms == pytest.approx(short.breakdown_ms)
    assert [(row.name, row.shapes, row.num_calls) for row in long.operators] == [
        (row.name, row.shapes, times * row.num_calls) for row in short.operators
    ]
    for one, other in zip(short.operators, long.operators):
        assert times * one.self_host_ms == pytest.approx(other.self_host_ms)
        assert times * one.total_device_ms == pytest.approx(other.total_device_ms)
    assert [times * row.num_calls for row in short.kernels] == [row.num_calls for row in long.kernels]


@pytest.mark.parametrize(
    ("file", "is_said"), [("hta/rank_not_found.json.gz", True), ("hta/sampled_rank-0.json.gz", False)]
)
def test_a_rank_that_a_job_of_several_does_not_name(file: str, is_said: bool) -> None:
    assert any("does not say which rank" in note for note in summary(file).info.notes) == is_said
