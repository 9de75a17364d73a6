"""Kernels, launches, waits and memory, against planted values."""

from __future__ import annotations

import numpy as np

from tb_stepperf.traces.events import ABSENT, Category, Device, MemoryEvents
from tb_stepperf.traces.memory import MAX_POINTS
from tb_stepperf.traces.summarise import summarise
from tb_stepperf.traces.summary import MAX_ROWS, Wait
from tests.traces.build import annotation, call, copy, event, fill, kernel, op, step, trace

LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"


def memory_events(rows: list[tuple[float, int, int, int, int]]) -> MemoryEvents:
    """Rows of µs, device, change, allocated, reserved."""
    at_us, device, change, allocated, reserved = (np.array(column) for column in zip(*rows))
    return MemoryEvents(
        np.round(at_us * 1000).astype(np.int64),
        device.astype(np.int32),
        change.astype(np.int64),
        allocated.astype(np.int64),
        reserved.astype(np.int64),
    )


def test_kernels_are_summed_by_name_with_their_operator() -> None:
    summary = summarise(
        trace(
            op("aten::mm", 0, 10),
            call("cudaLaunchKernel", 1, 2, correlation=1),
            op("aten::linear", 20, 30),
            call("cudaLaunchKernel", 21, 2, correlation=2),
            call("cudaLaunchKernel", 25, 2, correlation=3),
            call("cudaMemcpyAsync", 60, 2, correlation=4),
            kernel("gemm", 10, 10, correlation=1),
            kernel("gemm", 30, 40, correlation=2),
            kernel("ncclDevKernel_AllReduce_Sum", 80, 25, correlation=3),
            copy("Memcpy HtoD", 120, 4, correlation=4),
            fill("Memset (Device)", 130, 1, correlation=99),
        )
    )
    assert [(row.name, row.kind, row.num_calls, row.operator) for row in summary.kernels] == [
        ("gemm", "kernel", 2, "aten::linear"),
        ("ncclDevKernel_AllReduce_Sum", "communication", 1, "aten::linear"),
        ("Memcpy HtoD", "copy", 1, None),
        ("Memset (Device)", "set", 1, None),
    ]
    gemm = summary.kernels[0]
    assert (gemm.total_ms, gemm.mean_us, gemm.max_us) == (0.05, 25.0, 40.0)
    assert summary.num_kernels == 4


def test_the_least_kernels_are_summed() -> None:
    summary = summarise(trace(*[kernel(f"k{i}", 10 * i, 1 + (i == 7)) for i in range(MAX_ROWS + 1)]))
    assert summary.num_kernels == MAX_ROWS + 1
    assert summary.kernels[0].name == "k7"
    assert (summary.kernels[-1].name, summary.kernels[-1].num_calls) == ("(2 more)", 2)
    assert len(summary.kernels) == MAX_ROWS


def test_launches_count_gaps_within_the_steps() -> None:
    summary = summarise(
        trace(
            step(0, 0, 4000),
            step(1, 4000, 4000),
            kernel("a", 0, 1000),
            kernel("b", 1000.5, 499.5),  # a gap of half a µs is none
            kernel("c", 1600, 900),  # 0.1 ms
            kernel("d", 4000, 4),  # 1.5 ms
            kernel("e", 4010, 3990),  # 6 µs
            kernel("f", 9000, 10),  # outside
        )
    )
    launches = summary.launches
    assert launches is not None
    assert launches.num_kernels_per_step == 2.5
    assert launches.median_kernel_us == 900
    assert launches.short_share == 0.2
    assert launches.num_gaps == 3
    assert launches.gap_ms_per_step == 0.803
    assert launches.short_gap_share == 0.106 / 1.606


def test_without_steps_gaps_are_between_the_first_and_the_last_work() -> None:
    launches = summarise(trace(op("aten::mm", 0, 5000), kernel("a", 1000, 10), kernel("b", 1110, 10))).launches
    assert launches is not None
    assert (launches.num_gaps, launches.gap_ms_per_step) == (1, 0.1)


