"""A log directory of known runs."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from tests.plugin import conftest, runs  # noqa: F401  (the first quiets a warning of TensorBoard's, so it stays first)
from tests.support import logs


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Returns `healthy` (two ranks), `again` and `slow` (data +12 ms from step 2,000), and `short`."""
    directory = tmp_path_factory.mktemp("logs")
    for rank in range(2):
        logs.write_attempt(
            directory / "healthy" / f"rank_{rank}", np.arange(3000), runs.columns(seed=rank), rank=rank, world_size=2
        )
    logs.write_attempt(directory / "again", np.arange(3000), runs.columns(seed=5), environment=[{"device": "cpu"}])
    logs.write_attempt(
        directory / "slow", np.arange(3000), runs.columns(at=2000, seed=2), environment=[{"device": "cpu"}]
    )
    logs.write_attempt(
        directory / "slower", np.arange(3000), runs.columns(at=0, seed=3), environment=[{"device": "cpu"}]
    )
    logs.write_attempt(directory / "short", np.arange(40), runs.columns(40))
    return directory
