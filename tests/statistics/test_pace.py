"""A long computation can be paused from outside, and only from inside `pausing`."""

from __future__ import annotations

import numpy as np
import pytest

from tb_stepperf.statistics import find_changes
from tb_stepperf.statistics.pace import pause_point, pausing


def test_the_detector_passes_many_pause_points_and_says_the_same() -> None:
    times_ms = 100.0 * np.exp(np.random.default_rng(0).normal(0.0, 0.03, 2048))
    times_ms[1500:] *= 1.1
    pauses: list[None] = []
    with pausing(lambda: pauses.append(None)):
        found = find_changes(times_ms)
    assert len(pauses) > 100
    assert found == find_changes(times_ms)


def test_outside_nothing_is_called() -> None:
    pauses: list[None] = []
    with pausing(lambda: pauses.append(None)):
        pause_point()
    pause_point()
    assert len(pauses) == 1


def test_an_error_of_the_pause_ends_the_computation() -> None:
    def stop() -> None:
        raise TimeoutError("enough")

    with pytest.raises(TimeoutError, match="enough"), pausing(stop):
        find_changes(np.full(500, 100.0) + np.arange(500) % 7)
    pause_point()
