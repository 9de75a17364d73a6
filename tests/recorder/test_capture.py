"""Windows that nobody asked for, and those asked for by hand: when they are captured, how many, and of which steps."""

from __future__ import annotations

import math
import pathlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tb_stepperf import CaptureRules, StepPerfWriter
from tb_stepperf.blocks import Flag
from tb_stepperf.errors import ConfigError
from tb_stepperf.recorder.capture.rounds import (
    NEVER_ACTIVE,
    REFERENCE,
    REGRESSION,
    REQUESTED,
    SLOW_STEP,
    WRITTEN,
)
from tb_stepperf.recorder.capture.slow import MIN_STEPS, SlowSteps
from tb_stepperf.recorder.changes import ChangeWatch
from tb_stepperf.recorder.rows import Rows
from tests.recorder.logs import ManualClock, read_directory
from tests.recorder.traces import capture_records, read_trace, steps_in, trace_files, windows

MakeWriter = Callable[..., StepPerfWriter]

RULES = CaptureRules(reference=False, cooldown_s=100.0, slow_step_factor=5.0, slow_step_excess_ms=10.0)


class Loop:
    """Runs steps of a given time; every step is looked at by the background thread before the next one begins."""

    def __init__(self, perf: StepPerfWriter, clock: ManualClock) -> None:
        self.perf = perf
        self.clock = clock

    def run(self, num_steps: int, step_time_s: float = 0.01, **values: Any) -> None:
        for _ in range(num_steps):
            self.clock.advance(step_time_s)
            self.perf.step(**values)
            self.perf.flush()


def notice(monkeypatch: pytest.MonkeyPatch, at_step: int, kind: str = "regression") -> None:
    """Has the detector report one change, once a step has come."""
    waiting = [{"step": at_step, "provisional_change": {"step": at_step, "kind": kind, "change": 0.3}}]
    seen = [-1]

    def add(watch: ChangeWatch, rows: Rows) -> None:
        seen[0] = int(rows.steps[-1])

    def look(watch: ChangeWatch) -> list[dict[str, Any]] | None:
        return [waiting.pop()] if waiting and seen[0] >= at_step else None

    monkeypatch.setattr(ChangeWatch, "add", add)
    monkeypatch.setattr(ChangeWatch, "look", look)


# The reference --------------------------------------------------------------------------------------------------------


def test_the_reference_is_captured_right_after_the_warm_up(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: pathlib.Path
) -> None:
    with make_writer(capture="regression", warmup_steps=4, first_step=100) as perf:
        Loop(perf, clock).run(20)
        assert perf._loop.look_after_s is None  # no look at boundaries any more, until the typical step is known
    (attempt,) = read_directory(tmp_path)
    assert windows(attempt) == [(WRITTEN, REFERENCE, 105, 108)]
    (record,) = capture_records(attempt)
    assert "about_step" not in record
    assert steps_in(read_trace(tmp_path, record)) == [105, 106, 107]
    flagged = [step for step, flags in zip(attempt.steps, attempt.flags) if flags & Flag.PROFILED]
    assert flagged == [104, 105, 106, 107, 108]


def test_nothing_is_captured_by_default(make_writer: MakeWriter, clock: ManualClock, tmp_path: pathlib.Path) -> None:
    with make_writer() as perf:
        Loop(perf, clock).run(60)
        Loop(perf, clock).run(1, 9.0)
        assert (perf._loop.look_at_s, perf._loop.look_after_s) == (math.inf, None)
    assert trace_files(tmp_path) == []


# Slow steps -----------------------------------------------------------------------------------------------------------


def test_a_slow_step_is_followed_by_a_window(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: pathlib.Path
) -> None:
    with make_writer(capture=RULES, detect_changes=False) as perf:
        loop = Loop(perf, clock)
        loop.run(MIN_STEPS + 1)
        loop.run(1, 0.049)  # less than five times the median
        loop.run(5)
        loop.run(1, 0.05)
        loop.run(10)
    (attempt,) = read_directory(tmp_path)
    about = MIN_STEPS + 7
    (record,) = capture_records(attempt)
    assert record["about_step"] == about
    # the background thread asks behind the slow step; the loop comes by at the next boundary but one, then one warm-up
    assert windows(attempt) == [(WRITTEN, SLOW_STEP, about + 3, about + 6)]


