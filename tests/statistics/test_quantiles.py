"""Quantiles equal NumPy's `inverted_cdf`, sample for sample."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tb_stepperf.errors import ArgumentError
from tb_stepperf.statistics import bands, nearest_rank_rows

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=True)
PERCENTILES = st.lists(st.one_of(st.integers(0, 100), st.floats(0, 100)), max_size=9)


def _expected(values: np.ndarray, percentile: float) -> float:
    # float64 samples, so that NumPy keeps the fraction in float64, too
    return np.quantile(values.astype(np.float64), np.float64(percentile) / 100.0, method="inverted_cdf")


@settings(deadline=None)
@given(hnp.arrays(np.float32, st.integers(1, 300), elements=FLOATS), PERCENTILES)
def test_one_bin_equals_numpy(values: np.ndarray, percentiles: list[float]) -> None:
    result = bands(values, np.array([0, values.size]), percentiles)
    assert result.quantiles[:, 0].tolist() == [_expected(values, percentile) for percentile in percentiles]
    assert result.minimum[0] == values.min()
    assert result.maximum[0] == values.max()
    assert result.max_row[0] == values.argmax()


@settings(deadline=None)
@given(st.integers(1, 10**7), st.one_of(st.integers(0, 100), st.floats(0, 100)))
@example(100, 7)  # 100 * 0.07 is 7.000000000000001
@example(20, 95)  # 0.95 is a little less than 95 / 100
@example(1, 0)
@example(1, 100)
@example(10**6, 99.9)
def test_ranks_follow_numpy_also_where_the_product_is_rounded(num_rows: int, percentile: float) -> None:
    rank = nearest_rank_rows(np.array([num_rows]), [percentile])[0, 0]
    rounded = num_rows * (np.float64(percentile) / 100.0) - 1
    previous = np.floor(rounded)
    assert rank == max(previous + (1 if rounded - previous > 0 else 0), 0)
    assert 0 <= rank < num_rows


@pytest.mark.parametrize("num_rows", [7, 20, 100, 3000, 20_000])  # both sides of sorting and partitioning
@pytest.mark.parametrize("percentile", [0, 5, 7, 25, 50, 75, 95, 99, 99.9, 100])
def test_bins_equal_numpy_one_by_one(num_rows: int, percentile: float) -> None:
    values = np.random.default_rng(num_rows).lognormal(size=3 * num_rows).astype(np.float32)
    rows = np.array([0, num_rows, num_rows, 2 * num_rows, 3 * num_rows])
    result = bands(values, rows, [percentile])
    for index in (0, 2, 3):
        assert result.quantiles[0, index] == _expected(values[rows[index] : rows[index + 1]], percentile)
    assert np.isnan(result.quantiles[0, 1])
    assert (result.max_row[1], result.num_rows[1]) == (-1, 0)


def test_a_quantile_is_a_sample_that_occurred() -> None:
    result = bands(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 4]), [25, 26, 50, 75, 100])
    assert result.quantiles[:, 0].tolist() == [1.0, 2.0, 2.0, 3.0, 4.0]


def test_the_first_of_equal_maxima_is_reported_and_the_samples_stay_as_they_were() -> None:
    values = np.array([3.0, 5.0, 5.0, 1.0], np.float32)
    assert bands(values, np.array([0, 4]), []).max_row.tolist() == [1]
    assert values.tolist() == [3.0, 5.0, 5.0, 1.0]


def test_no_bins_and_only_empty_bins() -> None:
    none = bands(np.zeros(0, np.float32), np.array([0]), [50])
    assert none.quantiles.shape == (1, 0)
    empty = bands(np.zeros(0, np.float32), np.array([0, 0, 0]), [50])
    assert np.isnan(empty.quantiles).all()
    assert empty.max_row.tolist() == [-1, -1]


@pytest.mark.parametrize("num_rows", [3, 5000])
def test_nan_is_refused(num_rows: int) -> None:
    values = np.ones(num_rows, np.float32)
    values[1] = np.nan
    with pytest.raises(
        ArgumentError, match=r"samples hold NaN; leave out what was not measured first, with select\(\)"
    ):
        bands(values, np.array([0, num_rows]), [50])


@pytest.mark.parametrize("percentile", [-0.1, 100.1, float("nan"), float("inf")])
def test_percentiles_out_of_range_are_refused(percentile: float) -> None:
    with pytest.raises(ArgumentError, match=r"numbers in \[0, 100\] are allowed"):
        bands(np.ones(3), np.array([0, 3]), [percentile])


@pytest.mark.parametrize("rows", [[0, 4], [-1, 3], [2, 1], [[0, 3]], [0.0, 3.0], []])
def test_edges_that_do_not_fit_are_refused(rows: list) -> None:
    with pytest.raises(ArgumentError, match="rows"):
        bands(np.ones(3), np.array(rows), [50])


def test_samples_that_are_no_vector_are_refused() -> None:
    with pytest.raises(ArgumentError, match="a vector of numbers is allowed"):
        bands(np.ones((3, 2)), np.array([0, 3]), [50])


def test_a_bin_without_rows_has_no_rank() -> None:
    with pytest.raises(ArgumentError, match="leave empty bins out"):
        nearest_rank_rows(np.array([1, 0]), [50])
