"""Conditions, field by field."""

from __future__ import annotations

import pytest

from tb_stepperf.errors import ArgumentError
from tb_stepperf.statistics.comparison import check_conditions


def test_fields_are_same_different_or_unknown() -> None:
    checks = check_conditions(
        [{"device_name": "H100", "world_size": 8, "dtype": "bf16", "hostname_hash": "a"}],
        [{"device_name": "A100", "world_size": 8.0, "hostname_hash": "b"}],
    )
    assert {check.field: check.status for check in checks} == {
        "device_name": "different",
        "world_size": "same",
        "dtype": "unknown",
    }
    assert checks[0].baseline == ("H100",)
    assert checks[0].candidate == ("A100",)


def test_runs_that_disagree_within_a_side_are_different() -> None:
    (check,) = check_conditions([{"world_size": 8}, {"world_size": 16}], [{"world_size": 8}])
    assert check.status == "different"
    assert check.baseline == ("8", "16")


def test_batches_compare_by_content() -> None:
    first = {"batch": [{"shape": [64, 3], "dtype": "f4"}]}
    second = {"batch": ({"dtype": "f4", "shape": (64, 3)},)}
    (check,) = check_conditions([first], [second])
    assert check.status == "same"


@pytest.mark.parametrize("overrule", [True, ["device_name"], "device_name"])
def test_a_difference_may_be_overruled(overrule: bool | list[str] | str) -> None:
    (check,) = check_conditions([{"device_name": "a"}], [{"device_name": "b"}], overrule=overrule)
    assert check.status == "overruled"


def test_only_the_named_field_is_overruled() -> None:
    checks = check_conditions(
        [{"device_name": "a", "world_size": 1}], [{"device_name": "b", "world_size": 2}], overrule=["device_name"]
    )
    assert [check.status for check in checks] == ["overruled", "different"]


def test_overruling_an_unknown_field_is_an_error() -> None:
    with pytest.raises(ArgumentError, match=r"overrule names \['colour'\]"):
        check_conditions([None], [None], overrule=["colour"])


def test_no_conditions_give_no_checks() -> None:
    assert check_conditions([None], [{}]) == ()
