"""Device times with a device made by hand: late, never, again and again, and with no event left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tb_stepperf import StepPerfWriter
from tb_stepperf.recorder import device as device_module
from tb_stepperf.recorder.device import Accelerator, DeviceTimer, TorchDeviceClock, find_accelerator
from tb_stepperf.recorder.messages import Messages
from tb_stepperf.recorder.stamps import ENTER, FIRST_STAGE, LEAVE, NO_STAGE, code
from tests.recorder.logs import FakeHardware, ManualClock, read_directory

MakeWriter = Callable[..., StepPerfWriter]


class FakeEvent:
    def __init__(self) -> None:
        self.at_ms: float | None = None


class FakeDevice:
    """A queue of work: an event completes when the device has reached it."""

    def __init__(self) -> None:
        self.submitted_ms = 0.0
        self.reached_ms = 0.0
        self.events: list[FakeEvent] = []
        self.num_queries = 0
        self.capturing = False
        self.broken: str | None = None

    def submit(self, milliseconds: float) -> None:
        """The loop gives the device work."""
        self.submitted_ms += milliseconds

    def catch_up(self) -> None:
        self.reached_ms = self.submitted_ms

    def new_event(self) -> FakeEvent:
        self.events.append(FakeEvent())
        return self.events[-1]

    def can_record(self) -> bool:
        return not self.capturing

    def record(self, event: FakeEvent) -> None:
        if self.broken == "record":
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        assert not self.capturing
        event.at_ms = self.submitted_ms

    def query(self, event: FakeEvent) -> bool:
        assert not self.capturing
        self.num_queries += 1
        if self.broken == "query":
            raise RuntimeError("CUDA error: device-side assert triggered")
        assert event.at_ms is not None
        return event.at_ms <= self.reached_ms

    def elapsed_ms(self, start: FakeEvent, end: FakeEvent) -> float:
        assert start.at_ms is not None
        assert end.at_ms is not None
        assert end.at_ms <= self.reached_ms, "elapsed time of an event that has not completed"
        return end.at_ms - start.at_ms


@pytest.fixture
def device() -> FakeDevice:
    return FakeDevice()


def train(perf: StepPerfWriter, clock: ManualClock, device: FakeDevice, step: int) -> None:
    """One step: the host is quick, the device takes 10 + step ms forward and 20 backward, and 1 outside any stage."""
    with perf.stage("forward"):
        device.submit(10 + step)
        clock.advance(0.001)
    with perf.stage("backward"):
        device.submit(20)
        clock.advance(0.001)
    clock.advance(0.001)
    device.submit(1)
    perf.step()


def test_times_arrive_late_and_belong_to_their_steps(
    make_writer: MakeWriter, clock: ManualClock, device: FakeDevice, tmp_path: Any
) -> None:
    perf = make_writer(hardware=FakeHardware(timer=DeviceTimer(device)))
    for step in range(6):
        train(perf, clock, device, step)
        if step == 3:
            device.catch_up()
        perf.flush()
    device.catch_up()
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == list(range(6))
    # The timer begins after the first step, when the loop has shown its device.
    assert attempt.column("device_step_time_ms") == [None, 32, 33, 34, 35, 36]
    assert attempt.column("device_stage/forward_ms") == [None, 11, 12, 13, 14, 15]
    assert attempt.column("device_stage/backward_ms") == [None, 20, 20, 20, 20, 20]
    assert attempt.column("stage/forward_ms") == [1] * 6
    assert attempt.counters == {}
    assert attempt.environment[0]["clock"] == "device"


def test_excluded_work_is_no_part_of_the_device_step(
    make_writer: MakeWriter, clock: ManualClock, device: FakeDevice, tmp_path: Any
) -> None:
    perf = make_writer(hardware=FakeHardware(timer=DeviceTimer(device)))
    perf.step()
    clock.advance(1)
    with perf.exclude():
        device.submit(500)
        clock.advance(1)
    device.submit(7)
    clock.advance(1)
    perf.lap("forward")
    device.submit(3)
    clock.advance(1)
    perf.step()
    device.catch_up()
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("device_step_time_ms") == [None, 10]
    assert attempt.column("device_stage/forward_ms") == [None, 7]


def test_rows_wait_for_the_device_but_not_for_ever(
    make_writer: MakeWriter, clock: ManualClock, device: FakeDevice, tmp_path: Any
) -> None:
    perf = make_writer(hardware=FakeHardware(timer=DeviceTimer(device)))
    for step in range(3):
        train(perf, clock, device, step)
    assert perf.flush()
    assert read_directory(tmp_path)[0].steps == [0]
    clock.advance(device_module.GIVE_UP_S)
    for step in range(3, 6):
        train(perf, clock, device, step)
    assert perf.flush()
    assert read_directory(tmp_path)[0].column("device_step_time_ms") == [None, None, None]
    device.catch_up()
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("device_step_time_ms") == [None, None, None, 34, 35, 36]
    assert attempt.counters == {"num_device_unresolved": 2}


def test_a_loop_that_stands_still_does_not_hold_its_rows_back(
    make_writer: MakeWriter, clock: ManualClock, device: FakeDevice, tmp_path: Any
) -> None:
    perf = make_writer(hardware=FakeHardware(timer=DeviceTimer(device)))
    for step in range(3):
        train(perf, clock, device, step)
    clock.advance(2 * device_module.GIVE_UP_S)
    assert perf.flush()
    assert read_directory(tmp_path)[0].steps == [0, 1, 2]
    device.catch_up()


def test_events_that_never_complete_end_with_the_writer(
    make_writer: MakeWriter,
    clock: ManualClock,
    device: FakeDevice,
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(device_module, "_FINISH_S", 0.01)
    perf = make_writer(hardware=FakeHardware(timer=DeviceTimer(device)))
    for step in range(3):
        train(perf, clock, device, step)
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == [0, 1, 2]
    assert attempt.columns.isdisjoint({"device_step_time_ms"})
    assert attempt.counters == {"num_device_unresolved": 2}


def test_events_are_used_again(make_writer: MakeWriter, clock: ManualClock, device: FakeDevice, tmp_path: Any) -> None:
    perf = make_writer(hardware=FakeHardware(timer=DeviceTimer(device)))
    for step in range(200):
        train(perf, clock, device, step)
        device.catch_up()
    perf.close()
    assert len(device.events) < 20
    assert device.num_queries < 2 * 200
    assert read_directory(tmp_path)[0].column("device_step_time_ms")[1:] == [31 + step for step in range(1, 200)]


def test_stages_that_follow_each_other_share_an_event(clock: ManualClock, device: FakeDevice) -> None:
    timer = DeviceTimer(device)
    timer.mark(code(NO_STAGE, LEAVE), 1.0)
    timer.mark(code(FIRST_STAGE, ENTER), 1.000001)  # nothing was open for a microsecond: no work can lie between
    assert len(device.events) == 1
    timer.mark(code(FIRST_STAGE, LEAVE), 1.000002)  # inside a stage there can be, however short it is
    assert len(device.events) == 2
    timer.mark(code(FIRST_STAGE, ENTER), 1.1)
    assert len(device.events) == 3


def test_without_a_free_event_a_step_is_not_measured_and_nothing_waits(
    make_writer: MakeWriter, clock: ManualClock, device: FakeDevice, tmp_path: Any
) -> None:
    timer = DeviceTimer(device, max_events=11)
    perf = make_writer(hardware=FakeHardware(timer=timer))
    for step in range(5):
        train(perf, clock, device, step)
    assert timer.num_events == 11
    device.catch_up()
    for step in range(5, 8):
        train(perf, clock, device, step)
        device.catch_up()
    perf.close()
    (attempt,) = read_directory(tmp_path)
    times = attempt.column("device_step_time_ms")
    assert times[:3] == [None, 32, 33]
    assert None in times[3:]
    assert times[7] == 38
    assert attempt.counters == {"num_device_unresolved": times[1:].count(None)}


def test_an_interrupted_step_gives_its_events_back(
    make_writer: MakeWriter, clock: ManualClock, device: FakeDevice, tmp_path: Any
) -> None:
    perf = make_writer(hardware=FakeHardware(timer=DeviceTimer(device)))
    train(perf, clock, device, 0)
    for _ in range(50):
        with pytest.raises(ValueError, match="cut"), perf.stage("forward"):
            device.submit(5)
            clock.advance(1)
            raise ValueError("cut")
        device.catch_up()
    train(perf, clock, device, 1)
    device.catch_up()
    perf.close()
    assert len(device.events) < 20
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("device_step_time_ms") == [None, 32]
    assert attempt.counters == {"num_interrupted": 50}


def test_while_a_graph_is_captured_the_device_is_left_alone(
    make_writer: MakeWriter, clock: ManualClock, device: FakeDevice, tmp_path: Any
) -> None:
    perf = make_writer(hardware=FakeHardware(timer=DeviceTimer(device)))
    for step in range(6):
        device.capturing = step == 2
        train(perf, clock, device, step)
        device.capturing = False
        device.catch_up()
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("device_step_time_ms") == [None, 32, None, None, 35, 36]


@pytest.mark.parametrize("trouble", ["record", "query"])
def test_a_device_in_trouble_ends_device_times_only(
    make_writer: MakeWriter,
    clock: ManualClock,
    device: FakeDevice,
    tmp_path: Any,
    trouble: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    perf = make_writer(hardware=FakeHardware(timer=DeviceTimer(device)))
    for step in range(6):
        device.broken = trouble if step == 3 else None
        train(perf, clock, device, step)
        device.catch_up()
    assert perf.flush()
    (attempt,) = read_directory(tmp_path)  # nothing waits for a device that is not asked any more
    assert attempt.column("stage/forward_ms") == [1] * 6
    assert attempt.column("device_step_time_ms")[4:] == [None, None]
    assert "device times end here: RuntimeError: CUDA error" in caplog.text


class FakeStream:
    pass


class FakeModule:
    """What torch.cuda offers, as far as it is used."""

    def __init__(self, available: bool = True, initialized: bool = True) -> None:
        self.available, self.initialized = available, initialized
        self.stream = FakeStream()
        self.recorded: list[Any] = []
        module = self

        class Event:
            def __init__(self, enable_timing: bool) -> None:
                assert enable_timing

            def record(self, stream: Any) -> None:
                assert stream is module.stream
                module.recorded.append(self)

            def query(self) -> bool:
                return True

            def elapsed_time(self, end: Any) -> float:
                return 1.5

        self.Event = Event

    def is_available(self) -> bool:
        return self.available

    def is_initialized(self) -> bool:
        return self.initialized

    def current_stream(self, index: int | None) -> FakeStream:
        return self.stream

    def is_current_stream_capturing(self) -> bool:
        return False


def test_the_clock_of_torch() -> None:
    clock = TorchDeviceClock(Accelerator("cuda", FakeModule()))
    first, second = clock.new_event(), clock.new_event()
    clock.record(first)
    assert clock.can_record()
    assert clock.query(first)
    assert clock.elapsed_ms(first, second) == 1.5


@pytest.mark.parametrize(
    ("requested", "module", "found"),
    [
        ("cuda", FakeModule(), [None]),
        ("cuda:1", FakeModule(initialized=False), [1]),
        (None, FakeModule(), [None]),
        (None, FakeModule(initialized=False), []),  # asking for more would create a context
        (None, FakeModule(available=False), []),
        ("cpu", FakeModule(), []),
        ("cuda:x", FakeModule(), []),
        ("nonsense", FakeModule(), []),
    ],
)
def test_the_accelerator_in_use_is_found(
    monkeypatch: pytest.MonkeyPatch, requested: str | None, module: FakeModule, found: list[int | None]
) -> None:
    import torch

    monkeypatch.setattr(torch, "cuda", module)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("cuda"))
    result = find_accelerator(requested, Messages())
    assert result == (Accelerator("cuda", module, found[0]) if found else None)


def test_a_device_that_is_asked_for_and_not_there_is_said(caplog: pytest.LogCaptureFixture) -> None:
    assert find_accelerator("cuda", Messages()) is None
    assert "device 'cuda' cannot be used here: times are taken on the host" in caplog.text


def test_without_an_accelerator_the_host_is_measured(caplog: pytest.LogCaptureFixture) -> None:
    assert find_accelerator(None, Messages()) is None
    assert find_accelerator("cpu", Messages()) is None
    assert caplog.records == []
