"""Long-run variance of processes whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from tb_stepperf.statistics.comparison.long_run import (
    LongRunVariance,
    Memory,
    cosine_variance,
    indicator_variance,
    mean_variance,
    memory_of,
    paired_variance,
)
from tb_stepperf.statistics.comparison.student import Z_GRID


def ar(seed: int, num_steps: int, phi: float) -> np.ndarray:
    """A stationary AR(1) series of variance 1."""
    rng = np.random.default_rng(seed)
    series = rng.standard_normal(num_steps) * np.sqrt(1 - phi**2)
    series[0] /= np.sqrt(1 - phi**2)
    for row in range(1, num_steps):
        series[row] += phi * series[row - 1]
    return series


def test_white_noise_has_no_memory() -> None:
    found = [memory_of(ar(seed, 1000, 0.0)).correlations().sum() for seed in range(20)]
    assert np.median(found) == 0
    assert np.mean(found) < 0.3


@pytest.mark.parametrize("phi", [0.5, 0.9])
def test_the_decay_of_an_ar_process_is_found(phi: float) -> None:
    found = memory_of(ar(1, 5000, phi))
    assert found.phi == pytest.approx(phi, abs=0.06)
    assert found.strength == pytest.approx(1, abs=0.15)


def test_the_variance_of_an_ar_mean_is_found_up_to_a_quarter() -> None:
    truth = (1 + 0.9) / (1 - 0.9)
    found = np.median([mean_variance(ar(seed, 3000, 0.9)).model for seed in range(20)])
    assert found == pytest.approx(truth, rel=0.25)


def test_the_variance_of_an_indicator_follows_plackett() -> None:
    # At the median of a Gaussian copula the covariance is asin(rho) / 2 pi.
    values = ar(3, 4000, 0.0)
    memory = Memory(1.0, 0.5)
    truth = 0.25 + 2 * sum(np.arcsin(0.5**lag) / (2 * np.pi) for lag in range(1, 40))
    assert indicator_variance(values, 0.0, 0.5, memory).model == pytest.approx(truth, rel=1e-3)


def test_one_stall_does_not_hide_a_memory() -> None:
    series = ar(4, 2000, 0.9)
    clean = mean_variance(series).model
    series[1000] += 500
    assert mean_variance(series).model == pytest.approx(clean + 500**2 / 2000, rel=0.15)


def test_slow_wander_is_seen_by_the_cosines() -> None:
    rows = np.arange(3000)
    series = np.random.default_rng(5).standard_normal(3000) + np.sin(rows / 3000 * 4 * np.pi)
    assert cosine_variance(series, 6) > 50


def test_long_series_are_grouped_without_a_difference() -> None:
    series = ar(6, 20_000, 0.9)
    assert cosine_variance(series, 6) == pytest.approx(cosine_variance(series[:19_998], 6), rel=0.05)


def test_neighbours_that_cancel_leave_less_than_white_noise() -> None:
    noise = np.random.default_rng(7).standard_normal(2001)
    cancelling = np.diff(noise)
    assert paired_variance(cancelling).model == 0
    assert paired_variance(cancelling).cosine < 0.1 * np.var(cancelling)


def test_the_wider_of_both_intervals_counts() -> None:
    reach = LongRunVariance(model=1.0, cosine=4.0, num_cosines=6, num_values=100).reach()
    assert np.interp(1.959964, Z_GRID, reach) == pytest.approx(2.44691 * 0.2, rel=1e-2)
    reach = LongRunVariance(model=4.0, cosine=1.0, num_cosines=6, num_values=100).reach()
    assert np.interp(1.959964, Z_GRID, reach) == pytest.approx(2.0003 * 0.2, rel=1e-2)


def test_a_constant_series_has_no_variance() -> None:
    found = mean_variance(np.full(100, 7.0))
    assert found.model == 0
    assert found.cosine == pytest.approx(0, abs=1e-20)
