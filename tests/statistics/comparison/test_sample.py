"""What of a run is used."""

from __future__ import annotations

import numpy as np
import pytest

from tb_stepperf.errors import ArgumentError
from tb_stepperf.statistics.comparison import RunSample
from tb_stepperf.statistics.comparison.sample import (
    spread_ties,
    timer_blur,
    timer_resolution_ms,
    use_runs,
    warmup_end,
)

NOISE = np.exp(0.01 * np.random.default_rng(0).standard_normal(1000))


def test_what_is_not_a_time_is_left_out_and_counted() -> None:
    times = 10 * NOISE
    times[[3, 5, 7]] = [np.nan, 0.0, -1.0]
    times[9] = np.inf
    (run,), _ = use_runs([RunSample(times)], [RunSample(times)])
    assert run.num_unusable == 4
    assert run.num_given == run.time_ms.size + run.num_unusable + run.num_warmup
    assert np.all(run.time_ms > 0)
    assert run.steps[3] == 4


def test_a_slow_start_is_left_out() -> None:
    times = 10 * NOISE
    times[:30] *= np.linspace(20, 1.3, 30)
    assert 26 <= warmup_end(times) <= 32
    assert warmup_end(10 * NOISE) == 0


def test_a_fast_start_is_no_warmup() -> None:
    times = 10 * NOISE
    times[300:] *= 1.5
    assert warmup_end(times) == 0


def test_a_coarse_timer_is_recognised() -> None:
    assert timer_resolution_ms(np.rint(20 * NOISE * 2) / 2) == 0.5
    assert timer_resolution_ms(20 * NOISE) == 0


def test_ties_are_spread_evenly_and_differently_for_each_run() -> None:
    times = np.full(1000, 20.0)
    spread = spread_ties(times, 1.0, seed=0)
    assert 19.5 <= spread.min() < 19.51
    assert 20.49 < spread.max() <= 20.5
    assert spread.mean() == pytest.approx(20)
    assert np.array_equal(spread, spread_ties(times, 1.0, seed=0))
    assert not np.array_equal(spread, spread_ties(times, 1.0, seed=1))


def test_noise_dithers_a_timer_and_its_lack_blurs() -> None:
    assert timer_blur(np.full(100, 20.0), 1.0) == 0.5 / 20
    assert timer_blur(np.repeat([19.0, 20.0, 21.0], 40), 1.0) == 0
    assert timer_blur(np.full(100, 20.0), 0.0) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"step_time_ms": np.ones((2, 2))}, r"step_time_ms of run 'a' has shape \(2, 2\); a vector"),
        ({"step_time_ms": np.ones(3), "steps": np.arange(2)}, r"steps of run 'a' has shape \(2,\)"),
        ({"step_time_ms": np.ones(3), "steps": np.array([1, 1, 2])}, "steps of run 'a' do not ascend; sort them"),
        ({"step_time_ms": np.ones(3), "num_tokens": np.ones(4)}, r"num_tokens of run 'a' has shape \(4,\)"),
    ],
)
def test_a_run_that_does_not_fit_says_so(arguments: dict, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        RunSample(**arguments, name="a")


def test_an_empty_side_is_refused() -> None:
    with pytest.raises(ArgumentError, match="0 baselines and 1 candidates"):
        use_runs([], [RunSample(NOISE)])
