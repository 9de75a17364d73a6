"""Names of runs and their order; which processes wrote at the same time."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_stepperf.store.grouping import natural_order, run_of
from tests.store.gallery import times
from tests.store.tables import open_store
from tests.support.logs import START_S, AttemptLog, write_attempt


@pytest.mark.parametrize(
    ("tb_run", "world_size", "run"),
    [
        ("job/rank_3", 4, "job"),
        ("a/b/rank_12", 16, "a/b"),
        ("rank_0", 2, "."),
        (".", 2, "."),
        ("job/rank_3", 1, "job/rank_3"),
        ("job", 4, "job"),
        ("job/rank_x", 4, "job/rank_x"),
        ("job/myrank_3", 4, "job/myrank_3"),
        ("job/rank_3/more", 4, "job/rank_3/more"),
        ("new\nline/rank_1", 2, "new\nline"),
    ],
)
def test_the_run_of_a_directory(tb_run: str, world_size: int, run: str) -> None:
    assert run_of(tb_run, world_size) == run


def test_numbers_in_names_sort_by_value() -> None:
    names = ["run10", "run9", "run", "a2b10", "a2b9", "run09", "10", "9", "."]
    assert sorted(names, key=natural_order) == ["9", "10", ".", "a2b9", "a2b10", "run", "run09", "run9", "run10"]


@given(st.lists(st.text(), unique=True))
def test_every_name_has_its_place(names: list[str]) -> None:
    places = [natural_order(name) for name in names]
    assert len({tuple(place) for place in places}) == len(names)
    assert [natural_order(name) for name in sorted(names, key=natural_order)] == sorted(places)


def members(logdir: pathlib.Path, *spans: tuple[float, float], **arguments: Any) -> list[list[float]]:
    """Writes one attempt per span of wall time; returns the starts of the attempts of each member."""
    for number, (first_s, last_s) in enumerate(spans):
        write_attempt(
            logdir / "job",
            range(11),
            times(11),
            started_s=START_S + first_s - 0.5,
            wall_time_s=START_S + np.linspace(first_s, last_s, 11),
            process=arguments.get("processes", {}).get(number),
        )
    with open_store("python", logdir) as opened:
        found = opened.runs()["job"].members
        assert [member.writer for member in found] == ([0] if len(found) == 1 else list(range(1, len(found) + 1)))
        return [[round(attempt.started_s - START_S + 0.5, 3) for attempt in member.attempts] for member in found]


def test_a_restart_is_one_writer(logdir: pathlib.Path) -> None:
    assert members(logdir, (0, 100), (101, 150), (200, 210)) == [[0, 101, 200]]


def test_a_predecessor_that_lingers_is_still_a_restart(logdir: pathlib.Path) -> None:
    assert members(logdir, (0, 1000), (970, 1500)) == [[0, 970]]


def test_a_clock_that_was_corrected_by_less_than_a_second_is_a_restart(logdir: pathlib.Path) -> None:
    assert members(logdir, (0, 5), (4.2, 9)) == [[0, 4.2]]


def test_two_that_overlap_are_two(logdir: pathlib.Path) -> None:
    assert members(logdir, (0, 100), (50, 150)) == [[0], [50]]


def test_a_short_one_within_a_long_one_supersedes_nothing(logdir: pathlib.Path) -> None:
    assert members(logdir, (0, 1000), (500, 500.4)) == [[0], [500]]


def test_writers_that_are_restarted_together_stay_as_many(logdir: pathlib.Path) -> None:
    spans = [(0, 100), (1, 101), (2, 102), (200, 300), (201, 301), (202, 302)]
    assert members(logdir, *spans) == [[0, 200], [1, 201], [2, 202]]


def test_attempts_of_one_process_are_one_writer(logdir: pathlib.Path) -> None:
    processes = {0: "one", 1: "one", 2: "other"}
    assert members(logdir, (0, 10), (11, 20), (5, 15), processes=processes) == [[0, 11], [5]]


def test_writers_of_one_rank_are_named_with_it(logdir: pathlib.Path) -> None:
    for rank, started_s in ((0, 0.0), (1, 0.0), (1, 2.0)):
        directory = logdir / "job" / f"rank_{rank}"
        write_attempt(directory, range(100), times(100), rank=rank, world_size=2, started_s=START_S + started_s)
    with open_store("python", logdir) as opened:
        run = opened.runs()["job"]
    assert [(member.member, member.label) for member in run.members] == [
        ("0", "rank 0"),
        ("1", "rank 1, writer 1"),
        ("1.2", "rank 1, writer 2"),
    ]
    assert run.notes == (
        "2 processes wrote to this run as rank 1 at the same time; they are shown as separate writers.",
    )


def test_a_job_that_went_from_one_process_to_two_is_one_history(logdir: pathlib.Path) -> None:
    write_attempt(logdir / "job", range(10), times(10))
    for rank in range(2):
        directory = logdir / "job" / f"rank_{rank}"
        write_attempt(directory, range(10, 20), times(10), rank=rank, world_size=2, started_s=START_S + 100)
    with open_store("python", logdir) as opened:
        run = opened.runs()["job"]
        assert (run.world_size, [member.num_steps for member in run.members]) == (2, [20, 10])
        assert [attempt.world_size for attempt in run.members[0].attempts] == [1, 2]
        assert run.members[0].tb_run == "job/rank_0"


def test_a_world_of_absurd_size_is_shown(logdir: pathlib.Path) -> None:
    write_attempt(logdir / "job" / "rank_5", range(10), times(10), rank=5, world_size=10**12)
    with open_store("python", logdir) as opened:
        run = opened.runs()["job"]
    assert run.world_size == 10**12
    assert run.missing_ranks == tuple(rank for rank in range(1001) if rank != 5)


def test_ranks_that_end_apart_are_told_once_all_have_ended(logdir: pathlib.Path) -> None:
    ends = [200, 200, 150, 140, 0, 120, 200]
    for rank, num_rows in enumerate(ends[:-1]):
        write_attempt(logdir / "job" / f"rank_{rank}", range(num_rows), times(num_rows), rank=rank, world_size=7)
    last = AttemptLog(logdir / "job" / "rank_6", rank=6, world_size=7)
    last.append(range(200), times(200))
    with open_store("python", logdir) as opened:
        assert opened.runs()["job"].notes == ()
        last.append(end="closed")
        opened.loaded.reload()
        assert opened.runs()["job"].notes == (
            "rank 2 ends at step 149, rank 3 ends at step 139, rank 4 has no steps, and 1 more elsewhere; "
            "the other ranks end at step 199.",
        )
