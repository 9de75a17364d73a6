"""Every kind of run, with the truth that was written; each with both loaders, which must agree to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from tb_stepperf.errors import NotFoundError
from tb_stepperf.store import Gap
from tests.store.gallery import ODD_NAMES, ODD_STAGES, times
from tests.store.tables import STEP_MS, Opened, plain
from tests.support.logs import START_S

LAST_STEP = 2**63 - 1


def test_both_loaders_agree(stores: dict[str, Opened]) -> None:
    catalogs = {loader: opened.catalog() for loader, opened in stores.items()}
    names = [run.run for run in catalogs["python"].runs]
    assert len(names) == 33
    for run in catalogs["python"].runs:
        for member in run.members:
            tables = [plain(opened.read(run.run, member.member)) for opened in stores.values()]
            assert tables[0] == tables[1], run.run
    complete = [opened.catalog() for opened in stores.values()]
    for a, b in zip(complete[0].runs, complete[1].runs):
        assert (a.run, a.world_size, a.missing_ranks, a.members, a.notes) == (
            b.run,
            b.world_size,
            b.missing_ranks,
            b.members,
            b.notes,
        )
    assert complete[0].problems == complete[1].problems


def test_a_resumed_run_is_one_history(opened: Opened) -> None:
    table = opened.read("resume", None, [STEP_MS])
    assert table.steps.tolist() == list(range(200))
    expected = np.concatenate([times(101)[STEP_MS], times(99, 120.0)[STEP_MS]])
    np.testing.assert_array_equal(table.columns[STEP_MS], expected)
    assert table.attempt_index.tolist() == [0] * 101 + [1] * 99
    assert [attempt.num_superseded for attempt in table.attempts] == [50, 0]
    assert [attempt.end for attempt in table.attempts] == [None, "closed"]
    assert (table.num_written, table.num_read, table.num_superseded, table.num_missing) == (250, 250, 50, 0)
    (member,) = opened.runs()["resume"].members
    assert (member.num_steps, member.first_step, member.last_step, member.end) == (200, 0, 199, "closed")
    assert member.first_wall_time_s == pytest.approx(START_S + 0.1)


def test_an_attempt_without_rows_supersedes_nothing(opened: Opened) -> None:
    table = opened.read("from_zero")
    assert table.steps.tolist() == list(range(30))
    assert table.attempt_index.tolist() == [1] * 30
    assert [attempt.num_superseded for attempt in table.attempts] == [40, 0, 0, 0]
    assert [attempt.first_step for attempt in table.attempts] == [0, 0, None, None]
    assert [attempt.end for attempt in table.attempts] == ["replaced", None, None, "exception"]
    assert table.attempts[2].environment == {"torch": "2"}
    assert table.attempts[3].counters == {"num_interrupted": 1}
    assert opened.runs()["from_zero"].members[0].end == "exception"


def test_columns_that_come_and_go(opened: Opened) -> None:
    table = opened.read("columns", None, [STEP_MS, "gc_ms", "num_tokens", "never"])
    nan = float("nan")
    np.testing.assert_array_equal(table.columns["gc_ms"], [0, 1, 2, 3] + [nan] * 6)
    np.testing.assert_array_equal(table.columns["num_tokens"], [nan] * 4 + [7] * 6)
    np.testing.assert_array_equal(table.columns["never"], [nan] * 10)
    assert table.attempts[0].counters == {"num_rows_lost": 2}
    assert table.attempts[0].end == "closed"
    assert opened.runs()["columns"].members[0].columns == (STEP_MS, "gc_ms", "num_tokens")


def test_two_copies_of_a_file_count_once(opened: Opened) -> None:
    table = opened.read("copied")
    assert table.steps.tolist() == list(range(100))
    assert (table.num_written, table.num_read, len(table.attempts)) == (100, 100, 1)


@pytest.mark.parametrize(
    ("run", "gaps", "num_written", "num_missing"),
    [
        ("gap_inside", [(29, 50, 20), (69, 80, 10)], 100, 30),
        ("gap_first", [(None, 10, 10)], 100, 10),
        ("gap_last", [], 90, 0),  # rows after the last block cannot be known to be missing
        ("gap_tag", [(29, 70, 40)], 100, 40),
        ("gap_before_end", [(9, 20, 10)], 20, 10),
    ],
)
def test_rows_that_never_arrived(
    opened: Opened, run: str, gaps: list[tuple[int | None, int, int]], num_written: int, num_missing: int
) -> None:
    table = opened.read(run)
    assert table.gaps == tuple(Gap(0, *gap) for gap in gaps)
    assert (table.num_written, table.num_missing) == (num_written, num_missing)
    assert table.num_read == table.num_rows == num_written - num_missing
    assert table.attempts[0].num_missing == num_missing
    np.testing.assert_array_equal(table.columns[STEP_MS], times(100)[STEP_MS][table.steps])


def test_gaps_are_those_of_the_range(opened: Opened) -> None:
    gap, later = opened.read("gap_inside").gaps
    assert opened.read("gap_inside", start_step=0, end_step=30).gaps == ()
    assert opened.read("gap_inside", start_step=0, end_step=31).gaps == (gap,)
    assert opened.read("gap_inside", start_step=49, end_step=60).gaps == (gap,)
    assert opened.read("gap_inside", start_step=50).gaps == (later,)
    assert opened.read("gap_inside", start_step=35, end_step=40).num_rows == 0


def test_writers_at_the_same_time_are_told_apart(opened: Opened) -> None:
    run = opened.runs()["writers"]
    assert run.notes == ("3 processes wrote to this run at the same time; they are shown as separate writers.",)
    assert [(member.member, member.writer, member.label) for member in run.members] == [
        ("0", 1, "writer 1"),
        ("0.2", 2, "writer 2"),
        ("0.3", 3, "writer 3"),
    ]
    for number, member in enumerate(run.members):
        table = opened.read("writers", member.member, [STEP_MS])
        np.testing.assert_array_equal(table.columns[STEP_MS], times(200, 100.0 + 10 * number)[STEP_MS])
        assert (table.num_superseded, table.member) == (0, member.member)


def test_ranks_are_members_of_one_run(opened: Opened) -> None:
    runs = opened.runs()
    run = runs["job"]
    assert (run.world_size, run.missing_ranks) == (4, (2,))
    assert [(member.member, member.rank, member.writer, member.label) for member in run.members] == [
        ("0", 0, 0, "rank 0"),
        ("1", 1, 0, "rank 1"),
        ("3", 3, 0, "rank 3"),
    ]
    assert [member.tb_run for member in run.members] == ["job/rank_0", "job/rank_1", "job/rank_3"]
    assert run.notes == ("rank 3 ends at step 149; the other ranks end at step 199.",)
    np.testing.assert_array_equal(opened.read("job", "3").columns[STEP_MS], times(150, 103.0)[STEP_MS])
    assert "single/rank_0" in runs, "a single process that happens to write to such a directory is a run"


def test_a_clock_that_goes_back_changes_no_step(opened: Opened) -> None:
    table = opened.read("clock_back")
    assert table.steps.tolist() == list(range(100))
    np.testing.assert_array_equal(np.diff(table.wall_time_s), [1.0] * 39 + [-7199.0] + [1.0] * 59)


def test_steps_are_exact_up_to_the_largest(opened: Opened) -> None:
    table = opened.read("huge_steps")
    assert table.steps.tolist() == [LAST_STEP - 40, *range(LAST_STEP - 9, LAST_STEP + 1)]
    assert opened.read("huge_steps", start_step=LAST_STEP).steps.tolist() == [LAST_STEP]
    assert opened.runs()["huge_steps"].members[0].last_step == LAST_STEP


def test_irregular_steps_and_a_restart_between_them(opened: Opened) -> None:
    steps = np.cumsum(np.random.default_rng(1).integers(1, 50, 500))
    first = steps[steps < steps[250] + 1]
    table = opened.read("irregular")
    assert table.steps.tolist() == [*first.tolist(), *(steps[250:] + 1).tolist()]
    assert [attempt.num_superseded for attempt in table.attempts] == [500 - first.size, 0]
    some = opened.read("irregular", start_step=int(steps[100]), end_step=int(steps[300]))
    assert some.steps.tolist() == [step for step in table.steps.tolist() if steps[100] <= step < steps[300]]


def test_the_good_records_of_a_damaged_file_are_kept(opened: Opened) -> None:
    assert opened.read("truncated").steps.tolist() == list(range(90))
    assert opened.read("flipped").steps.tolist() == list(range(50))


def test_a_record_that_is_no_block_is_told_and_counts_as_missing(opened: Opened) -> None:
    table = opened.read("damaged_block")
    assert table.steps.tolist() == [*range(20), *range(30, 40)]
    assert table.gaps == (Gap(0, 19, 30, 10),)
    messages = [problem.message for problem in opened.catalog().problems if problem.run == "damaged_block"]
    assert messages == [
        "written in block format 2, this tb_stepperf reads up to 1: upgrade tb_stepperf",
        "2 tags are damaged and were left out; the first: tag metadata b'not ours' is not JSON with a 'format'",
        "1 record is damaged and was left out; the first: the tensor at step 20 is not a block: "
        "not enough values to unpack (expected 3, got 2)",
    ]
    assert {problem.run for problem in opened.catalog().problems} == {"damaged_block"}


@pytest.mark.parametrize("name", ODD_NAMES)
def test_every_name_is_literal(opened: Opened, name: str) -> None:
    assert opened.read(f"odd/{name}", "0").steps.tolist() == [0, 1, 2, 3, 4]


def test_every_stage_name_is_literal(opened: Opened) -> None:
    table = opened.read("odd_stages")
    values = {name: set(table.columns[f"stage/{name}_ms"].tolist()) for name in ODD_STAGES}
    assert values == {name: {float(number)} for number, name in enumerate(ODD_STAGES)}


def test_runs_without_data_are_counted_and_do_no_harm(stores: dict[str, Opened]) -> None:
    counts = {loader: opened.catalog().num_runs_without_data for loader, opened in stores.items()}
    assert counts["python"] >= 3
    assert counts["rust"] >= 3
    assert not any(run.startswith("foreign") for run in stores["rust"].runs())


def test_a_range_is_half_open(opened: Opened) -> None:
    assert opened.read("resume", start_step=99, end_step=103).steps.tolist() == [99, 100, 101, 102]
    assert opened.read("resume", start_step=99, end_step=103).attempt_index.tolist() == [0, 0, 1, 1]
    assert opened.read("resume", start_step=103, end_step=99).num_rows == 0
    assert opened.read("resume", start_step=10**6).num_written == 250


def test_arrays_cannot_be_changed(opened: Opened) -> None:
    table = opened.read("resume")
    for array in (table.steps, table.wall_time_s, table.attempt_index, table.columns[STEP_MS]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_what_is_not_there_is_said_with_what_is(opened: Opened) -> None:
    with pytest.raises(
        NotFoundError, match=r"run is 'nobody'; there is 'clock_back', 'columns', .* and 23 more"
    ) as run:
        opened.read("nobody")
    assert run.value.parameter == "run"
    with pytest.raises(NotFoundError, match="member is '2'; run 'job' has 0, 1, 3") as member:
        opened.read("job", "2")
    assert member.value.parameter == "member"
