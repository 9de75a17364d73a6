"""What tests of captured traces share: a small loop, the records that it left, and the files."""

from __future__ import annotations

import gzip
import json
import pathlib
from typing import Any

import torch

from tb_stepperf import StepPerfWriter
from tests.recorder.logs import Attempt, read_directory

CPU = [torch.profiler.ProfilerActivity.CPU]
_ONES = torch.ones(8, 8)


def train(perf: StepPerfWriter, num_steps: int) -> None:
    """Runs steps with one operator in each."""
    for _ in range(num_steps):
        torch.mm(_ONES, _ONES)
        perf.step()


def schedule(**counts: int) -> Any:
    """Returns a schedule of torch, with a warm-up, since torch warns of none."""
    return torch.profiler.schedule(**{"wait": 0, "warmup": 1, "active": 1, **counts})


def capture_records(attempt: Attempt) -> list[dict[str, Any]]:
    """Returns the capture records, each with the step that it stands at; the cost is checked and left out."""
    records = []
    for record in attempt.environment:
        if "capture" in record:
            assert set(record) == {"step", "capture"}
            capture = dict(record["capture"])
            assert capture.pop("cost_ms", 0.0) >= 0
            records.append({"step": record["step"], **capture})
    return records


def only_record(directory: pathlib.Path) -> dict[str, Any]:
    """The one capture record of a log, all of whose steps are there."""
    (attempt,) = read_directory(directory)
    assert attempt.steps == list(range(len(attempt.steps)))
    assert attempt.counters == {}
    (record,) = capture_records(attempt)
    return record


def windows(attempt: Attempt) -> list[tuple[Any, ...]]:
    """Returns (state, reason, start step, end step) of each capture."""
    keys = ("state", "reason", "start_step", "end_step")
    return [tuple(record.get(key) for key in keys) for record in capture_records(attempt)]


def read_trace(directory: pathlib.Path, record: dict[str, Any]) -> dict[str, Any]:
    """Reads the trace file of a record as JSON."""
    with gzip.open(directory / record["file"], "rt", encoding="utf-8") as file:
        trace: dict[str, Any] = json.load(file)
    return trace


def steps_in(trace: dict[str, Any]) -> list[int]:
    """Returns the training steps that a trace marks, by its own offset."""
    names = {event["name"] for event in trace["traceEvents"] if event["name"].startswith("ProfilerStep#")}
    return sorted(int(name.partition("#")[2]) + trace["stepperf"]["step_offset"] for name in names)


def trace_files(directory: pathlib.Path) -> list[str]:
    """Returns the names of all files in a directory that are no event files."""
    return sorted(path.name for path in directory.iterdir() if path.is_file() and "tfevents" not in path.name)