def test_what_is_no_slow_step(make_writer: MakeWriter, clock: ManualClock, tmp_path: pathlib.Path) -> None:
    with make_writer(capture=RULES, detect_changes=False) as perf:
        loop = Loop(perf, clock)
        loop.run(MIN_STEPS + 1, 0.001)
        loop.run(1, 0.0109)  # ten times the median, but not 10 ms more
        loop.run(1, 5.0, bucket="long")  # a kind of its own
        with perf.exclude():
            clock.advance(60)
        loop.run(5, 0.001)
    assert windows(read_directory(tmp_path)[0]) == []


def test_slow_steps_are_captured_at_most_so_often(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: pathlib.Path
) -> None:
    """A cool-down between two, and one of three windows is kept for a lasting slowdown."""
    with make_writer(capture=RULES) as perf:
        loop = Loop(perf, clock)
        loop.run(MIN_STEPS + 1)
        for pause_s in (0.0, 50.0, 50.0, 100.0, 100.0):
            with perf.exclude():
                clock.advance(pause_s)
            loop.run(1, 1.0)
            loop.run(8)
    (attempt,) = read_directory(tmp_path)
    assert [record["about_step"] - MIN_STEPS - 1 for record in capture_records(attempt)] == [0, 18]


def test_the_loop_looks_at_once_behind_a_slow_step(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: pathlib.Path
) -> None:
    """Without a flush: the slow step itself wakes the background thread."""
    with make_writer(capture=RULES, detect_changes=False) as perf:
        loop = Loop(perf, clock)
        loop.run(MIN_STEPS + 3)
        assert perf._loop.look_after_s == pytest.approx(0.045)
        clock.advance(0.06)
        perf.step()
        deadline_s = time.monotonic() + 30
        while perf._captures.is_free and time.monotonic() < deadline_s:
            time.sleep(0.001)
        loop.run(8)
    (record,) = capture_records(read_directory(tmp_path)[0])
    assert (record["reason"], record["about_step"]) == (SLOW_STEP, MIN_STEPS + 3)


def rows(steps: Any, step_time_ms: Any, **columns: Any) -> Rows:
    steps = np.asarray(steps)
    times_ms = np.broadcast_to(np.float32(step_time_ms), steps.shape)
    more = {name: np.broadcast_to(np.float32(value), steps.shape) for name, value in columns.items()}
    return Rows(
        steps,
        np.zeros(len(steps)),
        {"flags": np.zeros(len(steps), np.float32), "step_time_ms": times_ms, **more},
    )


def test_the_start_and_flagged_steps_are_not_looked_at() -> None:
    slow = SlowSteps(5.0, 10.0, num_warmup_steps=3)
    assert slow.typical_ms is None
    slow.see(rows(range(3), 500.0))
    slow.see(rows(range(3, 40), 10.0))
    assert (slow.typical_ms, slow.limit_ms) == (10.0, 50.0)
    assert slow.see(rows([40], 900.0, flags=int(Flag.PROFILED))) is None
    assert slow.see(rows([41], np.nan)) is None
    assert slow.see(rows([7, 8, 9], 900.0)) is None  # back to a checkpoint: that is a warm-up again
    assert slow.see(rows([10, 11, 12], [10.0, 900.0, 10.0])) == 11


def test_each_kind_of_step_has_its_own_median() -> None:
    slow = SlowSteps(5.0, 10.0, num_warmup_steps=0)
    slow.see(rows(range(80), np.where(np.arange(80) % 2, 10.0, 100.0), bucket=np.arange(80) % 2))
    assert (slow.typical_ms, slow.limit_ms) == (100.0, 500.0)
    assert slow.see(rows([80], 60.0, bucket=0)) is None
    assert slow.see(rows([81], 60.0, bucket=1)) == 81


# Lasting slowdowns ----------------------------------------------------------------------------------------------------


