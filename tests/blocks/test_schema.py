"""Names of columns and flags."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_stepperf.blocks import Flag, device_stage_column, device_stage_name, stage_column, stage_name
from tb_stepperf.blocks.schema import LEFT_OUT_BY_DEFAULT


@given(st.text())
def test_every_text_can_name_a_stage(name: str) -> None:
    assert stage_name(stage_column(name)) == name
    assert device_stage_name(device_stage_column(name)) == name
    assert stage_name(device_stage_column(name)) is None


@pytest.mark.parametrize("column", ["step_time_ms", "stage/", "stage/_m", "stage/forward", "gc_ms", ""])
def test_other_columns_are_no_stages(column: str) -> None:
    assert stage_name(column) is None
    assert device_stage_name(column) is None


def test_flags_are_exact_in_float32_and_never_change() -> None:
    assert {flag.name.lower(): int(flag) for flag in Flag if flag.name} == {
        "warmup": 1,
        "profiled": 2,
        "excluded": 4,
        "gc": 8,
        "recompiled": 16,
        "alloc_retry": 32,
        "restart": 64,
        "logged": 128,
        "after_interruption": 256,
    }
    assert sum(Flag) < 2**24
    assert LEFT_OUT_BY_DEFAULT == Flag.WARMUP | Flag.PROFILED | Flag.RESTART
