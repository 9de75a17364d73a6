"""`/traces`: whose the files are, what was recorded of them, and which captures left none."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import shutil
from typing import Any

import numpy as np
import pytest
from werkzeug.test import Client

from tb_stepperf.blocks import Flag
from tb_stepperf.errors import NotFoundError
from tb_stepperf.plugin.plugin import StepPerfPlugin
from tb_stepperf.store import AttemptInfo
from tb_stepperf.traces.finder import Finder
from tb_stepperf.traces.roots import roots_of
from tests.plugin import fakes
from tests.plugin.fakes import START_S, FakeMember, FakeStore, body
from tests.plugin.runs import assert_documented
from tests.support import tiny_trace

NS = 1_700_000_000_000_000_000
FILE = f"rank_0-abc_4711.{NS}.pt.trace.json.gz"


def capture(**fields: Any) -> dict[str, Any]:
    """Returns what the writer records of a capture of steps 400 to 403."""
    record = {"state": "written", "reason": "regression", "about_step": 350, "start_step": 400, "end_step": 403}
    record |= {"file": FILE, "step_offset": 395, "cost_ms": 840.0}
    return {"capture": {name: value for name, value in {**record, **fields}.items() if value is not None}}


def member(*changes: tuple[int, dict[str, Any]], num_steps: int = 1000, **fields: Any) -> FakeMember:
    """Returns steps of 10 ms, those of the capture profiled and of 14 ms, those before step 100 a warm-up of 90 ms."""
    times, flags = np.full(num_steps, 10.0), np.zeros(num_steps)
    times[:100], flags[:100] = 90.0, Flag.WARMUP
    times[400:403], flags[400:403] = [13.0, 14.0, 19.0], Flag.PROFILED
    times[403:500] = 11.0
    attempt = AttemptInfo("0", "process", START_S, first_step=0, changes=changes, environment={"device": "cpu"})
    return FakeMember({"step_time_ms": times, "flags": flags}, attempts=(attempt,), **fields)


def serve(logdir: pathlib.Path, *members: FakeMember, run: str = "job") -> StepPerfPlugin:
    """Returns the plugin over a log directory, whose step data is that of one run, or nothing."""
    return fakes.plugin(FakeStore({run: list(members)} if members else {}), found=fakes.traces(str(logdir)))


def ask(plugin: StepPerfPlugin, route: str, **arguments: Any) -> Any:
    """Returns the JSON of a route; asserts that there is one."""
    response = Client(plugin.get_plugin_apps()[route]).get(route, query_string=arguments)
    assert response.status_code == 200, response.text
    return body(response)


def traces(plugin: StepPerfPlugin) -> Any:
    """Returns the answer of `/traces` once the search, which here runs in the request that asks, has ended."""
    ask(plugin, "/traces")
    answer = ask(plugin, "/traces")
    assert answer["state"] == "done"
    return answer


def test_an_answer_is_as_documented(tmp_path: pathlib.Path) -> None:
    tiny_trace.write(tmp_path / "job" / FILE)
    never = {"state": "never_active", "reason": "scheduled", "error": "too few steps"}
    answer = traces(serve(tmp_path, member((400, capture()), (700, {"capture": never}))))
    assert_documented(answer, "/traces")
    assert answer["limits"] == {"memory_mb": 1024, "timeout_s": 300}
    assert answer["perfetto_url"] == "https://ui.perfetto.dev"
    assert (answer["num_files_seen"], answer["problems"]) == (1, [])


def test_before_the_first_search_has_ended(tmp_path: pathlib.Path) -> None:
    found = fakes.traces()
    later: list[Any] = []
    found.finder = Finder(roots_of(str(tmp_path)), start=later.append)
    tiny_trace.write(tmp_path / "job" / FILE)
    failed = {"state": "failed", "reason": "requested", "error": "no"}
    members = [member((400, capture()), (700, {"capture": failed}))]
    plugin = fakes.plugin(FakeStore({"job": members}), found=found)
    answer = ask(plugin, "/traces")
    assert (answer["state"], answer["traces"]) == ("searching", [])
    assert [window["state"] for window in answer["windows_without_trace"]] == ["failed"]
    later.pop()()
    assert len(ask(plugin, "/traces")["traces"]) == 1


@pytest.mark.parametrize(
    ("directory", "tb_run", "run", "owner"),
    [
        (".", ".", ".", (".", "0")),
        ("run", "run", "run", ("run", "0")),
        ("run/plugins/profile/2024_01_01_00_00_00", "run", "run", ("run", "0")),
        ("a/b/run", "a/b/run", "a/b/run", ("a/b/run", "0")),
        ("a/b/run/rank_0", "a/b/run/rank_0", "a/b/run", ("a/b/run", "0")),
        ("a/b/run", "a/b/run/rank_0", "a/b/run", ("a/b/run", None)),
        ("a/b/run/rank_0/deep/er", "a/b/run/rank_0", "a/b/run", ("a/b/run", "0")),
        ("running", "run", "run", ("running", None)),
        ("other/plugins/profile/2024", "run", "run", ("other", None)),
        ("plugins/profile/2024", "run", "run", (".", None)),
        ("my_plugins/profile", "run", "run", ("my_plugins/profile", None)),
        (".", "run", "run", (".", None)),
    ],
)
def test_a_file_belongs_to_the_nearest_run(
    tmp_path: pathlib.Path, directory: str, tb_run: str, run: str, owner: tuple[str, str | None]
) -> None:
    tiny_trace.write(tmp_path / directory / "host_1.1700000000.pt.trace.json")
    (trace,) = traces(serve(tmp_path, member(tb_run=tb_run), run=run))["traces"]
    assert (trace["run"], trace["member"]) == owner
    assert trace["file"] == "host_1.1700000000.pt.trace.json" if directory == "." else f"{directory}/host_1.1700000000"
    assert trace["window"] is None


def test_where_several_write_to_one_directory_the_window_tells(tmp_path: pathlib.Path) -> None:
    tiny_trace.write(tmp_path / "job" / FILE)
    tiny_trace.write(tmp_path / "job" / "other_1.1700000001.pt.trace.json")
    members = [member(), member((400, capture()), rank=1)]
    answer = traces(serve(tmp_path, *members))
    assert [(trace["run"], trace["member"]) for trace in answer["traces"]] == [("job", "1"), ("job", None)]


def test_the_steps_of_another_profiler_are_those_that_were_profiled_when_its_file_was_named(
    tmp_path: pathlib.Path,
) -> None:
    # step k ends k seconds after the start; 400 to 403 are flagged
    for name in ("host_1.1700000401700000000", "host_1.1700000600", "by_hand"):
        tiny_trace.write(tmp_path / "job" / f"{name}.pt.trace.json")
    answer = traces(serve(tmp_path, member()))
    by_name = {trace["file"]: trace["window"] for trace in answer["traces"]}
    window = by_name.pop("job/host_1.1700000401700000000.pt.trace.json")
    assert set(by_name.values()) == {None}
    assert (window["start"], window["end"], window["reason"], window["state"]) == ("400", "403", "profiler", "written")
    assert (window["profiled_ms"], window["unprofiled_ms"], window["cost_ms"]) == (14.0, 10.0, None)
    assert answer["windows_without_trace"] == []


def test_windows_of_one_worker_are_its_parts_in_the_order_of_time(tmp_path: pathlib.Path) -> None:
    for name in ("w0.1700000009", "w0.999999999999", "w1.1700000005123", "w0.1700000001000000000"):
        tiny_trace.write(tmp_path / "job" / f"{name}.pt.trace.json")
    tiny_trace.write(tmp_path / "b" / "w0.1700000005.pt.trace.json")
    found = traces(serve(tmp_path))["traces"]
    assert [(row["run"], row["worker"], row["part"], row["num_parts"], row["file"].split(".")[1]) for row in found] == [
        ("b", "w0", 1, 1, "1700000005"),
        ("job", "w0", 1, 3, "999999999999"),
        ("job", "w0", 2, 3, "1700000001000000000"),
        ("job", "w1", 1, 1, "1700000005123"),
        ("job", "w0", 3, 3, "1700000009"),
    ]


def test_the_window_and_what_the_profiler_costs(tmp_path: pathlib.Path) -> None:
    tiny_trace.write(tmp_path / "job" / FILE)
    (trace,) = traces(serve(tmp_path, member((400, capture()))))["traces"]
    assert trace["window"] == {
        "start": "400",
        "end": "403",
        "reason": "regression",
        "state": "written",
        "about_step": "350",
        "cost_ms": 840.0,
        "error": None,
        "profiled_ms": 14.0,  # the median of 13, 14 and 19
        "unprofiled_ms": 10.0,  # of 200 steps of 10 ms before, and 97 of 11 ms and 103 of 10 ms after
    }


def test_the_cost_is_that_of_the_steps_as_they_are_now(tmp_path: pathlib.Path) -> None:
    tiny_trace.write(tmp_path / "job" / FILE)
    store = FakeStore({"job": [member((400, capture()), num_steps=450)]})
    plugin = fakes.plugin(store, found=fakes.traces(str(tmp_path)))
    traces(plugin)
    num_reads = len(store.reads)
    traces(plugin)
    assert len(store.reads) == num_reads  # remembered while nothing changed
    grown = dataclasses.replace(member((400, capture()), num_steps=2500), version=2)
    store.runs = {"job": [grown]}
    traces(plugin)
    assert len(store.reads) == num_reads + 1
    store.runs = {"job": [dataclasses.replace(grown, version=3)]}
    traces(plugin)
    traces(plugin)
    assert len(store.reads) == num_reads + 1  # and from then on no more: all steps around it are there


def test_a_window_without_steps(tmp_path: pathlib.Path) -> None:
    tiny_trace.write(tmp_path / "job" / FILE)
    odd = capture(start_step=403, end_step=400, about_step=None, cost_ms=None)
    (trace,) = traces(serve(tmp_path, member((400, odd))))["traces"]
    window = trace["window"]
    assert [window[name] for name in ("start", "end", "about_step", "cost_ms", "profiled_ms")] == [None] * 5
    beyond = capture(start_step=1500, end_step=1503)
    (trace,) = traces(serve(tmp_path, member((1500, beyond))))["traces"]
    assert (trace["window"]["profiled_ms"], trace["window"]["unprofiled_ms"]) == (None, 10.0)


def test_captures_that_left_no_trace(tmp_path: pathlib.Path) -> None:
    changes = [
        (400, capture()),
        (500, {"capture": {"state": "never_active", "reason": "scheduled", "error": "It ended.", "cost_ms": 0.0}}),
        (600, {"capture": {"state": "skipped", "reason": "slow_step"}}),
        (700, {"capture": {"state": "failed", "reason": "requested", "error": "<b>no</b>"}}),
        (1_800_000, capture(file=None)),
    ]
    tiny_trace.write(tmp_path / "elsewhere" / FILE)  # of the same name, but not in the directory of the run
    answer = traces(serve(tmp_path, member(*changes)))
    assert [window["text"] for window in answer["windows_without_trace"]] == [
        f"A capture (regression) of step 400 wrote '{FILE}', which is not beside the event file of its run: it was "
        "moved or deleted, or is not here yet.",
        "A capture (scheduled) near step 500 left no trace: It ended.",
        "A capture (slow step) near step 600 left no trace: another profiler was active.",
        "A capture (requested) near step 700 left no trace: <b>no</b>.",
        "A capture (regression) near step 1,800,000 does not say where its trace is.",
    ]
    assert answer["windows_without_trace"][1]["cost_ms"] == 0.0
    assert answer["traces"][0]["window"] is None


@pytest.mark.parametrize(
    "record",
    [
        "text",
        {},
        {"state": "written"},
        {"state": "done", "reason": "requested"},
        {"state": ["written"], "reason": "requested"},
        {"state": "written", "reason": {"a": 1}},
    ],
)
def test_damaged_records_are_none(tmp_path: pathlib.Path, record: Any) -> None:
    assert traces(serve(tmp_path, member((400, {"capture": record}))))["windows_without_trace"] == []


def test_records_of_odd_values(tmp_path: pathlib.Path) -> None:
    odd = {"start_step": -1, "end_step": 2**63, "about_step": True, "step_offset": 1.5, "cost_ms": "x", "file": 7}
    answer = traces(serve(tmp_path, member((400, capture(**odd, error=["x"])))))
    (window,) = answer["windows_without_trace"]
    assert [window[name] for name in ("start", "end", "about_step", "cost_ms", "error")] == [None] * 5
    nan = capture(cost_ms=float("nan"))
    assert traces(serve(tmp_path, member((400, nan))))["windows_without_trace"][0]["cost_ms"] is None


def test_names_are_data_and_nothing_of_the_metadata_is_told(tmp_path: pathlib.Path) -> None:
    name = "<script>alert(1)</script>".replace("/", "\N{FRACTION SLASH}")
    tiny_trace.write(tmp_path / f"{name}.pt.trace.json")
    (tmp_path / "x.pt.trace.json").write_bytes(b"{}")
    (tmp_path / "x.pt.trace.json").rename(tmp_path / b"\xff.pt.trace.json".decode("utf-8", "surrogateescape"))
    plugin = serve(tmp_path)
    text = json.dumps(traces(plugin))
    assert name in [trace["worker"] for trace in json.loads(text)["traces"]]
    assert tiny_trace.SECRET not in text
    assert str(tmp_path) not in text


def test_a_file_that_went_away(tmp_path: pathlib.Path) -> None:
    now_s = [0.0]
    found = fakes.traces()
    found.finder = Finder(roots_of(str(tmp_path)), clock=lambda: now_s[0], start=lambda work: work())
    tiny_trace.write(tmp_path / "job" / FILE)
    plugin = fakes.plugin(FakeStore({"job": [member((400, capture()))]}), found=found)
    (trace,) = traces(plugin)["traces"]
    shutil.rmtree(tmp_path / "job")
    now_s[0] = 60.0
    answer = traces(plugin)
    assert (answer["traces"], len(answer["windows_without_trace"])) == ([], 1)
    response = Client(plugin.get_plugin_apps()["/trace"]).get("/trace", query_string={"trace": trace["trace"]})
    assert response.status_code == 404


def test_a_trace_alone_makes_the_tab_active(tmp_path: pathlib.Path) -> None:
    assert not serve(tmp_path).is_active()
    tiny_trace.write(tmp_path / "x.pt.trace.json")
    assert serve(tmp_path).is_active()
    later: list[Any] = []
    found = fakes.traces()
    found.finder = Finder(roots_of(str(tmp_path)), start=later.append)
    plugin = fakes.plugin(found=found)
    assert not plugin.is_active()  # it does not wait for the search
    later.pop()()
    assert plugin.is_active()


def test_a_capture_is_no_condition(tmp_path: pathlib.Path) -> None:
    plugin = serve(tmp_path, member((400, capture()), (500, {"autocast": True})))
    (attempt,) = ask(plugin, "/conditions", run="job")["attempts"]
    assert attempt["changes"] == [{"step": "500", "fields": {"autocast": True}}]


def test_a_run_that_cannot_be_read_takes_no_trace_away(tmp_path: pathlib.Path) -> None:
    class Changing(FakeStore):
        def read(self, *arguments: Any, **options: Any) -> Any:
            raise NotFoundError("run 'job' changes faster than it can be read: try again", "run")

    tiny_trace.write(tmp_path / "job" / FILE)
    plugin = fakes.plugin(Changing({"job": [member((400, capture()))]}), found=fakes.traces(str(tmp_path)))
    (trace,) = traces(plugin)["traces"]
    assert (trace["window"]["start"], trace["window"]["profiled_ms"]) == ("400", None)
    ask(plugin, "/trace", trace=trace["trace"])
    assert ask(plugin, "/trace", trace=trace["trace"])["state"] == "done"
