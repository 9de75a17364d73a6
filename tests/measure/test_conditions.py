"""What was waited for, device times, memory, the environment, and the sentences that qualify the figures."""

from __future__ import annotations

import json
import math
import socket
import types
from collections.abc import Iterator
from typing import Any

import pytest

from tb_stepperf import measure_step
from tb_stepperf.errors import ConfigError
from tb_stepperf.measure import StepEvidence, instruments, notes
from tb_stepperf.recorder.device import Accelerator
from tests.measure.calls import measure, steps_of
from tests.recorder.logs import ManualClock
from tests.recorder.test_device import FakeDevice, FakeEvent

MIB = 2**20


class FakeModule(types.SimpleNamespace):
    """As much of `torch.cuda` as is used: a device whose work is done once it is waited for."""

    def __init__(self, clock: ManualClock) -> None:
        device = self.device = FakeDevice()
        self.calls: list[str] = []

        class Event(FakeEvent):
            def __init__(self, enable_timing: bool) -> None:
                super().__init__()

            def record(self, stream: str) -> None:
                device.record(self)

            def query(self) -> bool:
                return device.query(self)

            def elapsed_time(self, end: FakeEvent) -> float:
                return device.elapsed_ms(self, end)

        def synchronize(index: int | None = None) -> None:
            self.calls.append("wait" if index is None else f"wait {index}")
            clock.advance((device.submitted_ms - device.reached_ms) / 1e3)
            device.catch_up()

        super().__init__(
            Event=Event,
            synchronize=synchronize,
            current_stream=lambda index: "stream",
            device_count=lambda: 8,
            get_device_name=lambda index: "NVIDIA H100",
            memory_stats_as_nested_dict=self._stats,
            reset_peak_memory_stats=lambda index: self.calls.append("reset"),
        )

    def _stats(self, index: int | None) -> dict[str, Any]:
        peak_mib = {0: 900, 1: 800, 3: 70}.get(self.calls.count("step"), 50)
        return {
            "allocated_bytes": {"all": {"peak": peak_mib * MIB, "current": 10 * MIB}},
            "reserved_bytes": {"all": {"peak": 80 * MIB}},
            "num_alloc_retries": 0,
            "num_ooms": 0,
        }


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(0.0)


