"""Sums and extremes per bin, over what is valid; shares and rates as ratios of sums."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_stepperf.errors import ArgumentError
from tb_stepperf.statistics import bin_extremes, bin_sums, compact, rate_per_s, stage_shares

NAN = float("nan")


@settings(deadline=None)
@given(st.data())
def test_sums_and_extremes_equal_a_plain_loop(data: st.DataObject) -> None:
    values = data.draw(st.lists(st.integers(-1000, 1000), max_size=40))
    valid = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    edges = sorted(data.draw(st.lists(st.integers(0, len(values)), min_size=1, max_size=10)))
    array, mask, rows = np.array(values, np.float32), np.array(valid, bool), np.array(edges, np.int64)
    array[~mask] = NAN
    sums, extremes = bin_sums(array, rows, mask), bin_extremes(array, rows, mask)
    for index, (start, end) in enumerate(itertools.pairwise(edges)):
        inside = [(values[row], row) for row in range(start, end) if valid[row]]
        assert sums.total[index] == sum(value for value, _ in inside)
        assert sums.num_rows[index] == extremes.num_rows[index] == len(inside)
        if inside:
            top = max(value for value, _ in inside)
            assert extremes.minimum[index] == min(value for value, _ in inside)
            assert extremes.maximum[index] == top
            assert extremes.max_row[index] == min(row for value, row in inside if value == top)
        else:
            assert np.isnan([extremes.minimum[index], extremes.maximum[index]]).all()
            assert extremes.max_row[index] == -1


def test_sums_are_taken_in_float64() -> None:
    values = np.array([2**24, 1, 1], np.float32)
    assert bin_sums(values, np.array([0, 3]), np.ones(3, bool)).total.tolist() == [2**24 + 2]


def test_compact_maps_edges_to_the_valid_rows() -> None:
    indices, rows = compact(np.array([0, 1, 1, 0, 1], bool), np.array([0, 2, 2, 5]))
    assert indices.tolist() == [1, 2, 4]
    assert rows.tolist() == [0, 1, 1, 3]


def test_a_mask_that_does_not_fit_is_refused() -> None:
    for mask in (np.ones(2, bool), np.ones(3, np.int8)):
        with pytest.raises(ArgumentError, match="valid is"):
            bin_sums(np.ones(3), np.array([0, 3]), mask)
        with pytest.raises(ArgumentError, match="valid is"):
            bin_extremes(np.ones(3), np.array([0, 3]), mask)


def test_shares_are_of_the_labelled_time_and_coverage_of_the_step() -> None:
    shares = stage_shares({"data": 20.0, "forward": 60.0}, 100.0)
    assert [(stage.stage, stage.share, stage.of_step) for stage in shares.stages] == [
        ("forward", 0.75, 0.6),
        ("data", 0.25, 0.2),
    ]
    assert (shares.labelled_ms, shares.unlabelled_ms) == (80.0, 20.0)
    assert (shares.coverage, shares.unlabelled_of_step) == (0.8, 0.2)


def test_equal_stages_are_ordered_by_name_and_rounding_makes_no_negative_rest() -> None:
    shares = stage_shares({"b": 50.0, "a": 50.00001}, 100.0)
    assert [stage.stage for stage in shares.stages] == ["a", "b"]
    assert [stage.stage for stage in stage_shares({"b": 1.0, "a": 1.0}, 2.0).stages] == ["a", "b"]
    assert shares.unlabelled_ms == 0.0
    assert shares.coverage > 1


def test_without_stages_nothing_is_covered_and_without_time_nothing_is_known() -> None:
    assert stage_shares({}, 100.0).coverage == 0.0
    empty = stage_shares({"a": 0.0}, 0.0)
    assert np.isnan([empty.coverage, empty.unlabelled_of_step, empty.stages[0].share, empty.stages[0].of_step]).all()


@pytest.mark.parametrize("total_ms", [-1.0, NAN, float("inf")])
def test_totals_that_are_no_times_are_refused(total_ms: float) -> None:
    with pytest.raises(ArgumentError, match="a finite number of at least 0 is allowed"):
        stage_shares({"a": total_ms}, 1.0)


def test_throughput_is_a_ratio_of_sums_not_a_mean_of_ratios() -> None:
    # batches of different size with gradient accumulation: 800 samples in 18.5 s
    micro = np.arange(400)
    batch = np.array([1, 2, 1, 4])[micro % 4]
    time_ms = 20.0 + 10.0 * batch + np.where(micro % 8 == 7, 50.0, 0.0)
    rate = rate_per_s(np.array([batch.sum()], float), np.array([time_ms.sum()]))
    assert (batch.sum(), time_ms.sum()) == (800, 18_500.0)
    assert rate.tolist() == [800 / 18.5]
    assert rate[0] != pytest.approx(np.mean(batch / time_ms) * 1000, rel=0.01)


def test_no_time_no_rate() -> None:
    assert np.isnan(rate_per_s(np.array([5.0]), np.array([0.0]))).all()
