"""Sentences, word by word."""

from __future__ import annotations

import dataclasses
import math

import pytest

from tb_stepperf.analysis import Marker, MemberAnalysis, Provisional, Thresholds, words
from tb_stepperf.statistics import Change


def marker(kind: str = "regression", change: float = 0.124, step: int = 4213, **fields: object) -> Marker:
    """Returns a marker whose interval is one point of percent wide."""
    found = Change(
        step=step,
        kind=kind,
        change=change,
        change_low=change - 0.005,
        change_high=change + 0.005,
        p_value=1e-9,
        end_step=None,
        measure="p95" if kind in ("tail", "variance") else "typical",
        before_ms=10.0,
        after_ms=10.0 * (1 + change),
        z=9.0,
        num_before=100,
        num_after=100,
    )
    made = Marker(found, step, None, (0, step), (step, step + 100))
    return dataclasses.replace(made, **fields)


def analysis(*markers: Marker, num_steps: int = 12_000) -> MemberAnalysis:
    """Returns an analysis with these markers."""
    return MemberAnalysis("host", Thresholds(), num_steps, num_steps, num_steps - 1, 1, markers, None, None, {})


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (0.124, 0.118, 0.131, "+12.4 % (11.8–13.1)"),
        (-0.081, -0.089, -0.073, "−8.1 % (−8.9 to −7.3)"),
        (0.03, -0.002, 0.062, "+3.0 % (−0.2 to 6.2)"),
        (0.1201, 0.119, 0.121, "+12.01 % (11.90–12.10)"),
        (1.5, 1.0, 2.0, "+150.0 % (100.0–200.0)"),
    ],
)
def test_sizes(value: float, low: float, high: float, text: str) -> None:
    assert words.size_text(value, low, high) == text


def test_times_and_p_values() -> None:
    assert words.ms_text(10.024, 11.2561) == "10.02 → 11.26 ms"
    assert words.ms_text(900, 1200) == "0.9 → 1.2 s"
    assert [words.p_text(value) for value in (0.0, 0.00009, 0.03, 1.0)] == ["< 0.0001", "< 0.0001", "0.03", "1"]


@pytest.mark.parametrize(
    ("found", "beginning"),
    [
        (marker(), "Slower since step 4,213: +12.4 %"),
        (marker(end_step=6000), "Slower from step 4,213 to 6,000: +12.4 %"),
        (marker("improvement", -0.1), "Faster since step 4,213: −10.0 %"),
        (marker("improvement", -0.1, recovers=True), "Faster again since step 4,213: −10.0 %"),
        (marker("transient", end_step=4300), "Slower from step 4,213 to 4,300: +12.4 %"),
        (marker("ramp", end_step=5000), "Gradually slower from step 4,213 to 5,000: +12.4 %"),
        (marker("drift", -0.06), "Gradually faster since step 4,213: −6.0 %"),
        (marker("tail"), "Slow steps got slower or more frequent at step 4,213, p95: +12.4 %"),
        (marker("tail", end_step=4300), "Slow steps got slower or more frequent from step 4,213 to 4,300, p95: "),
        (marker("variance", -0.2), "Step time varies less since step 4,213, p95: −20.0 %"),
    ],
)
def test_a_headline_per_kind(found: Marker, beginning: str) -> None:
    assert words.headline(found).startswith(beginning)


def test_the_verdict_is_about_the_newest_lasting_change_that_nobody_announced() -> None:
    planned = marker(step=9000, planned="batch size 64 → 128")
    tail, transient = marker("tail", step=8000), marker("transient", step=7000, end_step=7050)
    text, about = words.verdict(analysis(marker(step=100), marker(), transient, tail, planned))
    assert about == marker()
    assert text == "Slower since step 4,213: +12.4 % (11.9–12.9). 4 more changes."
    assert words.verdict(analysis(transient, tail))[1] == tail
    assert words.verdict(analysis(transient))[1] == transient
    text, about = words.verdict(analysis(planned))
    assert about == planned
    assert text.startswith("Only planned changes in 12,000 steps: Slower since step 9,000")


def test_a_small_late_change_does_not_hide_a_large_one_that_still_stands() -> None:
    large, small = marker(change=4.3, step=500), marker("improvement", -0.032, step=850)
    assert words.verdict(analysis(large, small))[1] == large
    undone = marker("improvement", -0.8, step=700, recovers=True)
    assert words.verdict(analysis(large, undone, small))[1] == small
    assert words.verdict(analysis(large, undone))[1] == undone
    similar = marker(change=0.1, step=800)
    assert words.verdict(analysis(marker(), similar))[1] == similar


def test_no_verdict_without_steps_and_silence_without_changes() -> None:
    assert words.verdict(analysis(num_steps=59)) == ("Too few steps for a verdict: 59 of at least 60.", None)
    text = "No change found in 12,000 steps: nothing above 3 % (5 % for slow steps)."
    assert words.verdict(analysis()) == (text, None)


def test_a_regression_stands_if_it_is_unannounced_lasting_and_no_return() -> None:
    standing = [marker(), marker("ramp"), marker("drift"), marker("tail")]
    assert all(words.is_standing_regression(one) for one in standing)
    others = [
        marker(planned="x"),
        marker(end_step=6000),
        marker("tail", end_step=6000),
        marker(recovers=True),
        marker("improvement", -0.1),
        marker("transient", end_step=4300),
        marker("variance"),
        marker("tail", -0.1),
    ]
    assert not any(words.is_standing_regression(one) for one in others)


def test_what_was_noticed_while_training_is_told_as_such() -> None:
    text = words.provisional_sentence(Provisional(4213, "regression", 0.124))
    assert text.startswith("Slower since step 4,213, as noticed while training: about +12.4 %.")
    assert words.provisional_sentence(Provisional(5, "tail", 0.2)).startswith("Slow steps changed since step 5")


def test_identities_are_stable() -> None:
    assert marker().name == "regression-4213"
    assert not math.isnan(marker().change.change)


def test_a_run_that_changes_midway_is_a_mix_of_parts() -> None:
    parts = [words.RunPart(10, 10.0), words.RunPart(6000, 11.2), words.RunPart(9000, 9.9)]
    assert words.change_within("Candidate", "b", parts[:2], 10.0) == (
        "Candidate b itself becomes slower at step 6,000: 10 → 11.2 ms, +12.0 %. The figures of the whole run are a "
        "mix of its 2 parts. Compare the parts: against the baseline, their medians differ by 0.0 % and +12.0 %."
    )
    assert words.change_within("Baseline", "a", parts[1:], math.nan) == (
        "Baseline a itself becomes faster at step 9,000: 11.2 → 9.9 ms, −11.6 %. The figures of the whole run are a "
        "mix of its 2 parts."
    )
    assert words.change_within("Candidate", "b", parts, 10.0).startswith(
        "Candidate b itself changes at steps 6,000 and 9,000. The figures of the whole run are a mix of its 3 parts. "
    )
    many = [words.RunPart(step, 10.0) for step in range(0, 6000, 1000)]
    assert words.change_within("Candidate", "b", many, 10.0) == (
        "Candidate b itself changes 5 times, from step 1,000 to step 5,000. The figures of the whole run are a mix of "
        "its 6 parts."
    )
