"""Traces of public projects (tests/data/traces): what others quote of them comes out."""

from __future__ import annotations

import pathlib
from collections import Counter

import numpy as np
import pytest

from tb_stepperf.errors import TraceError
from tb_stepperf.traces.events import ABSENT, Category, Device, TraceEvents, Track
from tb_stepperf.traces.read import read_trace

DATA = pathlib.Path(__file__).parent.parent / "data" / "traces"


def read(name: str) -> TraceEvents:
    return read_trace(str(DATA / name))


def steps_us(trace: TraceEvents) -> dict[str, float]:
    rows = np.flatnonzero(trace.category == Category.STEP)
    return {trace.names[trace.name[row]]: trace.duration_ns[row] / 1000 for row in rows}


def num_of(trace: TraceEvents) -> dict[str, int]:
    return {Category(number).name: count for number, count in Counter(trace.category.tolist()).items()}


def test_plain_json_with_synchronisation_on_a_stream() -> None:
    trace = read("kineto/before_fix_trace.json")
    assert num_of(trace) == {"OTHER": 1, "CPU_OP": 4, "RUNTIME": 1, "KERNEL": 1, "SYNC": 2}
    assert trace.devices[0] == Device(0, "NVIDIA H100", 102085492736)
    assert len(trace.devices) == 8
    kernel = int(np.flatnonzero(trace.category == Category.KERNEL)[0])
    assert trace.tracks[trace.track[kernel]] == Track("0", "1", device=0, stream=1)
    assert (trace.start_ns[kernel], trace.duration_ns[kernel]) == (30, 20)
    assert trace.origin_us == 88437691101.719
    launch = int(np.flatnonzero(trace.category == Category.RUNTIME)[0])
    assert trace.correlation[launch] == trace.correlation[kernel] == 1
    assert trace.memory is None


def test_rocm() -> None:
    trace = read("hta/mi250_minitoy_train_ROCm6_2_kineto.json.gz")
    assert steps_us(trace) == {"ProfilerStep#1": 9288.291, "ProfilerStep#2": 49.073}
    assert num_of(trace)["DEVICE_ANNOTATION"] == 2
    assert Track("2", "0", device=2, stream=0) in trace.tracks
    assert [device.name for device in trace.devices] == ["AMD Radeon Graphics"] * 4
    assert trace.profiler == {"record_shapes": True}
    assert "[], [5, 128], [5, 128], []" in trace.shapes


def test_without_a_device() -> None:
    trace = read("hta/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz")
    assert (trace.rank, trace.world_size, trace.backend) == (34, 300, "gloo")
    assert steps_us(trace) == {"ProfilerStep#551": 210109.162}
    assert trace.devices == ()
    assert all(track.device is None for track in trace.tracks)
    assert int((trace.start_ns + trace.duration_ns).max()) == 1_289_526_102


def test_without_distributed_info() -> None:
    trace = read("hta/distributed_info_not_found.json.gz")
    assert (trace.rank, trace.world_size, trace.backend) == (None, None, None)
    assert num_of(trace) == {"CPU_OP": 2424, "ANNOTATION": 42, "STEP": 1}
    assert steps_us(trace) == {"ProfilerStep#1009": 75473.0}
    assert {device.name for device in trace.devices} == {"NVIDIA A100-PG509-200"}


def test_without_a_rank() -> None:
    trace = read("hta/rank_not_found.json.gz")
    assert (trace.rank, trace.world_size, trace.backend) == (None, None, "nccl")
    assert trace.devices == ()


def test_two_ranks_of_one_job() -> None:
    first, second = read("hta/sampled_rank-0.json.gz"), read("hta/sampled_rank-1.json.gz")
    assert (first.rank, second.rank) == (0, 1)
    assert first.world_size == second.world_size == 128
    assert steps_us(first)["ProfilerStep#552"] == 622928.0
    assert steps_us(second)["ProfilerStep#552"] == 630639.0
    assert [device.number for device in second.devices] == [1]


def test_a_step_that_is_longer_than_the_trace() -> None:
    trace = read("hta/triton_example.json.gz")
    assert steps_us(trace) == {"ProfilerStep#1": 13336315.805}
    spans = trace.duration_ns[trace.category == Category.OTHER]
    assert spans.tolist() == [355_494_184]
    assert trace.oddities == {}


def test_an_integer_above_two_to_the_63() -> None:
    trace = read("hta/large_integer_trace.pt.trace.json.gz")
    assert num_of(trace) == {"KERNEL": 1, "CPU_OP": 1}
    assert trace.duration_ns.tolist() == [50_000, 100_000]
    assert trace.oddities == {}


@pytest.mark.parametrize(
    ("vendor", "step_us", "num_operators", "device", "first_allocated"),
    [
        ("h100", 4426.114, 479, "NVIDIA H100 80GB HBM3", 91505152),
        ("mi300", 4007.334, 519, "AMD Instinct MI300X VF", 57950720),
    ],
)
def test_one_model_on_devices_of_two_vendors(
    vendor: str, step_us: float, num_operators: int, device: str, first_allocated: int
) -> None:
    trace = read(f"tracelens/{vendor}/gaunernst_bert-small-uncased__1016001.json.gz")
    assert steps_us(trace) == {"ProfilerStep#6": step_us}
    found = num_of(trace)
    assert (found["CPU_OP"], found["KERNEL"], found["DEVICE_ANNOTATION"]) == (num_operators, 60, 1)
    assert trace.devices[0].name == device
    assert trace.profiler == {"record_shapes": True, "profile_memory": True, "with_stack": True}
    assert trace.memory is not None
    assert trace.memory.at_ns.size == 236
    assert np.all(np.diff(trace.memory.at_ns) >= 0)
    assert set(trace.memory.device.tolist()) == {ABSENT, 0}
    assert (int(trace.memory.change_bytes[0]), int(trace.memory.allocated_bytes[0])) == (144384, first_allocated)


def test_events_are_sorted_the_longest_first_and_cannot_be_written() -> None:
    trace = read("hta/sampled_rank-0.json.gz")
    order = np.lexsort((-trace.duration_ns, trace.start_ns))
    assert np.array_equal(order, np.arange(trace.num_events))
    assert trace.start_ns[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        trace.start_ns[0] = 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("foreign/tf_trace_viewer.json", "not of torch.profiler.*'PREF'"),
        ("foreign/horovod_timeline_small.json", "Horovod timeline"),
        ("README.md", "not JSON: it begins with '# Traces'"),
        ("nothing.json", "cannot be read: No such file"),
        ("hta", "no regular file"),
    ],
)
def test_foreign_files_are_refused_in_a_sentence(name: str, words: str) -> None:
    with pytest.raises(TraceError, match=words) as caught:
        read(name)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)
