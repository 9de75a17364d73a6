"""`/trace` and what hangs on it: summaries with findings, tables, comparisons, files."""

from __future__ import annotations

import csv
import gzip
import io
import json
import pathlib
import sys
from typing import Any

import numpy as np
import pytest
from werkzeug.test import Client, TestResponse

from tb_stepperf.blocks import Flag
from tb_stepperf.plugin.facts import run_facts, window_of
from tb_stepperf.plugin.payloads import trace as payload
from tb_stepperf.plugin.plugin import StepPerfPlugin
from tb_stepperf.plugin.traces import MAX_SENT, Owners, Traces
from tb_stepperf.traces.digest import read_summary
from tb_stepperf.traces.facts import RunFacts
from tb_stepperf.traces.finder import Finder
from tb_stepperf.traces.process import Limits, ReaderProcess
from tb_stepperf.traces.readings import Readings
from tb_stepperf.traces.roots import roots_of
from tests.plugin import fakes
from tests.plugin.fakes import FakeMember, FakeStore, body
from tests.plugin.runs import assert_documented
from tests.plugin.test_traces import FILE, ask, capture, member, serve, traces
from tests.support import tiny_trace
from tests.traces.test_worker import until


def read(plugin: StepPerfPlugin, trace: str) -> Any:
    """Returns the answer of `/trace` once it is read, which here happens in the request that asks first."""
    assert ask(plugin, "/trace", trace=trace)["state"] == "queued"
    return ask(plugin, "/trace", trace=trace)


def get(plugin: StepPerfPlugin, route: str, **arguments: Any) -> TestResponse:
    """Requests a route."""
    return Client(plugin.get_plugin_apps()[route]).get(route, query_string=arguments)


def identity(plugin: StepPerfPlugin) -> str:
    """Returns the identity of the only trace."""
    (trace,) = traces(plugin)["traces"]
    return trace["trace"]


def test_a_summary_is_as_documented(tmp_path: pathlib.Path) -> None:
    path = tiny_trace.write(tmp_path / "job" / FILE)
    plugin = serve(tmp_path)
    answer = read(plugin, identity(plugin))
    assert_documented(answer, "/trace")
    assert (answer["state"], answer["progress"], answer["message"]) == ("done", 1.0, None)
    assert_documented(answer["summary"], "/trace", number=1)
    assert [step["step"] for step in answer["summary"]["steps"]] == ["5", "6", "7"]
    assert answer["summary"]["info"]["num_bytes"] == len(gzip.decompress(path.read_bytes()))
    assert traces(plugin)["traces"][0]["reading"] == "done"


def test_steps_are_those_of_the_training_where_the_writer_says_by_how_much_they_differ(tmp_path: pathlib.Path) -> None:
    tiny_trace.write(tmp_path / "job" / FILE)
    plugin = serve(tmp_path, member((400, capture(step_offset=395))))
    summary = read(plugin, identity(plugin))["summary"]
    assert [step["step"] for step in summary["steps"]] == ["400", "401", "402"]
    assert summary["info"]["numbering"] == "training"
    assert all(wait["step"] in ("400", "401", "402", None) for wait in summary["waits"])
    table = get(plugin, "/trace_table", trace=identity(plugin), table="steps").text.splitlines()
    assert [line.split(",")[0] for line in table] == ["step", "400", "401", "402"]


def test_the_file_knows_better_by_how_much_they_differ(tmp_path: pathlib.Path) -> None:
    own = {"format": 1, "step_offset": 995, "rank": 0, "world_size": 1}
    tiny_trace.write(tmp_path / "job" / FILE, tiny_trace.trace(stepperf=own))
    plugin = serve(tmp_path, member((400, capture(step_offset=1))))
    summary = read(plugin, identity(plugin))["summary"]
    assert [step["step"] for step in summary["steps"]] == ["1000", "1001", "1002"]


def test_huge_step_numbers_are_shown_in_full(tmp_path: pathlib.Path) -> None:
    tiny_trace.write(tmp_path / "job" / FILE)
    plugin = serve(tmp_path, member((400, capture(step_offset=2**60 - 5))))
    steps = read(plugin, identity(plugin))["summary"]["steps"]
    assert [step["step"] for step in steps] == ["1152921504606846976", "1152921504606846977", "1152921504606846978"]


