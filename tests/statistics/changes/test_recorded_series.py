"""Recorded step times: what a person sees is what the detector says. Origins: ../data/README.md."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from tb_stepperf.statistics.changes import find_changes

DATA = pathlib.Path(__file__).parent.parent / "data"


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Steps and step times in ms of one recorded series."""
    table = np.genfromtxt(DATA / f"{name}.csv.gz", delimiter=",", skip_header=1)
    return table[:, 0].astype(np.int64), table[:, 1]


def test_a_slower_machine_for_one_leg_of_a_job_and_the_recovery() -> None:
    steps, step_time_ms = load("gpt3_15b_h100")
    slower, faster = find_changes(step_time_ms)
    assert slower.kind == "regression"
    assert abs(int(steps[slower.step]) - 27_100) <= 200
    assert slower.change_low < 0.064 < slower.change_high
    assert faster.kind == "improvement"
    assert abs(int(steps[faster.step]) - 35_800) <= 200
    assert slower.end_step == faster.step


def test_restart_spikes_alone_are_met_with_silence() -> None:
    assert find_changes(load("gpt3_15b_a100")[1]) == ()


def test_a_leg_in_which_the_exception_becomes_the_rule() -> None:
    steps, step_time_ms = load("deepseekv3_proxy_h100")
    (change,) = find_changes(step_time_ms)
    assert change.kind == "transient"
    assert change.end_step is not None
    assert abs(int(steps[change.step]) - 30_020) <= 200
    assert abs(int(steps[change.end_step]) - 30_670) <= 200
    assert change.change == pytest.approx(0.41, abs=0.02)


def test_a_growing_attention_window_is_one_ramp() -> None:
    (change,) = find_changes(load("nanogpt_window_warmup")[1])
    assert change.kind == "ramp"
    assert change.change == pytest.approx(0.14, abs=0.03)


def test_every_tenth_step_six_times_slower_is_a_pattern() -> None:
    assert find_changes(load("nanogpt_every_tenth")[1]) == ()


def test_planned_levels_are_marked() -> None:
    first, second = find_changes(load("nanogpt_batch_size_schedule")[1])
    assert (first.kind, second.kind) == ("regression", "regression")
    assert abs(first.step - 711) <= 20
    assert abs(second.step - 1416) <= 20
    assert first.after_ms == pytest.approx(60.0, rel=0.02)
    assert second.after_ms == pytest.approx(88.0, rel=0.02)


def test_levels_that_change_with_the_data_shard() -> None:
    changes = find_changes(load("bert_shards_run9")[1])
    first = changes[0]
    assert first.kind == "regression"
    assert abs(first.step - 2142) <= 40
    assert first.change > 0.12
    assert {abs(change.step - near) <= 140 for change, near in zip(changes[1:], [8520, 12_790])} == {True}


def test_a_slope_that_leaves_others_unsure_gives_way_to_steps() -> None:
    """A ramp and a drop fitted this series, neither of which could then be told from nothing (p = 1)."""
    _, step_time_ms = load("demo_shared_machine")
    found = find_changes(step_time_ms)
    assert [change.kind for change in found] == ["regression", "improvement"]
    for change in found:
        assert change.change_low * change.change_high > 0
        assert change.p_value < 0.01
