"""`/summary`, `/runs` and `/conditions`: exact values."""

from __future__ import annotations

import dataclasses

import pytest

from tb_stepperf.analysis import latest_environment
from tb_stepperf.blocks import Flag
from tb_stepperf.plugin.definitions import definitions, not_covered
from tb_stepperf.plugin.params import Query
from tb_stepperf.plugin.payloads.conditions import conditions_impl
from tb_stepperf.plugin.payloads.runs import runs_impl
from tb_stepperf.plugin.payloads.summary import summary_impl
from tb_stepperf.store import AttemptInfo, Problem
from tests.plugin.fakes import START_S, FakeMember, FakeStore, source

NAN = float("nan")


def _member() -> FakeMember:
    return FakeMember(
        {
            "step_time_ms": [400, 10, 20, 30, 40],
            "device_step_time_ms": [NAN, 9, 19, 29, 39],
            "stage/data_ms": [100, 1, 2, 3, 4],
            "stage/forward_ms": [200, 8, 16, 24, 32],
            "device_stage/forward_ms": [NAN, 7, 15, 23, 31],
            "excluded_ms": [0, 0, 500, 0, 0],
            "gc_ms": [0, 0, 0, 2, 0],
            "num_samples": [4, 4, 4, 4, 4],
            "num_micro_steps": [8, 8, 8, 8, 4],
            "peak_resident_bytes": [NAN, 8e8, NAN, 7e8, NAN],
            "flags": [Flag.WARMUP | Flag.RESTART, 0, Flag.EXCLUDED, Flag.GC, 0],
        },
        steps=[9007199254740993 + index for index in range(5)],
        attempts=(
            AttemptInfo("01700000000000-00000000", "p", START_S, counters={"num_interrupted": 1, "num_rows_lost": 2}),
            AttemptInfo("01700000000001-00000000", "p", START_S + 1, counters={"num_interrupted": 3}),
        ),
    )


def test_summary() -> None:
    answer = summary_impl(source(_member()), Query(run="job"))
    assert answer["range"] == {"axis": "step", "start": "9007199254740993", "end": "9007199254740998"}
    assert answer["step_time_ms"] == {
        "p5": 10.0,
        "p25": 10.0,
        "p50": 20.0,
        "p75": 30.0,
        "p95": 40.0,
        "p99": 40.0,
        "mean": 25.0,
        "min": 10.0,
        "max": 40.0,
        "max_step": "9007199254740997",
        "total_ms": 100.0,
    }
    assert answer["device_step_time_ms"]["p50"] == 19.0
    assert answer["stages"] == [
        {
            "stage": "forward",
            "total_ms": 80.0,
            "mean_ms": 20.0,
            "share": 0.888889,
            "of_step": 0.8,
            "device_mean_ms": 19.0,
        },
        {"stage": "data", "total_ms": 10.0, "mean_ms": 2.5, "share": 0.111111, "of_step": 0.1, "device_mean_ms": None},
    ]
    assert answer["unlabelled"] == {"total_ms": 10.0, "mean_ms": 2.5, "of_step": 0.1}
    assert answer["coverage"] == 0.9
    assert answer["throughput"]["samples_per_s"] == 160.0
    assert answer["throughput"]["tokens_per_s"] is None
    assert answer["peaks"] == [
        {
            "column": "peak_resident_bytes",
            "value": 800_000_000,
            "step": "9007199254740994",
            "num_measured": 2,
            "meaning": "peak resident memory of the process",
        }
    ]
    assert answer["warmup"] == {"num_steps": 1, "total_ms": 400.0}
    assert answer["excluded"] == {"num_steps": 1, "total_ms": 500.0}
    assert answer["gc"] == {"num_steps": 1, "total_ms": 2.0}
    assert answer["num_micro_steps"] == {"min": 4, "max": 8, "total": 36}
    assert answer["counters"] == {"num_interrupted": 4, "num_rows_lost": 2}
    assert answer["sample"]["num_used"] == 4
    assert answer["sample"]["left_out"]["warmup"] == 1
    assert answer["clock"] == "host"


