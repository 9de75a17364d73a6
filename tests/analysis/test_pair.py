"""Runs against runs: what is said of a run that changes midway."""

from __future__ import annotations

import re

import numpy as np

from tb_stepperf.analysis import RunsCompared, Side, Thresholds, compare_members
from tests.plugin.fakes import FakeMember
from tests.support import synthetic


def side(name: str, levels: tuple[tuple[int, float], ...] = ((0, 100.0),), seed: int = 0) -> Side:
    """Returns a run of 4,000 steps with these levels."""
    columns = synthetic.columns(synthetic.step_time_ms(4000, levels=levels, seed=seed))
    table = FakeMember(columns).table(name)
    return Side(name, "0", "rank 0", 1, 1, tuple(columns), lambda *_: table)


def midway(compared: RunsCompared) -> list[str]:
    """Returns the notes about runs that change themselves."""
    return [note for note in compared.comparison.notes if " itself " in note]


def test_a_candidate_that_becomes_slower_midway_is_compared_part_by_part() -> None:
    compared = compare_members([side("a")], [side("b", ((0, 100.0), (2800, 112.0)), seed=1)])
    assert compared.comparison.notes[0] == midway(compared)[0]
    (note,) = midway(compared)
    found = re.fullmatch(
        r"Candidate b itself becomes slower at step ([\d,]+): 1\d\d\.?\d* → 11\d\.?\d* ms, \+1[12]\.\d %\. "
        r"The figures of the whole run are a mix of its 2 parts\. Compare the parts: against the baseline, their "
        r"medians differ by [+−]?0\.\d % and \+1[12]\.\d %\.",
        note.replace("99.9", "100"),
    )
    assert found, note
    assert abs(int(found[1].replace(",", "")) - 2800) <= 5


def test_a_baseline_that_changes_is_no_measure_for_parts() -> None:
    stepped = ((0, 100.0), (1500, 90.0))
    notes = midway(compare_members([side("a", stepped)], [side("b", ((0, 100.0), (2500, 120.0)), seed=1)]))
    assert [note.split(" at ")[0] for note in notes] == [
        "Baseline a itself becomes faster",
        "Candidate b itself becomes slower",
    ]
    assert all(note.endswith("The figures of the whole run are a mix of its 2 parts.") for note in notes)


def test_nothing_is_said_of_steady_runs_small_changes_and_few_steps() -> None:
    steady = [side("a"), side("a2", seed=5)]
    assert midway(compare_members(steady, [side("b", seed=1), side("c", ((0, 110.0),), seed=2)])) == []
    small = side("b", ((0, 100.0), (2000, 102.0)), seed=1)
    assert midway(compare_members(steady, [small])) == []
    assert midway(compare_members(steady, [small], thresholds=Thresholds(0.01, 0.05))) != []


def test_levels_that_both_sides_follow_are_no_change_of_a_run() -> None:
    planned = ((0, 60.0), (2000, 100.0))
    compared = compare_members([side("a", planned)], [side("b", planned, seed=1)])
    assert compared.comparison.level_basis == "steps"
    assert midway(compared) == []


def test_a_run_without_steps_is_told_as_such() -> None:
    empty = FakeMember({"step_time_ms": np.zeros(0)}).table("b")
    compared = compare_members([side("a")], [Side("b", "0", "rank 0", 1, 1, ("step_time_ms",), lambda *_: empty)])
    assert compared.comparison.verdict == "insufficient data"
    assert midway(compared) == []
