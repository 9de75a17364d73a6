"""One trace at a time, the newest question first; what was read is remembered, within a bound."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from tb_stepperf.errors import TraceError
from tb_stepperf.traces.digest import read_summary
from tb_stepperf.traces.find import TraceFile
from tb_stepperf.traces.process import Limits
from tb_stepperf.traces.readings import Reading, Readings
from tb_stepperf.traces.summary import TraceSummary
from tests.support import tiny_trace


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> TraceSummary:
    """Returns what the small trace says."""
    return read_summary(str(tiny_trace.write(tmp_path_factory.mktemp("tiny") / "x.json")))


def file(name: str, num_bytes: int = 1) -> TraceFile:
    """Returns a file that was found."""
    return TraceFile(f"{name:0>16}", f"/logs/{name}", ".", name, name, 0.0, num_bytes, 0.0)


class Readers:
    """Makes readers that do what each test says, and notes in which order they read.

    Args:
        answer: takes a path, the function that takes the progress, and whether the reader was stopped.
    """

    def __init__(self, answer: Callable[[str, Callable[[float], None], threading.Event], TraceSummary]) -> None:
        self.answer = answer
        self.read: list[str] = []
        self.stopped: list[str] = []

    def open(self, path: str) -> Readers._Reader:
        return self._Reader(self, path)

    class _Reader:
        def __init__(self, readers: Readers, path: str) -> None:
            self.readers, self.path, self.is_stopped = readers, path, threading.Event()

        def summary(self, report: Callable[[float], None]) -> TraceSummary:
            self.readers.read.append(self.path)
            return self.readers.answer(self.path, report, self.is_stopped)

        def stop(self) -> None:
            self.readers.stopped.append(self.path)
            self.is_stopped.set()


@pytest.fixture
def work() -> Iterator[list[Callable[[], None]]]:
    """Keeps the work that was started; a test runs it when it wants to."""
    kept: list[Callable[[], None]] = []
    yield kept
    assert kept == []


def test_the_newest_question_comes_first_and_what_was_read_is_remembered(
    summary: TraceSummary, work: list[Callable[[], None]]
) -> None:
    readers = Readers(lambda path, report, stopped: summary)
    readings = Readings(Limits(), open_reader=readers.open, start=work.append)
    assert readings.look(file("a")) == Reading("unread")
    assert readings.ask(file("a")) == Reading("queued", 0.0, 0)
    assert readings.ask(file("b")) == Reading("queued", 0.0, 0)
    assert readings.ask(file("c")) == Reading("queued", 0.0, 0)
    assert readings.look(file("a")).num_ahead == 2
    assert readings.ask(file("b")).num_ahead == 0
    assert len(work) == 1
    work.pop()()
    assert readers.read == ["/logs/b", "/logs/c", "/logs/a"]
    assert readings.ask(file("a")) == Reading("done", 1.0, 0, None, summary)
    assert readings.look(file("a", num_bytes=2)) == Reading("unread")  # the file has grown


def test_progress_and_those_ahead(summary: TraceSummary, work: list[Callable[[], None]]) -> None:
    seen: list[Reading] = []

    def answer(path: str, report: Callable[[float], None], stopped: threading.Event) -> TraceSummary:
        if path == "/logs/b":
            report(0.25)
            seen.extend([readings.ask(file("b")), readings.ask(file("a"))])
        return summary

    readings = Readings(Limits(), open_reader=Readers(answer).open, start=work.append)
    readings.ask(file("a"))
    readings.ask(file("b"))
    work.pop()()
    assert seen == [Reading("reading", 0.25, 0), Reading("queued", 0.0, 1)]


def test_refusals_and_faults_are_sentences(
    summary: TraceSummary, work: list[Callable[[], None]], caplog: pytest.LogCaptureFixture
) -> None:
    def answer(path: str, report: Callable[[float], None], stopped: threading.Event) -> TraceSummary:
        raise TraceError("it is damaged") if path == "/logs/a" else ZeroDivisionError("planted")

    readers = Readers(answer)
    readings = Readings(Limits(), open_reader=readers.open, start=work.append)
    readings.ask(file("a"))
    readings.ask(file("b"))
    work.pop()()
    assert readings.ask(file("a")) == Reading("refused", 0.0, 0, "it is damaged")
    message = readings.ask(file("b")).message
    assert message == "Reading the trace failed (ZeroDivisionError: planted): see TensorBoard's log."
    assert "Traceback" in caplog.text
    assert len(readers.read) == 2
    assert readings.cancel(file("a")).state == "cancelled"  # forgets the refusal
    assert readings.ask(file("a")).state == "queued"
    work.pop()()


def test_cancelling(summary: TraceSummary, work: list[Callable[[], None]]) -> None:
    states: list[str] = []

    def answer(path: str, report: Callable[[float], None], stopped: threading.Event) -> TraceSummary:
        if path == "/logs/b" and len(readers.read) == 1:
            states.append(readings.cancel(file("b")).state)
            assert stopped.is_set()
            states.append(readings.look(file("b")).state)
            states.append(readings.ask(file("b")).state)
            raise TraceError("reading was cancelled")
        return summary

    readers = Readers(answer)
    readings = Readings(Limits(), open_reader=readers.open, start=work.append)
    readings.ask(file("a"))
    readings.ask(file("b"))
    assert readings.cancel(file("a")) == Reading("cancelled")
    assert readings.cancel(file("never asked for")) == Reading("cancelled")
    work.pop()()
    assert states == ["cancelled", "cancelled", "queued"]
    assert readers.read == ["/logs/b", "/logs/b"]
    assert readers.stopped == ["/logs/a", "/logs/b"]
    assert readings.cancel(file("b")).state == "done"
    assert readings.look(file("a")).state == "cancelled"


def test_what_was_asked_for_longest_ago_is_forgotten(summary: TraceSummary, work: list[Callable[[], None]]) -> None:
    readers = Readers(lambda path, report, stopped: summary)
    probe = Readings(Limits(), open_reader=readers.open, start=lambda task: task())
    probe.ask(file("a"))
    ((_, entry),) = probe._entries.items()
    readings = Readings(
        Limits(), open_reader=readers.open, start=lambda task: task(), max_bytes=2 * entry.num_bytes + 1
    )
    for name in ("a", "b", "a", "c"):
        readings.ask(file(name))
    assert [readings.look(file(name)).state for name in "abc"] == ["done", "unread", "done"]


def test_a_summary_that_is_larger_than_the_bound_is_still_shown(summary: TraceSummary) -> None:
    readers = Readers(lambda path, report, stopped: summary)
    readings = Readings(Limits(), open_reader=readers.open, start=lambda task: task(), max_bytes=1)
    readings.ask(file("a"))
    assert readings.ask(file("a")).state == "done"


def test_in_the_background(summary: TraceSummary) -> None:
    has_begun, may_end = threading.Event(), threading.Event()

    def answer(path: str, report: Callable[[float], None], stopped: threading.Event) -> TraceSummary:
        has_begun.set()
        assert may_end.wait(60)
        return summary

    readings = Readings(Limits(), open_reader=Readers(answer).open)
    assert readings.ask(file("a")).state == "queued"
    assert has_begun.wait(60)
    assert readings.ask(file("a")).state == "reading"
    may_end.set()
    while readings.ask(file("a")).state != "done":
        threading.Event().wait(0.01)