def test_a_regression_is_followed_by_a_window(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notice(monkeypatch, 30)
    with make_writer(capture=RULES) as perf:
        Loop(perf, clock).run(45)
    (attempt,) = read_directory(tmp_path)
    (record,) = capture_records(attempt)
    assert (record["reason"], record["about_step"]) == (REGRESSION, 30)
    assert record["end_step"] - record["start_step"] == 3
    assert 31 < record["start_step"] <= 36
    assert steps_in(read_trace(tmp_path, record)) == list(range(record["start_step"], record["end_step"]))


def test_an_improvement_is_not(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notice(monkeypatch, 30, kind="improvement")
    with make_writer(capture=RULES) as perf:
        Loop(perf, clock).run(45)
    assert windows(read_directory(tmp_path)[0]) == []


def test_a_planned_change_is_not(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notice(monkeypatch, 30)
    with make_writer(capture=RULES) as perf:
        loop = Loop(perf, clock)
        loop.run(28)
        perf.expect_change("larger batch")
        loop.run(20)
    assert windows(read_directory(tmp_path)[0]) == []


def test_a_regression_waits_for_the_cool_down(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notice(monkeypatch, MIN_STEPS + 10)
    with make_writer(capture=RULES) as perf:
        loop = Loop(perf, clock)
        loop.run(MIN_STEPS + 1)
        loop.run(1, 1.0)
        loop.run(20)
        with perf.exclude():
            clock.advance(100)
        loop.run(10)
    (attempt,) = read_directory(tmp_path)
    assert [(record["reason"], record["about_step"]) for record in capture_records(attempt)] == [
        (SLOW_STEP, MIN_STEPS + 1),
        (REGRESSION, MIN_STEPS + 10),
    ]


# By hand --------------------------------------------------------------------------------------------------------------


def test_a_window_by_hand(make_writer: MakeWriter, clock: ManualClock, tmp_path: pathlib.Path) -> None:
    with make_writer() as perf:
        loop = Loop(perf, clock)
        loop.run(5)
        assert perf.request_capture()
        assert not perf.request_capture()
        loop.run(3)
        assert not perf.request_capture()
        loop.run(7)
        assert perf.request_capture()
    (attempt,) = read_directory(tmp_path)
    assert windows(attempt) == [(WRITTEN, REQUESTED, 7, 10), (NEVER_ACTIVE, REQUESTED, None, None)]
    first, second = capture_records(attempt)
    assert (first["about_step"], second["error"]) == (5, "the run ended before the window began")


def test_a_window_that_is_open_at_the_end(make_writer: MakeWriter, clock: ManualClock, tmp_path: pathlib.Path) -> None:
    for num_steps in (1, 3):
        with make_writer(logdir=tmp_path / str(num_steps)) as perf:
            perf.request_capture()
            Loop(perf, clock).run(num_steps)
    (in_warmup,) = capture_records(read_directory(tmp_path / "1")[0])
    assert (in_warmup["state"], in_warmup["error"]) == (
        NEVER_ACTIVE,
        "the schedule did not reach active within 0 steps",
    )
    assert windows(read_directory(tmp_path / "3")[0]) == [(WRITTEN, REQUESTED, 2, 3)]
    assert not torch.autograd._profiler_enabled()


def test_other_numbers_of_steps(make_writer: MakeWriter, clock: ManualClock, tmp_path: pathlib.Path) -> None:
    rules = CaptureRules(num_steps=1, num_warmup_steps=0, max_captures=0)
    with make_writer(capture=rules, warmup_steps=2) as perf:
        Loop(perf, clock).run(5)
    (record,) = capture_records(read_directory(tmp_path)[0])
    assert (record["start_step"], record["end_step"]) == (2, 3)
    assert steps_in(read_trace(tmp_path, record)) == [2]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: StepPerfWriter("x", capture="always"), "capture is 'always'; 'off', 'regression' or CaptureRules"),
        (lambda: StepPerfWriter("x", capture=True), "capture is True"),
        (lambda: CaptureRules(num_steps=0), r"num_steps is 0; an integer in \[1, 1000\] is allowed"),
        (lambda: CaptureRules(max_captures=1.5), "max_captures is 1.5"),
        (lambda: CaptureRules(cooldown_s=-1), "cooldown_s is -1; a number from 0 on is allowed"),
        (lambda: CaptureRules(slow_step_factor=math.nan), "slow_step_factor is nan; a number from 1 on"),
    ],
)
def test_arguments_that_cannot_be_used(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()
