"""Records of captures, and the steps around a window."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb_stepperf.analysis.captures import REASONS, SIDE_STEPS, STATES, Capture, captures_of, read_around
from tb_stepperf.blocks import Flag
from tb_stepperf.store import Table
from tests.analysis.test_events import attempts
from tests.plugin.fakes import FakeMember


def test_records_become_captures_in_their_order() -> None:
    whole = {"state": "written", "reason": "regression", "about_step": 4150, "start_step": 4200, "end_step": 4203}
    whole |= {"file": "x.pt.trace.json.gz", "step_offset": 4198, "cost_ms": 840}
    least = {"state": "failed", "reason": "requested"}
    recorded = attempts((4200, {"capture": whole}), (4300, {"autocast": True}), (5000, {"capture": least}))
    assert captures_of(recorded) == [
        Capture("written", "regression", 4200, 4200, 4203, 4150, "x.pt.trace.json.gz", 4198, 840.0, None),
        Capture("failed", "requested", 5000),
    ]
    assert captures_of(attempts(capture=whole)) == []  # record 0 is about conditions


def test_all_states_and_reasons_of_the_format_are_known() -> None:
    for state in STATES:
        for reason in REASONS:
            (capture,) = captures_of(attempts((1, {"capture": {"state": state, "reason": reason}})))
            assert (capture.state, capture.reason) == (state, reason)


def _reader(times: np.ndarray, flags: np.ndarray, asked: list[Any]) -> Any:
    table = FakeMember({"step_time_ms": times, "flags": flags}, steps=10_000 + np.arange(times.size)).table("job")

    def read(columns: Any, start: int, end: int) -> Table:
        asked.append((columns, start, end))
        return table

    return read


def test_the_nearest_unprofiled_steps_on_either_side() -> None:
    times, flags = np.full(1000, 10.0), np.zeros(1000)
    flags[480:520] = Flag.PROFILED  # also around the window of 500 to 510: another one
    flags[470] = Flag.RESTART
    times[471], times[505] = np.nan, np.nan
    asked: list[Any] = []
    around = read_around(_reader(times, flags, asked), ["gc_ms"], 10_500, 10_510)
    assert asked == [(["step_time_ms", "flags", "gc_ms"], 8_500, 12_510)]
    assert around.inside.tolist() == [*range(500, 505), *range(506, 510)]
    before, after = around.outside[:SIDE_STEPS], around.outside[SIDE_STEPS:]
    assert before.tolist() == [row for row in range(278, 480) if row not in (470, 471)]
    assert after.tolist() == list(range(520, 720))
    assert around.median_ms(around.inside) == 10.0
    assert np.isnan(around.median_ms(around.inside[:0]))


def test_a_window_at_the_begin() -> None:
    asked: list[Any] = []
    times = np.arange(1.0, 11.0)
    around = read_around(_reader(times, np.zeros(10), asked), [], 0, 3)
    assert asked[0][1:] == (0, 2003)
    assert around.inside.size == 0
    assert around.outside.tolist() == list(range(10))
