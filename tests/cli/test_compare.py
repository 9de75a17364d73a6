"""`stepperf compare`."""

from __future__ import annotations

import pathlib
import re

import pytest

from tests.cli.terminal import assert_refused, stepperf
from tests.plugin import runs


def test_a_slower_run(logdir: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = stepperf(capsys, "compare", logdir / "again", f"{logdir}:slower")
    assert (done.code, done.err) == (0, "")
    text = " ".join(done.out.split())
    assert re.search(r"Slower: median step time \+1[12]\.\d+ % \(1[12]\.\d+ to 1[12]\.\d+\)", text)
    assert "in data (100 % of the change)" in text
    assert "run-to-run spread is unknown" in text
    assert "condition" not in text
    (row,) = [line.split() for line in done.out.splitlines() if line.strip().startswith("median")]
    assert row[-2:] == ["<", "0.0001"]


def test_json_has_the_members_of_the_tabs_answer(logdir: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = stepperf(capsys, "compare", logdir / "again", logdir / "slower", "--json")
    runs.assert_documented(done.json, "/comparison")
    assert done.json["verdict"] == "regression"
    assert done.json["baseline"]["runs"][0]["run"] == str(logdir / "again")


def test_exit_codes(logdir: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    again, slow, slower = logdir / "again", logdir / "slow", logdir / "slower"
    assert stepperf(capsys, "compare", again, slower, "--fail-on-regression").code == 1
    assert stepperf(capsys, "compare", again, slow, "--fail-on-regression").code == 1  # its tail
    assert stepperf(capsys, "compare", slower, again, "--fail-on-regression").code == 0


def test_several_runs_a_side(logdir: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranks = [logdir / "healthy" / "rank_0", logdir / "healthy" / "rank_1"]
    by_comma = stepperf(capsys, "compare", f"{ranks[0]},{ranks[1]}", f"{logdir / 'slow'},{logdir / 'slower'}", "--json")
    by_option = stepperf(
        capsys,
        *("compare", ranks[0], logdir / "slow", "--json"),
        *("--baseline", ranks[1], "--candidate", logdir / "slower"),
    )
    assert by_comma.json == by_option.json
    assert by_comma.json["spread_known"] is True
    assert [side["num_runs"] for side in (by_comma.json["baseline"], by_comma.json["candidate"])] == [2, 2]


def test_other_conditions(logdir: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = stepperf(capsys, "compare", logdir / "healthy", logdir / "slower")
    assert done.code == 0
    assert "Not comparable: world_size 2 → 1" in done.out
    assert "different" in done.out
    assert f"{logdir / 'healthy'} (rank 0 of 2) → {logdir / 'slower'}" in " ".join(done.out.split())
    overruled = stepperf(capsys, "compare", logdir / "healthy", logdir / "slower", "--overrule")
    assert "Compared although world_size differs" in " ".join(overruled.out.split())


def test_too_few_steps(logdir: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = stepperf(capsys, "compare", logdir / "again", logdir / "short", "--min-effect", "0.001")
    assert done.code == 0
    assert "Not enough data for a verdict" in done.out


def test_a_name_with_a_comma_is_one_name(
    logdir: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a,b").symlink_to(logdir / "again")
    done = stepperf(capsys, "compare", tmp_path / "a,b", logdir / "slower", "--json")
    assert done.json["baseline"]["num_runs"] == 1


def test_refusals(logdir: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    again = logdir / "again"
    assert_refused(stepperf(capsys, "compare", again, again), "is on both sides; give each run to one of them")
    assert_refused(stepperf(capsys, "compare", again, "nope"), "'nope' is neither a directory nor LOGDIR:RUN of one")
    assert_refused(stepperf(capsys, "compare", again, f"{logdir}:x"), "has no run 'x'")
    assert_refused(stepperf(capsys, "compare", logdir, again), "holds 5 runs", f"give one as {logdir}:again")
    assert_refused(stepperf(capsys, "compare", again), "Missing argument 'CANDIDATE'")
    assert_refused(stepperf(capsys, "compare", ",", again), "name at least one run")
