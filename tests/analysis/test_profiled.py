"""Which steps another profiler recorded, told by the time in its file's name."""

from __future__ import annotations

import numpy as np
import pytest

from tb_stepperf.analysis.profiled import AFTER_LAST_S, SLACK_S, ProfiledStretches, profiled_stretches
from tb_stepperf.blocks import Flag
from tests.plugin.fakes import START_S, FakeMember


def stretches(*profiled: tuple[int, int], num_steps: int = 100, attempt_starts: int = 100) -> ProfiledStretches:
    """Steps 1000 … of one second each; row k ends at `START_S` + k. A second attempt begins at `attempt_starts`."""
    flags = np.full(num_steps, float(Flag.GC))
    for start, end in profiled:
        flags[start:end] += Flag.PROFILED
    member = FakeMember({"step_time_ms": np.full(num_steps, 1000.0), "flags": flags}, steps=1000 + np.arange(num_steps))
    table = member.table("job")
    table.attempt_index.flags.writeable = True
    table.attempt_index[attempt_starts:] = 1
    return profiled_stretches(table)


@pytest.mark.parametrize(
    ("stamp_s", "window"),
    [
        (18.9, None),
        (19.0 - SLACK_S, (1020, 1025)),  # named in the step that follows the boundary of row 19
        (24.0, (1020, 1025)),
        (24.0 + 2 * SLACK_S, None),
        (45.5, (1040, 1050)),
        (70.0, None),
    ],
)
def test_a_stretch_lasts_from_the_step_before_to_its_last_step(stamp_s: float, window: tuple[int, int] | None) -> None:
    assert stretches((20, 25), (40, 50)).at(START_S + stamp_s) == window


def test_a_profiler_that_ends_with_the_loop_names_its_file_after_the_last_step() -> None:
    found = stretches((90, 100))
    assert found.at(START_S + 99 + AFTER_LAST_S) == (1090, 1100)
    assert found.at(START_S + 99 + AFTER_LAST_S + 1) is None
    # the last of an attempt is such a step too, and what is not after it does not follow the attempt before
    restarted = stretches((20, 30), (30, 35), attempt_starts=30)
    assert restarted.at(START_S + 29.0) == (1020, 1035)


def test_the_first_row_reaches_back_by_its_own_time() -> None:
    found = stretches((0, 5))
    assert found.at(START_S - 1.0) == (1000, 1005)
    assert found.at(START_S - 1.2) is None


def test_where_two_stretches_hold_a_time_neither_is_told() -> None:
    found = stretches((20, 30), (33, 40), attempt_starts=30)
    assert found.at(START_S + 35.0) is None
    assert found.at(START_S + 25.0) == (1020, 1030)


def test_nothing_was_profiled() -> None:
    found = stretches()
    assert found.at(START_S) is None
    assert found.num_bytes > 0
