"""`attribute_change` on planted changes, on noise, and on odd input."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tb_stepperf.errors import ArgumentError
from tb_stepperf.statistics.attribution import UNLABELLED, Event, StageSample, attribute_change

TYPICAL = {"data": 10.0, "forward": 30.0, "backward": 50.0}
REST_MS = 5.0


def sample(
    seed: int,
    factors: dict[str, float] | None = None,
    *,
    rest_ms: float = REST_MS,
    num_steps: int = 800,
    tokens: float | None = None,
) -> StageSample:
    """Stages with 3 % noise each, 1 % noise in common and a few stalls in the data stage."""
    rng = np.random.default_rng(seed)
    common = np.exp(0.01 * rng.standard_normal(num_steps))
    stages = {
        name: ms * (factors or {}).get(name, 1.0) * common * np.exp(0.03 * rng.standard_normal(num_steps))
        for name, ms in TYPICAL.items()
    }
    stages["data"] = stages["data"] + (rng.random(num_steps) < 0.004) * 2000
    step_time_ms = sum(stages.values()) + rest_ms * np.exp(0.05 * rng.standard_normal(num_steps))
    num_tokens = None if tokens is None else np.full(num_steps, tokens)
    return StageSample(step_time_ms, stages, num_tokens=num_tokens)


def test_the_planted_stage_is_blamed_with_its_milliseconds_and_share() -> None:
    result = attribute_change(sample(1), sample(2, {"data": 2.0}))
    assert result.outcome == "blamed"
    assert result.blamed == ("data",)
    part = result.parts[0]
    assert part.name == "data"
    assert part.low_ms <= 10 <= part.high_ms
    assert part.share_low <= 1 <= part.share_high
    assert part.share_high - part.share_low < 0.2
    assert "in data (" in result.sentence
    assert "host clock" in result.sentence


def test_parts_add_up_to_the_whole() -> None:
    result = attribute_change(sample(1), sample(2, {"forward": 1.2}))
    assert {part.name for part in result.parts} == {*TYPICAL, UNLABELLED}
    assert sum(part.change_ms for part in result.parts) == pytest.approx(result.total.change_ms, abs=0.5)


def test_two_stages_are_named_the_larger_first() -> None:
    result = attribute_change(sample(1), sample(2, {"data": 1.5, "backward": 1.2}))
    assert result.blamed == ("backward", "data")


def test_time_that_no_stage_covers_can_be_blamed() -> None:
    result = attribute_change(sample(1), sample(2, rest_ms=20.0))
    assert result.blamed == (UNLABELLED,)


def test_a_gain_is_attributed_too() -> None:
    result = attribute_change(sample(1), sample(2, {"backward": 0.8}))
    assert result.blamed == ("backward",)
    assert result.total.change_ms < 0
    assert result.parts[0].share == pytest.approx(1, abs=0.1)
    assert "ms faster" in result.sentence


def test_a_stage_that_is_new_or_gone_counts_from_zero() -> None:
    before, after = sample(1), sample(2)
    stages = {**after.stages, "sync": np.full(800, 12.0)}
    grown = StageSample(after.step_time_ms + 12.0, stages)
    result = attribute_change(before, grown)
    assert result.blamed == ("sync",)
    assert result.parts[0].before_ms == 0
    assert math.isinf(result.parts[0].relative)
    assert attribute_change(grown, before).blamed == ("sync",)


def test_all_stages_alike_is_said_so() -> None:
    result = attribute_change(sample(1), sample(2, dict.fromkeys(TYPICAL, 1.1), rest_ms=1.1 * REST_MS))
    assert result.outcome == "uniform"
    assert result.blamed == ()
    assert "all stages moved alike" in result.sentence


def test_noise_alone_blames_nothing() -> None:
    results = [attribute_change(sample(2 * seed), sample(2 * seed + 1)) for seed in range(30)]
    assert {result.outcome for result in results} == {"nothing"}
    assert math.isnan(results[0].parts[0].share)
    assert "nothing to attribute" in results[0].sentence


def test_a_stall_is_no_change() -> None:
    after = sample(2)
    step_time_ms, data_ms = after.step_time_ms.copy(), after.stages["data"].copy()
    step_time_ms[100] += 60_000
    data_ms[100] += 60_000
    assert (
        attribute_change(sample(1), StageSample(step_time_ms, {**after.stages, "data": data_ms})).outcome == "nothing"
    )


def test_more_work_a_step_is_called_that() -> None:
    factors = dict.fromkeys(TYPICAL, 1.5)
    result = attribute_change(sample(1, tokens=1000.0), sample(2, factors, rest_ms=1.5 * REST_MS, tokens=1500.0))
    assert result.vanishes_per == "token"
    assert abs(result.per_amount) < 0.01
    assert "Per token the change vanishes" in result.sentence
    kept = attribute_change(sample(1, tokens=1000.0), sample(2, factors, rest_ms=1.5 * REST_MS, tokens=1000.0))
    assert kept.vanishes_per is None


def test_coincidences_are_listed_and_never_blamed() -> None:
    events = [Event("restart", 500, "attempt 2 starts"), Event("environment", 493, "driver 550 → 560")]
    far = Event("profiled", 700, "profiled steps")
    result = attribute_change(
        sample(1),
        sample(2, {"data": 2.0}),
        change_step=495,
        events=[*events, far],
        quantities={
            "peak_allocated_bytes": (np.full(800, 1e9), np.full(800, 1.5e9)),
            "num_samples": (np.full(800, 64.0), np.full(800, 64.0)),
            "num_tokens": (np.full(800, np.nan), np.full(800, 64.0)),
        },
    )
    assert [(one.kind, one.distance_steps) for one in result.coincidences] == [
        ("environment", -2),
        ("restart", 5),
        ("peak_allocated_bytes", None),
    ]
    assert result.coincidences[2].text == "peak_allocated_bytes moved from 1e+09 to 1.5e+09 (+50.0 %)"
    assert result.blamed == ("data",)


def test_without_a_step_no_event_is_near() -> None:
    result = attribute_change(sample(1), sample(2), events=[Event("restart", 0, "starts")])
    assert result.coincidences == ()


def test_what_was_not_measured_is_left_out_or_unlabelled() -> None:
    after = sample(2)
    step_time_ms = after.step_time_ms.copy()
    step_time_ms[:5] = np.nan
    forward = after.stages["forward"].copy()
    forward[:] = np.nan
    result = attribute_change(sample(1), StageSample(step_time_ms, {**after.stages, "forward": forward}))
    assert result.num_after == 795
    assert result.outcome == "nothing"
    (rest,) = (part for part in result.parts if part.name == UNLABELLED)
    assert rest.change_ms == pytest.approx(30, abs=1)


def test_arguments_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ArgumentError, match="the side 'before' has 3 usable steps; at least 20"):
        attribute_change(StageSample(np.ones(3), {}), sample(1))
    with pytest.raises(ArgumentError, match=r"stage 'a' has shape \(3,\); step_time_ms has \(30,\)"):
        attribute_change(StageSample(np.ones(30), {"a": np.ones(3)}), sample(1))
    with pytest.raises(ArgumentError, match="num_tokens has shape"):
        attribute_change(StageSample(np.ones(30), {}, num_tokens=np.ones(2)), sample(1))
