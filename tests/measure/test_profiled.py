"""The profiled phase and the run that is left for the tab, with torch's real profiler on the CPU."""

from __future__ import annotations

import gzip
import json
import logging
import pathlib
import re
from typing import Any

import numpy as np
import pytest
import torch

from tb_stepperf import measure_step
from tb_stepperf.blocks import Flag
from tb_stepperf.measure import StepEvidence
from tb_stepperf.measure.log import count_events
from tests.recorder.logs import ManualClock, read_directory, run_python

TRACE_NAME = r"rank_0-[0-9a-f]{12}_\d+\.\d{19}\.pt\.trace\.json\.gz"


def multiply(perf: Any) -> None:
    """Two multiplications in `forward`, one addition in `update`."""
    with perf.stage("forward"):
        torch.mm(torch.mm(ONES, ONES), ONES)
    with perf.stage("update"):
        torch.add(ONES, ONES)


ONES = torch.ones(64, 64)


def load(path: str) -> dict[str, Any]:
    with gzip.open(path) as file:
        return json.load(file)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[StepEvidence, pathlib.Path]:
    """One measurement with a run."""
    directory = tmp_path_factory.mktemp("run")
    return measure_step(multiply, warmup=2, repeats=8, profile_steps=3, num_samples=4, logdir=directory), directory


def test_operators_are_counted_per_step_and_ordered(measured: tuple[StepEvidence, pathlib.Path]) -> None:
    evidence, _ = measured
    operators = {one.name: one for one in evidence.operators}
    assert operators["aten::mm"].calls_per_step == 2
    assert operators["aten::add"].calls_per_step == 1
    assert not any("forward" in name or name.startswith("ProfilerStep") for name in operators)
    host_ms = [one.self_host_ms_per_step for one in evidence.operators]
    assert host_ms == sorted(host_ms, reverse=True)
    assert all(one.self_device_ms_per_step is None for one in evidence.operators)
    hot = evidence.hot_operator
    assert hot is not None
    assert (hot.name, hot.claim) == (evidence.operators[0].name, "a candidate, not a proven cause")
    assert hot.share_of == "time of 3 profiled steps (self host time)"
    step_ms = sum(evidence.profiled_times_ms) / 3
    assert hot.share == pytest.approx(host_ms[0] / step_ms)
    assert 0 < sum(one.share or 0 for one in evidence.operators) < 1


def test_operator_totals_are_those_of_the_trace(measured: tuple[StepEvidence, pathlib.Path]) -> None:
    evidence, _ = measured
    assert evidence.trace is not None
    events = load(evidence.trace.path)["traceEvents"]
    of_add = [event["dur"] for event in events if event.get("name") == "aten::add"]  # no operator lies inside it
    (add,) = (one for one in evidence.operators if one.name == "aten::add")
    assert len(of_add) == 3
    assert add.self_host_ms_per_step == pytest.approx(sum(of_add) / 3 / 1e3, rel=0.01)


def test_the_observers_effect_is_a_ratio_of_medians(measured: tuple[StepEvidence, pathlib.Path]) -> None:
    evidence, _ = measured
    assert len(evidence.profiled_times_ms) == 3
    assert evidence.profiled_ratio == sorted(evidence.profiled_times_ms)[1] / evidence.median_ms


def test_the_trace_lies_in_the_run_and_its_events_are_counted(measured: tuple[StepEvidence, pathlib.Path]) -> None:
    evidence, directory = measured
    assert evidence.trace is not None
    (path,) = directory.glob("*.pt.trace.json.gz")
    assert evidence.trace.path == str(path)
    assert re.fullmatch(TRACE_NAME, path.name)
    trace = load(str(path))
    assert evidence.trace.num_events == len(trace["traceEvents"]) > 0
    assert trace["stepperf"] == {"format": 1, "step_offset": 10, "rank": 0, "world_size": 1}
    names = [event["name"] for event in trace["traceEvents"]]
    assert names.count("forward") == names.count("update") == 3
    assert {name for name in names if name.startswith("ProfilerStep#")} == {f"ProfilerStep#{at}" for at in (1, 2, 3)}
    assert f"{evidence.trace.num_events:,} events" in str(evidence)


def test_the_run_holds_the_same_samples(measured: tuple[StepEvidence, pathlib.Path]) -> None:
    evidence, directory = measured
    (attempt,) = read_directory(directory)
    assert attempt.end == "closed"
    assert attempt.counters == {}
    assert attempt.steps == list(range(2 + 8 + 1 + 3))
    warmup, logged, profiled = slice(0, 2), slice(2, 10), slice(10, 14)
    step_times_ms = attempt.column("step_time_ms")
    assert step_times_ms[logged] == [float(np.float32(time_ms)) for time_ms in evidence.step_times_ms]
    flags = [Flag(value) for value in attempt.flags]
    assert all(Flag.WARMUP in flag for flag in flags[warmup])
    assert all(Flag.PROFILED in flag for flag in flags[profiled])
    assert flags[logged] == [Flag.LOGGED] * 8
    assert attempt.column("num_samples") == [4.0] * 14
    shares = {stage.name: stage.host_ms_per_step for stage in evidence.stages}
    for name in ("forward", "update"):
        column = attempt.column(f"stage/{name}_ms")
        assert None not in column
        assert np.mean(column[logged]) == pytest.approx(shares[name], rel=1e-5)
    peaks = attempt.column("peak_resident_bytes")[logged]
    assert max(peak or 0 for peak in peaks) == evidence.memory.peak_resident_bytes


