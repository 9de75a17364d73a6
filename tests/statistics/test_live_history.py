"""What the live detector remembers: exact stays at planted levels."""

from __future__ import annotations

import numpy as np
import pytest

from tb_stepperf.statistics.live_history import GROUP, LONGEST_VISIT, NEVER, LevelHistory


def history(*stretches: tuple[float, int]) -> LevelHistory:
    """A history of stretches (log level, rows)."""
    made = LevelHistory()
    for level, num_rows in stretches:
        made.add(np.full(num_rows, level))
    return made


def test_a_level_that_is_new_has_nothing_to_outlast() -> None:
    assert history((0.0, 320), (0.2, 64)).rows_to_outlast(0, 320, 384) == 0


def test_one_excursion_is_to_be_outlasted_six_times_and_many_less_often() -> None:
    once = history((0.0, 320), (0.2, 64), (0.0, 320), (0.2, 64))
    assert once.rows_to_outlast(384, 704, 768) == 6 * 64
    often = history(*[(0.0, 320), (0.2, 64)] * 4, (0.0, 320), (0.2, 64))
    assert often.rows_to_outlast(1536, 1856, 1920) == 3 * 64


def test_the_way_back_is_to_outlast_the_stay_away_three_times_if_that_was_a_change() -> None:
    made = history((0.0, 320), (0.2, 64), (0.0, 64))
    assert made.rows_to_outlast(320, 384, 448, last_row=320) == 3 * 64
    assert made.rows_to_outlast(320, 384, 448, last_row=310) == 3 * 64


def test_to_come_back_from_where_the_run_was_not_said_to_have_gone_is_no_change() -> None:
    made = history((0.0, 320), (0.2, 64), (0.0, 64))
    assert made.rows_to_outlast(320, 384, 448) == NEVER
    assert made.rows_to_outlast(320, 384, 448, last_row=64) == NEVER
    # the level before was the shorter stay: then it is an excursion that is back
    assert history((0.0, 64), (0.2, 320), (0.0, 64)).rows_to_outlast(64, 384, 448) == 3 * 64


def test_the_present_stay_and_the_longest_before() -> None:
    assert history((0.0, 320)).stay() == (320, 0)
    assert history((0.0, 320), (0.2, 96), (0.0, 160)).stay() == (160, 320)
    assert history((0.0, 320), (0.2, 96)).stay() == (96, 0)
    assert history((0.0, 96)).stay() == (0, 0)  # too little to tell
    assert history((0.0, 320), (0.2, 32)).stay() == (0, 0)  # on the way
    assert history((0.0, 320), (0.5, 16), (0.0, 320)).stay() == (656, 0)  # a stall of one group ends no stay


def test_a_group_without_a_reading_says_nothing() -> None:
    made = history((0.0, 320), (0.2, 160))
    made.add(np.full(GROUP, np.nan))
    assert made.stay() == (160, 0)


def test_an_excursion_that_did_not_come_near_the_new_level_does_not_count() -> None:
    assert history((0.0, 320), (0.2, 64), (0.0, 320), (0.4, 64)).rows_to_outlast(384, 704, 768) == 0


def test_a_long_stay_was_a_level_of_its_own() -> None:
    num_rows = LONGEST_VISIT + GROUP
    made = history((0.0, num_rows), (0.2, num_rows), (0.0, num_rows), (0.2, 64))
    assert made.rows_to_outlast(2 * num_rows, 3 * num_rows, 3 * num_rows + 64) == 0


def test_an_excursion_is_known_again_on_top_of_a_step() -> None:
    made = history((0.0, 320), (0.2, 64), (0.0, 320), (1.0, 320), (1.2, 64))
    assert made.rows_to_outlast(704, 1024, 1088) == 0
    assert made.rows_to_outlast(704, 1024, 1088, [(704, 1.0)]) == 6 * 64
    made.step(704, 1.0)
    assert made.rows_to_outlast(704, 1024, 1088) == 6 * 64


def test_spikes_and_readings_that_are_no_time_do_not_make_a_stay() -> None:
    log_ms = np.zeros(960)
    log_ms[::20] = 2.0
    log_ms[100:140] = np.nan
    made = LevelHistory()
    made.add(log_ms)
    made.add(np.full(64, 0.3))
    assert made.rows_to_outlast(0, 960, 1024) == 0


@pytest.mark.parametrize("num_rows", [GROUP, 100 * GROUP])
def test_it_counts_all_rows_and_keeps_the_newest(num_rows: int) -> None:
    made = LevelHistory()
    for _ in range(320_000 // num_rows):
        made.add(np.zeros(num_rows))
    total = 320_000 // num_rows * num_rows
    assert made.num_rows == total
    made.add(np.full(64, 0.2))
    made.add(np.zeros(320))
    made.add(np.full(64, 0.2))
    assert made.rows_to_outlast(total + 64, total + 384, total + 448) == 6 * 64
