"""Memory peaks: a real process on Linux, and allocators made by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from tb_stepperf import StepPerfWriter
from tb_stepperf.blocks import Flag
from tb_stepperf.recorder import memory as memory_module
from tb_stepperf.recorder.device import Accelerator
from tb_stepperf.recorder.memory import DeviceMemory, ResidentMemory, find_memory_probe
from tb_stepperf.recorder.messages import Messages
from tests.recorder.logs import FakeHardware, ManualClock, read_directory, run_python

MakeWriter = Callable[..., StepPerfWriter]
MIB = 2**20


def test_the_peak_of_a_step_and_not_of_those_before() -> None:
    probe = ResidentMemory()
    probe.read()
    (before,) = probe.read()
    block = bytearray(256 * MIB)  # written with zeros: all of it is resident
    (during,) = probe.read()
    del block
    probe.read()
    (after,) = probe.read()
    probe.close()
    assert during >= before + 250 * MIB
    assert after <= during - 250 * MIB


def test_a_cumulative_peak_stays() -> None:
    probe = ResidentMemory(cumulative=True)
    block = bytearray(256 * MIB)
    (during,) = probe.read()
    del block
    (after,) = probe.read()
    probe.close()
    assert after == during
    assert probe.mode == "cumulative"


def test_a_peak_that_another_program_left_behind_is_not_ours(tmp_path: Any) -> None:
    """A process that execs another leaves its peak to it: then the status file is read instead."""
    code = """
