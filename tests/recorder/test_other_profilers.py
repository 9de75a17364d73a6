"""Profilers of torch that are not ours: ours is not started where they work, and ends before they begin."""

from __future__ import annotations

import pathlib
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tb_stepperf import CaptureRules, StepPerfWriter
from tb_stepperf.blocks import Flag
from tb_stepperf.recorder.capture.others import Place
from tb_stepperf.recorder.capture.rounds import FAILED, REFERENCE, SCHEDULED, SKIPPED, WRITTEN
from tests.recorder.logs import read_directory, run_python
from tests.recorder.traces import CPU, capture_records, only_record, schedule, train, windows

MakeWriter = Callable[..., StepPerfWriter]


def test_where_another_profiler_records_nothing_is_started(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    with torch.profiler.profile(activities=CPU) as foreign, make_writer(capture="regression") as perf:
        train(perf, 4)
        with perf.profile(activities=CPU):
            train(perf, 2)
    assert sum(event.name == "aten::mm" for event in foreign.events()) == 6
    records = capture_records(read_directory(tmp_path)[0])
    assert [(record["state"], record["reason"]) for record in records] == [(SKIPPED, REFERENCE), (SKIPPED, SCHEDULED)]
    assert {record["error"] for record in records} == {"another profiler is recording: two at a time are not possible"}


@pytest.mark.parametrize(
    ("counts", "error"),
    [
        ({"warmup": 6, "active": 2}, "another profiler is warming up: two at a time are not possible"),
        ({"wait": 4, "active": 2}, "another profiler begins within 4 steps: two at a time are not possible"),
        ({"wait": 9, "active": 2}, None),
    ],
)
def test_a_profiler_that_does_not_record_yet_is_not_disturbed(
    make_writer: MakeWriter, tmp_path: pathlib.Path, counts: Any, error: str | None
) -> None:
    traces: list[int] = []
    with (
        torch.profiler.profile(
            activities=CPU,
            schedule=schedule(repeat=1, **counts),
            on_trace_ready=lambda profiler: traces.append(len(profiler.events())),
        ) as foreign,
        make_writer(capture="regression") as perf,
    ):
        for _ in range(14):
            train(perf, 1)
            foreign.step()
    record = only_record(tmp_path)
    assert record.get("error") == error
    assert record["state"] == (SKIPPED if error else WRITTEN)
    assert len(traces) == 1


@pytest.mark.parametrize("start_at", ["warm-up", "recording"])
def test_a_profiler_that_comes_during_a_window_takes_over(
    make_writer: MakeWriter, tmp_path: pathlib.Path, start_at: str
) -> None:
    rules = CaptureRules(num_steps=6, num_warmup_steps=1)
    traces: list[int] = []
    with make_writer(capture=rules) as perf:
        train(perf, 1 if start_at == "warm-up" else 4)
        with torch.profiler.profile(
            activities=CPU,
            schedule=schedule(warmup=2, active=2, repeat=1),
            on_trace_ready=lambda profiler: traces.append(len(profiler.events())),
        ) as foreign:
            for _ in range(6):
                train(perf, 1)
                foreign.step()
    record = only_record(tmp_path)
    assert (record["state"], record["error"]) == (FAILED, "another profiler took its place")
    assert len(traces) == 1
    assert traces[0] > 0


@pytest.mark.parametrize("kind", ["torch.profiler", "torch.autograd.profiler"])
def test_profilers_that_come_and_go_within_steps(tmp_path: pathlib.Path, kind: str) -> None:
    """Each of them gets all it would have got alone. In a process of its own: two at a time would be its end."""
    result = run_python(
        f"""
import sys, torch
from tb_stepperf import CaptureRules, StepPerfWriter
ones = torch.ones(8, 8)
with StepPerfWriter(sys.argv[1], capture=CaptureRules(), warmup_steps=2) as perf:
    for step in range(40):
        if step in (2, 12, 22, 23, 24, 30):  # while the profiler warms up, twice while it records, and while it is off
            with {kind}.profile() as profiler:
                torch.mm(ones, ones)
            (mm,) = [one for one in profiler.key_averages() if one.key == "aten::mm"]
            assert mm.count == 1
        if step in (10, 20):
            perf.request_capture()
        perf.step()
""",
        tmp_path,
    )
    assert result.returncode == 0, result.stderr
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == list(range(40))
    records = capture_records(attempt)
    assert [(record["state"], record["step"]) for record in records] == [(FAILED, 2), (FAILED, 12), (FAILED, 22)]
    assert {record["error"] for record in records} == {"another profiler took its place"}
    flagged = {step for step, flags in zip(attempt.steps, attempt.flags) if flags & Flag.PROFILED}
    assert flagged == {2, 11, 12, 21, 22}


def test_a_profiler_of_another_thread_is_given_way_to(tmp_path: pathlib.Path) -> None:
    """Only the thread that started ours could stop it, and by then that would be the end of the process."""
    result = run_python(
        """
import sys, threading, torch
from tb_stepperf import StepPerfWriter
def profile():
    with torch.profiler.profile() as profiler:
        torch.ones(1) + 1
    assert any(one.key == "aten::add" for one in profiler.key_averages())
with StepPerfWriter(sys.argv[1], capture="regression", warmup_steps=0) as perf:
    for step in range(8):
        if step == 3:
            other = threading.Thread(target=profile)
            other.start()
            other.join()
        perf.step()
""",
        tmp_path,
    )
    assert result.returncode == 0, result.stderr
    assert only_record(tmp_path)["error"] == "another profiler took its place"


def test_a_profile_of_the_loop_comes_before_a_window(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    with make_writer(capture=CaptureRules(num_steps=50)) as perf:
        train(perf, 5)
        with perf.profile(activities=CPU):
            train(perf, 2)
    assert windows(read_directory(tmp_path)[0]) == [(WRITTEN, REFERENCE, 2, 5), (WRITTEN, SCHEDULED, 5, 7)]


def test_a_profile_is_not_stopped_by_another_thread(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    perf = make_writer()
    profile = perf.profile(activities=CPU)
    profile.start()
    train(perf, 2)
    closing = threading.Thread(target=perf.close)
    closing.start()
    closing.join(30)
    assert only_record(tmp_path)["error"] == "RuntimeError: it was stopped in another thread than it was started in"
    assert torch.autograd._profiler_enabled()
    profile.stop()
    assert not torch.autograd._profiler_enabled()


def test_the_place_may_be_left_in_any_order() -> None:
    module = torch.autograd.profiler
    originals = module._prepare_profiler, module._enable_profiler
    said: list[str] = []
    first, second = Place(lambda: said.append("first")), Place(lambda: said.append("second"))
    first.keep()
    second.keep()
    first.leave()
    with torch.profiler.profile(activities=CPU):
        torch.ones(1) + 1
    assert said == ["second"]
    for place in (first, second):
        place.leave()
    with torch.profiler.profile(activities=CPU) as profiler:
        torch.ones(1) + 1
    assert said == ["second"]
    assert any(one.key == "aten::add" for one in profiler.key_averages())
    module._prepare_profiler, module._enable_profiler = originals
