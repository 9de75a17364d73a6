"""The background: never waits, newest first, as often as stated and no more."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable

import pytest

from tb_stepperf.analysis import MemberAnalysis, Thresholds
from tb_stepperf.plugin.analyses import Analyses, Known


def analysis(version: int = 1, num_rows: int = 1000) -> MemberAnalysis:
    """Returns an analysis of nothing in particular."""
    return MemberAnalysis("host", Thresholds(), num_rows, num_rows, num_rows - 1, version, (), None, None, {})


class Bench:
    """Analyses whose worker runs when told, with a clock that stands still."""

    def __init__(self, max_results: int = 256) -> None:
        self.now_s = 0.0
        self.started: list[Callable[[], None]] = []
        self.done: list[Hashable] = []
        self.analyses = Analyses(clock=lambda: self.now_s, start=self.started.append, max_results=max_results)

    def ask(self, key: Hashable, version: int = 1, num_rows: int = 1000) -> Known:
        def job(report: Callable[[float], None]) -> MemberAnalysis:
            self.done.append(key)
            return analysis(version, num_rows)

        return self.analyses.ask(key, version, num_rows, job)

    def work(self) -> None:
        self.started.pop()()


def test_a_question_never_waits() -> None:
    bench = Bench()
    assert bench.ask("a") == Known(None, True, 0.0, 0)
    assert bench.done == []
    bench.work()
    assert bench.ask("a") == Known(analysis(), False, 1.0, 0)
    assert bench.started == []


def test_the_newest_question_comes_first_and_one_that_is_asked_again_is_new() -> None:
    bench = Bench()
    assert [bench.ask(key).num_ahead for key in "abc"] == [0, 0, 0]
    assert [bench.ask(key).num_ahead for key in "b"] == [0]
    assert len(bench.started) == 1
    bench.work()
    assert bench.done == ["b", "c", "a"]


def test_progress_and_the_number_ahead_are_told_while_another_is_under_way() -> None:
    bench = Bench()
    seen: list[Known] = []

    def job(report: Callable[[float], None]) -> MemberAnalysis:
        report(0.25)
        seen.append(bench.analyses.ask("a", 1, 1000, job))
        seen.append(bench.ask("b"))
        return analysis()

    bench.analyses.ask("a", 1, 1000, job)
    bench.work()
    assert seen == [Known(None, True, 0.25, 0), Known(None, True, 0.0, 1)]
    assert bench.done == ["b"]


def test_a_growing_run_is_analysed_after_ten_seconds_and_two_percent_or_a_minute() -> None:
    bench = Bench()
    bench.ask("a")
    bench.work()
    old = analysis()
    bench.now_s = 9.9
    assert bench.ask("a", 2, 2000) == Known(old, False, 1.0, 0)
    bench.now_s = 10.0
    assert bench.ask("a", 1, 1000) == Known(old, False, 1.0, 0)
    assert bench.ask("a", 2, 1019) == Known(old, False, 1.0, 0)
    assert bench.ask("a", 2, 1020) == Known(old, True, 0.0, 0)
    assert bench.ask("a", 3, 1030) == Known(old, True, 0.0, 0)
    bench.work()
    assert bench.ask("a", 3, 1030) == Known(analysis(3, 1030), False, 1.0, 0)
    bench.now_s = 69.9
    assert not bench.ask("a", 4, 1031).is_pending
    bench.now_s = 70.0
    assert bench.ask("a", 4, 1031).is_pending


def test_fewer_rows_than_before_are_another_run() -> None:
    bench = Bench()
    bench.ask("a")
    bench.work()
    bench.now_s = 10.0
    assert bench.ask("a", 2, 999).is_pending


def test_a_failure_is_told_once_and_the_next_question_tries_again(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench()

    def broken(report: Callable[[float], None]) -> MemberAnalysis:
        raise ZeroDivisionError("planted")

    bench.analyses.ask("a", 1, 1000, broken)
    with caplog.at_level(logging.ERROR, "tensorboard"):
        bench.work()
    assert "planted" in caplog.text
    with pytest.raises(RuntimeError, match="the analysis failed: ZeroDivisionError: planted"):
        bench.ask("a")
    assert bench.ask("a").is_pending
    bench.work()
    assert bench.ask("a").analysis == analysis()


def test_no_more_is_remembered_than_stated() -> None:
    bench = Bench(max_results=2)
    for key in "abc":
        bench.ask(key)
    bench.work()
    assert bench.done == ["c", "b"]
    assert bench.ask("a").is_pending
    assert bench.ask("c").analysis == analysis()


def test_a_thread_does_the_work_and_ends() -> None:
    finished = threading.Event()
    threads: list[threading.Thread] = []

    def job(report: Callable[[float], None]) -> MemberAnalysis:
        threads.append(threading.current_thread())
        finished.set()
        return analysis()

    analyses = Analyses()
    assert analyses.ask("a", 1, 1000, job).is_pending
    assert finished.wait(30)
    threads[0].join(30)
    assert (threads[0].is_alive(), threads[0].daemon) == (False, True)
    assert analyses.ask("a", 1, 1000, job).analysis == analysis()
