"""The whole way: event files, TensorBoard's loaders, the real store, TensorBoard's own application."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tensorboard.backend import application
from tensorboard.plugins.core.core_plugin import CorePluginLoader
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from werkzeug.test import Client

from tb_stepperf.blocks import Flag
from tb_stepperf.plugin.loader import StepPerfLoader
from tb_stepperf.plugin.params import PARAMETERS
from tests.plugin.fakes import START_S, body
from tests.support import logs, synthetic
from tests.support.providers import DEADLINE_S, LOADERS, Loaded, open_provider

NAN, INF = float("nan"), float("inf")
PREFIX = "/x/y"

MEMBER_ROUTES = {
    route: names for route, names in PARAMETERS.items() if not {"baseline", "trace", "before"} & set(names)
}
"""Routes that need at most a run and a member."""


class Server:
    """TensorBoard's application over a log directory, asked as a browser would."""

    def __init__(self, loaded: Loaded, logdir: pathlib.Path, prefix: str = "") -> None:
        flags = argparse.Namespace(
            logdir=str(logdir),
            logdir_spec="",
            path_prefix=prefix,
            window_title="",
            samples_per_plugin={},
            reload_interval=5,
            stepperf_cache_mb=64,
        )
        app = application.TensorBoardWSGIApp(flags, [CorePluginLoader(), StepPerfLoader()], loaded.data_provider)
        self.client = Client(app)
        self.prefix = prefix

    def get(self, route: str, **arguments: Any) -> Any:
        """Returns the JSON of a route, once what it computes in the background is there; asserts that all is fine."""
        deadline_s = time.monotonic() + DEADLINE_S
        while True:
            response = self.raw(route, **arguments)
            assert response.status_code == 200, response.text
            answer = body(response)
            if answer.get("state") not in ("computing", "searching"):
                return answer
            assert time.monotonic() < deadline_s, answer
            time.sleep(0.01)

    def raw(self, route: str, **arguments: Any) -> Any:
        """Returns the answer of a route."""
        path = f"{self.prefix}/data/plugin/stepperf{route}"
        return self.client.get(path, query_string=arguments, headers={"Accept-Encoding": "gzip"})

    def listing(self) -> Any:
        """Returns TensorBoard's list of plugins."""
        return self.client.get(f"{self.prefix}/data/plugins_listing").json


@contextlib.contextmanager
def serve(logdir: pathlib.Path, loader: str = "python", *, num_attempts: int = 1, prefix: str = "") -> Iterator[Server]:
    """Serves a log directory of one run, once `num_attempts` closed attempts are loaded in all of its members."""
    with open_provider(loader, logdir) as loaded:
        server = Server(loaded, logdir, prefix)

        def is_complete() -> bool:
            members = [member for run in server.get("/runs")["runs"] for member in run["members"]]
            closed = [member for member in members if member["end"] == "closed"]
            return bool(closed) and sum(member["num_attempts"] for member in closed) == num_attempts

        loaded.until(is_complete)
        yield server


def _resumed(directory: pathlib.Path) -> None:
    """A training to step 150 that resumes from step 100, 885 s later, and is slower."""
    first = np.arange(151)
    logs.write_attempt(
        directory,
        first,
        {"step_time_ms": np.full(151, 100.0)},
        started_s=START_S,
        wall_time_s=START_S + 0.1 * first,
        end=None,
    )
    second = np.arange(101)
    logs.write_attempt(
        directory,
        100 + second,
        {"step_time_ms": np.full(101, 120.0)},
        started_s=START_S + 900,
        wall_time_s=START_S + 900 + 0.12 * second,
    )


