"""Buckets: numbers for kinds of steps, names where they need one, and nothing where none are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tb_stepperf import StepPerfWriter
from tb_stepperf.recorder.arguments import Checks
from tb_stepperf.recorder.buckets import MAX_BUCKETS, MORE_BUCKETS, Buckets
from tb_stepperf.recorder.messages import Messages
from tests.recorder.logs import read_directory

MakeWriter = Callable[..., StepPerfWriter]


def test_texts_get_numbers_and_the_environment_names_them(make_writer: MakeWriter, tmp_path: Any) -> None:
    perf = make_writer()
    for bucket in ("short", "long", None, "short"):
        perf.step(bucket=bucket)
    perf.flush()
    perf.log_step(step_time_ms=1, bucket="huge")
    perf.log_step(step_time_ms=1)
    perf.step(bucket="long")
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("bucket") == [0, 1, None, 0, 2, None, 1]
    first, second = attempt.environment
    assert first["buckets"] == {"0": "short", "1": "long"}
    assert second["buckets"] == {"0": "short", "1": "long", "2": "huge"}


def test_integers_are_their_own_number(make_writer: MakeWriter, tmp_path: Any) -> None:
    with make_writer() as perf:
        for bucket in (512, np.int64(1024), torch.tensor(512), 0):
            perf.step(bucket=bucket)  # type: ignore[arg-type]
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("bucket") == [512, 1024, 512, 0]
    assert "buckets" not in attempt.environment[0]


def test_without_buckets_there_is_no_column(make_writer: MakeWriter, tmp_path: Any) -> None:
    with make_writer() as perf:
        perf.step()
    assert "bucket" not in read_directory(tmp_path)[0].columns


def test_names_are_written_again_in_the_next_attempt(make_writer: MakeWriter, tmp_path: Any) -> None:
    with make_writer() as perf:
        for step in (0, 1, 0):
            perf.step(step=step, bucket="a")
    assert [attempt.environment[0]["buckets"] for attempt in read_directory(tmp_path)] == [{"0": "a"}] * 2


def test_numbers_never_collide() -> None:
    buckets = Buckets(Checks(lambda name: None, Messages()), Messages())
    keys: list[int | str] = ["a", 1, "b", 0, 2, 2**24, 2**62, "1", "a" * 1000, 3]
    numbers = [buckets.number(key) for key in keys]
    assert numbers == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert [buckets.number(key) for key in keys] == numbers
    named = {number: buckets.names.get(str(number), str(number)) for number in numbers}
    assert list(named.values()) == ["a", "1", "b", "0", "2", str(2**24), str(2**62), "1", "a" * 200, "3"]


def test_what_can_be_no_bucket_is_counted(
    make_writer: MakeWriter, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with make_writer() as perf:
        perf.step(bucket=1)
        for bucket in (True, -1, 1.5, [1], {}, object(), float("nan")):
            perf.step(bucket=bucket)  # type: ignore[arg-type]
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("bucket") == [1, *[None] * 7]
    assert attempt.counters == {"num_invalid": 7}
    assert len(caplog.records) == 1


def test_buckets_beyond_the_limit_are_one(caplog: pytest.LogCaptureFixture) -> None:
    buckets = Buckets(Checks(lambda name: None, Messages()), Messages())
    assert [buckets.number(key) for key in range(1, MAX_BUCKETS + 1)] == list(range(1, MAX_BUCKETS + 1))
    assert [buckets.number(key) for key in (1000, "x", MORE_BUCKETS, 1001)] == [0, 0, 0, 0]
    assert buckets.number(7) == 7
    assert buckets.names == {"0": MORE_BUCKETS}
    assert [record.message.split(":")[0] for record in caplog.records] == ["bucket 1000 is one too many"]
