from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tb_stepperf import StepPerfWriter
from tests.recorder.logs import START_S, FakeHardware, ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def wall_clock() -> ManualClock:
    return ManualClock(START_S)


@pytest.fixture
def make_writer(
    tmp_path: pathlib.Path, clock: ManualClock, wall_clock: ManualClock
) -> Iterator[Callable[..., StepPerfWriter]]:
    """Makes writers on manual clocks, without hardware and scalars, in `tmp_path`; closes what a test left open."""
    writers: list[StepPerfWriter] = []

    def make(**options: Any) -> StepPerfWriter:
        defaults: dict[str, Any] = {
            "clock": clock,
            "wall_clock": wall_clock,
            "hardware": FakeHardware(),
            "scalars": False,
            "warmup_steps": 0,
            "flush_interval_s": 1000,
        }
        if "summary_writer" not in options:
            defaults["logdir"] = tmp_path
        writers.append(StepPerfWriter(**{**defaults, **options}))
        return writers[-1]

    yield make
    for writer in writers:
        writer.close()