@pytest.mark.parametrize("loader", LOADERS)
def test_a_resumed_training_counts_each_step_once(tmp_path: pathlib.Path, loader: str) -> None:
    _resumed(tmp_path / "job")
    with serve(tmp_path, loader, num_attempts=2) as server:
        member = server.get("/runs")["runs"][0]["members"][0]
        assert (member["num_attempts"], member["num_steps"]) == (2, 201)
        assert (member["first_step"], member["last_step"], member["end"]) == ("0", "200", "closed")
        current = server.get("/summary", run="job", start=100)
        assert current["step_time_ms"]["p50"] == 120.0
        assert current["sample"]["num_superseded"] == 51
        assert current["sample"]["num_read"] == 252
        (mark,) = server.get("/marks", run="job")["marks"]
        assert mark == {
            "kind": "restart",
            "start": 100,
            "end": 100,
            "label": "attempt 2 starts; pause of 14 min 45 s; 51 steps superseded",
        }
        attempts = server.get("/conditions", run="job")["attempts"]
        assert [(a["first_step"], a["last_step"], a["num_superseded"]) for a in attempts] == [
            ("0", "150", 51),
            ("100", "200", 0),
        ]
        relative = server.get("/summary", run="job", axis="relative")
        assert relative["range"] == {"axis": "relative", "start": "0", "end": str(100 * 100 + 101 * 120)}


def test_a_wall_clock_that_was_set(tmp_path: pathlib.Path) -> None:
    moved_s = np.full(300, 0.1)
    moved_s[100] -= 3600
    moved_s[200] += 7200
    wall_time_s = START_S + np.cumsum(moved_s)
    logs.write_attempt(tmp_path / "job", np.arange(300), {"step_time_ms": np.full(300, 100.0)}, wall_time_s=wall_time_s)
    with serve(tmp_path) as server:
        summary = server.get("/summary", run="job")
        assert (summary["step_time_ms"]["min"], summary["step_time_ms"]["max"]) == (100.0, 100.0)
        assert summary["sample"]["num_used"] == 300
        assert server.get("/summary", run="job", axis="relative")["range"]["end"] == "30000"
        labels = [mark["label"] for mark in server.get("/marks", run="job")["marks"]]
        assert labels == ["wall clock jumped −1 h at step 100", "wall clock jumped +2 h at step 200"]
        wall = server.get("/bands", run="job", axis="wall")["axis"]
        assert wall["start"] == sorted(wall["start"])


def test_odd_values(tmp_path: pathlib.Path) -> None:
    values = np.array([100.0] * 20 + [NAN, INF, -INF, 0.0, -1.0, 1e-9, 1e12, 3.4e38])
    wall_time_s = START_S + np.arange(values.size)
    logs.write_attempt(tmp_path / "job", np.arange(values.size), {"step_time_ms": values}, wall_time_s=wall_time_s)
    with serve(tmp_path) as server:
        summary = server.get("/summary", run="job")
        assert summary["step_time_ms"]["p50"] == 100.0
        assert summary["step_time_ms"]["min"] == 0.0
        assert summary["sample"]["left_out"]["not_finite"] == 3
        assert summary["sample"]["left_out"]["negative"] == 1
        for axis in ("step", "relative", "wall"):
            for route in ("/bands", "/stages", "/throughput", "/memory", "/marks", "/summary", "/samples"):
                server.get(route, run="job", axis=axis)


def test_huge_steps_are_shown_in_full(tmp_path: pathlib.Path) -> None:
    steps = np.array([9007199254740993, 9007199254740994, 2**63 - 2, 2**63 - 1])
    logs.write_attempt(tmp_path / "job", steps, {"step_time_ms": np.array([1, 2, 3, 4])}, block_rows=2)
    with serve(tmp_path) as server:
        member = server.get("/runs")["runs"][0]["members"][0]
        assert (member["first_step"], member["last_step"]) == ("9007199254740993", "9223372036854775807")
        assert server.get("/bands", run="job")["axis"]["base"] == "9007199254740993"
        assert server.get("/summary", run="job")["step_time_ms"]["max_step"] == "9223372036854775807"
        rows = server.get("/samples", run="job", start=2**63 - 2, end=2**63)["rows"]
        assert [row[0] for row in rows] == ["9223372036854775806", "9223372036854775807"]