import os, sys
block = bytearray(400 * 2**20)
os.execv(sys.executable, [sys.executable, "-c", '''
from tb_stepperf.recorder.memory import ResidentMemory
probe = ResidentMemory()
probe.read()
print(probe.read()[0] < 300 * 2**20, probe.interval_s)
'''])
"""
    result = run_python(code)
    assert result.stdout == "True 0.05\n", result.stderr


def test_where_the_kernel_does_not_allow_it_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_module, "_CLEAR_REFS", "/proc/self/does_not_exist")
    probe, reason = find_memory_probe("per_step", None, Messages())
    assert probe is None
    assert reason is not None
    assert "No such file" in reason


def test_off_reads_nothing() -> None:
    assert find_memory_probe("off", None, Messages()) == (None, None)


class CountingProbe:
    """Each reading is one more than the last."""

    columns = ("peak_resident_bytes",)
    mode = "per_step"
    note = None

    def __init__(self, interval_s: float) -> None:
        self.interval_s = interval_s
        self.num_reads = 0
        self.failing = False

    def read(self) -> tuple[float, ...]:
        if self.failing:
            raise OSError("gone")
        self.num_reads += 1
        return (float(self.num_reads),)

    def close(self) -> None:
        """Nothing is held."""


def test_short_steps_share_a_reading_and_the_record_says_so(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: Any
) -> None:
    perf = make_writer(hardware=FakeHardware(CountingProbe(interval_s=2.0)))
    for _ in range(6):
        clock.advance(1)
        perf.step()
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("peak_resident_bytes") == [None, 1, None, 2, None, 3]
    assert attempt.environment[0]["peak_memory"] == "sampled"
    assert "covers the steps since the last" in attempt.environment[0]["peak_memory_note"]


def test_long_steps_are_all_read(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any) -> None:
    perf = make_writer(hardware=FakeHardware(CountingProbe(interval_s=0.5)))
    for _ in range(4):
        clock.advance(1)
        perf.step()
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("peak_resident_bytes") == [None, 1, 2, 3]
    assert attempt.environment[0]["peak_memory"] == "per_step"


def test_a_probe_that_fails_is_given_up(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    probe = CountingProbe(interval_s=0.0)
    perf = make_writer(hardware=FakeHardware(probe))
    for step in range(4):
        clock.advance(1)
        probe.failing = step == 2
        perf.step()
    perf.close()
    assert read_directory(tmp_path)[0].column("peak_resident_bytes") == [None, 1, None, None]
    assert "memory peaks are no longer read: OSError: gone" in caplog.text


def test_an_interrupted_step_leaves_its_peak_behind(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any) -> None:
    perf = make_writer(hardware=FakeHardware(CountingProbe(interval_s=0.0)))
    perf.step()
    with pytest.raises(ValueError, match="cut"), perf.stage("a"):
        raise ValueError("cut")
    perf.step()
    perf.close()
    assert read_directory(tmp_path)[0].column("peak_resident_bytes") == [None, 2]


class Allocator:
    """What torch.cuda offers of its allocator, as far as it is used."""

    def __init__(self) -> None:
        self.current = self.peak = 0
        self.reserved = 0
        self.num_alloc_retries = self.num_ooms = 0
        self.num_calls = 0
        self.loses_live_memory = False

    def allocate(self, size: int) -> None:
        self.current += size
        self.peak = max(self.peak, self.current)
        self.reserved = max(self.reserved, self.peak)

    def memory_stats_as_nested_dict(self, index: int | None) -> dict[str, Any]:
        self.num_calls += 1
        return {
            "allocated_bytes": {"all": {"current": self.current, "peak": self.peak}},
            "reserved_bytes": {"all": {"current": self.reserved, "peak": self.reserved}},
            "num_alloc_retries": self.num_alloc_retries,
            "num_ooms": self.num_ooms,
        }

    def reset_peak_memory_stats(self, index: int | None) -> None:
        if self.loses_live_memory:
            self.current = 0
        self.peak = self.current


def test_device_peaks_per_step(make_writer: MakeWriter, tmp_path: Any) -> None:
    allocator = Allocator()
    allocator.allocate(5_000)
    allocator.num_alloc_retries = 7
    probe = DeviceMemory(Accelerator("cuda", allocator), cumulative=False, messages=Messages())
    perf = make_writer(hardware=FakeHardware(probe))
    perf.step()
    for extra, retries in ((1_000, 0), (3_000, 2), (500, 0)):
        allocator.allocate(extra)
        allocator.allocate(-extra)
        allocator.num_alloc_retries += retries
        num_calls = allocator.num_calls
        perf.step()
        assert allocator.num_calls == num_calls + 1
    assert perf.peak_allocated_bytes_overall == 8_000
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("peak_allocated_bytes") == [None, 6_000, 8_000, 5_500]
    assert attempt.column("peak_reserved_bytes") == [None, 6_000, 8_000, 8_000]
    assert attempt.column("num_alloc_retries") == [None, 0, 2, 0]
    assert attempt.column("num_ooms") == [None, 0, 0, 0]
    assert attempt.flags == [Flag.RESTART, 0, Flag.ALLOC_RETRY, 0]


def test_the_outer_peak_is_the_largest_inner_one(make_writer: MakeWriter, tmp_path: Any) -> None:
    allocator = Allocator()
    perf = make_writer(
        hardware=FakeHardware(DeviceMemory(Accelerator("cuda", allocator), cumulative=False, messages=Messages()))
    )
    perf.step()
    with perf.stage("outer"):
        for size in (10, 30, 20):
            with perf.stage("inner"):
                allocator.allocate(size)
                allocator.allocate(-size)
    perf.step()
    perf.close()
    assert read_directory(tmp_path)[0].column("peak_allocated_bytes") == [None, 30]


def test_cumulative_device_peaks_are_left_alone() -> None:
    allocator = Allocator()
    probe = DeviceMemory(Accelerator("cuda", allocator), cumulative=True, messages=Messages())
    allocator.allocate(10)
    allocator.allocate(-10)
    assert probe.read()[0] == 10
    assert probe.read()[0] == 10
    assert allocator.peak == 10


def test_an_allocator_that_loses_live_memory_when_reset_is_not_reset_again(caplog: pytest.LogCaptureFixture) -> None:
    allocator = Allocator()
    allocator.loses_live_memory = True
    allocator.allocate(37_000)
    probe = DeviceMemory(Accelerator("cuda", allocator), cumulative=False, messages=Messages())
    assert probe.mode == "cumulative"
    assert probe.note is not None
    assert "changed the allocated bytes from 37000 to 0" in caplog.text


def test_a_peak_below_what_is_allocated_is_no_measurement(caplog: pytest.LogCaptureFixture) -> None:
    allocator = Allocator()
    probe = DeviceMemory(Accelerator("cuda", allocator), cumulative=False, messages=Messages())
    allocator.allocate(37_000)
    allocator.peak = 6_900
    assert math.isnan(probe.read()[0])
    assert "peak of 6900 bytes below the 37000 allocated" in caplog.text


def test_an_allocator_that_is_not_initialised_gives_nothing() -> None:
    allocator = Allocator()
    allocator.memory_stats_as_nested_dict = lambda index: {}  # type: ignore[method-assign]
    probe = DeviceMemory(Accelerator("cuda", allocator), cumulative=False, messages=Messages())
    assert all(math.isnan(value) for value in probe.read())


def test_an_accelerator_without_peaks_is_named() -> None:
    assert find_memory_probe("per_step", Accelerator("mps", object()), Messages()) == (
        None,
        "torch.mps does not report peaks of its allocator",
    )
    probe, _ = find_memory_probe("per_step", Accelerator("cuda", Allocator()), Messages())
    assert isinstance(probe, DeviceMemory)