def test_summary_of_a_range_and_with_flagged_rows() -> None:
    answer = summary_impl(source(_member()), Query(run="job", end=9007199254740995, include=("warmup", "restart")))
    assert answer["range"]["end"] == "9007199254740995"
    assert answer["step_time_ms"]["max"] == 400.0
    assert answer["step_time_ms"]["max_step"] == "9007199254740993"
    assert answer["sample"]["num_in_range"] == answer["sample"]["num_used"] == 2


def test_summary_without_a_used_row_has_nulls() -> None:
    answer = summary_impl(source(FakeMember({"step_time_ms": [NAN]})), Query(run="job"))
    assert set(answer["step_time_ms"].values()) == {None, 0.0}
    assert answer["device_step_time_ms"] is None
    assert answer["stages"] == []
    assert answer["coverage"] is None
    assert answer["unlabelled"] == {"total_ms": 0.0, "mean_ms": 0.0, "of_step": None}
    assert answer["throughput"]["samples_per_s"] is None
    assert answer["num_micro_steps"] is None
    assert answer["excluded"] == answer["gc"] == {"num_steps": 0, "total_ms": None}


def test_summary_names_twenty_stages() -> None:
    columns = {f"stage/s{index:02d}_ms": [float(index)] for index in range(25)}
    device = {f"device_stage/s{index:02d}_ms": [1.0] for index in range(25)}
    answer = summary_impl(source(FakeMember({"step_time_ms": [1000], **columns, **device})), Query(run="job"))
    assert len(answer["stages"]) == 21
    assert answer["stages"][0]["stage"] == "s24"
    assert answer["stages"][-1]["stage"] == "(5 more)"
    assert answer["stages"][-1]["total_ms"] == 0 + 1 + 2 + 3 + 4
    assert answer["stages"][-1]["device_mean_ms"] == 5.0


def test_accumulation_and_batches_of_different_size() -> None:
    # 50 optimizer steps of 8 micro-steps, batches of 1, 2, 1, 4 samples: 800 samples in 18.5 s
    member = FakeMember({"step_time_ms": [370.0] * 50, "num_samples": [16] * 50, "num_micro_steps": [8] * 50})
    answer = summary_impl(source(member), Query(run="job"))
    assert answer["step_time_ms"]["total_ms"] == 18_500.0
    assert answer["throughput"]["samples_per_s"] == round(800 / 18.5, 3)
    assert answer["num_micro_steps"] == {"min": 8, "max": 8, "total": 400}
    assert answer["sample"]["num_used"] == 50


def test_odd_values() -> None:
    inf = float("inf")
    times = [100.0] * 20 + [NAN, inf, -inf, 0.0, -1.0, 1e-9, 1e12, 3.4e38]
    answer = summary_impl(source(FakeMember({"step_time_ms": times})), Query(run="job"))
    assert answer["step_time_ms"]["p50"] == 100.0
    assert answer["step_time_ms"]["min"] == 0.0
    assert answer["sample"]["left_out"]["not_finite"] == 3
    assert answer["sample"]["left_out"]["negative"] == 1


def test_runs() -> None:
    member = FakeMember({"step_time_ms": [1, 1]}, steps=[0, 9007199254740993])
    store = FakeStore({"job": [member, dataclasses.replace(member, rank=1)]}, (Problem("old", "t", "newer"),), 4)
    assert runs_impl(store.catalog(None, ""), "runs") == {
        "runs": [
            {
                "run": "job",
                "world_size": 2,
                "missing_ranks": [],
                "members": [
                    {
                        "member": str(rank),
                        "rank": rank,
                        "writer": 0,
                        "label": f"rank {rank}",
                        "tb_run": "job",
                        "num_steps": 2,
                        "first_step": "0",
                        "last_step": "9007199254740993",
                        "first_wall_time_s": START_S,
                        "last_wall_time_s": START_S + 1,
                        "num_attempts": 1,
                        "end": None,
                        "columns": ["step_time_ms", "flags"],
                    }
                    for rank in (0, 1)
                ],
                "notes": [],
            }
        ],
        "problems": [{"run": "old", "message": "newer"}],
        "num_runs_without_data": 4,
        "logdir": "runs",
    }