def test_the_ten_longest_waits_of_three_kinds() -> None:
    events = [step(4, 0, 1000), step(5, 1000, 1000)]
    events += [kernel("a", 0, 1500), kernel("b", 1800, 250)]
    events += [
        annotation(LOADER, 10, 80),
        op("aten::item", 100, 300),
        op("aten::_local_scalar_dense", 110, 280),
        call("cudaStreamSynchronize", 120, 260),
        call("hipDeviceSynchronize", 1100, 20),
        op("aten::unique", 1500, 290),
        call("cudaLaunchKernel", 1520, 100),
        call("cudaDeviceSynchronize", 2010, 900),  # the profiler's own, at its end
    ]
    assert summarise(trace(*events)).waits == (
        Wait("device idle", "aten::unique", 5, 1.5, 0.3),
        Wait("synchronisation", "cudaStreamSynchronize in aten::item", 4, 0.12, 0.26),
        Wait("data", LOADER, 4, 0.01, 0.08),
        Wait("synchronisation", "hipDeviceSynchronize", 5, 1.1, 0.02),
    )
    events += [call("cudaEventSynchronize", 30 * i, 1 + i / 100, thread="other") for i in range(30)]
    waits = summarise(trace(*events)).waits
    assert len(waits) == 10
    assert [wait.duration_ms for wait in waits] == sorted((wait.duration_ms for wait in waits), reverse=True)


def test_an_idle_device_is_explained_by_python_where_no_operator_runs() -> None:
    events = [
        kernel("a", 0, 10),
        kernel("b", 110, 10),
        op("aten::mm", 20, 10),
        event(Category.PYTHON, "train.py(1): <module>", 0, 500),
        event(Category.PYTHON, "train.py(9): augment", 15, 80),
    ]
    (idle,) = summarise(trace(*events)).waits
    assert (idle.name, idle.step) == ("train.py(9): augment", None)
    (idle,) = summarise(trace(*events[:3])).waits
    assert idle.name is None


def test_memory_curve_with_totals() -> None:
    rows = [(10, 0, 100, 1100, 2000), (20, 0, 300, 1400, 4000), (30, 0, -400, 1000, 4000), (40, ABSENT, 8, 8, 0)]
    summary = summarise(
        trace(
            call("cudaMalloc", 0, 5),
            kernel("a", 0, 50),
            memory=memory_events(rows),
            devices=(Device(0, "NVIDIA H100", 80_000),),
        )
    )
    device, host = summary.memory
    assert (device.device, host.device) == ("cuda:0", "cpu")
    assert (device.total_bytes, host.total_bytes) == (80_000, None)
    assert (device.peak_allocated_bytes, device.peak_reserved_bytes, device.peak_at_ms) == (1400, 4000, 0.02)
    assert device.at_ms == (0.01, 0.02, 0.03)
    assert device.allocated_bytes == (1100, 1400, 1000)
    assert not device.is_relative
    assert not any("No memory" in note for note in summary.info.notes)


def test_memory_curve_from_changes_alone() -> None:
    rows = [(i, 0, 100 if i < 3000 else -100, ABSENT, ABSENT) for i in range(5000)]
    (curve,) = summarise(trace(op("aten::mm", 0, 5), memory=memory_events(rows))).memory
    assert curve.is_relative
    assert curve.device == "device 0"  # nothing says what kind it is
    assert (curve.peak_allocated_bytes, curve.peak_reserved_bytes) == (300_000, None)
    assert len(curve.at_ms) == len(curve.allocated_bytes) == MAX_POINTS
    assert max(curve.allocated_bytes) == 300_000


def test_devices_that_work_are_named() -> None:
    described = (Device(0, "AMD Instinct MI300X", 3), Device(1, "AMD Instinct MI300X", 1), Device(2, "AMD MI250", 1))
    info = summarise(trace(kernel("a", 0, 5), devices=described)).info
    assert (info.devices, info.device_bytes) == (("AMD Instinct MI300X",), 3)
    summary = summarise(trace(op("a", 0, 5), devices=described))
    assert (summary.info.devices, summary.info.device_bytes) == (("AMD Instinct MI300X", "AMD MI250"), None)
    assert any("names a device but holds no device work" in note for note in summary.info.notes)


def test_work_that_was_started_before_the_recording_is_noted() -> None:
    early = [kernel("a", 0, 30), op("aten::mm", 0, 10), call("cudaLaunchKernel", 1, 2, correlation=1)]
    notes = summarise(trace(*early, kernel("a", 40, 70, correlation=1))).info.notes
    assert any(note.startswith("30 % of the device's time has no recorded launch") for note in notes)
    notes = summarise(trace(*early, kernel("a", 40, 700, correlation=1))).info.notes
    assert not any("launch" in note for note in notes)
