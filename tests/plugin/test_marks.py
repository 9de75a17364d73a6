"""`/marks`: restarts, flagged stretches, gaps, clock jumps, interruptions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tb_stepperf.blocks import Flag
from tb_stepperf.plugin.params import Query
from tb_stepperf.plugin.payloads.durations import duration_text, jump_text
from tb_stepperf.plugin.payloads.marks import marks_impl
from tb_stepperf.store import AttemptInfo, Gap
from tests.plugin.fakes import START_S, FakeMember, source


def _resumed() -> FakeMember:
    """Training to step 150, resumed from step 100 after 14 min 45 s."""
    first = AttemptInfo("01700000000000-00000000", "a", START_S, 0, 150, START_S, START_S + 15, 151, 51)
    second = AttemptInfo("01700000900000-00000000", "b", START_S + 900, 100, 200, START_S + 900, START_S + 912, 101)
    return FakeMember(
        {"step_time_ms": [100] * 100 + [120] * 101},
        wall_time_s=[START_S + 0.1 * step for step in range(100)]
        + [START_S + 900 + 0.12 * step for step in range(101)],
        attempt_index=[0] * 100 + [1] * 101,
        attempts=(first, second),
        num_superseded=51,
    )


def test_a_restart_says_the_pause_and_what_it_superseded() -> None:
    answer = marks_impl(source(_resumed()), Query(run="job"))
    assert answer == {
        "run": "job",
        "member": "0",
        "axis": "step",
        "base": "0",
        "marks": [
            {
                "kind": "restart",
                "start": 100,
                "end": 100,
                "label": "attempt 2 starts; pause of 14 min 45 s; 51 steps superseded",
            }
        ],
        "num_marks": {"restart": 1},
        "num_left_out": 0,
    }


def test_pauses_are_not_in_relative_time_but_in_wall_time() -> None:
    relative = marks_impl(source(_resumed()), Query(run="job", axis="relative"))
    assert [(mark["start"], mark["end"]) for mark in relative["marks"]] == [(10_000, 10_000)]
    wall = marks_impl(source(_resumed()), Query(run="job", axis="wall"))
    assert (wall["base"], wall["marks"][0]["start"]) == ("1700000000000", 900_000)


def test_an_attempt_that_was_superseded_as_a_whole_counts_towards_the_next() -> None:
    attempts = (
        AttemptInfo("01700000000000-00000000", "a", START_S, 0, 9, START_S, START_S + 9, 10, 5),
        AttemptInfo("01700000100000-00000000", "b", START_S + 100, 7, 8, START_S + 100, START_S + 101, 2, 2),
        AttemptInfo("01700000200000-00000000", "c", START_S + 200, 5, 6, START_S + 161, START_S + 162, 2),
    )
    member = FakeMember({"step_time_ms": [1000] * 7}, attempt_index=[0] * 5 + [2] * 2, attempts=attempts)
    (mark,) = marks_impl(source(member), Query(run="job"))["marks"]
    assert mark["label"] == "attempt 3 starts; pause of 1 min; 7 steps superseded"


def test_a_training_that_began_anew_from_the_first_step_says_so_there() -> None:
    attempts = (
        AttemptInfo("01700000000000-00000000", "a", START_S, 0, 9, START_S, START_S + 9, 10, 10),
        AttemptInfo("01700003600000-00000000", "b", START_S + 3600, 0, 6, START_S + 3609, START_S + 3615, 7),
    )
    member = FakeMember({"step_time_ms": [1000] * 7}, attempt_index=[1] * 7, attempts=attempts, num_superseded=10)
    (mark,) = marks_impl(source(member), Query(run="job"))["marks"]
    assert (mark["start"], mark["label"]) == (0, "attempt 2 starts; pause of 1 h; 10 steps superseded")


def test_a_step_number_that_went_back_in_one_process_says_so_and_a_clock_set_back_makes_no_pause() -> None:
    attempts = (
        AttemptInfo("01700000000000-00000000", "a", START_S, 0, 4, START_S, START_S + 4, 5, 1),
        AttemptInfo("01700000005000-00000000", "a", START_S + 5, 4, 5, START_S - 100, START_S - 99, 2),
    )
    member = FakeMember({"step_time_ms": [1000] * 6}, attempt_index=[0] * 4 + [1] * 2, attempts=attempts)
    (mark,) = marks_impl(source(member), Query(run="job"))["marks"]
    assert mark["label"] == "attempt 2 starts in the same process, because the step number went back; 1 step superseded"


def test_flagged_stretches_are_ranges_with_their_time() -> None:
    flags = [65, 1, 1, 0, 2, 2, 0, 4, 0, 1]
    excluded = [0] * 7 + [75_000] + [0] * 2
    wall_time_s = START_S + np.cumsum([0.5] * 7 + [75.5] + [0.5] * 2)
    columns = {"step_time_ms": [500] * 10, "flags": flags, "excluded_ms": excluded}
    subject = source(FakeMember(columns, wall_time_s=wall_time_s))
    answer = marks_impl(subject, Query(run="job"))
    found = {(mark["kind"], mark["start"], mark["end"]): mark["label"] for mark in answer["marks"]}
    assert found == {
        ("warmup", 0, 3): "3 warm-up steps, 1.5 s",
        ("profiled", 4, 6): "2 profiled steps, 1 s",
        ("excluded", 7, 8): "1 min 15 s excluded within 1 step",
        ("warmup", 9, 10): "1 warm-up step, 500 ms",
    }
    assert answer["num_marks"] == {"warmup": 2, "profiled": 1, "excluded": 1}
    relative = marks_impl(subject, Query(run="job", axis="relative"))["marks"]
    spans = [(mark["kind"], mark["start"], mark["end"]) for mark in relative]
    assert spans == [
        ("warmup", 0, 1500),
        ("profiled", 2000, 3000),
        ("excluded", 3500, 79_000),
        ("warmup", 79_500, 80_000),
    ]


def test_a_zoom_keeps_what_touches_it_and_does_not_cut_labels() -> None:
    subject = source(FakeMember({"step_time_ms": [500] * 10, "flags": [1] * 5 + [0] * 4 + [2]}))
    assert marks_impl(subject, Query(run="job", start=4, end=8))["marks"] == [
        {"kind": "warmup", "start": 0, "end": 5, "label": "5 warm-up steps, 2.5 s"}
    ]
    assert marks_impl(subject, Query(run="job", start=5, end=9))["marks"] == []
    assert marks_impl(subject, Query(run="job", start=100))["marks"] == []
    assert marks_impl(subject, Query(run="job", end=-1))["num_marks"] == {}


def test_gaps_lie_between_the_rows_around_them() -> None:
    member = FakeMember(
        {"step_time_ms": [100] * 4}, steps=[10, 11, 20, 21], gaps=(Gap(0, 11, 20, 8), Gap(0, None, 10, 3))
    )
    marks = marks_impl(source(member), Query(run="job"))["marks"]
    assert [(mark["kind"], mark["start"], mark["end"]) for mark in marks] == [("gap", -3, 0), ("gap", 2, 10)]
    assert marks[1]["label"] == "8 steps written but never arrived here"
    relative = marks_impl(source(member), Query(run="job", axis="relative"))["marks"]
    assert [(mark["start"], mark["end"]) for mark in relative] == [(0, 0), (100, 200)]
    # a zoom into the gap itself, where there is no row
    (inside,) = marks_impl(source(member), Query(run="job", start=13, end=15))["marks"]
    assert (inside["start"], inside["end"]) == (2, 10)


def _clock(jumps: dict[int, float], **columns: list[float]) -> FakeMember:
    moved_s = np.full(300, 0.1)
    for row, jump_s in jumps.items():
        moved_s[row] += jump_s
    return FakeMember({"step_time_ms": [100] * 300, **columns}, wall_time_s=START_S + np.cumsum(moved_s))


def test_a_clock_that_was_set_is_named_with_step_and_size() -> None:
    answer = marks_impl(source(_clock({100: -3600, 200: 7200})), Query(run="job"))
    assert [(mark["kind"], mark["start"], mark["end"], mark["label"]) for mark in answer["marks"]] == [
        ("clock_jump", 100, 100, "wall clock jumped −1 h at step 100"),
        ("clock_jump", 200, 200, "wall clock jumped +2 h at step 200"),
    ]


def test_excluded_time_is_no_jump() -> None:
    member = _clock({100: 60.0}, excluded_ms=[0] * 100 + [60_000] + [0] * 199)
    assert "clock_jump" not in marks_impl(source(member), Query(run="job"))["num_marks"]


@pytest.mark.parametrize("flag", [Flag.LOGGED, Flag.AFTER_INTERRUPTION])
def test_where_more_than_the_step_may_have_passed_only_going_back_is_a_jump(flag: Flag) -> None:
    member = _clock({100: -3600, 200: 7200}, flags=[flag] * 300)
    marks = [mark for mark in marks_impl(source(member), Query(run="job"))["marks"] if mark["kind"] == "clock_jump"]
    assert [mark["start"] for mark in marks] == [100]


def test_an_interruption_marks_the_step_after_it() -> None:
    member = FakeMember({"step_time_ms": [1, 1, 1], "flags": [0, Flag.AFTER_INTERRUPTION, 0]})
    (mark,) = marks_impl(source(member), Query(run="job"))["marks"]
    assert (mark["kind"], mark["start"], mark["end"]) == ("interrupted", 1, 1)


def test_at_most_200_of_a_kind_the_longest_first() -> None:
    flags = list(itertools.chain.from_iterable([2] * (1 + (index == 249)) + [0] for index in range(250)))
    answer = marks_impl(source(FakeMember({"step_time_ms": [1] * len(flags), "flags": flags})), Query(run="job"))
    assert len(answer["marks"]) == 200
    assert answer["num_marks"] == {"profiled": 250}
    assert answer["num_left_out"] == 50
    assert answer["marks"][-1] == {"kind": "profiled", "start": 498, "end": 500, "label": "2 profiled steps, 2 ms"}


def test_no_rows_no_marks() -> None:
    answer = marks_impl(source(FakeMember({})), Query(run="job", axis="relative"))
    assert (answer["marks"], answer["base"]) == ([], "0")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ms"),
        (0.00012, "0.12 ms"),
        (0.5, "500 ms"),
        (0.9996, "1 s"),
        (2.345, "2.35 s"),
        (9.999, "10 s"),
        (59.6, "1 min"),
        (885, "14 min 45 s"),
        (7200, "2 h"),
        (3661, "1 h 1 min"),
        (90_000, "1 d 1 h"),
    ],
)
def test_durations_in_words(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
    assert jump_text(-seconds - 0.0) == ("+0 ms" if seconds == 0 else f"−{text}")
