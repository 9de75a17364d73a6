"""Runs `stepperf` in this process."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from tb_stepperf.cli.app import run


@dataclasses.dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed; NaN, Infinity and the like are failures."""

        def refuse(text: str) -> Any:
            raise AssertionError(f"{text} is no JSON")

        return json.loads(self.out, parse_constant=refuse)


def stepperf(capsys: pytest.CaptureFixture[str], *arguments: object) -> Done:
    """Runs a command line."""
    capsys.readouterr()
    code = run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return Done(code, out, err)


def assert_refused(done: Done, *parts: str) -> None:
    """Asserts one sentence on standard error, nothing else, and exit code 2."""
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("stepperf: ")
    assert done.err.count("\n") == 1
    for part in parts:
        assert part in done.err
