"""Which rows are looked at, and what kind of step each is."""

from __future__ import annotations

import numpy as np
import pytest

from tb_stepperf.analysis.series import need_clock, series_of, stage_columns
from tb_stepperf.blocks import Flag
from tb_stepperf.errors import NotFoundError
from tb_stepperf.store import AttemptInfo
from tests.plugin.fakes import START_S, FakeMember

NAN = float("nan")


def test_flagged_rows_and_what_is_no_time_are_left_out() -> None:
    member = FakeMember(
        {
            "step_time_ms": [10, 11, 0, NAN, -1, 12, 13, 14],
            "flags": [Flag.WARMUP, 0, 0, 0, 0, Flag.PROFILED, Flag.GC, Flag.RESTART],
            "num_samples": [1, 2, 3, 4, 5, 6, 7, 8],
            "num_tokens": [NAN] * 8,
        },
        steps=range(100, 108),
    )
    series = series_of(member.table("job"), "host")
    assert (series.num_used, series.steps.tolist(), series.step_time_ms.tolist()) == (2, [101, 106], [11.0, 13.0])
    assert series.column("num_samples").tolist() == [2.0, 7.0]
    assert series.column("num_tokens") is None
    assert series.column("peak_resident_bytes") is None
    assert series.selection.left_out == {"warmup": 1, "profiled": 1, "restart": 1, "not_finite": 1, "negative": 1}


def test_buckets_are_known_by_name_across_attempts() -> None:
    first = AttemptInfo(
        "0",
        "a",
        START_S,
        environment={"buckets": {"0": "short"}},
        changes=((2, {"buckets": {"0": "short", "1": "long"}}),),
    )
    second = AttemptInfo("1", "b", START_S, environment={"buckets": {"0": "long"}})
    member = FakeMember(
        {"step_time_ms": [10] * 6, "bucket": [0, 1, NAN, 0, 7, 0]},
        attempt_index=[0, 0, 0, 1, 1, 1],
        attempts=(first, second),
    )
    buckets = series_of(member.table("job"), "host").buckets
    assert buckets.tolist() == ["short", "long", "none", "long", "7", "long"]


def test_steps_of_one_kind_have_no_buckets() -> None:
    for columns in ({"step_time_ms": [10, 10]}, {"step_time_ms": [10, 10], "bucket": [3, 3]}):
        assert series_of(FakeMember(columns).table("job"), "host").buckets is None


def test_clocks() -> None:
    columns = ["step_time_ms", "stage/b_ms", "stage/a_ms", "device_stage/a_ms"]
    assert stage_columns(columns, "host") == {"a": "stage/a_ms", "b": "stage/b_ms"}
    assert stage_columns(columns, "device") == {"a": "device_stage/a_ms"}
    need_clock("host", columns, "job")
    with pytest.raises(NotFoundError, match="'job' has no device time"):
        need_clock("device", columns, "job")
    table = FakeMember({"step_time_ms": np.full(5, 10.0)}).table("job")
    assert series_of(table, "device").num_used == 0
