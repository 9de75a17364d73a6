"""`/markers`: what is planted is found where it was planted, and noise is met with silence."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

import numpy as np
import pytest
from tensorboard.plugins.base_plugin import TBContext
from werkzeug.test import Client

from tb_stepperf.blocks import Flag
from tb_stepperf.plugin.analyses import Analyses
from tb_stepperf.plugin.plugin import StepPerfPlugin
from tb_stepperf.store import AttemptInfo
from tests.plugin import runs
from tests.plugin.fakes import START_S, FakeMember, FakeStore, body, plugin
from tests.plugin.test_wsgi import serve
from tests.support import logs
from tests.support.providers import LOADERS


def ask(store: Any, **arguments: Any) -> Any:
    """Returns the answer once the analysis is done."""
    client = Client(plugin(store).get_plugin_apps()["/markers"])
    first, second = (body(client.get("/markers", query_string={"run": "job", **arguments})) for _ in range(2))
    assert (first["state"], first["markers"], first["verdict"]) == ("computing", [], None)
    runs.assert_documented({**first, "tails": second["tails"]}, "/markers")
    assert first["definition"] == second["definition"]
    runs.assert_documented(second, "/markers")
    return second


def found(member: FakeMember, **arguments: Any) -> Any:
    """Returns the answer about one member."""
    return ask(FakeStore({"job": [member]}), **arguments)


def attempts(*changes: tuple[int, dict[str, Any]]) -> tuple[AttemptInfo, ...]:
    """Returns one attempt with these changes of its environment."""
    return (AttemptInfo("01700000000000-00000000", "process-0", START_S, first_step=0, changes=changes),)


def test_a_planted_slowdown_is_found_where_it_is_and_put_down_to_its_stage() -> None:
    answer = found(runs.member(3000, at=2000))
    assert (answer["state"], answer["progress"], answer["num_ahead"]) == ("done", 1.0, 0)
    assert (answer["num_steps_analysed"], answer["as_of_step"], answer["num_steps_newer"]) == (2990, "2999", 0)
    (marker,) = answer["markers"]
    assert (marker["id"], marker["kind"], marker["step"], marker["at"]) == (
        "regression-2000",
        "regression",
        "2000",
        2000,
    )
    assert (marker["end_step"], marker["planned"], marker["provisional"]) == (None, None, False)
    assert marker["change_low"] < 0.12 < marker["change_high"]
    assert marker["change_high"] - marker["change_low"] < 0.005
    assert marker["p_value"] < 1e-6
    assert marker["before"] == {"start": "10", "end": "2000", "start_at": 10, "end_at": 2000}
    assert marker["after"] == {"start": "2000", "end": "3000", "start_at": 2000, "end_at": 3000}
    assert (marker["num_before"], marker["num_after"], marker["blamed"]) == (1990, 1000, ["data"])
    attribution = marker["attribution"]
    assert (attribution["outcome"], attribution["clock"]) == ("blamed", "host")
    assert attribution["parts"][0]["stage"] == "data"
    assert attribution["parts"][0]["change_ms"] == pytest.approx(12.0, abs=0.01)
    assert None in [part["stage"] for part in attribution["parts"]]
    assert answer["verdict"].startswith("Slower since step 2,000: +11.99 % (")
    assert answer["verdict"].endswith(", in data.")
    assert answer["verdict_marker"] == "regression-2000"
    assert answer["sample"]["left_out"]["warmup"] == 10


@pytest.mark.parametrize("seed", range(5))
def test_noise_gets_no_marker(seed: int) -> None:
    answer = found(runs.member(3000, seed=seed))
    assert answer["markers"] == []
    assert answer["verdict"] == "No change found in 2,990 steps: nothing above 3 % (5 % for slow steps)."
    assert answer["verdict_marker"] is None


def test_thresholds_are_those_of_the_request() -> None:
    member = runs.member(3000, at=2000)
    silent = found(member, min_effect="0.2", min_tail_effect="0.25")
    assert (silent["markers"], silent["min_effect"], silent["min_tail_effect"]) == ([], 0.2, 0.25)
    assert silent["verdict"].endswith("nothing above 20 % (25 % for slow steps).")
    assert [marker["kind"] for marker in found(member, min_effect="0.2")["markers"]] == ["tail"]
    assert found(member, min_effect="0.11")["markers"][0]["id"] == "regression-2000"


def test_steps_left_out_do_not_shift_the_marker_and_are_no_change() -> None:
    columns = runs.columns(3000, at=2000)
    columns["flags"][500:900] += Flag.PROFILED
    columns["step_time_ms"][500:900] *= 3
    columns["step_time_ms"][1200:1300] = np.nan
    answer = found(FakeMember(columns, steps=10_000 + 2 * np.arange(3000)))
    (marker,) = answer["markers"]
    assert (marker["step"], marker["at"], answer["base"]) == ("14000", 4000, "10000")
    assert marker["before"]["start"] == "10020"
    assert answer["num_steps_analysed"] == 3000 - 10 - 400 - 100
    assert answer["sample"]["left_out"]["profiled"] == 400


def test_positions_on_the_other_axes() -> None:
    columns = runs.columns(3000, at=2000)
    member = FakeMember(columns)
    relative = found(member, axis="relative")
    elapsed_ms = float(columns["step_time_ms"][:2000].sum(dtype=np.float64))
    assert relative["markers"][0]["at"] == pytest.approx(elapsed_ms, abs=2)
    assert relative["markers"][0]["step"] == "2000"
    wall = found(member, axis="wall")
    assert (wall["base"], wall["markers"][0]["at"]) == (str(int(START_S * 1000)), 2_000_000)
    assert wall["markers"][0]["after"]["end_at"] > 2_999_000


def test_too_few_steps() -> None:
    answer = found(runs.member(50))
    assert (answer["state"], answer["verdict"]) == ("insufficient", "Too few steps for a verdict: 40 of at least 60.")
    assert (answer["markers"], answer["tails"]) == ([], None)


def test_a_planned_change_is_told_apart_and_is_no_verdict() -> None:
    planned = {"planned_change": "batch size 64 → 128"}
    answer = found(runs.member(3000, at=2000, attempts=attempts((2005, planned), (200, {"planned_change": "x"}))))
    (marker,) = answer["markers"]
    assert marker["planned"] == "batch size 64 → 128"
    assert marker["sentence"].endswith("Planned: batch size 64 → 128.")
    assert answer["verdict"].startswith("Only planned changes in 2,990 steps: Slower since step 2,000")
    assert {"kind": "planned", "text": "batch size 64 → 128", "distance_steps": 5} in marker["attribution"][
        "coincidences"
    ]
    far = found(runs.member(3000, at=2000, attempts=attempts((2100, planned))))
    assert far["markers"][0]["planned"] is None


def test_conditions_that_changed_nearby_are_coincidences() -> None:
    member = runs.member(3000, at=2000, attempts=attempts((1998, {"num_threads": 1}), (100, {"num_threads": 2})))
    (marker,) = found(member)["markers"]
    told = [one for one in marker["attribution"]["coincidences"] if one["distance_steps"] is not None]
    assert told == [{"kind": "environment", "text": "num_threads is now 1", "distance_steps": -2}]


def test_a_restart_nearby_is_a_coincidence_and_its_first_step_a_possible_cause_of_slow_ones() -> None:
    old, new = AttemptInfo("0", "a", START_S), AttemptInfo("1", "b", START_S + 300)
    columns = runs.columns(3000, at=2000)
    columns["flags"][2000] += Flag.RESTART
    columns["step_time_ms"][2000] = 9000
    member = FakeMember(columns, attempt_index=np.repeat([0, 1], [2000, 1000]), attempts=(old, new))
    answer = found(member)
    (marker,) = answer["markers"]
    assert marker["step"] == "2001"
    assert {"kind": "restart", "text": "attempt 2 starts", "distance_steps": -1} in marker["attribution"][
        "coincidences"
    ]
    causes = {cause["cause"]: cause["num_tail"] for cause in answer["tails"]["causes"]}
    assert causes["restart"] == 1


def test_provisional_markers_until_the_analysis_decides() -> None:
    def noticed(step: int) -> dict[str, Any]:
        return {"provisional_change": {"step": step, "kind": "regression", "change": 0.12}}

    late = runs.member(3000, attempts=attempts((2960, noticed(2950)), (2999, {"provisional_change": "damaged"})))
    (marker,) = found_while_computing(late)["markers"]
    assert (marker["id"], marker["provisional"], marker["step"]) == ("provisional-2950", True, "2950")
    (marker,) = settled(late)["markers"]
    assert (marker["change"], marker["change_low"], marker["attribution"]) == (0.12, None, None)
    assert marker["sentence"].startswith("Slower since step 2,950, as noticed while training: about +12.0 %.")
    merged = settled(runs.member(3000, at=2000, attempts=attempts((2050, noticed(2003)))))
    assert [marker["provisional"] for marker in merged["markers"]] == [False]
    dropped = settled(runs.member(3000, attempts=attempts((2050, noticed(2003)))))
    assert dropped["markers"] == []


def found_while_computing(member: FakeMember) -> Any:
    """Returns the first answer about a member, before any analysis."""
    client = Client(plugin(FakeStore({"job": [member]})).get_plugin_apps()["/markers"])
    answer = body(client.get("/markers", query_string={"run": "job"}))
    assert answer["state"] == "computing"
    return answer


def settled(member: FakeMember) -> Any:
    """Returns the answer after the analysis, whatever stood in the one before."""
    client = Client(plugin(FakeStore({"job": [member]})).get_plugin_apps()["/markers"])
    client.get("/markers", query_string={"run": "job"})
    answer = body(client.get("/markers", query_string={"run": "job"}))
    assert answer["state"] == "done"
    runs.assert_documented(answer, "/markers")
    return answer


def test_slow_steps_and_what_they_coincide_with() -> None:
    columns = runs.columns(3000)
    rows = np.arange(50, 3000, 100)
    columns["step_time_ms"][rows] = 400
    columns["flags"][rows] += Flag.ALLOC_RETRY
    tails = found(FakeMember(columns))["tails"]
    assert (tails["num_tail"], tails["causes"][0]["cause"], tails["causes"][0]["explains"]) == (29, "alloc_retry", True)
    assert tails["unexplained"] == 0
    assert "100 % of those steps have an allocator retry" in tails["sentence"]


def test_slow_steps_are_those_of_the_present_level() -> None:
    columns = runs.columns(3000, at=1500)
    rows = np.arange(1550, 3000, 100)
    columns["step_time_ms"][rows] = 118
    columns["flags"][rows] += Flag.ALLOC_RETRY
    tails = found(FakeMember(columns))["tails"]
    assert (tails["since_step"], tails["num_steps"], tails["num_tail"]) == ("1500", 1500, 15)
    assert tails["sentence"].startswith("Since step 1,500, p99 is ")
    assert tails["causes"][0]["cause"] == "alloc_retry"
    assert found(runs.member(3000, at=2500))["tails"]["since_step"] is None


def test_steps_are_compared_within_their_bucket() -> None:
    columns = runs.columns(3000)
    of_step = (np.arange(3000) >= 1500).astype(np.float32)
    columns["step_time_ms"] = columns["step_time_ms"] * (1 + of_step)
    assert len(found(FakeMember(columns))["markers"]) == 1
    assert found(FakeMember({**columns, "bucket": of_step}))["markers"] == []


def test_the_device_clock_where_it_is_there() -> None:
    columns = runs.columns(3000, at=2000)
    columns["device_step_time_ms"] = columns["step_time_ms"] - 1
    columns["device_stage/compute_ms"] = columns["step_time_ms"] - 2
    answer = found(FakeMember(columns))
    assert answer["clock"] == "host"
    assert answer["markers"][0]["attribution"]["clock"] == "device"
    assert answer["markers"][0]["blamed"] == ["compute"]
    assert found(FakeMember(columns), clock="device")["definition"].endswith("Device clock.")


def test_a_growing_run_keeps_its_markers_until_newer_ones_are_there() -> None:
    now_s = [0.0]
    waiting: list[Any] = []
    store = FakeStore({"job": [runs.member(3000, at=2900)]})
    analyses = Analyses(clock=lambda: now_s[0], start=waiting.append)
    client = Client(StepPerfPlugin(TBContext(logdir="runs"), store, analyses).get_plugin_apps()["/markers"])

    def get() -> Any:
        return body(client.get("/markers", query_string={"run": "job"}))

    get()
    waiting.pop()()
    before = get()
    assert (before["state"], before["as_of_step"]) == ("done", "2999")
    store.runs = {"job": [dataclasses.replace(runs.member(4000, at=2900), version=2)]}
    assert (get()["state"], get()["num_steps_newer"]) == ("done", 1000)
    now_s[0] = 10.0
    stale = get()
    assert (stale["state"], stale["as_of_step"], stale["markers"]) == ("computing", "2999", before["markers"])
    waiting.pop()()
    after = get()
    assert (after["state"], after["as_of_step"], after["num_steps_newer"]) == ("done", "3999", 0)
    assert [marker["id"] for marker in after["markers"]] == ["regression-2900"]
    assert after["markers"][0]["num_after"] == 1100


@pytest.mark.parametrize("loader", LOADERS)
def test_the_whole_way(tmp_path: pathlib.Path, loader: str) -> None:
    logs.write_attempt(
        tmp_path / "job",
        np.arange(3000),
        runs.columns(3000, at=2000, stage="forward"),
        environment=[{"device": "cpu"}, {"step": 1999, "planned_change": "wider model"}],
    )
    with serve(tmp_path, loader) as server:
        answer = server.get("/markers", run="job")
        runs.assert_documented(answer, "/markers")
        (marker,) = answer["markers"]
        assert (marker["step"], marker["blamed"], marker["planned"]) == ("2000", ["forward"], "wider model")
