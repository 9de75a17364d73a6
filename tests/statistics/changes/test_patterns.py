"""What recurs, bursts and slopes: a change among them is found, and they alone are met with silence."""

from __future__ import annotations

import numpy as np
import pytest

from tb_stepperf.statistics.changes import find_changes
from tests.statistics.changes.test_find_changes import noise, only


def flipping(num_steps: int, seed: int, dwell: int, height: float) -> np.ndarray:
    """Step times that go to and fro between two levels, each held for a random while."""
    rng = np.random.default_rng([seed, 31])
    lengths = rng.integers(dwell // 2, 2 * dwell, num_steps)
    state = np.repeat(np.arange(num_steps) % 2, lengths)[:num_steps]
    return noise(num_steps, seed, sigma=0.005) * (1.0 + height * state)


@pytest.mark.parametrize("factor", [1.05, 1.2, 0.9])
def test_a_step_smaller_than_the_recurring_stretches_is_found(factor: float) -> None:
    step_time_ms = noise(4000, seed=31, sigma=0.01)
    for start in range(150, 4000, 300):
        step_time_ms[start : start + 60] *= 1.4
    assert find_changes(step_time_ms) == ()
    step_time_ms[3100:] *= factor
    change = only(find_changes(step_time_ms))
    assert abs(change.step - 3100) <= 5
    assert change.change == pytest.approx(factor - 1.0, abs=0.01)


@pytest.mark.parametrize("seed", range(4))
def test_of_two_states_each_is_compared_with_itself(seed: int) -> None:
    step_time_ms = flipping(3000, seed, dwell=40, height=0.1)
    assert find_changes(step_time_ms) == ()
    step_time_ms[1800:] *= 1.06
    change = only(find_changes(step_time_ms))
    assert change.kind == "regression"
    assert abs(change.step - 1800) <= 5
    assert change.change == pytest.approx(0.06, abs=0.01)


def test_evaluations_of_nine_steps_do_not_hide_a_step() -> None:
    step_time_ms = noise(600, seed=32, sigma=0.005)
    for start in range(30, 600, 67):
        step_time_ms[start : start + 9] *= 3.0
    assert find_changes(step_time_ms) == ()
    step_time_ms[250:] *= 1.056
    change = only(find_changes(step_time_ms))
    assert change.kind == "regression"
    assert abs(change.step - 250) <= 10


def test_a_restart_that_decays_does_not_hide_a_step() -> None:
    step_time_ms = noise(700, seed=33, sigma=0.005)
    step_time_ms[200:] *= 1.0 + 9.0 * np.exp(-np.arange(500) / 6.0)
    assert find_changes(step_time_ms) == ()
    step_time_ms[450:] *= 1.15
    change = only(find_changes(step_time_ms))
    assert change.kind == "regression"
    assert abs(change.step - 450) <= 5
    assert change.change == pytest.approx(0.15, abs=0.01)


def test_a_rise_that_falls_back_fast_is_a_ramp_and_its_end() -> None:
    step = np.arange(700)
    shape = np.clip((step - 110) / 460, 0.0, 1.0) * np.clip((630 - step) / 40, 0.0, 1.0)
    for seed in range(30, 36):
        up, down = find_changes(noise(700, seed, sigma=0.003) * np.exp(0.25 * shape))
        assert up.kind == "ramp"
        assert up.change == pytest.approx(np.expm1(0.25), abs=0.05)
        assert abs(up.step - 110) <= 40 and up.end_step is not None and abs(up.end_step - 570) <= 40
        assert down.kind in ("ramp", "improvement")
        assert down.change < -0.15


def test_a_pattern_that_begins_half_way_is_a_tail() -> None:
    step_time_ms = noise(6000, seed=35, sigma=0.004)
    step_time_ms[100:2400:105] *= 2.9
    step_time_ms[2400::9] *= 2.9
    change = only(find_changes(step_time_ms))
    assert change.kind == "tail"
    assert abs(change.step - 2400) <= 40
    assert change.change_low > 1.0


def test_levels_far_apart_in_hardly_any_noise_are_placed_exactly() -> None:
    """Rows near a border that are seen on neither side were once counted to the wrong one."""
    for seed in range(6):
        step_time_ms = noise(1000, seed, sigma=0.0005, phi=0.95)
        for step, factor in ((100, 0.93), (230, 1.11), (560, 1.09), (700, 1.17)):
            step_time_ms[step:] *= factor
        assert [change.step for change in find_changes(step_time_ms)] == [100, 230, 560, 700]
