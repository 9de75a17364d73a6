"""Bins have exact edges, cover every row once, and lose no spike."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_stepperf.errors import ArgumentError
from tb_stepperf.statistics import bands, make_bins

MAX_STEP = 2**63 - 1


@settings(deadline=None)
@given(st.lists(st.integers(-(2**63), MAX_STEP), max_size=60), st.integers(1, 2000))
def test_every_row_lies_in_the_one_bin_that_covers_its_position(positions: list[int], max_bins: int) -> None:
    positions.sort()
    bins = make_bins(np.array(positions, np.int64), max_bins)
    assert bins.num_bins <= max_bins
    assert bins.rows[0] == 0
    assert bins.rows[-1] == len(positions)
    for index in range(bins.num_bins):
        for row in range(bins.rows[index], bins.rows[index + 1]):
            assert bins.start[index] <= positions[row] < bins.end[index]
    if not bins.one_row_each:
        assert bins.start[1:] == bins.end[:-1]
        widths = [end - start for start, end in zip(bins.start, bins.end)]
        assert max(widths) - min(widths) <= 1
        assert (bins.start[0], bins.end[-1]) == (positions[0], positions[-1] + 1)


@pytest.mark.parametrize("num_rows", [1, 599, 600])
def test_no_more_rows_than_bins_means_one_row_each(num_rows: int) -> None:
    bins = make_bins(np.arange(num_rows) * 7 + 3, 600)
    assert bins.one_row_each
    assert bins.start == tuple(range(3, 3 + 7 * num_rows, 7))
    assert all(end == start + 1 for start, end in zip(bins.start, bins.end))
    assert np.diff(bins.rows).tolist() == [1] * num_rows


def test_one_row_more_than_bins_begins_to_bin() -> None:
    bins = make_bins(np.arange(5), 4)
    assert not bins.one_row_each
    assert (bins.start, bins.end) == ((0, 1, 2, 3), (1, 2, 3, 5))
    assert bins.rows.tolist() == [0, 1, 2, 3, 5]


def test_edges_are_exact_at_the_end_of_int64_and_wider_than_a_float() -> None:
    positions = np.array([0, 1, 2**53 + 1, MAX_STEP - 1, MAX_STEP], np.int64)
    bins = make_bins(positions, 4)
    assert bins.start == tuple(index * 2**63 // 4 for index in range(4))
    assert bins.end[-1] == 2**63
    assert bins.rows.tolist() == [0, 3, 3, 3, 5]


def test_rows_that_share_a_position_stay_together_and_bins_are_never_narrower_than_one() -> None:
    bins = make_bins(np.array([5, 5, 5, 5, 6, 6, 7], np.int64), 6)
    assert (bins.start, bins.end) == ((5, 6, 7), (6, 7, 8))
    assert bins.rows.tolist() == [0, 4, 6, 7]


def test_sparse_rows_leave_empty_bins() -> None:
    bins = make_bins(np.array([0, 1, 2, 99], np.int64), 2)
    assert bins.rows.tolist() == [0, 3, 4]
    assert make_bins(np.array([0, 1, 2, 99], np.int64), 3).rows.tolist() == [0, 3, 3, 4]


def test_no_rows_no_bins() -> None:
    bins = make_bins(np.zeros(0, np.int64), 600)
    assert (bins.num_bins, bins.rows.tolist()) == (0, [0])


def test_one_spike_in_100_000_steps_is_seen_at_every_zoom() -> None:
    values = np.full(100_000, 100.0, np.float32)
    values[77_777] = 10_000.0
    positions = np.arange(100_000)
    for (first, end), max_bins in itertools.product(
        [(0, 100_000), (50_000, 90_000), (77_000, 78_000), (77_770, 77_780), (77_777, 77_778)], [1, 7, 600, 2000]
    ):
        bins = make_bins(positions[first:end], max_bins)
        result = bands(values[first:end], bins.rows, [50])
        found = int(np.flatnonzero(result.maximum == 10_000.0).item())
        assert first + result.max_row[found] == 77_777
        assert bins.start[found] <= 77_777 < bins.end[found]
        assert result.num_rows.sum() == end - first


@pytest.mark.parametrize("max_bins", [0, -1, 2001])
def test_numbers_of_bins_out_of_range_are_refused(max_bins: int) -> None:
    with pytest.raises(ArgumentError, match=rf"max_bins is {max_bins}; an integer in \[1, 2000\] is allowed"):
        make_bins(np.arange(3), max_bins)


def test_positions_that_descend_or_are_no_integers_are_refused() -> None:
    with pytest.raises(ArgumentError, match="positions descend"):
        make_bins(np.array([1, 0]), 1)
    with pytest.raises(ArgumentError, match="an int64 vector is allowed"):
        make_bins(np.array([0.5]), 1)
