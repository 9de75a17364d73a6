"""`perf.profile` and `perf.trace_handler` with torch's own profiler: files, records, flags, exact step numbers."""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tb_stepperf import StepPerfWriter
from tb_stepperf.blocks import Flag
from tb_stepperf.recorder.capture.rounds import FAILED, NEVER_ACTIVE, REFERENCE, SCHEDULED, WRITTEN
from tb_stepperf.recorder.eventfile import host_hash
from tests.recorder.logs import Attempt, ManualClock, read_directory, run_python
from tests.recorder.traces import (
    CPU,
    capture_records,
    read_trace,
    schedule,
    steps_in,
    trace_files,
    train,
    windows,
)

MakeWriter = Callable[..., StepPerfWriter]


def profiled(attempt: Attempt) -> list[int]:
    """The steps that carry the flag."""
    return [step for step, flags in zip(attempt.steps, attempt.flags) if flags & Flag.PROFILED]


def test_a_schedule_leaves_a_trace_of_exactly_its_steps(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    with make_writer(first_step=1000) as perf:
        train(perf, 5)
        with perf.profile(schedule=schedule(wait=2, active=3, repeat=1), activities=CPU):
            train(perf, 8)
        train(perf, 2)
    (attempt,) = read_directory(tmp_path)
    (record,) = capture_records(attempt)
    assert record == {
        "step": 1008,
        "state": "written",
        "reason": "scheduled",
        "start_step": 1008,
        "end_step": 1011,
        "file": trace_files(tmp_path)[0],
        "step_offset": 1005,
    }
    assert re.fullmatch(rf"rank_0-{host_hash()}_{os.getpid()}\.\d{{19}}\.pt\.trace\.json\.gz", record["file"])
    trace = read_trace(tmp_path, record)
    assert trace["stepperf"] == {"format": 1, "step_offset": 1005, "rank": 0, "world_size": 1}
    assert trace["distributedInfo"] == {"backend": None, "rank": 0, "world_size": 1}
    assert trace["host_name"] == host_hash()
    assert steps_in(trace) == [1008, 1009, 1010]
    assert sum(event["name"] == "aten::mm" for event in trace["traceEvents"]) == 3
    # the warm-up step holds its preparation, the step behind it stopping and exporting
    assert profiled(attempt) == [1007, 1008, 1009, 1010, 1011]


def test_the_schedules_of_a_report(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    """Never active, cut while active, twice: what each leaves."""
    cases: dict[str, tuple[int, dict[str, int]]] = {
        "never_active": (4, {"wait": 5, "active": 3}),
        "cut_in_warmup": (2, {"wait": 1, "warmup": 4, "active": 3}),
        "cut_in_active": (4, {"wait": 1, "active": 5}),
        "repeat2": (12, {"wait": 1, "active": 3, "repeat": 2}),
    }
    found = {}
    for name, (num_steps, counts) in cases.items():
        with make_writer(logdir=tmp_path / name) as perf:
            with perf.profile(schedule=schedule(**counts), activities=CPU):
                train(perf, num_steps)
            train(perf, 1)
        found[name] = windows(read_directory(tmp_path / name)[0])
    assert found == {
        "never_active": [(NEVER_ACTIVE, SCHEDULED, None, None)],
        "cut_in_warmup": [(NEVER_ACTIVE, SCHEDULED, None, None)],
        "cut_in_active": [(WRITTEN, SCHEDULED, 2, 4)],
        "repeat2": [(WRITTEN, SCHEDULED, 2, 5), (WRITTEN, SCHEDULED, 7, 10)],
    }
    assert [len(trace_files(tmp_path / name)) for name in cases] == [0, 0, 1, 2]
    (never,) = capture_records(read_directory(tmp_path / "never_active")[0])
    assert never["error"] == "the schedule did not reach active within 4 steps"
    workers = {name.partition(".")[0] for name in trace_files(tmp_path / "repeat2")}
    assert len(workers) == 1


def test_one_profile_used_twice_is_a_new_profiler_each_time(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    with make_writer() as perf:
        profile = perf.profile(schedule=schedule(active=2, repeat=1), activities=CPU)
        for _ in range(2):
            profile.start()
            profile.start()  # no second round inside the first
            train(perf, 4)
            profile.stop()
            profile.stop()
    (attempt,) = read_directory(tmp_path)
    assert windows(attempt) == [(WRITTEN, SCHEDULED, 1, 3), (WRITTEN, SCHEDULED, 5, 7)]
    assert [steps_in(read_trace(tmp_path, record)) for record in capture_records(attempt)] == [[1, 2], [5, 6]]


def test_the_profiles_own_step_does_not_advance_it(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    with make_writer() as perf, perf.profile(schedule=schedule(active=2, repeat=1), activities=CPU) as profile:
        for _ in range(5):
            train(perf, 1)
            profile.step()
    assert windows(read_directory(tmp_path)[0]) == [(WRITTEN, SCHEDULED, 1, 3)]


def test_without_a_schedule_it_records_from_start_to_stop(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    with make_writer() as perf:
        train(perf, 2)
        with perf.profile(activities=CPU):
            train(perf, 3)
        train(perf, 2)
    (attempt,) = read_directory(tmp_path)
    assert windows(attempt) == [(WRITTEN, SCHEDULED, 2, 5)]
    (record,) = capture_records(attempt)
    assert steps_in(read_trace(tmp_path, record)) == [2, 3, 4, 5]  # the last one was stopped before it did anything
    assert profiled(attempt) == [2, 3, 4, 5]


def test_a_profile_that_waits_leaves_no_marks_in_the_trace_of_another(
    make_writer: MakeWriter, tmp_path: pathlib.Path
) -> None:
    with (
        make_writer(capture="regression", warmup_steps=2) as perf,
        perf.profile(schedule=schedule(wait=9, active=2, repeat=1), activities=CPU),
    ):
        train(perf, 14)
    (attempt,) = read_directory(tmp_path)
    found = [(record["reason"], steps_in(read_trace(tmp_path, record))) for record in capture_records(attempt)]
    assert found == [(REFERENCE, [3, 4, 5]), (SCHEDULED, [10, 11])]


def test_a_step_number_that_goes_back_ends_the_window(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    with make_writer() as perf, perf.profile(activities=CPU):
        for step in (100, 101, 50, 51):
            torch.ones(1) + 1
            perf.step(step=step)
    first, second = read_directory(tmp_path)
    (record,) = capture_records(first) + capture_records(second)
    assert (record["state"], record["step"]) == (FAILED, 51)
    assert record["error"] == "RuntimeError: the number of the step went back from 101 to 50 in the window"
    assert profiled(first) + profiled(second) == [100, 101, 50, 51]  # stopped at the beginning of the last
    assert not torch.autograd._profiler_enabled()


def test_a_profile_inside_one_step(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    with make_writer() as perf:
        train(perf, 3)
        with perf.profile(activities=CPU):
            torch.ones(1) + 1
        train(perf, 3)
    (attempt,) = read_directory(tmp_path)
    assert windows(attempt) == [(WRITTEN, SCHEDULED, 3, 4)]
    assert profiled(attempt) == [3]


def test_steps_that_the_loop_numbers_itself(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    with make_writer() as perf, perf.profile(schedule=schedule(active=2, repeat=1), activities=CPU):
        for step in (500, 501, 502, 503):
            perf.step(step=step)
    (attempt,) = read_directory(tmp_path)
    (record,) = capture_records(attempt)
    assert (record["start_step"], record["end_step"], record["step_offset"]) == (501, 503, 500)


def test_time_stamps_never_collide(make_writer: MakeWriter, tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    with make_writer() as perf:
        monkeypatch.setattr(perf._captures.files, "_clock_ns", lambda: 1_700_000_000_000_000_000)
        with perf.profile(schedule=schedule(active=1), activities=CPU):
            train(perf, 8)
    stamps = [name.split(".")[1] for name in trace_files(tmp_path)]
    assert stamps == [f"170000000000000000{at}" for at in range(4)]


def test_options_go_to_torch_and_its_callback_comes_after_the_export(
    make_writer: MakeWriter, tmp_path: pathlib.Path
) -> None:
    ready: list[int] = []
    with (
        make_writer() as perf,
        perf.profile(
            schedule=schedule(active=1, repeat=1),
            activities=CPU,
            record_shapes=True,
            on_trace_ready=lambda profiler: ready.append(len(profiler.events())),
        ),
    ):
        train(perf, 3)
    (record,) = capture_records(read_directory(tmp_path)[0])
    (mm,) = [event for event in read_trace(tmp_path, record)["traceEvents"] if event["name"] == "aten::mm"]
    assert mm["args"]["Input Dims"] == [[8, 8], [8, 8]]
    assert len(ready) == 1
    assert ready[0] > 0


def test_what_the_profiler_takes_is_its_cost(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = torch.profiler.profile

    def slow(name: str, seconds: float) -> None:
        method = getattr(base, name)

        def slower(profiler: Any) -> None:
            clock.advance(seconds)
            method(profiler)

        monkeypatch.setattr(base, name, slower)

    slow("prepare_trace", 0.5)
    slow("start_trace", 0.25)
    slow("stop_trace", 0.125)
    with make_writer() as perf, perf.profile(schedule=schedule(active=2, repeat=1), activities=CPU):
        train(perf, 5)
    (attempt,) = read_directory(tmp_path)
    (record,) = [record["capture"] for record in attempt.environment if "capture" in record]
    assert record["cost_ms"] == 875.0
    assert attempt.column("step_time_ms") == [500, 250, 0, 125, 0]
    assert profiled(attempt) == [0, 1, 2, 3]


def test_leaving_the_loop_by_an_exception_keeps_what_was_recorded(
    make_writer: MakeWriter, tmp_path: pathlib.Path
) -> None:
    with pytest.raises(ValueError, match="diverged"), make_writer() as perf, perf.profile(activities=CPU):
        train(perf, 3)
        raise ValueError("diverged")
    (attempt,) = read_directory(tmp_path)
    assert windows(attempt) == [(WRITTEN, SCHEDULED, 0, 3)]
    assert attempt.end == "exception"


def test_a_forgotten_writer_ends_its_window(tmp_path: pathlib.Path) -> None:
    perf = StepPerfWriter(tmp_path, capture="regression", warmup_steps=0)
    train(perf, 4)
    assert torch.autograd._profiler_enabled()
    thread = perf._life._thread
    del perf
    assert not torch.autograd._profiler_enabled()
    assert thread.join(30)
    (attempt,) = read_directory(tmp_path)
    assert windows(attempt) == [(WRITTEN, REFERENCE, 2, 4)]
    assert attempt.end == "closed"


def test_closing_the_writer_ends_a_profile_that_is_open(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    perf = make_writer()
    recording, waiting = perf.profile(activities=CPU), perf.profile(schedule=schedule(wait=9), activities=CPU)
    waiting.start()
    recording.start()
    train(perf, 2)
    perf.close()
    recording.stop()
    waiting.stop()
    assert sorted(windows(read_directory(tmp_path)[0])) == [
        (NEVER_ACTIVE, SCHEDULED, None, None),
        (WRITTEN, SCHEDULED, 0, 2),
    ]
    assert not torch.autograd._profiler_enabled()


def test_in_a_forked_child_a_profile_does_nothing(tmp_path: pathlib.Path) -> None:
    result = run_python(
        """
import os, sys, torch
from tb_stepperf import StepPerfWriter
from torch.profiler import ProfilerActivity
perf = StepPerfWriter(sys.argv[1], flush_interval_s=1000)
profile = perf.profile(activities=[ProfilerActivity.CPU])
profile.start()
perf.step()
child = os.fork()
if not child:
    perf.step(); profile.stop(); perf.close()
    os._exit(0)
_, status = os.waitpid(child, 0)
perf.step()
profile.stop()
perf.close()
sys.exit(os.waitstatus_to_exitcode(status))
""",
        tmp_path,
    )
    assert result.returncode == 0, result.stderr
    assert windows(read_directory(tmp_path)[0]) == [(WRITTEN, SCHEDULED, 0, 2)]
    assert len(trace_files(tmp_path)) == 1


def test_a_writer_that_is_off_profiles_nothing(tmp_path: pathlib.Path) -> None:
    perf = StepPerfWriter(tmp_path, enabled=False)
    with perf.profile(schedule=schedule(active=1), with_stack=True) as profile:
        perf.step()
        profile.step()
    profile.start()
    profile.stop()
    assert perf.trace_handler()(profile) is None
    assert perf.request_capture() is False
    assert list(tmp_path.iterdir()) == []
