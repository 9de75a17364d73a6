"""`/bands`, `/stages`, `/memory`, `/throughput`: exact values on all three axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tb_stepperf.blocks import Flag
from tb_stepperf.plugin.params import Query
from tb_stepperf.plugin.payloads.bands import bands_impl
from tb_stepperf.plugin.payloads.memory import memory_impl
from tb_stepperf.plugin.payloads.stages import stages_impl
from tb_stepperf.plugin.payloads.throughput import throughput_impl
from tb_stepperf.store import AttemptInfo, Gap
from tests.plugin.fakes import START_S, FakeMember, source

NAN, INF = float("nan"), float("inf")
ZERO_LEFT_OUT = {"warmup": 0, "profiled": 0, "restart": 0, "not_finite": 0, "negative": 0}


def _numbers_only(payload: Any, allowed: tuple[type, ...] = (int, float, type(None))) -> None:
    """Asserts that lists of numbers hold numbers and null only, never the text "NaN" or a boolean."""
    if isinstance(payload, dict):
        for key, value in payload.items():
            if key in ("start", "end", "base") and isinstance(value, str):
                continue
            _numbers_only(value)
    elif isinstance(payload, list):
        for value in payload:
            if isinstance(value, (dict, list)):
                _numbers_only(value)
            else:
                assert type(value) in allowed, value


def test_bands_with_one_row_in_each_bin_are_the_raw_samples() -> None:
    member = FakeMember({"step_time_ms": [10.0, 20.5, 9.8], "flags": [0, 0, 0]}, steps=[5, 6, 9])
    assert bands_impl(source(member), Query(run="job", percentiles=(50, 99.9))) == {
        "run": "job",
        "member": "0",
        "column": "step_time_ms",
        "unit": "ms",
        "scale": 0.0001,
        "clock": "host",
        "axis": {"axis": "step", "base": "5", "start": [0, 1, 4], "end": [1, 2, 5]},
        "percentiles": [50, 99.9],
        "quantiles": [[100000, 205000, 98000]] * 2,
        "min": [100000, 205000, 98000],
        "max": [100000, 205000, 98000],
        "max_at": [0, 1, 4],
        "num_steps": [1, 1, 1],
        "num_left_out": [0, 0, 0],
        "left_out_max": [None, None, None],
        "sample": {
            "num_written": 3,
            "num_read": 3,
            "num_missing": 0,
            "num_superseded": 0,
            "num_in_range": 3,
            "num_used": 3,
            "left_out": ZERO_LEFT_OUT,
        },
    }


def test_bands_say_what_they_left_out_and_draw_its_largest_value() -> None:
    flags = [Flag.WARMUP | Flag.RESTART, Flag.WARMUP, Flag.PROFILED, 0, Flag.GC, 0]
    member = FakeMember({"step_time_ms": [900, 300, 50, 10, NAN, -1], "flags": flags}, num_superseded=51)
    answer = bands_impl(source(member), Query(run="job", bins=2, percentiles=(50,)))
    assert answer["axis"] == {"axis": "step", "base": "0", "start": [0, 3], "end": [3, 6]}
    assert answer["quantiles"] == [[None, 100000]]
    assert answer["min"] == answer["max"] == [None, 100000]
    assert answer["max_at"] == [None, 3]
    assert answer["num_steps"] == [0, 1]
    assert answer["num_left_out"] == [3, 2]
    assert answer["left_out_max"] == [9000000, None]
    left_out = {"warmup": 2, "profiled": 1, "restart": 0, "not_finite": 1, "negative": 1}
    assert answer["sample"]["left_out"] == left_out
    assert (answer["sample"]["num_used"], answer["sample"]["num_in_range"]) == (1, 6)
    assert (answer["sample"]["num_superseded"], answer["sample"]["num_read"]) == (51, 57)
    kept = bands_impl(source(member), Query(run="job", bins=1, percentiles=(100,), include=("warmup", "profiled")))
    assert kept["quantiles"] == [[3000000]]  # the first row is still left out, now as the restart
    assert kept["sample"]["left_out"] == {**left_out, "warmup": 0, "profiled": 0, "restart": 1}


def test_odd_values_give_valid_numbers_and_counts() -> None:
    member = FakeMember({"step_time_ms": [100.0] * 20 + [NAN, INF, -INF, 0.0, -1.0, 1e-9, 1e12, 3.4e38]})
    answer = bands_impl(source(member), Query(run="job", bins=1))
    _numbers_only(answer)
    assert answer["quantiles"][2] == [1_000_000]
    assert answer["min"] == [0]
    assert answer["max"] == [round(float(np.float32(3.4e38)) * 10_000)]
    assert answer["sample"]["left_out"] == {**ZERO_LEFT_OUT, "not_finite": 3, "negative": 1}


def test_steps_beyond_what_a_float_holds_are_exact() -> None:
    steps = [9007199254740993, 9007199254740994, 2**63 - 1]
    member = FakeMember({"step_time_ms": [10, 20, 30]}, steps=steps)
    answer = bands_impl(source(member), Query(run="job"))
    assert answer["axis"]["base"] == "9007199254740993"
    assert answer["axis"]["start"] == [0, 1, 2**63 - 1 - steps[0]]
    zoomed = bands_impl(source(member), Query(run="job", start=2**63 - 1, end=2**63))
    assert zoomed["axis"] == {"axis": "step", "base": str(2**63 - 1), "start": [0], "end": [1]}
    assert zoomed["max"] == [300000]


def test_the_spike_is_found_at_every_zoom() -> None:
    times = np.full(100_000, 100.0)
    times[77_777] = 10_000.0
    subject = source(FakeMember({"step_time_ms": times}))
    for start, end in [(0, 100_000), (70_000, 80_000), (77_777, 77_778), (77_000, 99_999)]:
        answer = bands_impl(subject, Query(run="job", start=start, end=end))
        index = answer["max"].index(100_000_000)
        assert int(answer["axis"]["base"]) + answer["max_at"][index] == 77_777
        assert sum(answer["num_steps"]) == answer["sample"]["num_in_range"] == end - start


def test_relative_time_is_measured_time() -> None:
    columns = {"step_time_ms": [100, 100, 200], "excluded_ms": [0, 5000, 0]}
    subject = source(FakeMember(columns, wall_time_s=[START_S, START_S + 1, START_S + 900]))
    answer = bands_impl(subject, Query(run="job", axis="relative"))
    assert answer["axis"] == {"axis": "relative", "base": "0", "start": [0, 100, 5200], "end": [1, 101, 5201]}
    zoomed = bands_impl(subject, Query(run="job", axis="relative", start=100, end=5200))
    assert zoomed["axis"]["base"] == "100"
    assert zoomed["max"] == [1000000]


def test_wall_time_is_milliseconds_since_the_epoch_and_held_where_the_clock_went_back() -> None:
    member = FakeMember({"step_time_ms": [100, 100, 100]}, wall_time_s=[START_S, START_S - 3600, START_S + 0.2])
    answer = bands_impl(source(member), Query(run="job", axis="wall"))
    assert answer["axis"] == {"axis": "wall", "base": "1700000000000", "start": [0, 0, 200], "end": [1, 1, 201]}


@pytest.mark.parametrize("axis", ["step", "relative", "wall"])
@pytest.mark.parametrize(("start", "end"), [(None, -5), (10**17, None), (-100, -50), (10**17, 10**17 + 1)])
def test_a_range_without_rows_has_no_bins(axis: str, start: int | None, end: int | None) -> None:
    query = Query(run="job", axis=axis, start=start, end=end)
    subject = source(FakeMember({"step_time_ms": [10, 20], "peak_resident_bytes": [1, 2], "num_samples": [1, 1]}))
    for implementation in (bands_impl, stages_impl, memory_impl, throughput_impl):
        answer = implementation(subject, query)
        assert answer["axis"]["start"] == answer["axis"]["end"] == []
        assert answer["sample"]["num_in_range"] == 0


def test_a_range_wider_than_the_data_is_binned_over_the_data() -> None:
    subject = source(FakeMember({"step_time_ms": [10] * 4}))
    answer = bands_impl(subject, Query(run="job", start=-(2**63), end=2**63, bins=2))
    assert answer["axis"]["start"] == [0, 2]
    assert answer["axis"]["end"] == [2, 4]


def test_device_columns_name_their_clock() -> None:
    columns = {"step_time_ms": [10], "device_step_time_ms": [9], "device_stage/forward_ms": [4]}
    subject = source(FakeMember(columns))
    for column, ms in (("device_step_time_ms", 9), ("device_stage/forward_ms", 4)):
        answer = bands_impl(subject, Query(run="job", column=column))
        assert (answer["clock"], answer["max"]) == ("device", [ms * 10_000])
    answer = stages_impl(subject, Query(run="job", clock="device"))
    assert answer["stages"] == [{"stage": "forward", "mean": [40000]}]
    assert (answer["clock"], answer["step_time"], answer["unlabelled"]) == ("device", [90000], [50000])


def test_stages_are_means_per_used_step_that_add_up() -> None:
    columns = {
        "step_time_ms": [10, 20, 30, 40, 1000],
        "stage/data_ms": [1, 1, NAN, NAN, 500],
        "stage/forward_ms": [6, 12, 15, 25, 500],
        "flags": [0, 0, 0, 0, Flag.WARMUP],
    }
    answer = stages_impl(source(FakeMember(columns)), Query(run="job", bins=2, end=4))
    assert answer["axis"]["end"] == [2, 4]
    assert answer["stages"] == [{"stage": "forward", "mean": [90000, 200000]}, {"stage": "data", "mean": [10000, None]}]
    assert answer["step_time"] == [150000, 350000]
    assert answer["unlabelled"] == [50000, 150000]
    assert answer["num_steps"] == [2, 2]
    whole = stages_impl(source(FakeMember(columns)), Query(run="job", bins=1))
    assert whole["sample"]["left_out"]["warmup"] == 1
    assert whole["step_time"] == [250000]
    assert whole["num_more_stages"] == 0


def test_unlabelled_time_is_never_negative() -> None:
    answer = stages_impl(source(FakeMember({"step_time_ms": [10], "stage/a_ms": [11]})), Query(run="job"))
    assert answer["unlabelled"] == [0]


def test_twelve_thousand_stages_become_twenty_and_the_rest() -> None:
    columns = {f"stage/s{index:05d}_ms": [float(index), NAN] for index in range(12_345)}
    member = FakeMember({"step_time_ms": [1e9, 1e9], **columns})
    answer = stages_impl(source(member), Query(run="job"))
    assert len(answer["stages"]) == 21
    assert answer["stages"][0] == {"stage": "s12344", "mean": [123_440_000, None]}
    assert answer["stages"][-1]["stage"] == "(12325 more)"
    assert answer["stages"][-1]["mean"] == [sum(range(12_325)) * 10_000, None]
    assert answer["num_more_stages"] == 12_325


def test_a_stage_may_have_any_name() -> None:
    names = ["Episode / total (mean)", "", "…", "a_ms", "=1+1"]
    columns = {f"stage/{name}_ms": [1.0] for name in names}
    answer = stages_impl(source(FakeMember({"step_time_ms": [10], **columns})), Query(run="job"))
    assert [stage["stage"] for stage in answer["stages"]] == sorted(names)


def test_memory_peaks_use_every_row() -> None:
    environment = {"peak_memory": "sampled", "peak_memory_note": "read every 5th step"}
    member = FakeMember(
        {
            "step_time_ms": [NAN, 1, 1, 1],
            "peak_resident_bytes": [8e8, NAN, 5e8, NAN],
            "peak_allocated_bytes": [1, 2, 3, 4],
            "flags": [Flag.WARMUP, 0, 0, 0],
        },
        attempts=(AttemptInfo("01700000000000-00000000", "p", START_S, environment=environment),),
    )
    answer = memory_impl(source(member), Query(run="job", bins=2))
    assert answer["columns"] == [
        {
            "column": "peak_allocated_bytes",
            "meaning": "peak of the device memory held by tensors, since the last reading (not every step is read); "
            "read every 5th step",
            "max": [2, 4],
            "min": [1, 3],
            "max_at": [1, 3],
            "num_measured": [2, 2],
        },
        {
            "column": "peak_resident_bytes",
            "meaning": "peak resident memory of the process, since the last reading (not every step is read); "
            "read every 5th step",
            "max": [800_000_000, 500_000_000],
            "min": [800_000_000, 500_000_000],
            "max_at": [0, 2],
            "num_measured": [1, 1],
        },
    ]
    assert answer["reason"] is None
    assert answer["sample"]["num_used"] == 4
    assert answer["sample"]["left_out"] == ZERO_LEFT_OUT


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ({"peak_memory_note": "/proc is not there"}, "No memory peaks were recorded: /proc is not there"),
        ({"peak_memory": "off"}, "No memory peaks were recorded: they are switched off in the writer"),
        ({}, "No memory peaks were recorded, and the log does not say why"),
    ],
)
def test_without_memory_there_is_a_reason(environment: dict[str, str], reason: str) -> None:
    attempts = (AttemptInfo("01700000000000-00000000", "p", START_S, environment=environment),)
    answer = memory_impl(source(FakeMember({"step_time_ms": [1]}, attempts=attempts)), Query(run="job"))
    assert (answer["columns"], answer["reason"]) == ([], reason)


def test_throughput_is_sum_over_sum_of_the_steps_that_carry_samples() -> None:
    columns = {
        "step_time_ms": [10, 30, 50, 10],
        "num_samples": [1, 8, NAN, 100],
        "flags": [0, 0, 0, Flag.PROFILED],
    }
    answer = throughput_impl(source(FakeMember(columns)), Query(run="job", bins=1))
    assert answer["series"] == [{"column": "num_samples", "unit": "samples/s", "value": [225.0]}]
    assert answer["reason"] is None
    assert "sum of num_samples" in answer["definition"]
    assert answer["sample"]["num_used"] == 3
    empty = throughput_impl(source(FakeMember({"step_time_ms": [1], "num_tokens": [NAN]})), Query(run="job"))
    assert empty["series"] == [{"column": "num_tokens", "unit": "tokens/s", "value": [None]}]
    none = throughput_impl(source(FakeMember({"step_time_ms": [1]})), Query(run="job"))
    assert none["series"] == []
    assert "neither num_samples nor num_tokens" in none["reason"]


def test_missing_rows_are_counted() -> None:
    member = FakeMember({"step_time_ms": [1, 1]}, steps=[0, 513], gaps=(Gap(0, 0, 513, 512),))
    sample = bands_impl(source(member), Query(run="job"))["sample"]
    assert (sample["num_written"], sample["num_read"], sample["num_missing"]) == (514, 2, 512)
