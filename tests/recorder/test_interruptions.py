"""Exceptions, stages left open or in the wrong order, generators and other threads: counted, never mixed in."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tb_stepperf import StepPerfWriter
from tb_stepperf.blocks import Flag
from tests.recorder.logs import ManualClock, read_directory

MakeWriter = Callable[..., StepPerfWriter]


def test_a_step_cut_by_an_exception_is_counted_and_the_next_starts_clean(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: Any
) -> None:
    error = ValueError("bad batch")
    with make_writer() as perf:
        for step in range(10):
            is_bad = step in (0, 4)
            with pytest.raises(ValueError, match="bad") if is_bad else contextlib.nullcontext() as caught:
                with perf.stage("outer"):
                    clock.advance(1)
                    with perf.stage("forward"):
                        clock.advance(1)
                        if is_bad:
                            raise error
                perf.step()
            assert caught is None or caught.value is error
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == list(range(8))
    assert attempt.column("step_time_ms") == [2000] * 8
    assert attempt.counters == {"num_interrupted": 2}
    after = Flag.AFTER_INTERRUPTION
    assert attempt.flags == [Flag.RESTART | after, 0, 0, after, 0, 0, 0, 0]


def test_an_exception_in_a_loader_or_an_exclusion_interrupts_too(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: Any
) -> None:
    def broken() -> Iterator[int]:
        clock.advance(3)
        yield 1
        raise OSError("worker died")

    with make_writer() as perf:
        with pytest.raises(OSError, match="worker died"):
            for _ in perf.data(broken()):
                perf.step()
        with pytest.raises(KeyError), perf.exclude():
            raise KeyError("evaluation")
        with perf.stage("forward"):
            clock.advance(1)
        perf.step()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("step_time_ms") == [3000, 1000]
    assert attempt.counters == {"num_interrupted": 2}


def test_an_exception_that_stays_inside_an_exclusion_harms_nothing(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: Any
) -> None:
    with make_writer() as perf:
        for _ in range(2):
            with perf.stage("forward"):
                clock.advance(1)
            with perf.exclude():
                with pytest.raises(ValueError, match="no"), perf.stage("forward"):
                    raise ValueError("no")
                clock.advance(5)
            perf.step()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("step_time_ms") == [1000, 1000]
    assert attempt.counters == {}


@pytest.mark.parametrize("exception", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_leaving_the_writer_by_an_exception(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: Any, exception: type[BaseException]
) -> None:
    with pytest.raises(exception), make_writer() as perf:
        for step in range(4):
            with perf.stage("forward"):
                clock.advance(1)
            if step == 3:
                raise exception
            perf.step()
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == [0, 1, 2]
    assert attempt.end == "exception"
    assert attempt.counters == {"num_interrupted": 1}


def test_an_exception_in_the_very_first_step(make_writer: MakeWriter, tmp_path: Any) -> None:
    with pytest.raises(ValueError, match="first"), make_writer() as perf, perf.stage("forward"):
        raise ValueError("first")
    (attempt,) = read_directory(tmp_path)
    assert (attempt.steps, attempt.end, attempt.counters) == ([], "exception", {"num_interrupted": 1})
    assert attempt.environment[0]["device"] == "cpu"


def test_what_lies_behind_the_last_step_is_no_sample(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: Any
) -> None:
    with make_writer() as perf:
        perf.step()
        with perf.stage("saving"):
            clock.advance(9)
    (attempt,) = read_directory(tmp_path)
    assert (attempt.steps, attempt.counters, attempt.end) == ([0], {}, "closed")


def test_a_stage_left_open_is_closed_at_the_boundary(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    perf = make_writer()

    def generator() -> Iterator[int]:
        with perf.stage("gen"):
            clock.advance(1)
            yield 1
            yield 2

    for _ in range(3):
        with perf.stage("forward"):
            clock.advance(2)
        left_open = generator()
        next(left_open)
        clock.advance(4)
        perf.step()
        clock.advance(8)
        left_open.close()  # late: ignored
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("stage/gen_ms") == [5000, 5000, 5000]
    assert attempt.column("stage/forward_ms") == [2000, 2000, 2000]
    assert attempt.column("step_time_ms") == [7000, 15000, 15000]
    assert attempt.counters == {"num_open_stages": 3}
    (record,) = caplog.records
    assert record.message.startswith("step() was called while 'gen' was open")


def test_step_inside_an_exclusion_ends_both(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any) -> None:
    with make_writer() as perf:
        perf.step()
        with perf.exclude():
            clock.advance(1)
            perf.step()
            with perf.stage("forward"):
                clock.advance(2)
        perf.step()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("excluded_ms") == [0, 1000, 0]
    assert attempt.column("stage/forward_ms")[2] == 2000
    assert attempt.counters == {"num_open_stages": 1}


def test_stages_left_in_the_wrong_order(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any) -> None:
    perf = make_writer()
    for _ in range(2):
        outer, inner = perf.stage("outer"), perf.stage("inner")
        outer.__enter__()
        clock.advance(1)
        inner.__enter__()
        clock.advance(2)
        outer.__exit__(None, None, None)
        clock.advance(4)
        inner.__exit__(None, None, None)
        clock.advance(8)
        inner.__exit__(None, None, None)  # never entered
        perf.step()
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("stage/outer_ms") == [1000, 1000]
    assert attempt.column("stage/inner_ms") == [2000, 2000]
    assert attempt.column("step_time_ms") == [15000, 15000]


def in_thread(function: Callable[[], Any], name: str = "other") -> None:
    thread = threading.Thread(target=function, name=name)
    thread.start()
    thread.join()


def test_stages_of_another_thread_are_counted_not_mixed_in(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    perf = make_writer()

    def elsewhere() -> None:
        with perf.stage("forward"):
            clock.advance(1)
        perf.lap("forward")

    for _ in range(3):
        with perf.stage("forward"):
            clock.advance(2)
            in_thread(elsewhere)
        perf.step()
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("stage/forward_ms") == [3000, 3000, 3000]
    assert attempt.column("num_micro_steps") == [1, 1, 1]
    assert attempt.counters == {"num_foreign_stages": 6}
    (record,) = caplog.records
    assert "a stage was entered in thread 'other', but the loop runs in 'MainThread'" in record.message


def test_a_step_may_end_in_another_thread(make_writer: MakeWriter, clock: ManualClock, tmp_path: Any) -> None:
    with make_writer() as perf:
        for _ in range(3):
            with perf.stage("forward"):
                clock.advance(1)
            in_thread(perf.step)
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("step_time_ms") == [1000, 1000, 1000]
    assert attempt.counters == {}


def test_a_loop_may_go_on_in_a_new_thread_when_the_old_one_is_gone(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: Any
) -> None:
    perf = make_writer()

    def epoch() -> None:
        for _ in range(2):
            with perf.stage("forward"):
                clock.advance(1)
            perf.step()

    in_thread(epoch, "first")
    in_thread(epoch, "second")
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("stage/forward_ms") == [1000] * 4
    assert attempt.counters == {}


def test_many_threads_lose_no_step(make_writer: MakeWriter, tmp_path: Any) -> None:
    perf = make_writer()
    threads = [threading.Thread(target=lambda: [perf.step() for _ in range(500)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == list(range(2000))


def test_after_close_nothing_is_recorded_and_nothing_fails(make_writer: MakeWriter, tmp_path: Any) -> None:
    perf = make_writer()
    perf.step()
    stage = perf.stage("forward")
    perf.close()
    perf.close()
    with stage, perf.exclude():
        perf.lap("x")
    perf.step()
    perf.log_step(step_time_ms=1)
    perf.update_environment(a=1)
    assert list(perf.data([1, 2])) == [1, 2]
    assert perf.flush() is False
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == [0]