def ranks_with_a_straggler() -> list[FakeMember]:
    """Returns two ranks of equal steps of 100 ms, in which rank 1 works 80 ms and rank 0 works 40 ms and waits."""
    members = []
    for rank, (work_ms, wait_ms) in enumerate([(40.0, 50.0), (80.0, 10.0)]):
        flags = np.zeros(1000)
        flags[400:403] = Flag.PROFILED
        columns: dict[str, Any] = {
            "step_time_ms": np.full(1000, 100.0),
            "flags": flags,
            "stage/data_ms": np.full(1000, 10.0),
            "stage/forward_ms": np.full(1000, work_ms - 10),
            "stage/all-reduce_ms": np.full(1000, wait_ms),
            "gc_ms": np.full(1000, 2.0),
            "num_alloc_retries": np.full(1000, 1.0 + rank),
            "peak_reserved_bytes": np.full(1000, 1e9 * (1 + rank)),
        }
        columns["gc_ms"][400:403] = 50.0  # within the window: not of the time around it
        columns["num_alloc_retries"][700:] = 100.0  # too far from it
        base = member(*([(400, capture())] if rank == 0 else []), rank=rank)
        members.append(FakeMember(columns, attempts=base.attempts, rank=rank, tb_run=f"job/rank_{rank}"))
    return members


def test_facts_are_of_the_unprofiled_steps_around_the_window(tmp_path: pathlib.Path) -> None:
    tiny_trace.write(tmp_path / "job" / "rank_0" / FILE)
    store = FakeStore({"job": ranks_with_a_straggler()})
    source = fakes.source(FakeMember({"step_time_ms": []}))
    source.store = store  # type: ignore[assignment]
    found = fakes.traces(str(tmp_path))
    found.finder.ask()
    (file,) = found.finder.ask()[0].traces
    owner = Owners(store.catalog(None, "")).of(file)
    window = window_of(owner)
    assert window == (400, 403)
    assert run_facts(source, owner, window) == RunFacts(
        num_steps=400,
        data_share=0.1,
        stage_shares=(("all-reduce", 0.5), ("forward", 0.3), ("data", 0.1)),
        gc_share=pytest.approx(0.02),
        num_alloc_retries=400 + 2 * 400,
        num_ooms=None,
        peak_reserved_bytes=2_000_000_000,
        recompiled_share=None,
        slowest_rank=1,
        rank_imbalance=pytest.approx(80 / 60),
    )


def test_findings_hold_what_the_samples_say(tmp_path: pathlib.Path) -> None:
    tiny_trace.write(tmp_path / "job" / "rank_0" / FILE)
    plugin = serve(tmp_path, *ranks_with_a_straggler())
    with_samples = read(plugin, identity(plugin))["summary"]["findings"]
    alone = serve(tmp_path)
    without = read(alone, identity(alone))["summary"]["findings"]
    assert "imbalance" in {finding["rule"] for finding in with_samples}
    assert "imbalance" not in {finding["rule"] for finding in without}


