"""The live detector: soon right where a slowdown is planted, silent elsewhere, in bounded memory."""

from __future__ import annotations

import numpy as np
import pytest

from tb_stepperf.errors import ArgumentError
from tb_stepperf.statistics.live import LiveDetector, ProvisionalChange


def feed(step_time_ms: np.ndarray, block: int = 16) -> list[ProvisionalChange]:
    """What a fresh detector confirms when fed in blocks."""
    detector = LiveDetector()
    found: list[ProvisionalChange] = []
    for start in range(0, step_time_ms.size, block):
        found += detector.feed(step_time_ms[start : start + block])
    return found


def noise(num_steps: int, seed: int, sigma: float = 0.02) -> np.ndarray:
    """Independent step times about 50 ms."""
    return 50.0 * np.exp(sigma * np.random.default_rng(seed).standard_normal(num_steps))


@pytest.mark.parametrize("factor", [1.08, 1.3, 2.0, 0.8])
def test_a_sustained_change_is_confirmed_within_sixty_steps(factor: float) -> None:
    step_time_ms = noise(4000, seed=11)
    step_time_ms[2500:] *= factor
    (found,) = feed(step_time_ms)
    assert abs(found.row - 2500) <= 10
    assert found.seen_at_row - 2500 <= 64
    assert found.change.kind == ("regression" if factor > 1.0 else "improvement")
    assert found.change.step == found.row
    assert found.change.change_low < factor - 1.0 < found.change.change_high


def test_it_is_found_whatever_the_block_size() -> None:
    step_time_ms = noise(4000, seed=2)
    step_time_ms[2500:] *= 1.2
    for block in (1, 7, 512, 4000):
        (found,) = feed(step_time_ms, block)
        assert abs(found.row - 2500) <= 10


def test_noise_spikes_stalls_and_a_slow_start_are_met_with_silence() -> None:
    rng = np.random.default_rng(3)
    step_time_ms = noise(20_000, seed=3) * (1.0 + 30.0 * np.exp(-np.arange(20_000) / 8.0))
    step_time_ms[rng.integers(0, 20_000, 100)] *= 8.0
    for start in rng.integers(0, 19_990, 20):
        step_time_ms[start : start + 6] *= 2.5
    assert feed(step_time_ms) == []


def test_every_tenth_step_slow_is_met_with_silence() -> None:
    step_time_ms = noise(6000, seed=4)
    step_time_ms[::10] *= 4.0
    assert feed(step_time_ms) == []


def test_the_way_back_is_confirmed_too() -> None:
    step_time_ms = noise(6000, seed=5)
    step_time_ms[2000:3500] *= 1.25
    slower, faster = feed(step_time_ms)
    assert (slower.change.kind, faster.change.kind) == ("regression", "improvement")
    assert abs(faster.row - 3500) <= 10
    assert faster.seen_at_row - 3500 <= 64


def test_a_slow_stretch_that_keeps_coming_back_is_no_longer_news() -> None:
    step_time_ms = noise(12_000, seed=6, sigma=0.01)
    for start in range(900, 12_000, 500):
        step_time_ms[start : start + 100] *= 1.3
    assert all(found.row < 3000 for found in feed(step_time_ms))


def test_slow_stretches_that_recur_from_the_start_are_a_pattern_and_a_larger_step_on_top_is_confirmed() -> None:
    step_time_ms = noise(6000, seed=12, sigma=0.01)
    for start in range(120, 6000, 320):
        step_time_ms[start : start + 80] *= 1.2
    assert feed(step_time_ms) == []
    step_time_ms[4000:] *= 1.8
    (found,) = feed(step_time_ms)
    assert found.change.kind == "regression"
    assert abs(found.row - 4000) <= 20


def test_an_excursion_within_the_reference_does_not_blind_the_watch() -> None:
    step_time_ms = noise(4000, seed=21, sigma=0.004)
    for start in range(100, 4000, 700):
        step_time_ms[start : start + 150] *= 1.4
    step_time_ms[2100:] *= 1.25  # to a level between: slow stretches take 1.4 of either
    (found,) = feed(step_time_ms)
    assert abs(found.row - 2100) <= 20
    assert found.change.kind == "regression"


def test_a_step_on_top_of_a_pattern_is_confirmed_though_a_slow_stretch_comes_meanwhile() -> None:
    step_time_ms = noise(6000, seed=22, sigma=0.004)
    for start in range(300, 6000, 350):
        step_time_ms[start : start + 90] *= 1.4
    step_time_ms[3470:] *= 1.2
    (found,) = feed(step_time_ms)
    assert abs(found.row - 3470) <= 20
    assert found.seen_at_row < 4700  # three slow stretches later


def test_a_first_level_that_was_short_is_no_base_until_the_next_has_lasted_as_long() -> None:
    step_time_ms = noise(2000, seed=23, sigma=0.01)
    step_time_ms[500:640] *= 1.2
    assert feed(step_time_ms) == []
    step_time_ms[640:] *= 1.2
    (found,) = feed(step_time_ms)
    assert abs(found.row - 500) <= 5


def test_two_states_that_alternate_are_met_with_silence() -> None:
    rng = np.random.default_rng(13)
    lengths = rng.integers(40, 120, 100)
    state = np.repeat(np.arange(lengths.size) % 2, lengths)
    assert feed(noise(state.size, seed=13, sigma=0.01) * (1.0 + 0.1 * state)) == []


def test_an_early_change_is_confirmed_once_the_run_is_known() -> None:
    step_time_ms = noise(2000, seed=14)
    step_time_ms[250:] *= 1.3
    (found,) = feed(step_time_ms)
    assert abs(found.row - 250) <= 10
    assert 600 <= found.seen_at_row <= 664


def test_an_excursion_that_was_seen_once_must_be_outlasted() -> None:
    step_time_ms = noise(5000, seed=15, sigma=0.01)
    step_time_ms[320:360] *= 1.2
    step_time_ms[3000:] *= 1.2
    (found,) = feed(step_time_ms)
    assert abs(found.row - 3000) <= 10
    assert 120 <= found.seen_at_row - 3000 <= 500


def test_readings_that_are_no_time_are_passed_over() -> None:
    step_time_ms = noise(4000, seed=7)
    step_time_ms[2500:] *= 1.3
    step_time_ms[::40] = np.nan
    step_time_ms[3::60] = 0.0
    step_time_ms[5::80] = np.inf
    (found,) = feed(step_time_ms)
    assert abs(found.row - 2500) <= 16


def test_memory_does_not_grow_with_the_run() -> None:
    detector = LiveDetector()
    detector.feed(noise(1000, seed=8))
    before = {name: np.size(value) for name, value in vars(detector).items()}
    detector.feed(noise(100_000, seed=9))
    assert {name: np.size(value) for name, value in vars(detector).items()} == before
    assert detector.num_rows == 101_000


def test_an_effect_out_of_range_is_refused() -> None:
    with pytest.raises(ArgumentError, match="min_effect is -1"):
        LiveDetector(min_effect=-1)
