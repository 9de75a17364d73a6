"""Lasting changes noticed while training: a planted one leaves one record, noise none, a failure costs nothing else."""

from __future__ import annotations

import logging
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tb_stepperf import CaptureRules, StepPerfWriter
from tb_stepperf.analysis import open_provisional
from tb_stepperf.blocks import Flag
from tb_stepperf.recorder import changes as changes_module
from tb_stepperf.recorder.changes import MAX_SHARE, MAX_WAITING_ROWS, ChangeWatch
from tb_stepperf.recorder.messages import Messages
from tb_stepperf.recorder.rows import Rows
from tb_stepperf.statistics.live import LiveDetector
from tb_stepperf.store import AttemptInfo
from tests.recorder.logs import Attempt, ManualClock, read_directory
from tests.recorder.traces import capture_records

MakeWriter = Callable[..., StepPerfWriter]


@pytest.fixture(autouse=True)
def work_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """How much may be looked at must not depend on how fast this machine is."""
    monkeypatch.setattr(time, "thread_time", lambda: 0.0)
    monkeypatch.setattr(changes_module, "TEST_TAKES_S", 0.0)


def noise_ms(num_steps: int, seed: int) -> np.ndarray:
    """Step times of about 10 ms that wander and have a few spikes."""
    rng = np.random.default_rng(seed)
    log_ms = np.zeros(num_steps)
    for at, shock in enumerate(rng.standard_normal(num_steps) * 0.02):
        log_ms[at] = 0.5 * log_ms[at - 1] + shock
    return 10 * np.exp(log_ms) * np.where(rng.random(num_steps) < 0.005, 3, 1)


def train(perf: StepPerfWriter, clock: ManualClock, step_time_ms: np.ndarray, **first: Any) -> None:
    """Runs steps of these durations and flushes every 250."""
    for at, duration_ms in enumerate(step_time_ms.tolist()):
        clock.advance(duration_ms / 1e3)
        perf.step(**(first if at == 0 else {}))
        if at % 250 == 249:
            perf.flush()
    perf.flush()


def noticed(attempt: Attempt) -> list[dict[str, Any]]:
    return [record for record in attempt.environment if "provisional_change" in record]


def test_a_planted_slowdown_is_noticed_once(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="tb_stepperf")
    step_time_ms = noise_ms(2000, seed=1)
    step_time_ms[1200:] *= 1.2
    with make_writer(warmup_steps=10, first_step=10_000) as perf:
        train(perf, clock, step_time_ms)
    (attempt,) = read_directory(tmp_path)
    (record,) = noticed(attempt)
    assert record == {
        "step": record["provisional_change"]["step"],
        "provisional_change": {
            "step": record["step"],
            "kind": "regression",
            "change": pytest.approx(0.2, abs=0.02),
        },
    }
    assert record["step"] == pytest.approx(11_200, abs=5)
    (message,) = [entry.message for entry in caplog.records if entry.levelno == logging.INFO]
    assert message.startswith("step time +")
    assert f"since step {record['step']}, seen at step " in message

    info = AttemptInfo("a", "p", 0.0, changes=((record["step"], record),))
    (change,) = open_provisional([info], [], None, 0)
    assert (change.step, change.kind) == (record["step"], "regression")


def test_a_planted_slowdown_is_captured(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any) -> None:
    step_time_ms = noise_ms(2000, seed=1)
    step_time_ms[1200:] *= 1.2
    with make_writer(warmup_steps=10, capture=CaptureRules(slow_step_factor=math.inf)) as perf:
        train(perf, clock, step_time_ms)
    (attempt,) = read_directory(tmp_path)
    (record,) = noticed(attempt)
    reference, capture = capture_records(attempt)
    assert (reference["state"], reference["reason"], reference["start_step"]) == ("written", "reference", 11)
    assert (capture["state"], capture["reason"], capture["about_step"]) == ("written", "regression", record["step"])
    assert capture["start_step"] > record["step"]


@pytest.mark.parametrize("seed", range(5))
def test_in_noise_nothing_is_noticed(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any, seed: int) -> None:
    with make_writer() as perf:
        train(perf, clock, noise_ms(3000, seed))
    assert noticed(read_directory(tmp_path)[0]) == []


def test_a_restart_begins_anew(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any) -> None:
    with make_writer() as perf:
        train(perf, clock, noise_ms(800, seed=2))
        train(perf, clock, noise_ms(800, seed=3) * 1.5, step=700)
    first, second = read_directory(tmp_path)
    assert (first.end, len(second.steps)) == ("replaced", 800)
    assert noticed(first) == noticed(second) == []


def test_it_can_be_turned_off(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any) -> None:
    step_time_ms = noise_ms(1500, seed=1)
    step_time_ms[1000:] *= 1.5
    with make_writer(detect_changes=False) as perf:
        train(perf, clock, step_time_ms)
    assert noticed(read_directory(tmp_path)[0]) == []