def test_runs_without_rows_have_no_steps() -> None:
    store = FakeStore({"job": [FakeMember({})]})
    member = runs_impl(store.catalog(None, ""), "")["runs"][0]["members"][0]
    assert (member["first_step"], member["last_step"], member["first_wall_time_s"]) == (None, None, None)


def test_conditions() -> None:
    attempt = AttemptInfo(
        "01700000000000-00000000",
        "p",
        START_S,
        first_step=0,
        last_step=11999,
        num_rows=12000,
        num_superseded=51,
        end="closed",
        counters={"num_interrupted": 1},
        environment={"device": "cpu", "user": {"lr": NAN, "betas": [0.9, float("inf")]}},
        changes=(
            (400, {"batch": "[64, 3]"}),
            (500, {"provisional_change": {"step": 450, "kind": "regression", "change": 0.1}}),
        ),
    )
    member = FakeMember({"step_time_ms": [1], "stage/a_ms": [1]}, attempts=(attempt,))
    answer = conditions_impl(source(member), Query(run="job"))
    assert answer["attempts"] == [
        {
            "attempt": "01700000000000-00000000",
            "started_s": START_S,
            "first_step": "0",
            "last_step": "11999",
            "num_rows": 12000,
            "num_superseded": 51,
            "end": "closed",
            "counters": {"num_interrupted": 1},
            "environment": {"device": "cpu", "user": {"lr": None, "betas": [0.9, None]}},
            "changes": [{"step": "400", "fields": {"batch": "[64, 3]"}}],
        }
    ]
    terms = {definition["term"] for definition in answer["definitions"]}
    assert {"step_time_ms", "share", "coverage", "quantile", "bands", "left out"} <= terms
    assert "peak_resident_bytes" not in terms
    assert answer["not_covered"]


def test_definitions_follow_the_columns_and_the_environment() -> None:
    texts = definitions(["step_time_ms", "peak_allocated_bytes", "num_samples"], {"peak_memory": "cumulative"})
    assert texts["peak_allocated_bytes"] == (
        "Peak of the device memory held by tensors, since the process started (a running maximum: it never falls)."
    )
    assert texts["throughput"].startswith("Sum of num_samples")
    assert "share" not in texts
    assert "the first 7 steps of an attempt" in definitions([], {"warmup_steps": 7})["left out"]


@pytest.mark.parametrize(
    ("columns", "environment", "world_size", "sentence"),
    [
        ([], {"device": "cpu"}, 1, "The clock is the host's"),
        ([], {"device": "cuda"}, 1, "Work of the device (cuda) runs asynchronously"),
        (["device_step_time_ms"], {"device": "cuda"}, 1, "not which kernel"),
        ([], {"peak_memory": "sampled"}, 1, "Memory peaks are read only every few steps"),
        ([], {"peak_memory": "cumulative"}, 1, "Memory peaks are running maxima"),
        ([], {}, 8, "are not compared yet"),
        ([], {}, 1, "at the very end of a process that was killed"),
    ],
)
def test_what_is_not_covered(columns: list[str], environment: dict, world_size: int, sentence: str) -> None:
    assert any(sentence in text for text in not_covered(columns, environment, world_size))


def test_the_latest_environment_is_that_of_the_newest_attempt_that_has_one_with_its_changes() -> None:
    old = AttemptInfo("a", "p", 0.0, environment={"device": "cpu", "batch": 1}, changes=((5, {"batch": 2}),))
    new = AttemptInfo("b", "p", 1.0)
    assert latest_environment([old, new]) == {"device": "cpu", "batch": 2}
    assert latest_environment([]) == {}
