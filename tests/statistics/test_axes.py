"""Where rows stand on the three axes, and where the wall clock was set."""

from __future__ import annotations

import numpy as np
import pytest

from tb_stepperf.errors import ArgumentError
from tb_stepperf.statistics import clock_jumps, measured_ms, relative_axis, rows_between, step_axis, wall_axis

START_S = 1_700_000_000.0
NAN = float("nan")


def test_the_step_axis_is_the_steps_to_the_last() -> None:
    axis = step_axis(np.array([3, 2**63 - 1]))
    assert axis.positions.tolist() == [3, 2**63 - 1]
    assert axis.end == axis.row_end(1) == 2**63
    assert axis.row_end(0) == 4


def test_steps_that_do_not_ascend_are_refused() -> None:
    with pytest.raises(ArgumentError, match="a strictly ascending int64 vector is allowed"):
        step_axis(np.array([1, 1]))


def test_relative_time_begins_with_the_first_row_and_holds_excluded_time() -> None:
    axis = relative_axis(np.array([100, 200, 50], np.float32), np.array([0, 1000, NAN], np.float32))
    assert axis.positions.tolist() == [0, 100, 1300]
    assert axis.end == 1350
    assert [axis.row_end(row) for row in range(3)] == [100, 1300, 1350]


def test_three_hundred_steps_of_a_tenth_of_a_second_are_thirty_seconds() -> None:
    assert relative_axis(np.full(300, 100.0, np.float32)).end == 30_000


def test_what_is_no_time_does_not_move_relative_time() -> None:
    axis = relative_axis(np.array([10, NAN, np.inf, -np.inf, -5, 10], np.float32))
    assert axis.positions.tolist() == [0, 10, 10, 10, 10, 10]
    assert axis.end == 20
    assert [axis.row_end(row) for row in range(6)] == [10, 11, 11, 11, 11, 20]


def test_sums_keep_fractions_of_a_millisecond() -> None:
    axis = relative_axis(np.full(4, 0.4, np.float32))
    assert axis.positions.tolist() == [0, 0, 1, 1]
    assert axis.end == 2


def test_relative_time_saturates_instead_of_overflowing() -> None:
    axis = relative_axis(np.full(3, 3.4e38, np.float32))
    assert axis.positions.tolist() == [0, 2**63 - 1024, 2**63 - 1024]
    assert axis.end > axis.positions[-1]


def test_measured_time_wants_equal_shapes() -> None:
    with pytest.raises(ArgumentError, match=r"excluded_ms has shape \(1,\); step_time_ms has \(2,\)"):
        measured_ms(np.zeros(2), np.zeros(1))


def test_wall_time_is_held_until_a_clock_that_went_back_catches_up() -> None:
    axis = wall_axis(np.array([START_S, START_S + 1, START_S - 5, START_S + 0.5, START_S + 2]))
    first_ms = 1_700_000_000_000
    assert axis.positions.tolist() == [first_ms, first_ms + 1000, first_ms + 1000, first_ms + 1000, first_ms + 2000]
    assert axis.end == first_ms + 2001


def test_wall_times_that_are_not_finite_take_the_position_before() -> None:
    assert wall_axis(np.array([NAN, 1.0, np.inf, 2.0])).positions.tolist() == [1000, 1000, 1000, 2000]
    assert wall_axis(np.array([NAN, NAN])).positions.tolist() == [0, 0]
    assert wall_axis(np.zeros(0)).end == 0


@pytest.mark.parametrize(
    ("start", "end", "rows"),
    [(0, 10, (0, 3)), (3, 4, (1, 2)), (4, 5, (2, 2)), (-(2**70), 2**70, (0, 3)), (6, 2**63, (3, 3)), (5, 5, (2, 2))],
)
def test_ranges_are_half_open(start: int, end: int, rows: tuple[int, int]) -> None:
    assert rows_between(step_axis(np.array([1, 3, 5])), start, end) == rows


def test_the_last_possible_step_is_within_reach() -> None:
    assert rows_between(step_axis(np.array([0, 2**63 - 1])), 2**63 - 1, 2**63) == (1, 2)


def test_a_reversed_range_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"the range \[2, 1\) is reversed"):
        rows_between(step_axis(np.array([1])), 2, 1)


def _clock(num_rows: int, jumps: dict[int, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A wall clock that is set at some rows, the time that passed, and which rows follow another."""
    moved_s = np.full(num_rows, 0.1)
    for row, jump_s in jumps.items():
        moved_s[row] += jump_s
    follows = np.ones(num_rows, bool)
    follows[0] = False
    return START_S + np.cumsum(moved_s), np.full(num_rows, 0.1), follows


def test_a_clock_that_was_set_back_and_forth_is_found() -> None:
    jumps = clock_jumps(*_clock(300, {100: -3600, 200: 7200}))
    assert jumps.rows.tolist() == [100, 200]
    assert np.round(jumps.jump_s, 3).tolist() == [-3600.0, 7200.0]


def test_drift_below_a_second_is_no_jump() -> None:
    assert clock_jumps(*_clock(300, {100: 0.9, 200: -0.9})).rows.size == 0


def test_where_the_time_that_passed_is_unknown_only_going_back_is_a_jump() -> None:
    wall_time_s, elapsed_s, follows = _clock(300, {100: -3600, 200: 7200})
    elapsed_s[:] = NAN
    jumps = clock_jumps(wall_time_s, elapsed_s, follows)
    assert jumps.rows.tolist() == [100]
    assert jumps.jump_s.tolist() == pytest.approx([-3599.9])


def test_between_two_process_lifetimes_nothing_is_compared() -> None:
    wall_time_s, elapsed_s, follows = _clock(3, {1: -3600})
    follows[1] = False
    assert clock_jumps(wall_time_s, elapsed_s, follows).rows.size == 0
    assert clock_jumps(wall_time_s[:1], elapsed_s[:1], follows[:1]).rows.size == 0


def test_clock_jumps_wants_equal_shapes() -> None:
    with pytest.raises(ArgumentError, match="equal shapes are allowed"):
        clock_jumps(np.zeros(2), np.zeros(1), np.zeros(2, bool))