def test_a_detector_that_fails_is_given_up_and_nothing_else(
    make_writer: MakeWriter,
    clock: ManualClock,
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(detector: LiveDetector, step_time_ms: np.ndarray) -> Any:
        raise ZeroDivisionError("a bug of ours")

    monkeypatch.setattr(LiveDetector, "feed", fail)
    with make_writer() as perf:
        train(perf, clock, noise_ms(1000, seed=1))
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == list(range(1000))
    assert attempt.counters == {}
    assert [record.message for record in caplog.records] == [
        "changes are not looked for while training: ZeroDivisionError: a bug of ours"
    ]


def test_without_a_detector_steps_are_written_as_before(
    make_writer: MakeWriter, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "tb_stepperf.statistics.live", None)
    with make_writer() as perf:
        for step in (0, 1, 0):
            perf.step(step=step)
    assert [attempt.steps for attempt in read_directory(tmp_path)] == [[0, 1], [0]]
    assert "changes are not looked for while training: ModuleNotFoundError" in caplog.text
    assert len(caplog.records) == 1


# The watch on its own -------------------------------------------------------------------------------------------------


def rows_of(step_time_ms: np.ndarray, first_step: int = 0, **columns: Any) -> Rows:
    num_rows = len(step_time_ms)
    columns = {name: np.broadcast_to(np.float32(values), num_rows) for name, values in columns.items()}
    return Rows(
        np.arange(first_step, first_step + num_rows),
        np.zeros(num_rows),
        {"flags": np.zeros(num_rows, np.float32), "step_time_ms": np.float32(step_time_ms), **columns},
    )


def new_watch() -> ChangeWatch:
    watch = ChangeWatch(ManualClock(), Messages())
    watch.begin_attempt()
    return watch


def look(watch: ChangeWatch) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while (noticed := watch.look()) is not None:
        found += noticed
    return found


def test_flagged_rows_and_those_without_a_time_are_not_used() -> None:
    watch = new_watch()
    for flag in (Flag.WARMUP, Flag.PROFILED, Flag.RESTART, Flag.WARMUP | Flag.GC):
        watch.add(rows_of(np.full(300, 500.0), flags=int(flag)))
    watch.add(rows_of(np.full(300, np.nan)))
    watch.add(rows_of(np.zeros(300)))
    watch.add(Rows(np.arange(300), np.zeros(300), {"flags": np.zeros(300, np.float32)}))
    assert watch.look() is None
    watch.add(rows_of(noise_ms(256, seed=4), flags=int(Flag.EXCLUDED | Flag.GC)))
    assert watch.look() == []
    assert watch.look() is None


def test_steps_are_compared_with_their_own_kind() -> None:
    """First mostly short steps, then mostly long ones: no change. Then all become slower: one."""
    rng = np.random.default_rng(5)
    is_long = rng.random(4000) < np.where(np.arange(4000) < 2000, 0.3, 0.7)
    step_time_ms = noise_ms(4000, seed=6) * np.where(is_long, 2, 1)
    watch = new_watch()
    watch.add(rows_of(step_time_ms, bucket=is_long))
    assert look(watch) == []
    watch.add(rows_of(step_time_ms * 1.3, first_step=4000, bucket=is_long))
    (record,) = look(watch)
    assert record["step"] == pytest.approx(4000, abs=10)
    assert record["provisional_change"]["change"] == pytest.approx(0.3, abs=0.03)


def watch_whose_looks_take_20_ms(clock: ManualClock) -> ChangeWatch:
    """Returns a watch with steps to look at in many looks, of which each costs 20 ms of processor time."""
    cpu_clock = ManualClock()
    watch = ChangeWatch(clock, Messages(), lambda: cpu_clock.now_s)
    watch.begin_attempt()
    watch.add(rows_of(noise_ms(8192, seed=7)))
    feed = watch._feed

    def slow_feed(part: np.ndarray) -> list[dict[str, Any]]:
        cpu_clock.advance(0.02)
        return feed(part)

    watch._feed = slow_feed  # type: ignore[method-assign]
    return watch


def test_the_first_looks_have_a_head_start_but_come_no_earlier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes_module, "TEST_TAKES_S", 0.02)
    monkeypatch.setattr(changes_module, "HEAD_START_S", 0.09)
    clock = ManualClock()
    watch = watch_whose_looks_take_20_ms(clock)
    clock.advance(19.9)
    assert watch.look() is None
    clock.advance(0.2)
    assert [watch.look() for _ in range(6)] == [[]] * 5 + [None]


def test_it_takes_a_bounded_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes_module, "TEST_TAKES_S", 0.02)
    monkeypatch.setattr(changes_module, "HEAD_START_S", 0.0)
    clock = ManualClock()
    watch = watch_whose_looks_take_20_ms(clock)
    for _ in range(3):
        clock.advance(0.02 / MAX_SHARE - 0.01)
        assert watch.look() is None
        clock.advance(0.011)
        assert watch.look() == []
        assert watch.look() is None


def test_what_waits_is_bounded_and_the_newest_is_kept() -> None:
    watch = new_watch()
    step_time_ms = noise_ms(1024, seed=8)
    for start in range(0, 100 * 1024, 1024):
        watch.add(rows_of(step_time_ms, first_step=start))
        assert watch._num_waiting <= 2 * MAX_WAITING_ROWS
    assert look(watch) == []
    watch.add(rows_of(step_time_ms * 1.3, first_step=100 * 1024))
    (record,) = look(watch)
    assert record["step"] == pytest.approx(100 * 1024, abs=5)
