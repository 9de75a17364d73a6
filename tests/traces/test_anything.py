"""Whatever a file holds, it is summed up: parts add up, JSON is JSON, and nothing raises."""

from __future__ import annotations

import json
import random

import pytest

from tb_stepperf.traces import compare
from tb_stepperf.traces.events import Category, TraceEvents
from tb_stepperf.traces.summarise import summarise
from tb_stepperf.traces.summary import from_json, to_json
from tests.traces.build import event, trace

ON_DEVICE = (Category.DEVICE_ANNOTATION, Category.KERNEL, Category.COPY, Category.SET, Category.SYNC)
NAMES = (
    "aten::mm",
    "aten::add",
    "ProfilerStep#1",
    "ProfilerStep#x",
    "Optimizer.step#SGD.step",
    "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
    "ncclDevKernel_AllReduce",
    "gloo:all_reduce",
    "c10d::allreduce_",
    "cudaFree",
    "cudaStreamSynchronize",
    "Python GC",
    "_compile.compile_inner (dynamo_timed)",
)


def nonsense(chance: random.Random) -> TraceEvents:
    """Events that overlap as they like, with ids that mean nothing."""
    events = []
    for _ in range(chance.randrange(1, 25)):
        category = chance.choice(list(Category))
        name = f"ProfilerStep#{chance.randrange(6)}" if category == Category.STEP else chance.choice(NAMES)
        events.append(
            event(
                category,
                name,
                chance.randrange(60),
                chance.choice([0, 0, 1, 2, 5, 20, 60]),
                thread=chance.choice("ab"),
                stream=chance.choice([7, 8]) if category in ON_DEVICE else None,
                correlation=chance.choice([-1, 1, 2, 3]),
                external_id=chance.choice([-1, 1, 2, 3]),
                shapes=chance.choice([None, "[1]", "[2]"]),
            )
        )
    return trace(*events)


@pytest.mark.parametrize("seed", range(5))
def test_nonsense_is_summed_up(seed: int) -> None:
    chance = random.Random(seed)
    before = summarise(nonsense(chance))
    for _ in range(60):
        after = summarise(nonsense(chance))
        for step in after.steps:
            assert sum(step.breakdown_ms) == pytest.approx(step.duration_ms, abs=1e-9)
            assert min(step.breakdown_ms) >= 0
            assert step.overlapped_ms <= step.communication_ms <= step.duration_ms
        assert all(0 <= finding.share <= 1 for finding in after.findings)
        assert from_json(json.loads(json.dumps(to_json(after), allow_nan=False))) == after
        json.dumps(compare.to_json(compare.compare_windows(before, after)), allow_nan=False)
        before = after