@pytest.fixture
def module(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> FakeModule:
    module = FakeModule(clock)
    monkeypatch.setattr(instruments, "find_accelerator", lambda requested, messages: Accelerator("cuda", module))
    return module


def train(module: FakeModule, clock: ManualClock) -> Any:
    """A step whose host takes 3 ms, and whose device 10 in `forward`, 30 in `backward` and 2 elsewhere."""

    def step(perf: Any) -> None:
        module.calls.append("step")
        with perf.stage("forward"):
            module.device.submit(10)
            clock.advance(0.001)
        with perf.stage("backward"):
            module.device.submit(30)
            clock.advance(0.001)
        module.device.submit(2)
        clock.advance(0.001)

    return step


def test_each_step_waits_for_the_device_before_and_after(module: FakeModule, clock: ManualClock) -> None:
    evidence = measure(train(module, clock), clock, warmup=1, repeats=2, device=None)
    around = [call for call in module.calls if call != "reset"]
    assert around == ["wait", "step", "wait"] * 3
    assert evidence.synchronised == "cuda before and after each step"
    assert any(note.startswith("each step waited for cuda: a loop that does not wait") for note in evidence.notes)
    assert not any("host clock only" in note for note in evidence.notes)


def test_stages_have_device_time_and_the_hot_one_is_the_devices(module: FakeModule, clock: ManualClock) -> None:
    evidence = measure(train(module, clock), clock, warmup=1, repeats=5, device=None)
    # The host goes on while the device works: 42 ms of work from the first stage on, waited for at the end.
    assert evidence.step_times_ms == pytest.approx([45.0] * 5)
    assert [stage.device_ms_per_step for stage in evidence.stages] == pytest.approx([10.0, 30.0, 2.0])
    assert [stage.device_share for stage in evidence.stages] == pytest.approx([10 / 42, 30 / 42, 2 / 42])
    assert [stage.host_ms_per_step for stage in evidence.stages] == pytest.approx([1.0, 1.0, 43.0])
    assert evidence.hot_stage is not None
    assert (evidence.hot_stage.name, evidence.hot_stage.share_of) == ("backward", "device time of 5 measured steps")
    assert evidence.clock == "host and device"
    assert evidence.environment["clock"] == "device"
    assert "device ms/step" in str(evidence)


def test_the_memory_peak_is_the_largest_of_the_measured_steps(module: FakeModule, clock: ManualClock) -> None:
    evidence = measure(train(module, clock), clock, warmup=1, repeats=4, device=None)
    assert evidence.memory.peak_allocated_bytes == 70 * MIB
    assert evidence.memory.peak_reserved_bytes == 80 * MIB
    assert evidence.memory.peak_resident_bytes is None
    assert "peak        70 MiB                held by tensors on the device" in str(evidence)


def test_cpu_as_the_device_waits_for_nothing(module: FakeModule, clock: ManualClock) -> None:
    evidence = measure(lambda: clock.advance(0.001), clock, device="cpu")
    assert module.calls == []
    assert evidence.synchronised == "nothing: no accelerator in use"
    assert "host clock only: no accelerator was in use, so nothing was synchronised" in evidence.notes
    assert (evidence.memory.peak_resident_bytes or 0) > MIB


def test_a_numbered_device_is_waited_for_by_its_number(monkeypatch: pytest.MonkeyPatch, clock: ManualClock) -> None:
    module = FakeModule(clock)
    monkeypatch.setattr(instruments, "find_accelerator", lambda requested, messages: Accelerator("cuda", module, 3))
    evidence = measure(lambda: clock.advance(0.001), clock, device="cuda:3")
    assert set(module.calls) == {"wait 3", "reset"}
    assert evidence.synchronised == "cuda:3 before and after each step"


def test_an_accelerator_that_the_first_warm_up_step_begins_to_use_is_found(
    monkeypatch: pytest.MonkeyPatch, clock: ManualClock
) -> None:
    module, in_use = FakeModule(clock), []
    found = lambda requested, messages: Accelerator("cuda", module) if in_use else None  # noqa: E731
    monkeypatch.setattr(instruments, "find_accelerator", found)
    evidence = measure(lambda: in_use.append(1), clock, warmup=1, repeats=2, device=None)
    assert evidence.synchronised == "cuda before and after each step"
    assert module.calls.count("wait") == 4
    in_use.clear()
    evidence = measure(lambda: in_use.append(1), clock, warmup=0, repeats=2, device=None)
    assert evidence.synchronised == "nothing: no accelerator in use"
    assert any(note.startswith("cuda was first used by the measured steps") for note in evidence.notes)


def test_mps_has_no_events_but_is_waited_for(monkeypatch: pytest.MonkeyPatch, clock: ManualClock) -> None:
    import torch

    waits: list[int] = []
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.mps, "synchronize", lambda: waits.append(1))
    for device in ("mps", None):
        waits.clear()
        evidence = measure(lambda: clock.advance(0.001), clock, warmup=1, repeats=2, device=device)
        assert len(waits) == 6
        assert evidence.synchronised == "mps before and after each step"
        assert (evidence.clock, evidence.environment["device"]) == ("host", "mps")


def test_the_environment_has_the_fields_of_the_writer_and_nothing_private(
    monkeypatch: pytest.MonkeyPatch, clock: ManualClock
) -> None:
    import torch

    monkeypatch.setenv("API_KEY", "secret-key")

    def step(perf: Any) -> None:
        with torch.autocast("cpu", dtype=torch.bfloat16), perf.stage("forward"):
            clock.advance(0.001)

    environment = measure(step, clock).environment
    assert environment["torch"] == torch.__version__
    assert environment["autocast"] == "cpu bfloat16"
    assert (environment["rank"], environment["world_size"], environment["device"]) == (0, 1, "cpu")
    assert environment["peak_memory"] == "per_step"
    text = json.dumps(environment)
    assert "secret-key" not in text
    assert socket.gethostname() not in text


# Notes ---------------------------------------------------------------------------------------------------------------


def said(times_ms: Iterator[float] | list[float], **options: Any) -> list[str]:
    return notes.of_samples(list(times_ms), options.get("num_warmup", 3), options.get("resolution_ms"))


def test_nothing_is_said_of_good_samples() -> None:
    assert said([10.0, 10.1, 9.9, 10.05, 9.95] * 6, resolution_ms=1e-4) == []


