"""`compare_runs` on planted truth, pure noise, planned levels, several runs and odd input."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tb_stepperf.errors import ArgumentError
from tb_stepperf.statistics.comparison import RunSample, compare_runs, describe, quantile_difference


def noisy(seed: int, num_steps: int = 1000, phi: float = 0.0, noise: float = 0.02) -> np.ndarray:
    """Step times about 100 ms with AR(1) noise."""
    rng = np.random.default_rng(seed)
    series = rng.standard_normal(num_steps) * math.sqrt(1 - phi**2)
    for row in range(1, num_steps):
        series[row] += phi * series[row - 1]
    return 100 * np.exp(noise * series)


def run(seed: int, factor: float = 1.0, **arguments: float) -> RunSample:
    return RunSample(factor * noisy(seed, **arguments))


@pytest.mark.parametrize("phi", [0.0, 0.9])
def test_a_planted_slowdown_is_a_regression_whose_interval_covers_it(phi: float) -> None:
    result = compare_runs([run(1, phi=phi)], [run(2, 1.08, phi=phi)])
    assert result.verdict == "regression"
    assert result.decided_by == "median"
    assert result.median.low <= 0.08 <= result.median.high
    assert result.mean.low <= 0.08 <= result.mean.high
    assert result.throughput.low <= 1 / 1.08 - 1 <= result.throughput.high
    assert result.throughput.unit == "steps/s"
    assert result.median.p_value < 0.01
    assert result.sentence.startswith("Slower: median step time +")


def test_a_planted_gain_is_an_improvement() -> None:
    result = compare_runs([run(1)], [run(2, 0.92)])
    assert result.verdict == "improvement"
    assert result.sentence.startswith("Faster: median step time −")


def test_noise_alone_is_the_same_and_seldom_significant() -> None:
    results = [compare_runs([run(2 * seed, phi=0.5)], [run(2 * seed + 1, phi=0.5)]) for seed in range(60)]
    assert {result.verdict for result in results} == {"same"}
    assert sum(result.median.p_value < 0.05 for result in results) <= 7
    assert sum(not result.median.low <= 0 <= result.median.high for result in results) <= 7


def test_the_same_means_equivalent_not_merely_not_significant() -> None:
    result = compare_runs([run(1, num_steps=60, noise=0.3)], [run(2, num_steps=60, noise=0.3)])
    assert result.verdict == "insufficient data"
    assert result.needed is not None
    assert result.needed.num_steps is None or result.needed.num_steps > 60
    assert result.needed.text in result.sentence


def test_a_baseline_that_changes_midway_is_no_matter_of_more_runs() -> None:
    changed = noisy(1)
    changed[changed.size * 3 // 5 :] *= 1.27
    result = compare_runs([RunSample(changed)], [run(2, 1.05)])
    assert result.verdict == "insufficient data"
    assert result.needed is not None
    assert result.needed.num_steps is None and result.needed.num_runs is None
    assert "look for changes within the runs first" in result.sentence


def test_slow_steps_that_got_slower_are_a_tail_regression() -> None:
    slow = noisy(2)
    slow[np.random.default_rng(3).random(slow.size) < 0.1] *= 1.5
    result = compare_runs([run(1)], [RunSample(slow)])
    assert result.verdict == "tail regression"
    assert result.p95.change > 0.3
    assert "Slow steps got slower: p95 +" in result.sentence


def test_rare_stalls_move_the_mean_and_are_a_tail_regression() -> None:
    slow = noisy(2, num_steps=3000)
    slow[np.random.default_rng(3).random(slow.size) < 0.02] *= 8
    result = compare_runs([run(1, num_steps=3000)], [RunSample(slow)])
    assert result.verdict == "tail regression"
    assert "Rare slow steps cost more: mean step time +" in result.sentence


def test_one_run_a_side_says_that_the_spread_is_unknown() -> None:
    result = compare_runs([run(1)], [run(2)])
    assert not result.spread_known
    assert result.between_run_sd is None
    assert any("run-to-run spread is unknown" in note for note in result.notes)


def test_several_runs_cover_the_spread_between_them() -> None:
    offsets = [1.0, 1.012, 0.988, 1.004, 0.996]
    sides = [[run(10 * side + n, offset) for n, offset in enumerate(offsets)] for side in (0, 1)]
    several = compare_runs(*sides)
    assert several.spread_known
    assert several.between_run_sd == pytest.approx(np.std(offsets, ddof=1), rel=0.2)
    assert several.median.high - several.median.low > 0.02
    alone = compare_runs(sides[0][:1], sides[1][1:2])
    assert alone.median.high - alone.median.low < 0.01
    assert several.median.p_value > 0.5 > 0.05 > alone.median.p_value


def test_three_baselines_tell_the_spread_for_one_candidate() -> None:
    baselines = [run(1, 1.00), run(2, 1.02), run(3, 0.98)]
    result = compare_runs(baselines, [run(4, 1.03)])
    assert result.spread_known
    assert result.median.low < 0 < result.median.high


def test_planned_levels_are_compared_level_by_level() -> None:
    levels = np.repeat([1.0, 2.0, 3.0], 400)
    slower = np.repeat([1.0, 1.0, 1.06], 400)
    result = compare_runs(
        [RunSample(levels * noisy(1, num_steps=1200))], [RunSample(levels * slower * noisy(2, num_steps=1200))]
    )
    assert result.level_basis == "steps"
    assert len(result.levels) == 3
    assert [level.num_baseline for level in result.levels] == [400, 400, 400]
    assert [round(level.change.change, 2) for level in result.levels] == [0.0, 0.0, 0.06]
    assert result.verdict == "regression"
    assert result.decided_by == "level"
    assert result.sentence.startswith("Slower in steps 800–1199: +")
    assert sum(level.share for level in result.levels) == pytest.approx(1)


def test_only_common_steps_of_a_schedule_are_compared() -> None:
    levels = np.repeat([1.0, 2.0], 500)
    short = RunSample(noisy(2, num_steps=500))
    result = compare_runs([RunSample(levels * noisy(1))], [short])
    assert result.verdict == "same"
    assert result.baseline.num_outside == 500
    assert result.baseline.num_used == 500
    assert abs(result.median.change) < 0.01


def test_steps_that_alternate_are_compared_with_their_counterparts() -> None:
    pattern = np.resize([1.0, 1.4], 1000)
    result = compare_runs([RunSample(pattern * noisy(1))], [RunSample(1.05 * pattern * noisy(2))])
    assert result.level_basis == "steps"
    assert result.median.low <= 0.05 <= result.median.high
    assert result.median.high - result.median.low < 0.01


def test_two_kinds_of_steps_without_a_pattern_are_judged_by_their_mean() -> None:
    kinds = [np.random.default_rng(seed).permutation(np.resize([1.0, 1.5], 3000)) for seed in (1, 2)]
    sides = [RunSample(kind * noisy(seed, num_steps=3000)) for seed, kind in enumerate(kinds)]
    result = compare_runs(sides[:1], [RunSample(1.1 * sides[1].step_time_ms)])
    assert result.verdict == "regression"
    assert result.decided_by == "mean"
    assert "mean step time" in result.sentence


def test_steps_are_compared_within_their_bucket() -> None:
    rng = np.random.default_rng(0)
    sizes = np.array([1.0, 2.0, 3.0])
    buckets = [rng.choice(3, 2000, p=mix) for mix in ([0.6, 0.3, 0.1], [0.1, 0.3, 0.6])]
    sides = [
        RunSample(sizes[bucket] * noisy(seed, num_steps=2000), bucket=bucket) for seed, bucket in enumerate(buckets)
    ]
    result = compare_runs(sides[:1], sides[1:])
    assert result.level_basis == "bucket"
    assert result.verdict == "same"
    assert result.mean.change > 0.3
    assert [level.label for level in result.levels] == ["0", "1", "2"]


def test_batch_sizes_serve_as_buckets_and_throughput_counts_samples() -> None:
    sizes = np.resize([32.0, 64.0], 1000)
    sides = [
        RunSample(sizes / 32 * noisy(seed), num_samples=sizes[:: 1 if seed else -1].copy()[np.argsort(np.zeros(1000))])
        for seed in (1, 2)
    ]
    result = compare_runs(sides[:1], sides[1:])
    assert result.level_basis == "num_samples"
    assert result.throughput.unit == "samples/s"
    assert result.throughput.baseline == pytest.approx(320, rel=0.01)


def test_a_change_that_vanishes_per_token_is_noted() -> None:
    baseline = RunSample(noisy(1), num_tokens=np.full(1000, 1000.0))
    candidate = RunSample(1.5 * noisy(2), num_tokens=np.full(1000, 1500.0))
    result = compare_runs([baseline], [candidate])
    assert result.verdict == "regression"
    assert result.throughput.unit == "tokens/s"
    assert abs(result.throughput.change) < 0.01
    assert any("each step does another amount of work" in note for note in result.notes)


def test_different_conditions_are_not_comparable_unless_overruled() -> None:
    sides = [
        RunSample(noisy(seed), conditions={"device_name": name, "world_size": 8})
        for seed, name in ((1, "H100"), (2, "A100"))
    ]
    result = compare_runs(sides[:1], sides[1:])
    assert result.verdict == "not comparable"
    assert "device_name H100 → A100" in result.sentence
    overruled = compare_runs(sides[:1], sides[1:], overrule=["device_name"])
    assert overruled.verdict == "same"
    assert overruled.overruled == ("device_name",)
    assert "Compared although device_name differs." in overruled.sentence


def test_a_coarse_timer_widens_the_interval_by_what_it_hides() -> None:
    result = compare_runs([RunSample(np.full(500, 20.0))], [RunSample(np.full(500, 21.0))])
    # Each reading may stand for half a millisecond more or less: 2.5 % on either side, combined as independent.
    assert result.median.low == pytest.approx(0.05 - 0.035, abs=0.002)
    assert result.median.high == pytest.approx(0.05 + 0.036, abs=0.002)
    assert any("timer moves in steps of 1 ms" in note for note in result.notes)


def test_the_sample_adds_up() -> None:
    times = noisy(1)
    times[:20] *= 30
    times[[50, 60]] = np.nan
    result = compare_runs([RunSample(times)], [run(2)])
    sample = result.baseline
    assert sample.num_unusable == 2
    assert 15 <= sample.num_warmup <= 25
    assert sample.num_given == 1000
    assert sample.num_used + sample.num_warmup + sample.num_unusable + sample.num_outside == 1000
    assert "95 %" in result.definition


def test_too_few_steps_are_insufficient_data_not_an_error() -> None:
    result = compare_runs([run(1, num_steps=10)], [run(2)])
    assert result.verdict == "insufficient data"
    assert math.isnan(result.median.change)
    assert "A run has 10 usable steps; at least 30" in result.sentence
    assert describe(result.median) == "unknown"


def test_equal_runs_are_the_same() -> None:
    times = noisy(1)
    result = compare_runs([RunSample(times)], [RunSample(times)])
    assert result.verdict == "same"
    assert result.median.change == 0
    assert result.median.p_value == 1


def test_the_minimum_effect_is_adjustable() -> None:
    sides = [run(1, num_steps=3000)], [run(2, 1.025, num_steps=3000)]
    assert compare_runs(*sides).verdict == "insufficient data"
    baselines, candidates = ([run(10 * side + n, 1 + 0.025 * side) for n in range(4)] for side in (0, 1))
    assert compare_runs(baselines, candidates).verdict == "same"
    assert compare_runs(baselines, candidates, min_effect=0.015).verdict == "regression"


@pytest.mark.parametrize("effect", [0.0, 1.0, -0.1])
def test_an_effect_out_of_range_is_refused(effect: float) -> None:
    with pytest.raises(ArgumentError, match=f"min_effect is {effect}"):
        compare_runs([run(1)], [run(2)], min_effect=effect)


def test_quantile_differences_tell_where_the_distribution_moved() -> None:
    slow = noisy(2, num_steps=4000)
    slow[np.random.default_rng(3).random(slow.size) < 0.2] *= 1.5
    found = quantile_difference([run(1, num_steps=4000)], [RunSample(slow)], [10, 50, 95])
    assert np.all(found.low <= found.change)
    assert np.all(found.change <= found.high)
    assert abs(found.change[0]) < 0.02
    assert found.low[2] > 0.3
    assert found.percentiles.tolist() == [10, 50, 95]
    assert found.baseline_ms[1] == pytest.approx(100, rel=0.01)
    assert not found.spread_known


def test_quantile_differences_refuse_what_they_cannot_do() -> None:
    with pytest.raises(ArgumentError, match=r"percentiles are \[0\]"):
        quantile_difference([run(1)], [run(2)], [0])
    with pytest.raises(ArgumentError, match="a run has 5 usable steps"):
        quantile_difference([run(1, num_steps=5)], [run(2)])
