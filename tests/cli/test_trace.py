"""`stepperf trace`: the small trace whose truth is known, and files that are none."""

from __future__ import annotations

import pathlib

import pytest

from tests.cli.terminal import assert_refused, stepperf
from tests.plugin.test_trace import identity, read
from tests.plugin.test_traces import ask, serve, traces
from tests.support import tiny_trace


def test_a_trace_for_people(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tiny_trace.write(tmp_path / "host_1.1700000000.pt.trace.json.gz")
    done = stepperf(capsys, "trace", path)
    assert (done.code, done.err) == (0, "")
    lines = [line.split() for line in done.out.splitlines()]
    assert lines[0][:5] == ["host_1.1700000000.pt.trace.json.gz", "12", "events,", "30.0", "ms,"]
    steps = {line[0]: line[1:] for line in lines if line and line[0] in ("5", "6", "7")}
    assert [step[0] for step in steps.values()] == ["10.0", "10.0", "10.0"]
    (mean,) = [line for line in lines if line[:2] == ["mean", "of"]]
    assert mean[3] == "10.0"
    (operator,) = [line for line in lines if line[:1] == ["aten::mm"]]
    assert operator[1:] == ["3", "12.0", "12.0"]
    assert "Calls and times of operators are sums over 3 steps." in done.out
    assert tiny_trace.HTML in done.out
    assert tiny_trace.SECRET not in done.out


def test_parts_that_take_no_time_have_no_column(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tiny_trace.write(tmp_path / "x.pt.trace.json")
    done = stepperf(capsys, "trace", path)
    (headings,) = [line.split() for line in done.out.splitlines() if line.split()[:2] == ["step", "ms"]]
    assert headings == ["step", "ms", "host", "ops", "other"]
    done = stepperf(capsys, "trace", path, path)
    first_words = [line.split()[0] for line in done.out.splitlines() if line.split()]
    assert "host" in first_words
    assert not {"kernel", "copy", "fill", "exposed", "runtime", "data"} & set(first_words)


def test_sentences_end_where_their_text_ends(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = stepperf(capsys, "trace", tiny_trace.write(tmp_path / "x.json")).out
    wrapped = [line for line in out.splitlines() if line.startswith("  The file ")]
    assert wrapped
    assert not any(line.endswith(" ") for line in wrapped)


def test_one_short_event(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1.5, "dur": 0.03, "pid": 1, "tid": 1}
    path = tiny_trace.write(tmp_path / "x.json", tiny_trace.trace(traceEvents=[event]))
    lines = stepperf(capsys, "trace", path).out.splitlines()
    assert lines[0].startswith("x.json  1 event, 3e-05 ms")
    assert ["trace", "3e-05", "3e-05"] in [line.split() for line in lines]


def test_json_is_what_the_tab_gets(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tiny_trace.write(tmp_path / "x.pt.trace.json")
    done = stepperf(capsys, "trace", path, "--json")
    assert done.code == 0
    plugin = serve(tmp_path)
    assert done.json == read(plugin, identity(plugin))["summary"]
    assert [step["step"] for step in done.json["steps"]] == ["5", "6", "7"]
    assert tiny_trace.SECRET not in done.out


def test_two_windows(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tiny_trace.write(tmp_path / "a.1700000000.pt.trace.json")
    after = tiny_trace.write(
        tmp_path / "a.1700000001.pt.trace.json", tiny_trace.trace(traceEvents=tiny_trace.events(op_us=6000))
    )
    done = stepperf(capsys, "trace", before, after)
    assert done.code == 0
    (operator,) = [line.split() for line in done.out.splitlines() if line.split()[:1] == ["aten::mm"]]
    assert operator[1:] == ["+2.000", "–", "4.000", "6.000", "1", "1"]
    plugin = serve(tmp_path)
    first, second = [trace["trace"] for trace in traces(plugin)["traces"]]
    ask(plugin, "/trace_comparison", before=first, after=second)
    answer = ask(plugin, "/trace_comparison", before=first, after=second)
    assert stepperf(capsys, "trace", before, after, "--json").json == answer["comparison"]


def test_long_tables_are_cut(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = tiny_trace.events(num_steps=25)
    for number, event in enumerate(events):
        if event["name"] == "aten::mm":
            event["name"] = f"aten::mm{number}"
    path = tiny_trace.write(tmp_path / "x.json", tiny_trace.trace(traceEvents=events))
    out = stepperf(capsys, "trace", path).out
    assert "5 more steps; --json has them." in out
    assert "more operators; --json has them." in out


def test_a_trace_without_steps(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = [event for event in tiny_trace.events() if not event["name"].startswith("ProfilerStep")]
    path = tiny_trace.write(tmp_path / "x.json", tiny_trace.trace(traceEvents=events))
    done = stepperf(capsys, "trace", path)
    assert done.code == 0
    (whole,) = [line.split() for line in done.out.splitlines() if line.split()[:1] == ["trace"]]
    assert whole[1] == "29.0"


def test_inferred_steps_are_nobodys_count(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    steps = [{**tiny_trace.events()[1], "name": "Optimizer.step#SGD.step", "ts": 1000.0 * at} for at in range(3)]
    path = tiny_trace.write(tmp_path / "x.json", tiny_trace.trace(traceEvents=steps))
    title = " ".join(stepperf(capsys, "trace", path).out.split()[:20])
    assert "steps inferred from the optimizer" in title
    assert "counts" not in title


def test_names_cannot_steer_the_terminal(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = tiny_trace.events()
    events[1]["name"] = "aten::\x1b[31m[bold]"
    path = tiny_trace.write(tmp_path / "x\x1b[31m.json", tiny_trace.trace(traceEvents=events))
    done = stepperf(capsys, "trace", path)
    assert done.code == 0
    assert "\x1b" not in done.out


def test_refusals(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.json"
    page.write_bytes(b"<html>")
    cut = tmp_path / "cut.json"
    cut.write_bytes(tiny_trace.write(tmp_path / "x.json").read_bytes()[:-200])
    assert_refused(stepperf(capsys, "trace", page), "HTML")
    assert_refused(stepperf(capsys, "trace", cut))
    assert_refused(stepperf(capsys, "trace", tmp_path / "gone.json"), "No such file")
    assert_refused(stepperf(capsys, "trace", tmp_path), "regular file")
    assert_refused(stepperf(capsys, "trace", tmp_path / "x.json", page), "HTML")
    assert_refused(stepperf(capsys, "trace", "nobody://knows/this.json"), "cannot be read")
    assert_refused(stepperf(capsys, "trace"), "Missing argument 'FILE'")