def test_the_spike_among_100_000_steps(tmp_path: pathlib.Path) -> None:
    times = synthetic.step_time_ms(100_000, noise=0, spikes={77_777: 10_000})
    logs.write_attempt(tmp_path / "job", np.arange(100_000), synthetic.columns(times))
    with serve(tmp_path) as server:
        for zoom in ({}, {"start": 70_000}, {"start": 77_700, "end": 77_800}, {"bins": 1}, {"axis": "wall"}):
            bands = server.get("/bands", run="job", **zoom)
            assert max(value for value in bands["max"] if value is not None) == 100_000_000
        assert server.get("/summary", run="job")["step_time_ms"]["max_step"] == "77777"
        assert server.get("/bands", run="job")["sample"]["num_in_range"] == 100_000


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A log directory with everything in it: ranks, device columns, a gap, an environment, odd names."""
    logdir = tmp_path_factory.mktemp("rich")
    times = synthetic.step_time_ms(5000)
    columns = synthetic.columns(times)
    columns |= {
        "device_step_time_ms": times * np.float32(0.9),
        "device_stage/forward_ms": times * np.float32(0.3),
        "stage/Episode / total (mean)_ms": np.full(5000, NAN, np.float32),
        "num_tokens": np.full(5000, 1024, np.float32),
        "peak_allocated_bytes": np.full(5000, 2e9, np.float32),
    }
    columns["flags"][3000:3010] += Flag.PROFILED
    columns["stage/Episode / total (mean)_ms"][7] = 1.0
    for rank in range(2):
        logs.write_attempt(
            logdir / "a b" / "…" / f"rank_{rank}",
            np.arange(5000),
            columns,
            rank=rank,
            world_size=2,
            environment=[{"device": "cuda", "peak_memory": "per_step", "loss": NAN}],
            counters={"num_interrupted": 1},
            drop_ordinals=[3],
        )
    return logdir


def test_every_route_answers_strict_json_without_text_among_numbers(rich: pathlib.Path) -> None:
    def check(value: Any, path: str) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                check(item, f"{path}.{key}")
        elif isinstance(value, list):
            kinds = {type(item) for item in value} - {type(None)}
            assert not kinds & {dict, list} or len(kinds) == 1, path
            texts = ("missing_ranks", "notes", "columns", "not_covered")
            assert str not in kinds or path.rsplit(".", 1)[-1] in texts, (path, value[:3])
            for item in value:
                if isinstance(item, (dict, list)) and not path.endswith(".rows"):
                    check(item, path)

    with serve(rich, num_attempts=2) as server:
        (run,) = server.get("/runs")["runs"]
        assert (run["run"], run["world_size"], len(run["members"])) == ("a b/…", 2, 2)
        for route in MEMBER_ROUTES:
            arguments = {"run": "a b/…", "member": "1"} if PARAMETERS[route] else {}
            for axis in ("step", "relative", "wall") if "axis" in PARAMETERS[route] else (None,):
                check(server.get(route, **arguments, **({"axis": axis} if axis else {})), route)
        bands = server.get("/bands", run="a b/…", column="stage/Episode / total (mean)_ms")
        assert bands["sample"]["num_used"] == 0  # its only step is a warm-up step
        assert bands["sample"]["num_missing"] == 512
        assert [mark["kind"] for mark in server.get("/marks", run="a b/…")["marks"]] == ["warmup", "gap", "profiled"]
        device = server.get("/stages", run="a b/…", clock="device")
        assert [stage["stage"] for stage in device["stages"]] == ["forward"]


def test_behind_a_path_prefix(rich: pathlib.Path) -> None:
    with serve(rich, num_attempts=2, prefix=PREFIX) as server:
        listing = server.listing()["stepperf"]
        assert listing["enabled"] is True
        assert listing["loading_mechanism"]["module_path"] == f"{PREFIX}/data/plugin/stepperf/index.js"
        assert server.get("/runs")["runs"][0]["run"] == "a b/…"
        assert server.raw("/bands", run="x").status_code == 404
        assert server.client.get("/data/plugin/stepperf/runs").status_code == 404
        entry = server.client.get(f"{PREFIX}/data/plugin_entry.html", query_string={"name": "stepperf"})
        assert 'import("./index.js")' in entry.text


_PRINT_ANSWERS = """
import hashlib, json, pathlib, sys, warnings
warnings.simplefilter("ignore")
from tests.plugin.test_wsgi import MEMBER_ROUTES, serve
with serve(pathlib.Path(sys.argv[1]), num_attempts=2) as server:
    server.client.get("/")
    for route, names in MEMBER_ROUTES.items():
        for axis in ("step", "wall"):
            arguments = {"run": "a b/…"} if names else {}
            arguments |= {"axis": axis} if "axis" in names else {}
            text = json.dumps(server.get(route, **arguments), sort_keys=True)
            print(route, axis, hashlib.sha256(text.encode()).hexdigest())
