"""The data that other tests trust."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import synthetic


def test_levels_and_spikes_are_exact_without_noise() -> None:
    values = synthetic.step_time_ms(6, levels=((0, 10.0), (3, 20.0)), noise=0, spikes={4: 640.0})
    assert values.tolist() == [10, 10, 10, 20, 640, 20]


def test_noise_has_the_level_as_median_and_the_seed_decides() -> None:
    values = synthetic.step_time_ms(20_001, noise=0.05, seed=3)
    assert np.median(values) == pytest.approx(100.0, rel=0.002)
    assert np.std(np.log(values)) == pytest.approx(0.05, rel=0.02)
    np.testing.assert_array_equal(values, synthetic.step_time_ms(20_001, noise=0.05, seed=3))
    assert not np.array_equal(values, synthetic.step_time_ms(20_001, noise=0.05, seed=4))


def test_levels_that_do_not_ascend_are_refused() -> None:
    with pytest.raises(ValueError, match=r"levels begin at rows \[1\]; they must begin at 0 and ascend"):
        synthetic.step_time_ms(5, levels=((1, 10.0),))


def test_columns_add_up() -> None:
    times_ms = synthetic.step_time_ms(1000)
    table = synthetic.columns(times_ms)
    stages = sum(values for name, values in table.items() if name.startswith("stage/"))
    np.testing.assert_allclose(stages / times_ms, sum(synthetic.STAGES.values()), rtol=1e-5)
    assert np.flatnonzero(table["flags"]).tolist() == [*range(10), *range(99, 1000, 100)]
    assert int(np.isfinite(table["peak_resident_bytes"]).sum()) == 200
    assert all(values.dtype == np.float32 and values.shape == (1000,) for values in table.values())
