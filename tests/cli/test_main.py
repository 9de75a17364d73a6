"""The console script: what it does where something is missing, broken or gone."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

from tb_stepperf import __version__
from tb_stepperf.cli import app
from tests.cli.terminal import assert_refused, stepperf

_MAIN = "from tb_stepperf.cli.main import main; sys.exit(main())"


def test_it_says_what_to_install_in_one_sentence() -> None:
    for library in ("click", "rich"):
        code = f"import sys; sys.modules[{library!r}] = None; {_MAIN}"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "stepperf: the terminal commands need two more packages: pip install click rich\n"


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert stepperf(capsys, "--version").out == f"stepperf, version {__version__}\n"
    for arguments in (("--help",), ("markers", "-h"), ("compare", "-h")):
        done = stepperf(capsys, *arguments)
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith("Usage: stepperf")
    assert_refused(stepperf(capsys), "Missing command")


def test_a_fault_of_ours_is_neither_a_result_nor_a_regression(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(app.app, "invoke", broken)
    done = stepperf(capsys, "markers", ".")
    assert done.code == 3
    assert "ZeroDivisionError: planted" in done.err


def test_a_reader_that_leaves_is_no_fault(logdir: pathlib.Path) -> None:
    command = [sys.executable, "-c", f"import sys; {_MAIN}", "markers", str(logdir), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 141)


def test_a_terminal_that_lacks_signs_shows_something(logdir: pathlib.Path) -> None:
    command = [sys.executable, "-c", f"import sys; {_MAIN}", "markers", str(logdir), "--run", "slow"]
    done = subprocess.run(command, capture_output=True, env={"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Slower since step 2,000" in done.stdout


def test_the_terminal_loads_neither_torch_nor_werkzeug() -> None:
    code = "import sys, tb_stepperf.cli.app; print([m for m in ('torch', 'werkzeug') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