def test_a_refused_file_is_a_sentence_and_can_be_tried_again(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.pt.trace.json"
    path.write_bytes(b"<html>")
    plugin = serve(tmp_path)
    trace = identity(plugin)
    answer = read(plugin, trace)
    assert (answer["state"], answer["summary"]) == ("refused", None)
    assert "HTML" in answer["message"]
    assert "\n" not in answer["message"]
    assert ask(plugin, "/trace", trace=trace, cancel=1)["state"] == "cancelled"
    assert traces(plugin)["traces"][0]["reading"] == "cancelled"
    assert read(plugin, trace)["state"] == "refused"
    response = get(plugin, "/trace_table", trace=trace, table="steps")
    assert (response.status_code, body(response)["error"]["parameter"]) == (404, "trace")
    assert "is not read" in body(response)["error"]["message"]


def test_a_request_cannot_name_a_path(tmp_path: pathlib.Path) -> None:
    tiny_trace.write(tmp_path / "secret.pt.trace.json")
    plugin = serve(tmp_path / "logs")
    for route, rest in (("/trace", {}), ("/trace_file", {}), ("/trace_table", {"table": "steps"})):
        for path in ("../secret.pt.trace.json", str(tmp_path / "secret.pt.trace.json"), "..%2f", "0" * 15, "g" * 16):
            response = get(plugin, route, trace=path, **rest)
            assert (response.status_code, body(response)["error"]["code"]) == (400, "bad_parameter")


@pytest.mark.parametrize("table", ["steps", "operators", "kernels", "waits"])
def test_a_table_is_safe_for_spreadsheets(tmp_path: pathlib.Path, table: str) -> None:
    tiny_trace.write(tmp_path / "job" / '"; filename=x.exe\r\nEvil: 1 ü.pt.trace.json')
    plugin = serve(tmp_path)
    trace = identity(plugin)
    read(plugin, trace)
    response = get(plugin, "/trace_table", trace=trace, table=table)
    assert response.content_type == "text/csv; charset=utf-8"
    name = response.headers["Content-Disposition"]
    assert name == f'attachment; filename="filename-x.exe-Evil-1-{table}.csv"'
    assert "Evil" not in dict(response.headers)
    rows = list(csv.reader(io.StringIO(response.text)))
    assert len({len(row) for row in rows}) == 1
    if table == "operators":
        names = {row[0] for row in rows[1:]}
        assert {tiny_trace.HTML, f"'{tiny_trace.FORMULA}"} <= names
        assert tiny_trace.FORMULA not in names
    if table == "steps":
        first = dict(zip(rows[0], rows[1]))
        assert (first["step"], first["duration_ms"]) == ("5", "10.0")
        parts = sum(float(first[name]) for name in rows[0] if name.endswith("_ms") and name in payload._PARTS)
        assert parts == pytest.approx(10.0)
    if table == "kernels":
        assert rows == [["name", "kind", "num_calls", "total_ms", "mean_us", "max_us", "operator"]]


def test_two_windows_are_compared_once_both_are_read(tmp_path: pathlib.Path) -> None:
    slower = tiny_trace.trace(traceEvents=tiny_trace.events(op_us=6000))
    tiny_trace.write(tmp_path / "job" / "w.1700000000.pt.trace.json")
    tiny_trace.write(tmp_path / "job" / "w.1700000001.pt.trace.json", slower)
    plugin = serve(tmp_path)
    before, after = [trace["trace"] for trace in traces(plugin)["traces"]]
    first = ask(plugin, "/trace_comparison", before=before, after=after)
    assert first["comparison"] is None
    answer = ask(plugin, "/trace_comparison", before=before, after=after)
    assert_documented(answer, "/trace_comparison")
    assert (answer["before"]["trace"], answer["after"]["trace"]) == (before, after)
    largest = answer["comparison"]["operators"][0]
    assert abs(largest["change_ms"]) == pytest.approx(2.0)
    assert {row["name"] for row in answer["comparison"]["operators"][:2]} == {"aten::mm", "ProfilerStep*"}
    same = ask(plugin, "/trace_comparison", before=before, after=before)
    assert same["comparison"]["change_ms"] == 0


def test_the_events_as_a_file(tmp_path: pathlib.Path) -> None:
    tiny_trace.write(tmp_path / "job" / f"..{tiny_trace.HTML}.1.pt.trace.json.gz".replace("/", ""))
    plugin = serve(tmp_path)
    response = get(plugin, "/trace_file", trace=identity(plugin))
    assert response.status_code == 200
    assert response.content_type == "application/gzip"
    assert "Content-Encoding" not in response.headers  # the gzip is the file's own
    name = response.headers["Content-Disposition"]
    assert name == 'attachment; filename="img-src-x-onerror-alert-1-.1.pt.trace.json.gz"'
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    content = json.loads(gzip.decompress(response.data))
    assert content == {"schemaVersion": 1, "traceEvents": tiny_trace.events()}
    assert tiny_trace.SECRET.encode() not in gzip.decompress(response.data)


def test_a_file_that_cannot_be_sent(tmp_path: pathlib.Path) -> None:
    (tmp_path / "x.pt.trace.json").write_bytes(b"<html>")
    plugin = serve(tmp_path)
    for _ in range(MAX_SENT + 1):  # a file that is refused keeps no place
        response = get(plugin, "/trace_file", trace=identity(plugin))
    error = body(response)["error"]
    assert (response.status_code, error["code"], error["parameter"]) == (400, "bad_parameter", "trace")
    assert "cannot be sent: " in error["message"]
    assert "HTML" in error["message"]


def test_who_stops_receiving_ends_the_process(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[ReaderProcess] = []
    script = "import sys\nwhile True: sys.stdout.buffer.write(b'x' * 65536)"

    def endless(path: str, limits: Limits) -> ReaderProcess:
        made.append(ReaderProcess(path, limits, [sys.executable, "-c", script]))
        return made[0]

    monkeypatch.setattr(payload, "ReaderProcess", endless)
    tiny_trace.write(tmp_path / "x.pt.trace.json")
    plugin = serve(tmp_path)
    response = Client(plugin.get_plugin_apps()["/trace_file"]).get(
        "/trace_file", query_string={"trace": identity(plugin)}, buffered=False
    )
    assert next(response.iter_encoded())
    assert made[0]._process.poll() is None
    response.close()
    assert made[0]._process.poll() is not None


def test_no_more_files_are_sent_at_a_time_than_there_are_places(tmp_path: pathlib.Path) -> None:
    tiny_trace.write(tmp_path / "x.pt.trace.json")
    plugin = serve(tmp_path)
    trace = identity(plugin)

    def ask_for_it() -> TestResponse:
        application = plugin.get_plugin_apps()["/trace_file"]
        return Client(application).get("/trace_file", query_string={"trace": trace}, buffered=False)

    sending = [ask_for_it() for _ in range(MAX_SENT)]
    assert {response.status_code for response in sending} == {200}
    error = body(refused := ask_for_it())["error"]
    assert (refused.status_code, error["code"]) == (503, "busy")
    assert f"{MAX_SENT} traces are being sent already" in error["message"]
    sending[0].close()
    sending[0].close()  # once is enough
    assert b"".join(sending[1].iter_encoded())  # read to its end
    again = [ask_for_it() for _ in range(2)]
    assert {response.status_code for response in again} == {200}
    assert ask_for_it().status_code == 503
    for response in [*sending, *again]:
        response.close()


def test_nothing_of_the_metadata_is_in_any_answer(tmp_path: pathlib.Path) -> None:
    paths = [tiny_trace.write(tmp_path / "job" / f"w.170000000{number}.pt.trace.json") for number in range(2)]
    assert all(tiny_trace.SECRET in path.read_text(encoding="utf-8") for path in paths)
    plugin = serve(tmp_path)
    before, after = [trace["trace"] for trace in traces(plugin)["traces"]]
    for _ in range(2):
        answers = [
            get(plugin, "/traces"),
            get(plugin, "/trace", trace=before),
            get(plugin, "/trace_comparison", before=before, after=after),
            get(plugin, "/trace_file", trace=before),
        ]
    answers += [get(plugin, "/trace_table", trace=before, table=table) for table in ("operators", "steps", "waits")]
    for response in answers:
        assert response.status_code == 200
        data = gzip.decompress(response.data) if response.data.startswith(b"\x1f\x8b") else response.data
        assert tiny_trace.SECRET.encode() not in data
        assert str(tmp_path).encode() not in data


def test_html_in_names_stays_data(tmp_path: pathlib.Path) -> None:
    tiny_trace.write(tmp_path / "x.pt.trace.json")
    plugin = serve(tmp_path)
    trace = identity(plugin)
    summary = read(plugin, trace)["summary"]
    assert tiny_trace.HTML in [row["name"] for row in summary["operators"]]
    response = get(plugin, "/trace", trace=trace)
    assert response.content_type == "application/json; charset=utf-8"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_cancelling_ends_the_process(tmp_path: pathlib.Path) -> None:
    script = "import time; print('{\"progress\": 0.5}', flush=True); time.sleep(600)"
    made: list[ReaderProcess] = []

    def sleeper(path: str) -> ReaderProcess:
        made.append(ReaderProcess(path, Limits(), [sys.executable, "-c", script]))
        return made[-1]

    tiny_trace.write(tmp_path / "x.pt.trace.json")
    finder = Finder(roots_of(str(tmp_path)), start=lambda work: work())
    plugin = fakes.plugin(found=Traces(finder, Readings(Limits(), open_reader=sleeper)))
    trace = identity(plugin)
    until(lambda: ask(plugin, "/trace", trace=trace)["progress"] == 0.5)
    answer = ask(plugin, "/trace", trace=trace, cancel=1)
    assert (answer["state"], answer["message"], answer["summary"]) == ("cancelled", None, None)
    until(lambda: made[0]._process.poll() is not None)
    assert traces(plugin)["traces"][0]["reading"] == "cancelled"


def test_for_real_in_another_process(tmp_path: pathlib.Path) -> None:
    path = tiny_trace.write(tmp_path / "x.pt.trace.json")
    found = Traces(Finder(roots_of(str(tmp_path)), start=lambda work: work()), Readings(Limits()))
    plugin = fakes.plugin(found=found)
    trace = identity(plugin)
    until(lambda: ask(plugin, "/trace", trace=trace)["state"] == "done")
    answer = ask(plugin, "/trace", trace=trace)
    assert answer["summary"]["step_ms"] == read_summary(str(path)).step_ms
