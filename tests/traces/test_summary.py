"""A summary survives JSON, and one of another version is refused."""

from __future__ import annotations

import json

import pytest

from tb_stepperf.errors import ArgumentError
from tb_stepperf.traces.summarise import summarise
from tb_stepperf.traces.summary import TraceSummary, from_json, to_json
from tests.traces.build import annotation, call, kernel, op, step, trace
from tests.traces.test_device_tables import memory_events


def full() -> TraceSummary:
    """A summary without an empty field."""
    return summarise(
        trace(
            *[step(n, 1000 * n, 1000) for n in range(3)],
            annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10, 900),
            op("aten::mm", 1000, 50, shapes="[2, 2], [2, 2]"),
            call("cudaLaunchKernel", 1010, 5, correlation=1),
            kernel("gemm", 1020, 30, correlation=1),
            memory=memory_events([(5, 0, 100, 100, 200)]),
            rank=0,
            world_size=2,
            backend="nccl",
            oddities={"unfinished event (left out)": 1},
        )
    )


def test_there_and_back() -> None:
    summary = full()
    assert summary.findings
    assert summary.memory
    assert summary.waits
    assert from_json(to_json(summary)) == summary
    assert from_json(json.loads(json.dumps(to_json(summary)))) == summary


def test_there_and_back_without_device_and_steps() -> None:
    summary = summarise(trace(op("aten::mm", 0, 10)))
    assert from_json(json.loads(json.dumps(to_json(summary)))) == summary


def test_oddities_are_said() -> None:
    assert "1 × unfinished event (left out)." in full().info.notes


@pytest.mark.parametrize("where", ["summary", "steps"])
@pytest.mark.parametrize("change", ["missing", "unknown"])
def test_another_versions_summary_is_refused(where: str, change: str) -> None:
    value = json.loads(json.dumps(to_json(full())))
    target = value if where == "summary" else value["steps"][1]
    if change == "missing":
        target.pop(next(iter(target)))
    else:
        target["colour"] = "red"
    with pytest.raises(ArgumentError, match="written by another version: read the trace again"):
        from_json(value)
