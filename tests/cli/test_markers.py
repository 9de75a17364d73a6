"""`stepperf markers`."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from tests.cli.terminal import assert_refused, stepperf
from tests.plugin import runs
from tests.plugin.test_wsgi import serve
from tests.support import logs


def test_text_says_since_when_how_much_and_where(logdir: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = stepperf(capsys, "markers", logdir)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert "healthy  rank 0 of 2, 2,990 steps, host clock" in lines
    assert lines.count("  No change found in 2,990 steps: nothing above 3 % (5 % for slow steps).") == 3
    assert "  Too few steps for a verdict: 30 of at least 60." in lines
    (verdict,) = [line for line in lines if "Slower since" in line]
    assert verdict.startswith("  Slower since step 2,000: +12.0")
    assert verdict.endswith(", in data.")
    (row,) = [line.split() for line in lines if "regression" in line]
    assert (row[0], row[1], row[-1]) == ("2,000", "regression", "data")


def test_json_is_what_the_tab_gets(logdir: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = stepperf(capsys, "markers", logdir, "--run", "slow", "--json")
    assert done.code == 0
    (found,) = done.json["runs"]
    with serve(logdir, num_attempts=6) as server:
        answer = server.get("/markers", run="slow")
    background = {"progress", "num_ahead", "num_steps_newer"}
    assert found == {name: value for name, value in answer.items() if name not in background}
    assert [marker["id"] for marker in found["markers"]] == ["regression-2000"]


def test_options(logdir: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = stepperf(capsys, "markers", logdir, "--run", "healthy", "--run", "slow", "--member", "0", "--json").json
    assert [run["run"] for run in chosen["runs"]] == ["healthy", "slow"]
    other = stepperf(capsys, "markers", logdir, "--run", "healthy", "--member", "1", "--json").json
    assert other["runs"][0]["member"] == "1"
    silent = stepperf(
        capsys, "markers", logdir, "--run", "slow", "--min-effect", 0.2, "--min-tail-effect", 0.2, "--json"
    ).json
    assert silent["runs"][0]["markers"] == []


def test_the_exit_code_tells_ci_of_a_regression(logdir: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert stepperf(capsys, "markers", logdir, "--fail-on-regression").code == 1
    assert stepperf(capsys, "markers", logdir, "--run", "again", "--fail-on-regression").code == 0


def test_what_was_planned_or_has_recovered_or_became_faster_is_no_regression(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planned = [{"device": "cpu"}, {"step": 2001, "planned_change": "longer context"}]
    logs.write_attempt(tmp_path / "planned", np.arange(3000), runs.columns(at=2000), environment=planned)
    recovered = runs.columns(6000, at=2000)
    for name in ("step_time_ms", "stage/data_ms"):
        recovered[name][4000:] -= np.float32(12)
    logs.write_attempt(tmp_path / "recovered", np.arange(6000), recovered)
    dip = runs.columns(6000, at=2000, more_ms=-4)
    dip["step_time_ms"][4000:] += np.float32(4)
    logs.write_attempt(tmp_path / "dip", np.arange(6000), dip)
    done = stepperf(capsys, "markers", tmp_path, "--fail-on-regression")
    assert done.code == 0
    assert "planned: longer context" in " ".join(done.out.split())
    assert "Faster again since step 4,000" in done.out
    assert "Slower again since step 4,000" in done.out


def test_names_cannot_steer_the_terminal(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs.write_attempt(tmp_path / "a\x1b[31m[bold]", np.arange(100), runs.columns(100))
    done = stepperf(capsys, "markers", tmp_path)
    assert "\x1b" not in done.out
    assert "[31m[bold]" in done.out


def test_refusals(logdir: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert_refused(stepperf(capsys, "markers", tmp_path / "no"), "is not a directory; give a log directory")
    assert_refused(stepperf(capsys, "markers", tmp_path), "has no step data; was it written by StepPerfWriter?")
    assert_refused(stepperf(capsys, "markers", logdir, "--run", "x"), "has no run 'x'; it has 'again', 'healthy'")
    assert_refused(stepperf(capsys, "markers", logdir, "--member", "7"), "has no member '7'; it has '0'")
    assert_refused(stepperf(capsys, "markers", logdir, "--clock", "device"), "has no device time")
    assert_refused(stepperf(capsys, "markers", logdir, "--min-effect", "3"), "3.0 is not in the range")
    assert_refused(stepperf(capsys, "markers"), "Missing argument 'LOGDIR'")
    assert_refused(stepperf(capsys, "mark", logdir), "No such command 'mark'")
