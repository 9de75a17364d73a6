"""`/comparison`: planted differences, none, and sides that must not be compared."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

import numpy as np
import pytest
from werkzeug.test import Client

from tb_stepperf.store import AttemptInfo
from tests.plugin import runs
from tests.plugin.fakes import START_S, FakeMember, FakeStore, body, get, plugin
from tests.plugin.test_wsgi import serve
from tests.support import logs
from tests.support.providers import LOADERS


def attempts(**environment: Any) -> tuple[AttemptInfo, ...]:
    """Returns one attempt under these conditions."""
    return (AttemptInfo("01700000000000-00000000", "process-0", START_S, environment=environment),)


def compare(baseline: Any, candidate: Any, store: FakeStore, **arguments: Any) -> Any:
    """Returns the answer, which must have the documented members."""
    response = get(store, "/comparison", baseline=baseline, candidate=candidate, **arguments)
    assert response.status_code == 200, response.text
    answer = body(response)
    runs.assert_documented(answer, "/comparison")
    return answer


def store(**members: FakeMember) -> FakeStore:
    """Returns a store of runs of one member."""
    return FakeStore({name: [member] for name, member in members.items()})


def test_a_planted_slowdown_is_a_regression_in_its_stage() -> None:
    answer = compare("a", "b", store(a=runs.member(2000), b=runs.member(2000, at=0, seed=1)))
    assert (answer["verdict"], answer["decided_by"]) == ("regression", "median")
    median = answer["measures"][0]
    assert (median["measure"], median["unit"]) == ("median", "ms")
    assert median["low"] < 0.12 < median["high"]
    assert [measure["measure"] for measure in answer["measures"]] == ["median", "p95", "mean", "throughput"]
    assert answer["measures"][3]["change"] == pytest.approx(-0.107, abs=0.003)
    assert answer["measures"][3]["unit"] == "samples/s"
    assert (answer["attribution"]["outcome"], answer["attribution"]["parts"][0]["stage"]) == ("blamed", "data")
    assert answer["quantiles"]["percentiles"][0] == 1
    assert all(change == pytest.approx(0.12, abs=0.01) for change in answer["quantiles"]["change"])
    assert (answer["spread_known"], answer["between_run_sd"]) == (False, None)
    assert "run-to-run spread is unknown" in answer["spread_note"]
    assert answer["spread_note"] not in answer["notes"]
    side = answer["candidate"]
    assert (side["num_runs"], side["num_given"], side["runs"][0]["sample"]["left_out"]["warmup"]) == (1, 1990, 10)


def test_no_difference_is_the_same_and_not_merely_not_significant() -> None:
    answer = compare("a", "b", store(a=runs.member(2000), b=runs.member(2000, seed=1)))
    assert answer["verdict"] == "same"
    assert answer["sentence"].startswith("Same within 3 %")
    assert answer["attribution"]["outcome"] == "nothing"


def test_several_runs_a_side_tell_the_spread() -> None:
    members = {name: runs.member(2000, seed=seed) for seed, name in enumerate("abcd")}
    answer = compare(["a", "b"], ["c", "d"], store(**members))
    assert (answer["verdict"], answer["spread_known"], answer["spread_note"]) == ("same", True, None)
    assert [run["run"] for run in answer["baseline"]["runs"]] == ["a", "b"]
    assert answer["candidate"]["num_runs"] == 2


def test_other_conditions_are_not_comparable_unless_overruled() -> None:
    members = store(
        a=runs.member(2000, attempts=attempts(device_name="H100", user={"model_size": "7B"})),
        b=runs.member(2000, seed=1, attempts=attempts(device_name="A100", user={"model_size": "7B"})),
    )
    answer = compare("a", "b", members)
    assert answer["verdict"] == "not comparable"
    checks = {check["field"]: check for check in answer["conditions"]}
    assert checks["device_name"] == {
        "field": "device_name",
        "baseline": ["H100"],
        "candidate": ["A100"],
        "status": "different",
    }
    assert checks["model_size"]["status"] == "same"
    overruled = compare("a", "b", members, overrule=1)
    assert (overruled["verdict"], overruled["overruled"]) == ("same", ["device_name"])


def test_too_few_steps_say_what_would_be_needed() -> None:
    answer = compare("a", "b", store(a=runs.member(30), b=runs.member(2000)))
    assert answer["verdict"] == "insufficient data"
    assert answer["needed"]["num_steps"] == 300
    assert "at least 30 a run are needed" in answer["needed"]["text"]
    assert answer["quantiles"] is None
    assert answer["measures"][0]["change"] is None


def test_steps_are_compared_within_buckets_of_the_same_name() -> None:
    def member(seed: int, share: float, names: dict[str, str]) -> FakeMember:
        columns = runs.columns(3000, seed=seed)
        is_long = np.random.default_rng(seed).random(3000) < share
        columns["step_time_ms"] = columns["step_time_ms"] * np.where(is_long, 2, 1).astype(np.float32)
        of_name = {name: float(number) for number, name in names.items()}
        columns["bucket"] = np.where(is_long, of_name["long"], of_name["short"]).astype(np.float32)
        return FakeMember(columns, attempts=attempts(buckets=names))

    members = store(a=member(0, 0.3, {"0": "short", "1": "long"}), b=member(1, 0.7, {"7": "short", "3": "long"}))
    answer = compare("a", "b", members)
    assert (answer["verdict"], answer["level_basis"]) == ("same", "bucket")
    assert sorted(level["label"].split()[-1].strip("'\"") for level in answer["levels"]) == ["long", "short"]


def test_an_answer_is_remembered_until_data_change() -> None:
    members = store(a=runs.member(2000), b=runs.member(2000, seed=1))
    client = Client(plugin(members).get_plugin_apps()["/comparison"])

    def num_reads_of_rows() -> int:
        before = len(members.reads)
        client.get("/comparison", query_string={"baseline": "a", "candidate": "b"})
        return len([read for read in members.reads[before:] if read[-1] != 0])

    assert num_reads_of_rows() > 0
    assert num_reads_of_rows() == 0
    members.runs = {**members.runs, "b": [dataclasses.replace(members.runs["b"][0], version=2)]}
    assert num_reads_of_rows() > 0


@pytest.mark.parametrize("loader", LOADERS)
def test_the_whole_way(tmp_path: pathlib.Path, loader: str) -> None:
    for number, (name, at) in enumerate({"fast": None, "slow": 0}.items()):
        columns = runs.columns(1500, at=at, seed=number, stage="backward")
        logs.write_attempt(tmp_path / name, np.arange(1500), columns, environment=[{"device": "cpu", "num_devices": 0}])
    with serve(tmp_path, loader, num_attempts=2) as server:
        answer = server.get("/comparison", baseline="fast", candidate="slow")
        assert answer["verdict"] == "regression"
        assert answer["attribution"]["parts"][0]["stage"] == "backward"
        assert {check["field"]: check["status"] for check in answer["conditions"]}["device"] == "same"