"""


def test_the_answers_are_the_same_in_every_time_zone(rich: pathlib.Path) -> None:
    answers = set()
    for zone in ("UTC", "America/New_York", "Asia/Kathmandu"):
        done = subprocess.run(
            [sys.executable, "-c", _PRINT_ANSWERS, str(rich)],
            env={**os.environ, "TZ": zone},
            capture_output=True,
            text=True,
            cwd=pathlib.Path(__file__).parents[2],
        )
        assert done.returncode == 0, done.stderr
        answers.add(done.stdout)
    assert len(answers) == 1
    assert len(answers.pop().splitlines()) == 2 * len(MEMBER_ROUTES)


def test_logs_of_others_leave_the_tab_quiet(tmp_path: pathlib.Path) -> None:
    for run in ("a", "b"):
        writer = EventFileWriter(str(tmp_path / run))
        writer.close()
    with open_provider("python", tmp_path) as loaded:
        server = Server(loaded, tmp_path)
        answer = server.get("/runs")
        assert answer == {"runs": [], "problems": [], "num_runs_without_data": 2, "logdir": str(tmp_path)}
        assert server.listing()["stepperf"]["enabled"] is False
        response = server.raw("/bands", run="a")
        assert response.status_code == 404
        assert "has no step data" in body(response)["error"]["message"]


def test_a_run_that_grows_and_one_that_is_deleted(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    growing = logs.AttemptLog(tmp_path / "grows")
    growing.append(np.arange(10), {"step_time_ms": np.full(10, 100.0)})
    logs.write_attempt(tmp_path / "goes", np.arange(3), {"step_time_ms": np.full(3, 100.0)})
    with open_provider("python", tmp_path) as loaded:
        server = Server(loaded, tmp_path)

        def names() -> list[str]:
            return [run["run"] for run in server.get("/runs")["runs"]]

        loaded.until(lambda: names() == ["goes", "grows"])
        assert server.get("/summary", run="grows", axis="relative")["range"]["end"] == "1000"
        growing.append(np.arange(10, 20), {"step_time_ms": np.full(10, 200.0)})
        shutil.rmtree(tmp_path / "goes")
        loaded.until(lambda: names() == ["grows"])
        loaded.until(
            lambda: (
                server.get("/runs") and server.get("/summary", run="grows", axis="relative")["range"]["end"] == "3000"
            )
        )
        assert server.get("/bands", run="grows", axis="relative", start=1000)["axis"]["base"] == "1000"
        assert server.raw("/bands", run="goes").status_code == 404


def test_both_loaders_give_the_same_answers(rich: pathlib.Path) -> None:
    answers = []
    for loader in LOADERS:
        with serve(rich, loader, num_attempts=2) as server:
            server.get("/summary", run="a b/…")
            found = {}
            for route, names in MEMBER_ROUTES.items():
                if names:
                    found[route] = server.get(route, run="a b/…", **({"axis": "relative"} if "axis" in names else {}))
            answers.append(json.dumps(found, sort_keys=True))
    assert answers[0] == answers[1]
