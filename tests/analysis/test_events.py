"""What happened near a change: announced, noticed, recorded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tb_stepperf.analysis import Provisional, open_provisional
from tb_stepperf.analysis.events import events_of, near_steps, planned_changes
from tb_stepperf.analysis.series import series_of
from tb_stepperf.blocks import Flag
from tb_stepperf.statistics import Event
from tb_stepperf.store import AttemptInfo
from tests.plugin.fakes import START_S, FakeMember


def attempts(*changes: tuple[int, dict[str, Any]], **environment: Any) -> tuple[AttemptInfo, ...]:
    """Returns one attempt that begins at step 0."""
    return (AttemptInfo("0", "process", START_S, first_step=0, environment=environment, changes=changes),)


def test_near_is_twenty_steps_or_a_percent_up_to_five_hundred() -> None:
    assert [near_steps(num_steps) for num_steps in (0, 2000, 2100, 10_000, 10**6)] == [20, 20, 21, 100, 500]


def test_announced_changes_each_once() -> None:
    declared = attempts((7, {"planned_change": "b"}), (3, {"planned_change": "c", "device": "cpu"}), (9, {"batch": 1}))
    assert planned_changes((*declared, *declared)) == [(3, "c"), (7, "b")]
    assert planned_changes(attempts(planned_change="a")) == [(0, "a")]


def test_noticed_changes_wait_until_the_analysis_has_confirmed_or_had_its_chance() -> None:
    noticed = attempts((1050, {"provisional_change": {"step": 1000, "kind": "tail", "change": 0.5}}))
    waiting = [Provisional(1000, "tail", 0.5)]
    assert open_provisional(noticed, [], None, 0) == waiting
    assert open_provisional(noticed, [], 1059, 1060) == waiting
    assert open_provisional(noticed, [], 1060, 1061) == []
    assert open_provisional(noticed, [980], 1059, 1060) == []
    assert open_provisional(noticed, [979], 1059, 1060) == waiting


def test_noticed_changes_near_an_announced_one_are_planned() -> None:
    noticed = (1050, {"provisional_change": {"step": 1000, "kind": "regression", "change": 0.5}})
    (change,) = open_provisional(attempts(noticed, (1015, {"planned_change": "x"})), [], None, 0)
    assert change.planned == "x"
    (change,) = open_provisional(attempts(noticed, (1025, {"planned_change": "x"})), [], None, 0)
    assert change.planned is None


@pytest.mark.parametrize(
    "record",
    [
        "text",
        {},
        {"step": -1, "kind": "tail", "change": 0.1},
        {"step": True, "kind": "tail", "change": 0.1},
        {"step": 1, "kind": "other", "change": 0.1},
        {"step": 1, "kind": [], "change": 0.1},
        {"step": 1, "kind": "tail", "change": None},
        {"step": 1, "kind": "tail", "change": float("inf")},
    ],
)
def test_damaged_records_are_none(record: Any) -> None:
    assert open_provisional(attempts((5, {"provisional_change": record})), [], None, 0) == []


def test_events_of_a_run() -> None:
    flags = np.zeros(100)
    flags[10:20] = Flag.PROFILED
    flags[98:] = Flag.PROFILED
    flags[40] = Flag.RECOMPILED
    flags[60] = Flag.ALLOC_RETRY
    member = FakeMember(
        {"step_time_ms": np.full(100, 10.0), "flags": flags},
        steps=1000 + np.arange(100),
        attempt_index=np.repeat([0, 1], 50),
        attempts=(
            *attempts(
                (
                    1030,
                    {
                        "autocast": True,
                        "provisional_change": {},
                        "buckets": {},
                        "capture": {"state": "written"},
                        "planned_change": "p",
                    },
                )
            ),
            AttemptInfo("1", "other", START_S),
        ),
    )
    assert events_of(series_of(member.table("job"), "host")) == [
        Event("restart", 1050, "attempt 2 starts"),
        Event("environment", 1030, "autocast is now True"),
        Event("planned", 1030, "p"),
        Event("profiled", 1010, "torch.profiler starts recording"),
        Event("profiled", 1098, "torch.profiler starts recording"),
        Event("profiled", 1020, "torch.profiler stops recording"),
        Event("recompiled", 1040, "a compiler builds new code"),
        Event("alloc_retry", 1060, "the device allocator frees its cache"),
    ]
    assert events_of(series_of(FakeMember({}).table("job"), "host")) == []
