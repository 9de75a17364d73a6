"""The names that users may rely on. A change here is a change of the interface: say so in CHANGELOG.md."""

from __future__ import annotations

import inspect

import pytest

import tb_stepperf


def test_public_names() -> None:
    assert tb_stepperf.__all__ == ["CaptureRules", "StepPerfWriter", "__version__", "measure_step"]
    assert dir(tb_stepperf) == sorted(tb_stepperf.__all__)


def test_an_unknown_name_says_what_there_is() -> None:
    with pytest.raises(AttributeError, match="no attribute 'StepWriter'; it offers CaptureRules, StepPerfWriter"):
        tb_stepperf.StepWriter  # noqa: B018


def test_members_of_the_writer() -> None:
    members = {name for name in dir(tb_stepperf.StepPerfWriter) if not name.startswith("_")}
    assert members == {
        "close",
        "counters",
        "data",
        "exclude",
        "expect_change",
        "flush",
        "lap",
        "log_step",
        "logdir",
        "peak_allocated_bytes_overall",
        "profile",
        "request_capture",
        "stage",
        "step",
        "step_number",
        "trace_handler",
        "update_environment",
    }


def test_everything_public_of_the_writer_is_documented() -> None:
    for name, member in inspect.getmembers(tb_stepperf.StepPerfWriter):
        if not name.startswith("_"):
            assert inspect.getdoc(member), f"StepPerfWriter.{name} has no docstring"
