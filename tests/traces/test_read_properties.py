"""Files that have the properties of real ones that are too large to keep here (names are those of the originals)."""

from __future__ import annotations

import gzip
import io
import json
import pathlib
import tarfile
from typing import Any

import numpy as np
import pytest

from tb_stepperf.errors import TraceError
from tb_stepperf.traces.events import ABSENT, Category, TraceEvents, Track
from tb_stepperf.traces.read import read_trace
from tests.support.trace_files import complete, good_document, write_large


def read_events(directory: pathlib.Path, events: list[dict[str, Any]] | str, **metadata: Any) -> TraceEvents:
    path = directory / "t.json"
    text = events if isinstance(events, str) else json.dumps({"schemaVersion": 1, **metadata, "traceEvents": events})
    path.write_text(text)
    return read_trace(str(path))


def old_operator(name: str, start_us: int, duration_us: int, **args: Any) -> dict[str, Any]:
    return complete(name, "Operator", start_us, duration_us, pid=25738, tid="25738", args={"Device": 25738, **args})


@pytest.mark.parametrize(
    ("first_step", "durations_us", "mean_ms"),
    [
        (5, [176078, 173992, 176918, 181259, 176468, 164261], 174.8),
        (16, [159363, 149046, 148659, 151733, 153205, 155725], 153.0),
    ],
)
def test_resnet50_num_workers_0(
    tmp_path: pathlib.Path, first_step: int, durations_us: list[int], mean_ms: float
) -> None:
    """Old words: all of the host is an Operator, tracks are text, `external id` is small, memory has no totals."""
    origin_us = 1623142623460016
    starts_us = [origin_us + 200_000 * number for number in range(6)]
    events = [
        old_operator(f"ProfilerStep#{first_step + number}", start, duration, **{"External id": 10 * number})
        for number, (start, duration) in enumerate(zip(starts_us, durations_us))
    ]
    at_us = origin_us + 50
    on_device = {"device": 0, "context": 1, "stream": 7, "correlation": 34417, "external id": 537}
    events += [
        old_operator("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at_us, 20),
        old_operator("Optimizer.step#SGD.step", at_us + 30, 10),
        old_operator("aten::copy_", at_us + 50, 20, **{"External id": 537, "Input Dims": [[32, 3], []]}),
        complete("cudaMemcpyAsync", "Runtime", at_us + 55, 3, pid=25738, tid="25738",
                 args={"correlation": 34417, "external id": 537}),
        complete("Memcpy HtoD (Pageable -> Device)", "Memcpy", at_us + 60, 4, pid=0, tid="stream 7", args=on_device),
        complete("Memset (Device)", "Memset", at_us + 65, 0, pid=0, tid="stream 7", args=on_device),
        complete("sgemm", "Kernel", at_us + 66, 0, pid=0, tid="stream 7", args=on_device),
        {"ph": "i", "s": "t", "name": "[memory]", "pid": 25738, "tid": 25738, "ts": at_us + 60,
         "args": {"Device Type": 0, "Device Id": -1, "Bytes": 4}},
        {"ph": "i", "s": "t", "name": "[memory]", "pid": 25738, "tid": 25738, "ts": at_us + 61,
         "args": {"Device Type": 1, "Device Id": 0, "Bytes": -512}},
    ]  # fmt: skip
    trace = read_events(tmp_path, events)
    is_step = trace.category == Category.STEP
    assert [trace.names[name] for name in trace.name[is_step]] == [f"ProfilerStep#{first_step + n}" for n in range(6)]
    assert (trace.duration_ns[is_step] // 1000).tolist() == durations_us
    assert round(float(trace.duration_ns[is_step].mean()) / 1e6, 1) == mean_ms
    categories = [Category(number).name for number in trace.category[~is_step]]
    assert categories == ["ANNOTATION", "ANNOTATION", "CPU_OP", "RUNTIME", "COPY", "SET", "KERNEL"]
    assert trace.tracks == (Track("25738", "25738"), Track("0", "stream 7", device=0, stream=7))
    assert trace.external_id[~is_step].tolist() == [ABSENT, ABSENT, 537, 537, 537, 537, 537]
    assert trace.correlation[~is_step].tolist() == [ABSENT] * 3 + [34417] * 4
    assert trace.duration_ns[~is_step].tolist()[-2:] == [0, 0]
    assert trace.oddities == {}
    assert trace.memory is not None
    assert trace.memory.device.tolist() == [ABSENT, 0]
    assert trace.memory.change_bytes.tolist() == [4, -512]
    assert trace.memory.allocated_bytes.tolist() == trace.memory.reserved_bytes.tolist() == [ABSENT, ABSENT]


def test_ns_resolution_trace(tmp_path: pathlib.Path) -> None:
    """Microseconds since 1970 with three decimals: more digits than a float has. None is lost."""
    events = json.dumps([complete("aten::mm", "cpu_op", 0.25, 63.813), complete("aten::add", "cpu_op", 0.75, 0.031)])
    text = events.replace("0.25", "1712195495519689.047").replace("0.75", "1712195495519695.812")
    trace = read_events(tmp_path, text)
    assert trace.start_ns.tolist() == [0, 6765]
    assert trace.duration_ns.tolist() == [63_813, 31]
    assert trace.origin_us == pytest.approx(1712195495519689.047, abs=0.25)


def test_time_stamps_in_nanoseconds(tmp_path: pathlib.Path) -> None:
    origin_ns = 1712195495519689047
    events = [complete("aten::mm", "cpu_op", origin_ns, 63_813), complete("aten::add", "cpu_op", origin_ns + 6765, 31)]
    trace = read_events(tmp_path, events)
    assert trace.start_ns.tolist() == [0, 6765]
    assert trace.duration_ns.tolist() == [63_813, 31]
    assert trace.origin_us == pytest.approx(origin_ns / 1000, abs=0.25)
    assert trace.oddities == {"file with time stamps in nanoseconds (converted)": 1}


def test_nccl_parser_config(tmp_path: pathlib.Path) -> None:
    """Collectives carry their sizes; groups stand in `distributedInfo`."""
    args = {
        "External id": 12945, "device": 0, "stream": 40, "correlation": 60047, "Collective name": "allreduce",
        "In msg nelems": 6637568, "Group size": 2, "dtype": "Float", "Process Group Ranks": "[0, 1]",
    }  # fmt: skip
    groups = {"backend": "nccl", "rank": 0, "world_size": 2, "pg_count": 1, "pg_config": [{"pg_name": "0"}]}
    kernel = complete("ncclKernel_AllReduce_RING_LL_Sum_float", "kernel", 4458677009853.422, 2636.669, pid=0, tid=40)
    trace = read_events(tmp_path, [{**kernel, "args": args}], distributedInfo=groups)
    assert (trace.rank, trace.world_size, trace.backend) == (0, 2, "nccl")
    assert trace.tracks == (Track("0", "40", device=0, stream=40),)
    assert (int(trace.duration_ns[0]), int(trace.correlation[0])) == (2_636_669, 60047)


def test_resnet_act_checkpoint(tmp_path: pathlib.Path) -> None:
    """The device repeats each step as an annotation of 17 µs: the host's is the step."""
    events = []
    for number, (duration_us, repeated_us) in enumerate([(16798.984, 16.9), (15950.958, 17.2), (15887.029, 18.0)]):
        name, at_us = f"ProfilerStep#{15 + number}", 3743411222578.748 + 20_000 * number
        events.append(complete(name, "gpu_user_annotation", at_us + 100, repeated_us, pid=2, tid=0))
        events.append(complete(name, "user_annotation", at_us, duration_us))
    trace = read_events(tmp_path, events)
    assert trace.duration_ns[trace.category == Category.STEP].tolist() == [16_798_984, 15_950_958, 15_887_029]
    repeated = trace.category == Category.DEVICE_ANNOTATION
    assert trace.duration_ns[repeated].tolist() == [16_900, 17_200, 18_000]
    assert {trace.tracks[track].device for track in trace.track[repeated]} == {2}


def test_linear_kineto(tmp_path: pathlib.Path) -> None:
    """No step is marked, but each has one call of the optimizer."""
    events = [
        complete(name, "user_annotation", 1689180448559574 + 1000 * number, 285)
        for number in range(40)
        for name in ("Optimizer.zero_grad#SGD.zero_grad", "Optimizer.step#SGD.step")
    ]
    trace = read_events(tmp_path, events)
    assert not np.any(trace.category == Category.STEP)
    optimizer = trace.names.index("Optimizer.step#SGD.step")
    assert np.count_nonzero((trace.category == Category.ANNOTATION) & (trace.name == optimizer)) == 40


def test_dlrm_kineto(tmp_path: pathlib.Path) -> None:
    """A TAR archive in gzip."""
    path, trace = tmp_path / "dlrm_kineto.json.gz", json.dumps(good_document()).encode()
    with tarfile.open(path, "w:gz") as archive:
        entry = tarfile.TarInfo("dlrm_kineto.json")
        entry.size = len(trace)
        archive.addfile(entry, io.BytesIO(trace))
    with pytest.raises(TraceError, match="a TAR archive: unpack it"):
        read_trace(str(path))


def test_memory_timeline(tmp_path: pathlib.Path) -> None:
    """A list of lists of numbers."""
    path = tmp_path / "memory_timeline.raw.gz"
    path.write_bytes(gzip.compress(json.dumps([[-1, 1, 37888, 7], [-1, 1, 512, 7]] * 100).encode()))
    with pytest.raises(TraceError, match=r"a JSON list, but not of events.*memory timeline"):
        read_trace(str(path))


def test_a_build_without_kineto_writes_a_list_without_categories(tmp_path: pathlib.Path) -> None:
    line = '{"name": "%s", "ph": "X", "ts": %d, "dur": %d, "tid": 1, "pid": "CPU functions", "args": {}}'
    events = ", ".join([line % ("ProfilerStep#3", 10, 500), line % ("aten::mm", 20, 100)])
    trace = read_events(tmp_path, f"[{events}]")
    assert [Category(number).name for number in trace.category] == ["STEP", "CPU_OP"]
    assert trace.rank is None


def test_our_own_metadata(tmp_path: pathlib.Path) -> None:
    ours = {"format": 1, "step_offset": 4198, "rank": 3, "world_size": 8}
    trace = read_events(tmp_path, [complete("aten::mm", "cpu_op", 1.0, 2.0)], stepperf=ours)
    assert (trace.step_offset, trace.rank, trace.world_size) == (4198, 3, 8)


def test_metadata_of_odd_types_counts_as_missing(tmp_path: pathlib.Path) -> None:
    trace = read_events(
        tmp_path,
        [complete("k", "kernel", 1.0, 2.0, pid=0, tid=7)],
        deviceProperties=[5, {"id": "0", "name": ["x"], "totalGlobalMem": 1e99}, {"name": "no number"}],
        distributedInfo=["rank"],
        stepperf={"step_offset": "many", "rank": True},
        with_stack=0,
    )
    assert (trace.step_offset, trace.rank, trace.world_size, trace.backend) == (None, None, None, None)
    assert [(device.number, device.name, device.total_bytes) for device in trace.devices] == [(0, None, None)]
    assert trace.profiler == {"with_stack": False}


def test_large_files_as_kineto_writes_them(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "large.pt.trace.json.gz"
    num_complete = write_large(path, num_events=30_000, num_steps=4)
    fractions: list[float] = []
    trace = read_trace(str(path), report=fractions.append)
    assert trace.num_events == num_complete
    assert trace.oddities == {}
    assert np.count_nonzero(trace.category == Category.STEP) == 4
    is_kernel = trace.category == Category.KERNEL
    is_launch = trace.category == Category.RUNTIME
    assert np.array_equal(np.sort(trace.correlation[is_kernel]), np.sort(trace.correlation[is_launch]))
    assert int(trace.duration_ns[is_kernel].sum()) == 9_500 * (num_complete - 4) // 4
    assert trace.num_bytes == len(gzip.decompress(path.read_bytes()))
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert len(fractions) > 5
