"""Step numbers, amounts and samples from elsewhere: exact where they can be used, counted where not."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tb_stepperf import StepPerfWriter
from tb_stepperf.blocks import Flag
from tests.recorder.logs import START_S, ManualClock, read_directory

MakeWriter = Callable[..., StepPerfWriter]
MAX_STEP = 2**63 - 1


def test_steps_are_exact_up_to_the_highest(
    make_writer: MakeWriter, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    given = [9007199254740993, 9007199254740994, 2**62, MAX_STEP]
    with make_writer() as perf:
        for step in given:
            perf.step(step=step)
        perf.step()  # there is no number left
        assert perf.step_number == MAX_STEP + 1
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == given
    assert attempt.counters == {} or attempt.counters == {"num_invalid": 1}
    assert [record.message for record in caplog.records] == [
        f"step is {'9223372036854775808'}: an integer in [0, {MAX_STEP}] is allowed; it is left out"
    ]


def test_the_first_step_has_the_number_that_is_asked_for(make_writer: MakeWriter, tmp_path: Any) -> None:
    with make_writer(first_step=1000) as perf:
        assert perf.step_number == 1000
        perf.step()
        perf.step()
        perf.step(step=1010)
        perf.step()
        assert perf.step_number == 1012
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == [1000, 1001, 1010, 1011]


def test_a_first_number_below_first_step_goes_back_to_nothing(make_writer: MakeWriter, tmp_path: Any) -> None:
    with make_writer(first_step=100) as perf:
        perf.step(step=5)
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == [5]


def test_numbers_of_other_libraries_are_read(make_writer: MakeWriter, tmp_path: Any) -> None:
    with make_writer() as perf:
        perf.step(step=np.int64(3), num_samples=np.float32(2.5), num_tokens=torch.tensor(7))  # type: ignore[arg-type]
        perf.step(step=torch.tensor(4), num_samples=np.array(6), num_micro_steps=2.0)  # type: ignore[arg-type]
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == [3, 4]
    assert attempt.column("num_samples") == [2.5, 6]
    assert attempt.column("num_tokens") == [7, None]
    assert attempt.column("num_micro_steps") == [None, 2]
    assert attempt.counters == {}


def test_a_number_that_goes_back_begins_a_new_attempt(
    make_writer: MakeWriter, clock: ManualClock, wall_clock: ManualClock, tmp_path: Any
) -> None:
    with make_writer(warmup_steps=1) as perf:
        for step in (0, 1, 2, 1, 2, 3):
            clock.advance(1)
            wall_clock.advance(1)
            perf.step(step=step)
            perf.flush()
    first, second = read_directory(tmp_path)
    assert (first.steps, first.end) == ([0, 1, 2], "replaced")
    assert (second.steps, second.end) == ([1, 2, 3], "closed")
    assert first.metadata.process == second.metadata.process
    assert first.metadata.started_s == START_S + 1
    assert second.metadata.started_s == START_S + 3
    assert second.column("step_time_ms") == [1000, 1000, 1000]
    assert second.flags == [Flag.RESTART | Flag.WARMUP, 0, 0]
    assert second.blocks[0].ordinal == 0
    assert second.environment[0]["warmup_steps"] == 1


def test_counters_are_those_of_the_attempt(make_writer: MakeWriter, tmp_path: Any) -> None:
    with make_writer() as perf:
        perf.step(step=0, num_samples=-1)
        perf.step(step=0)
        perf.flush()
        perf.step(step=1, num_samples=float("nan"))
        perf.step(step=2, num_samples=float("inf"))
    first, second = read_directory(tmp_path)
    assert first.counters == {"num_not_finite": 1}
    assert second.counters == {"num_not_finite": 2}
    assert perf.counters == {"num_not_finite": 3}


def test_the_same_number_for_every_step_does_not_flood_the_log(
    make_writer: MakeWriter, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with make_writer() as perf:
        for _ in range(100):
            perf.step(step=0)
    attempts = read_directory(tmp_path)
    assert len(attempts) == 17
    assert attempts[-1].steps == list(range(84))
    assert "step=0 after step 0, and not for the first time" in caplog.text


def test_epochs_that_each_count_from_zero_stay_attempts(make_writer: MakeWriter, tmp_path: Any) -> None:
    with make_writer() as perf:
        for _ in range(30):
            for step in range(9):
                perf.step(step=step)
    assert [attempt.steps for attempt in read_directory(tmp_path)] == [list(range(9))] * 30


class OnDevice:
    """Looks like a tensor on a GPU; reading it would wait for the device."""

    ndim = 0
    device = torch.device("cuda", 0)

    def item(self) -> float:
        raise AssertionError("a device value was read")

    def __float__(self) -> float:
        raise AssertionError("a device value was read")


class Hostile:
    @property
    def device(self) -> None:
        raise RuntimeError("no")


@pytest.mark.parametrize("value", ["32", [1], OnDevice(), Hostile(), True, 1j, torch.ones(3)])
def test_amounts_that_cannot_be_used_are_counted(
    make_writer: MakeWriter, tmp_path: Any, value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with make_writer() as perf:
        perf.step(step=value, num_samples=value, num_tokens=value, num_micro_steps=value)
        perf.step(step=value, num_samples=value)
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == [0, 1]
    assert attempt.column("num_samples") == [None, None]
    assert attempt.counters == {"num_invalid": 6}
    assert len([record for record in caplog.records if record.levelno == logging.WARNING]) == 4


def test_huge_numbers_do_no_harm(make_writer: MakeWriter, tmp_path: Any) -> None:
    with make_writer() as perf:
        perf.step(num_samples=2**62, num_tokens=10**400)
        perf.step(num_samples=1e300)
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("num_samples") == [2.0**62, float("inf")]
    assert attempt.counters == {"num_not_finite": 1}


def test_logged_samples_are_kept_as_given(make_writer: MakeWriter, wall_clock: ManualClock, tmp_path: Any) -> None:
    with make_writer(warmup_steps=5) as perf:
        perf.log_step(step_time_ms=10.5, stages={"forward": 4, "Episode / total (mean)": 2.25}, num_samples=8)
        wall_clock.advance(2)
        perf.log_step(
            step=7, step_time_ms=11, device_step_time_ms=9, peak_allocated_bytes=2**30, wall_time_s=START_S + 9
        )
        perf.log_step(step_time_ms=12, stages={"forward": 5}, num_tokens=1, num_micro_steps=2)
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == [0, 7, 8]
    assert attempt.column("step_time_ms") == [10.5, 11, 12]
    assert attempt.column("stage/forward_ms") == [4, None, 5]
    assert attempt.column("stage/Episode / total (mean)_ms") == [2.25, None, None]
    assert attempt.column("device_step_time_ms") == [None, 9, None]
    assert attempt.column("peak_allocated_bytes") == [None, 2**30, None]
    assert attempt.column("num_micro_steps") == [None, None, 2]
    assert attempt.wall_time_s == [START_S, START_S + 9, START_S + 2]
    assert attempt.flags == [Flag.LOGGED | Flag.RESTART, Flag.LOGGED, Flag.LOGGED]


def test_a_repeated_sample_is_counted_once(make_writer: MakeWriter, tmp_path: Any) -> None:
    with make_writer() as perf:
        for _ in range(3):
            perf.log_step(step=5, step_time_ms=10, stages={"a": 1})
        for _ in range(2):
            perf.log_step(step=6, step_time_ms=float("nan"))
        perf.log_step(step_time_ms=10)
        perf.log_step(step_time_ms=10)
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == [5, 6, 7, 8]
    assert attempt.column("step_time_ms") == [10, None, 10, 10]
    assert attempt.counters == {"num_duplicates": 3, "num_not_finite": 2}


def test_odd_logged_values(make_writer: MakeWriter, tmp_path: Any, caplog: pytest.LogCaptureFixture) -> None:
    values = [0.1, float("nan"), float("inf"), float("-inf"), 0.0, -0.001, 1e-12, 1e9, 3.4e38]
    with make_writer() as perf:
        for value in values:
            perf.log_step(step_time_ms=value, stages={"a": value})
        perf.log_step(step_time_ms="10")  # type: ignore[arg-type]
        perf.log_step(step_time_ms=None)  # type: ignore[arg-type]
        perf.log_step(step_time_ms=1, stages=[1])  # type: ignore[arg-type]
        perf.log_step(step_time_ms=1, stages={"a": "x", 3: 1})  # type: ignore[dict-item]
    (attempt,) = read_directory(tmp_path)
    expected = [None if not 0 <= value < float("inf") else float(np.float32(value)) for value in values]
    assert attempt.column("step_time_ms") == [*expected, 1, 1]
    assert attempt.column("stage/a_ms") == [*expected, None, None]
    assert attempt.column("stage/3_ms")[-1] == 1
    assert attempt.counters == {"num_not_finite": 8, "num_invalid": 5}
    assert len(caplog.records) == 5


def test_logged_and_measured_steps_keep_their_order(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any) -> None:
    with make_writer() as perf:
        perf.log_step(step_time_ms=1)
        for _ in range(3):
            with perf.stage("a"):
                clock.advance(1)
            perf.step()
            perf.log_step(step_time_ms=2)
        perf.flush()
        with perf.stage("a"):
            clock.advance(1)
        perf.log_step(step_time_ms=3)
        perf.step()
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == list(range(9))
    assert attempt.column("step_time_ms") == [1, 1000, 2, 1000, 2, 1000, 2, 3, 1000]
    assert attempt.column("stage/a_ms") == [None, 1000, None, 1000, None, 1000, None, None, 1000]