def test_the_run_has_the_conditions_and_a_capture(measured: tuple[StepEvidence, pathlib.Path]) -> None:
    evidence, directory = measured
    (attempt,) = read_directory(directory)
    conditions: dict[str, Any] = {}
    captures = []
    for record in attempt.environment:
        if "capture" in record:
            captures.append(record["capture"])
        else:
            conditions.update(record)
    conditions.pop("step")
    assert conditions == evidence.environment
    (capture,) = captures
    assert (capture["state"], capture["reason"]) == ("written", "scheduled")
    assert (capture["start_step"], capture["end_step"], capture["step_offset"]) == (11, 14, 10)
    assert evidence.trace is not None
    assert evidence.trace.path.endswith(capture["file"])
    assert capture["cost_ms"] > 0


def test_warm_up_rows_are_the_warm_up_samples(tmp_path: pathlib.Path) -> None:
    clock = ManualClock(100.0)

    def step(perf: Any) -> None:
        with perf.stage("all"):
            clock.advance(0.25)

    evidence = measure_step(
        step, warmup=3, repeats=2, profile_steps=0, logdir=tmp_path, clock=clock, wall_clock=ManualClock(1.7e9)
    )
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("step_time_ms") == [250.0] * 5
    assert attempt.column("stage/all_ms") == [250.0] * 5
    assert evidence.warmup_times_ms == pytest.approx((250.0,) * 3)
    assert evidence.logdir == str(tmp_path)
    assert f"run       {tmp_path}" in str(evidence)


def test_two_measurements_into_one_run_are_two_attempts_and_two_traces(tmp_path: pathlib.Path) -> None:
    first = measure_step(multiply, repeats=2, logdir=tmp_path)
    second = measure_step(multiply, repeats=2, logdir=tmp_path)
    assert len(read_directory(tmp_path)) == 2
    assert first.trace is not None
    assert second.trace is not None
    assert {first.trace.path, second.trace.path} == {str(path) for path in tmp_path.glob("*.pt.trace.json.gz")}


def test_without_a_logdir_nothing_is_written(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    evidence = measure_step(multiply, repeats=2)
    assert evidence.operators
    assert (evidence.trace, evidence.logdir) == (None, None)
    assert list(tmp_path.iterdir()) == []


def test_a_trace_that_cannot_be_exported_leaves_everything_else(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*arguments: Any, **options: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch.profiler.profile, "export_chrome_trace", full)
    with caplog.at_level(logging.WARNING, "tb_stepperf"):
        evidence = measure_step(multiply, repeats=4, logdir=tmp_path)
    assert evidence.trace is None
    assert evidence.operators
    assert any(note.startswith(f"no trace file is to be seen in {tmp_path}") for note in evidence.notes)
    assert "No space left on device" in caplog.text
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("step_time_ms")[3:7] == [float(np.float32(one)) for one in evidence.step_times_ms]


def test_a_step_function_that_does_not_use_torch_is_not_profiled() -> None:
    done = run_python(
        "import sys\n"
        "from tb_stepperf import measure_step\n"
        "evidence = measure_step(lambda: None, repeats=3)\n"
        "print('torch' in sys.modules, evidence.profiled_ratio, *evidence.notes, sep='\\n')\n"
    )
    assert done.stdout.splitlines()[:2] == ["False", "None"], done.stderr
    assert "not profiled: the step function has not imported torch" in done.stdout


def test_record_function_of_the_users_own_is_in_the_trace_and_no_operator(tmp_path: pathlib.Path) -> None:
    def step() -> None:
        with torch.profiler.record_function("tokenise <b>"):
            torch.add(ONES, ONES)

    evidence = measure_step(step, repeats=2, profile_steps=2, logdir=tmp_path)
    assert evidence.trace is not None
    assert sum(event["name"] == "tokenise <b>" for event in load(evidence.trace.path)["traceEvents"]) == 2
    assert "tokenise <b>" not in {one.name for one in evidence.operators}


def test_events_are_counted_whatever_their_texts_hold(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tb_stepperf.measure import log

    events = [{"ph": "X", "name": 'a "ph": b', "args": {"text": '"ph":'}}, {"ph": "M"}, {"ph": "i", "name": "ph"}]
    path = tmp_path / "t.pt.trace.json.gz"
    for indent in (None, 2):
        path.write_bytes(gzip.compress(json.dumps({"traceEvents": events}, indent=indent).encode()))
        for num_bytes in (5, 7, 1 << 20):
            monkeypatch.setattr(log, "_CHUNK_BYTES", num_bytes)
            assert count_events(str(path)) == 3


def test_steps_that_were_not_recorded_are_no_profiled_steps(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(self: Any) -> None:
        raise RuntimeError("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES")

    monkeypatch.setattr(torch.profiler.profile, "start_trace", broken)
    for logdir, said in (
        (tmp_path, "the profiler recorded nothing"),
        (None, "the profiler failed: RuntimeError: CUPTI"),
    ):
        with caplog.at_level(logging.WARNING, "tb_stepperf"):
            evidence = measure_step(multiply, repeats=2, logdir=logdir)
        assert any(note.startswith(said) for note in evidence.notes)
        assert (evidence.profiled_times_ms, evidence.profiled_ratio, evidence.trace) == ((), None, None)
    assert "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" in caplog.text
    assert not torch.autograd._profiler_enabled()
