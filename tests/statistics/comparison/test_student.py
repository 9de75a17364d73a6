"""Student's t against printed tables, and ranks with ties."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tb_stepperf.errors import ArgumentError
from tb_stepperf.statistics.comparison.student import (
    Z_GRID,
    normal_quantile,
    normal_scores,
    t_grid,
    two_sided_p,
    two_sided_t,
)


@pytest.mark.parametrize(
    ("df", "critical"), [(1, 12.7062), (2, 4.30265), (5, 2.57058), (16, 2.11991), (60, 2.00030), (math.inf, 1.95996)]
)
def test_critical_values_of_the_printed_table(df: float, critical: float) -> None:
    assert two_sided_t(0.05, df) == pytest.approx(critical, abs=1e-5)
    assert two_sided_p(critical, df) == pytest.approx(0.05, abs=1e-6)


def test_p_of_no_deviation_is_1_and_of_an_infinite_one_0() -> None:
    assert two_sided_p(0.0, 7) == 1.0
    assert two_sided_p(math.inf, 7) == 0.0
    assert two_sided_p(-2.0, 7) == two_sided_p(2.0, 7)


def test_a_grid_of_t_is_wider_than_the_normal_one() -> None:
    grid = t_grid(6.0)
    assert grid[0] == 0
    assert np.all(np.diff(grid) > 0)
    assert np.all(grid[1:] > Z_GRID[1:])
    assert np.interp(1.959964, Z_GRID, grid) == pytest.approx(2.44691, abs=2e-3)


def test_arguments_out_of_range_say_what_is_allowed() -> None:
    with pytest.raises(ArgumentError, match="df is 0; a number above 0"):
        two_sided_p(1.0, 0)
    with pytest.raises(ArgumentError, match=r"p is 1.5; a number in \(0, 1\]"):
        two_sided_t(1.5, 3)


def test_normal_scores_follow_ranks_and_ties_share_one() -> None:
    assert normal_scores(np.array([3.0, 1.0, 2.0])) == pytest.approx([0.96742, -0.96742, 0.0], abs=1e-4)
    scores = normal_scores(np.array([5.0, 5.0, 1.0, 5.0]))
    assert scores[0] == scores[1] == scores[3] > scores[2]
    assert normal_scores(np.zeros(0)).shape == (0,)
    assert normal_quantile(0.95) == pytest.approx(1.64485, abs=1e-4)
