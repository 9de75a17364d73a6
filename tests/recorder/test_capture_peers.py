"""Windows of several ranks: one asks through a file, the others capture the same steps."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from tb_stepperf import CaptureRules, StepPerfWriter
from tb_stepperf.recorder.capture.peers import FILE_NAME, LOOK_EVERY_S, Peers
from tb_stepperf.recorder.capture.rounds import REGRESSION, SKIPPED, SLOW_STEP, WRITTEN, Cause
from tb_stepperf.recorder.capture.slow import MIN_STEPS
from tb_stepperf.recorder.messages import Messages
from tests.recorder.logs import START_S, ManualClock, read_directory
from tests.recorder.traces import capture_records, read_trace

MakeWriter = Callable[..., StepPerfWriter]
RULES = CaptureRules(reference=False, cooldown_s=1e6)
CAUSE = Cause(REGRESSION, 500, 900)


@pytest.mark.parametrize("num_slow", [1, 3])
def test_the_ranks_capture_the_same_steps(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: pathlib.Path, num_slow: int
) -> None:
    """Here in one process, where torch can serve only one of them: the others record that they wanted the same steps.

    Whether one rank or all of them notice, there is one window each.
    """
    ranks = [make_writer(capture=RULES, detect_changes=False, rank=rank, world_size=3) for rank in range(3)]
    slow_step = MIN_STEPS + 5
    for step in range(MIN_STEPS + 80):
        clock.advance(0.2)
        for perf in reversed(ranks[:num_slow]):
            if step == slow_step:
                clock.advance(9.0)
            perf.step()
        for perf in ranks[num_slow:]:
            perf.step()
        for perf in reversed(ranks):
            perf.flush()
    for perf in ranks:
        perf.close()
    records = [capture_records(read_directory(tmp_path / f"rank_{rank}")[0]) for rank in range(3)]
    assert [len(of_rank) for of_rank in records] == [1, 1, 1]
    found = [record for (record,) in records]
    assert sorted(record["state"] for record in found) == [SKIPPED, SKIPPED, WRITTEN]
    assert {(record["reason"], record["about_step"]) for record in found} == {(SLOW_STEP, slow_step)}
    (written,) = [record for record in found if record["state"] == WRITTEN]
    begun = {record["step"] for record in found if record["state"] == SKIPPED}
    assert begun == {written["start_step"] - RULES.num_warmup_steps}
    rank = found.index(written)
    assert written["file"].startswith(f"rank_{rank}-")
    trace = read_trace(tmp_path / f"rank_{rank}", written)
    assert trace["stepperf"]["rank"] == trace["distributedInfo"]["rank"] == rank


def new_peers(directory: pathlib.Path, rank: int, began_s: float = START_S) -> tuple[Peers, ManualClock, Messages]:
    clock, messages = ManualClock(), Messages()
    return Peers(str(directory), rank, clock, ManualClock(began_s), messages), clock, messages


def test_a_request_is_seen_once_by_the_others(tmp_path: pathlib.Path) -> None:
    first, _, _ = new_peers(tmp_path, 0)
    second, clock, _ = new_peers(tmp_path, 1)
    assert second.look() is None
    first.ask(CAUSE)
    assert second.look() is None  # not looked at so soon again
    clock.advance(LOOK_EVERY_S)
    assert second.look() == CAUSE
    clock.advance(LOOK_EVERY_S)
    assert second.look() is None
    assert first.look() is None
    first.ask(Cause(SLOW_STEP, 700, 950))
    assert second.look(at_once=True) == Cause(SLOW_STEP, 700, 950)
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_requests_of_earlier_attempts_are_ignored(tmp_path: pathlib.Path) -> None:
    before, _, _ = new_peers(tmp_path, 0, START_S - 60)
    before.ask(CAUSE)
    restarted, _, _ = new_peers(tmp_path, 1)
    assert restarted.look() is None
    before.ask(CAUSE)  # it still runs, while the job has begun again
    assert restarted.look(at_once=True) is None


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"rank": 0, "reason": "regression"}',
        json.dumps({"rank": 0, "reason": "requested", "about_step": 1, "at_step": 2, "time_s": START_S}),
        json.dumps({"rank": 0, "reason": "regression", "about_step": 1, "at_step": "2", "time_s": START_S}),
        json.dumps({"rank": 0, "reason": "regression", "about_step": 1, "at_step": 2, "time_s": None}),
        '{"rank": 0, "x": "' + "x" * 10_000,
    ],
)
def test_what_is_no_request_is_ignored(tmp_path: pathlib.Path, content: str) -> None:
    peers, _, _ = new_peers(tmp_path, 1)
    (tmp_path / FILE_NAME).write_text(content)
    assert peers.look() is None


def test_a_directory_that_cannot_be_written(tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    peers, _, _ = new_peers(tmp_path / "none", 0)
    peers.ask(CAUSE)
    peers.ask(CAUSE)
    (message,) = [record.message for record in caplog.records]
    assert message.startswith("the other ranks are not asked for a trace: ")


def test_alone_nothing_is_asked(make_writer: MakeWriter, clock: ManualClock, tmp_path: pathlib.Path) -> None:
    perf: Any
    for options in ({}, {"rank": 1, "world_size": 2, "logdir": "memory://bucket/ranks"}):
        with make_writer(capture=RULES, detect_changes=False, **options) as perf:
            for step in range(MIN_STEPS + 8):
                clock.advance(9.0 if step == MIN_STEPS + 1 else 0.2)
                perf.step()
                perf.flush()
    (record,) = capture_records(read_directory(tmp_path)[0])
    assert record["start_step"] == MIN_STEPS + 4  # at once, not at a step that all ranks can reach
    assert not (tmp_path.parent / FILE_NAME).exists()
    assert not (tmp_path / FILE_NAME).exists()
