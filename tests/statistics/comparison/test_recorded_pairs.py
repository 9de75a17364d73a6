"""Recorded A/B and A/A runs of a public project (tests/statistics/data/pairs)."""

from __future__ import annotations

import gzip
import pathlib

import numpy as np
import pytest

from tb_stepperf.statistics.comparison import RunSample, compare_runs

DATA = pathlib.Path(__file__).parents[1] / "data" / "pairs"


def sides(name: str) -> tuple[list[RunSample], list[RunSample]]:
    with gzip.open(DATA / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        table = np.genfromtxt(file, delimiter=",", names=True)
    found: tuple[list[RunSample], list[RunSample]] = ([], [])
    for column in table.dtype.names[1:]:
        found[column.startswith("new")].append(RunSample(table[column], table["step"].astype(np.int64), name=column))
    return found


def test_a_slowdown_of_2_percent_is_found_below_the_minimum_effect() -> None:
    result = compare_runs(*sides("2026-04-22_MuddFormer_AB"))
    assert 0.017 < result.mean.low < 0.0187 < result.mean.high < 0.0205
    assert result.mean.p_value < 1e-5
    assert result.level_basis == "steps"
    assert len(result.levels) >= 3
    assert result.verdict == "same"
    assert "surely slower, but by less than the minimum effect" in result.sentence
    assert compare_runs(*sides("2026-04-22_MuddFormer_AB"), min_effect=0.01).verdict == "regression"


def test_runs_of_the_same_program_are_the_same() -> None:
    result = compare_runs(*sides("2026-03-22_Varlen_AA"))
    assert result.verdict == "same"
    assert abs(result.mean.change) < 0.001
    assert result.mean.high - result.mean.low < 0.003


@pytest.mark.parametrize("index", range(4))
def test_single_runs_of_the_same_program_are_the_same(index: int) -> None:
    baselines, candidates = sides("2026-03-22_Varlen_AA")
    assert compare_runs(baselines[index : index + 1], candidates[index : index + 1]).verdict == "same"