@pytest.mark.parametrize(("num", "is_said"), [(1, True), (19, True), (20, False)])
def test_few_repeats(num: int, is_said: bool) -> None:
    found = said([10.0] * num)
    assert found == ([f"few repeats: the p95 of {num} is their maximum; from 20 on it is not"] if is_said else [])


def test_the_p95_of_19_samples_is_their_maximum_and_that_of_20_is_not(clock: ManualClock) -> None:
    for num, p95_ms in ((19, 19.0), (20, 19.0)):
        evidence = measure(steps_of(clock, iter(map(float, range(1, 99)))), clock, warmup=0, repeats=num)
        assert evidence.p95_ms == pytest.approx(p95_ms)


def test_no_warm_up() -> None:
    assert said([10.0] * 20, num_warmup=0) == ["no warm-up steps: the first samples may hold what is done only once"]


def test_drift_is_more_than_chance() -> None:
    rising = [10.0 + 0.1 * at for at in range(30)]
    assert any(
        note.startswith("drift: the median of the second half of the samples is 14 % above") for note in said(rising)
    )
    falling = [12.0, 12.1] * 8 + [10.0, 10.1] * 8
    assert any("is 17 % below that of the first" in note for note in said(falling))
    noisy = [10.0, 14.0, 8.0, 12.0, 9.0, 13.0, 11.0] * 2 + [10.5, 14.5, 8.5, 12.5, 9.5, 13.5, 11.5] * 2
    assert not any("drift" in note for note in said(noisy))


def test_large_spread() -> None:
    assert said([10.0, 12.0] * 15) == ["large spread: the middle half of the samples covers 20 % of the median"]


def test_resolution_of_the_clock() -> None:
    (note,) = said([0.005] * 20, resolution_ms=1e-4)
    assert note.startswith("the clock's resolution of 0.1 µs is more than 1 % of the median")


def test_a_coarse_clock_is_noticed() -> None:
    ticks = iter(range(10**6))
    coarse = lambda: next(ticks) // 4 * 0.015  # noqa: E731
    evidence = measure_step(lambda: None, profile_steps=0, device="cpu", clock=coarse)
    assert evidence.clock_resolution_ms == pytest.approx(15.0)
    assert any("resolution" in note for note in evidence.notes)


def test_labels(clock: ManualClock) -> None:
    def left_open(perf: Any) -> None:
        perf.stage("forward").__enter__()
        clock.advance(0.001)

    unlabelled: StepEvidence = measure(lambda: clock.advance(0.001), clock)
    assert any(note.startswith("no stage was labelled") for note in unlabelled.notes)
    assert "stage 'forward' was still open when the step ended: it is counted up to there" in (
        measure(left_open, clock).notes
    )


def test_the_observers_effect() -> None:
    assert notes.of_profile(None) == notes.of_profile(1.1) == []
    assert notes.of_profile(1.5)[0].startswith("under the profiler a step took 1.50 times as long")


def test_memory_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch, clock: ManualClock) -> None:
    monkeypatch.setattr(instruments, "find_memory_probe", lambda *arguments: (None, "this kernel does not report it"))
    evidence = measure(lambda: clock.advance(0.001), clock)
    assert evidence.memory.peak_resident_bytes is None
    assert evidence.environment["peak_memory"] == "off"
    assert "memory: this kernel does not report it" in evidence.notes
    assert not math.isnan(evidence.median_ms)


def test_memory_that_can_no_longer_be_read_costs_no_sample(module: FakeModule, clock: ManualClock) -> None:
    def broken(index: int | None) -> dict[str, Any]:
        if module.calls.count("step") > 3:
            raise RuntimeError("driver gone")
        return FakeModule._stats(module, index)

    module.memory_stats_as_nested_dict = broken
    evidence = measure(train(module, clock), clock, warmup=1, repeats=5, device=None)
    assert len(evidence.step_times_ms) == 5
    assert evidence.memory.peak_allocated_bytes == 70 * MIB
    assert "memory: peaks could not be read to the end: RuntimeError: driver gone" in evidence.notes


def test_a_device_that_is_not_there_is_a_wrong_argument(module: FakeModule, clock: ManualClock) -> None:
    def absent(index: int | None) -> None:
        raise AssertionError("Invalid device id")

    module.current_stream = absent
    with pytest.raises(
        ConfigError, match="device is 'cuda:7', which cannot be used: AssertionError: Invalid device id"
    ):
        measure(train(module, clock), clock, device="cuda:7")
