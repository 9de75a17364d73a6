"""`tail_causes` on planted causes, on chance, and on odd input."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tb_stepperf.errors import ArgumentError
from tb_stepperf.statistics.tails import hypergeometric_tail, tail_causes


def planted(num_steps: int = 10_000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Steps of 300 ms of which 71 take 640 ms with a collection, and 29 without; and a flag that means nothing."""
    rng = np.random.default_rng(0)
    time_ms = 300 + rng.standard_normal(num_steps)
    slow = rng.choice(num_steps, 100, replace=False)
    time_ms[slow] = 640 + rng.random(100)
    collection = rng.random(num_steps) < 0.02
    collection[slow] = False
    collection[slow[:71]] = True
    return time_ms, collection, rng.random(num_steps) < 0.3


def test_a_planted_cause_is_found_with_its_share() -> None:
    time_ms, collection, chance = planted()
    result = tail_causes(time_ms, {"gc": collection, "logged": chance})
    assert result.num_tail == 100
    assert result.num_steps == 10_000
    gc, logged = result.causes
    assert gc.name == "gc"
    assert gc.num_tail == 71
    assert gc.share_of_tail == 0.71
    assert gc.share_of_rest == pytest.approx(0.02, abs=0.005)
    assert gc.enrichment == pytest.approx(35, rel=0.3)
    assert gc.explains
    assert gc.p_adjusted < 1e-20
    assert not logged.explains
    assert result.unexplained == pytest.approx(0.29)
    assert "71 % of those steps have a garbage collection" in result.sentence
    assert result.sentence.endswith("Unexplained: 29 %.")
    assert "Holm's correction for 2 causes" in result.correction


def test_the_percentile_is_a_step_that_happened() -> None:
    time_ms, collection, _ = planted()
    result = tail_causes(time_ms, {"gc": collection})
    assert result.threshold_ms == np.quantile(time_ms, 0.99, method="inverted_cdf")
    assert result.threshold_ms in time_ms


def test_chance_explains_nothing() -> None:
    explained = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        flags = {name: rng.random(2000) < rate for name, rate in (("gc", 0.3), ("recompiled", 0.01), ("a", 0.1))}
        result = tail_causes(rng.gamma(2.0, 10.0, 2000), flags)
        explained += any(cause.explains for cause in result.causes)
    assert explained <= 4
    assert "none of the recorded causes" in result.sentence
    assert result.unexplained == 1


def test_a_burst_counts_once() -> None:
    # Twenty successive slow steps that share a flag with a stretch are one coincidence, not twenty.
    time_ms = 100 + np.random.default_rng(0).random(2000)
    time_ms[500:520] += 100
    flag = np.zeros(2000, bool)
    flag[400:600] = True
    result = tail_causes(time_ms, {"gc": flag})
    assert result.num_episodes == 1
    assert result.causes[0].share_of_tail == 1
    assert result.causes[0].p_value > 0.05
    assert not result.causes[0].explains


def test_a_part_that_makes_the_excess_is_a_cause() -> None:
    rng = np.random.default_rng(1)
    data_ms = 5 + rng.random(5000)
    data_ms[rng.choice(5000, 50, replace=False)] += 200
    time_ms = 100 + rng.random(5000) + data_ms
    result = tail_causes(time_ms, {}, parts_ms={"data_wait": data_ms, "gc": np.full(5000, np.nan)})
    assert result.causes[0].name == "data_wait"
    assert result.causes[0].share_of_tail == 1
    assert math.isinf(result.causes[0].enrichment)
    assert result.unexplained == 0
    assert "100 % of those steps have a long wait for data (0 % of the others)" in result.sentence
    assert math.isnan(result.causes[1].enrichment)


def test_exact_probabilities() -> None:
    # Drawing 2 of 4 with 2 marked: both marked in 1 of 6 cases.
    assert hypergeometric_tail(2, 4, 2, 2) == pytest.approx(1 / 6)
    assert hypergeometric_tail(1, 4, 2, 2) == pytest.approx(5 / 6)
    assert hypergeometric_tail(0, 4, 2, 2) == pytest.approx(1)
    # Drawing 3 of 4 with 3 marked: at least two must be.
    assert hypergeometric_tail(1, 4, 3, 3) == pytest.approx(1)
    assert hypergeometric_tail(3, 4, 3, 3) == pytest.approx(1 / 4)


def test_what_is_not_a_time_is_left_out() -> None:
    time_ms, collection, _ = planted()
    time_ms[:100] = np.nan
    assert tail_causes(time_ms, {"gc": collection}).num_steps == 9900


def test_arguments_that_do_not_fit_are_refused() -> None:
    times = np.ones(200)
    with pytest.raises(ArgumentError, match="50 usable steps; at least 100 are needed"):
        tail_causes(np.ones(50), {})
    with pytest.raises(ArgumentError, match=r"percentile is 100; a number in \[50, 100\)"):
        tail_causes(times, {}, percentile=100)
    with pytest.raises(ArgumentError, match=r"cause 'gc' has shape \(3,\)"):
        tail_causes(times, {"gc": np.ones(3, bool)})
    with pytest.raises(ArgumentError, match=r"\['gc'\] are both flags and parts"):
        tail_causes(times, {"gc": np.ones(200, bool)}, parts_ms={"gc": times})
