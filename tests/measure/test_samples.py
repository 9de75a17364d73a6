"""Exact figures: a clock set by hand, which the step function puts forward."""

from __future__ import annotations

import dataclasses
import functools
import json
from typing import Any

import pytest

from tb_stepperf.measure import StepEvidence
from tb_stepperf.measure.options import takes_perf
from tests.measure.calls import measure, steps_of
from tests.recorder.logs import ManualClock


def test_every_sample_is_kept_and_warm_up_is_apart() -> None:
    clock = ManualClock(0.0)
    durations_ms = [500.0, 400.0, *range(1, 21)]
    evidence = measure(steps_of(clock, iter(durations_ms)), clock, warmup=2, repeats=20)
    assert evidence.warmup_times_ms == pytest.approx((500.0, 400.0))
    assert evidence.step_times_ms == pytest.approx(tuple(range(1, 21)))
    assert (evidence.median_ms, evidence.p95_ms) == pytest.approx((10.0, 19.0))
    assert (evidence.min_ms, evidence.max_ms) == pytest.approx((1.0, 20.0))
    assert {evidence.median_ms, evidence.p95_ms} <= set(evidence.step_times_ms)
    assert evidence.clock_resolution_ms is None
    assert evidence.profiled_ratio is None
    assert evidence.trace is None
    assert evidence.logdir is None


def test_throughput_is_work_over_measured_time() -> None:
    clock = ManualClock(0.0)
    evidence = measure(steps_of(clock, iter([9000.0, 100.0, 300.0])), clock, warmup=1, repeats=2, num_samples=32)
    assert evidence.throughput.steps_per_s == pytest.approx(5.0)
    assert evidence.throughput.samples_per_s == pytest.approx(160.0)
    assert evidence.throughput.tokens_per_s is None
    assert "the sum of their 2 step times" in evidence.throughput.definition


def test_a_clock_that_stands_still_gives_no_rate_and_no_nan() -> None:
    evidence = measure(lambda perf: perf.stage("a").__enter__(), ManualClock(), warmup=0, repeats=1, num_samples=1)
    assert evidence.throughput.steps_per_s is None
    assert evidence.throughput.samples_per_s is None
    assert [stage.host_share for stage in evidence.stages] == [None, None]
    assert evidence.hot_stage is None
    json.dumps(evidence.as_json(), allow_nan=False)


def test_stages_are_exclusive_and_add_up_to_the_step() -> None:
    clock = ManualClock(0.0)

    def step(perf: Any) -> None:
        with perf.stage("forward"):
            clock.advance(0.010)
            with perf.stage("attention"):
                clock.advance(0.050)
            clock.advance(0.020)
        clock.advance(0.005)
        with perf.stage("attention"):
            clock.advance(0.015)

    evidence = measure(step, clock, repeats=4)
    assert [stage.name for stage in evidence.stages] == ["forward", "attention", "(no stage)"]
    assert [stage.host_ms_per_step for stage in evidence.stages] == pytest.approx([30.0, 65.0, 5.0])
    assert [stage.host_share for stage in evidence.stages] == pytest.approx([0.30, 0.65, 0.05])
    assert [stage.device_share for stage in evidence.stages] == [None] * 3
    hot = evidence.hot_stage
    assert hot is not None
    assert (hot.name, hot.share) == ("attention", pytest.approx(0.65))
    assert hot.share_of == "host time of 4 measured steps"
    assert hot.claim == "a candidate, not a proven cause"


def test_a_stage_that_is_not_in_every_step_counts_as_no_time_in_the_others() -> None:
    clock = ManualClock(0.0)
    calls = iter(range(100))

    def step(perf: Any) -> None:
        with perf.stage("save" if next(calls) == 1 else "train"):
            clock.advance(0.010)

    evidence = measure(step, clock, warmup=0, repeats=4)
    assert {stage.name: stage.host_share for stage in evidence.stages} == pytest.approx(
        {"train": 0.75, "save": 0.25, "(no stage)": 0.0}
    )


@pytest.mark.parametrize(
    ("step_fn", "is_given"),
    [
        (lambda: None, False),
        (lambda perf: None, True),
        (lambda anything: None, True),
        (lambda perf=None: None, True),
        (lambda batch=None: None, False),
        (lambda *batches, **options: None, False),
        (lambda perf, batch=None: None, True),
        (dict, False),
        (len, True),
    ],
)
def test_the_signature_decides_whether_stages_can_be_labelled(step_fn: Any, is_given: bool) -> None:
    assert takes_perf(step_fn) is is_given
    assert takes_perf(functools.partial(step_fn)) is is_given


def test_the_record_is_frozen_and_json() -> None:
    clock = ManualClock(0.0)
    evidence = measure(steps_of(clock, iter([1.0] * 50)), clock)
    with pytest.raises(dataclasses.FrozenInstanceError):
        evidence.median_ms = 0.0  # type: ignore[misc]
    found = json.loads(json.dumps(evidence.as_json(), allow_nan=False))
    assert found["format"] == 1
    assert found["step_times_ms"] == pytest.approx([1.0] * 30)
    assert set(found) == {"format", *(field.name for field in dataclasses.fields(StepEvidence))}
    assert found["environment"]["warmup_steps"] == 3
    assert found["hot_stage"] is None


def test_the_table() -> None:
    clock = ManualClock(0.0)

    def step(perf: Any) -> None:
        with perf.stage("forward\n<b>"):
            clock.advance(0.00075)
        clock.advance(0.00025)

    evidence = measure(step, clock, num_samples=64)
    text = str(
        dataclasses.replace(evidence, memory=dataclasses.replace(evidence.memory, peak_resident_bytes=3 * 2**20))
    )
    assert text == (
        "30 steps measured after 3 warm-up, on cpu, host clock\n"
        "\n"
        "median      1.000 ms              from 1.000 to 1.000 ms\n"
        "p95         1.000 ms\n"
        "throughput  1,000 steps/s\n"
        "throughput  64,000 samples/s\n"
        "peak        3 MiB                 resident memory of the process\n"
        "waited for  nothing: no accelerator in use\n"
        "\n"
        "stage        host ms/step   share\n"
        "forward�<b>        0.7500  75.0 %\n"
        "(no stage)         0.2500  25.0 %\n"
        "hot stage: forward�<b>, 75.0 % of the host time of 30 measured steps: a candidate, not a proven\n"
        "cause\n"
        "\n"
        "notes\n"
        "  - 25 % of the step lie in no stage\n"
        "  - host clock only: no accelerator was in use, so nothing was synchronised"
    )
    assert evidence.table() == str(evidence)
