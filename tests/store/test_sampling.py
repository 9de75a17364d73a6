"""TensorBoard's default sampling of a plugin that it does not know: nothing lost, or what is lost is counted."""

from __future__ import annotations

import pathlib

import numpy as np

from tb_stepperf.blocks import MAX_BLOCKS_PER_TAG
from tests.store.gallery import times
from tests.store.tables import STEP_MS, open_store
from tests.support.logs import START_S, write_attempt

NUM_ROWS = 3 * MAX_BLOCKS_PER_TAG * 4 + 7


def test_the_data_server_keeps_every_block_of_a_tag(logdir: pathlib.Path) -> None:
    write_attempt(logdir / "job", range(NUM_ROWS), times(NUM_ROWS), block_rows=4)
    with open_store("rust", logdir, keep_all=False) as opened:
        opened.until(lambda: "job" in opened.runs() and opened.read("job").num_written == NUM_ROWS)
        table = opened.read("job", None, [STEP_MS])
        np.testing.assert_array_equal(table.columns[STEP_MS], times(NUM_ROWS)[STEP_MS])
        assert table.num_missing == 0


def test_what_the_python_loader_drops_is_seen_and_counted(logdir: pathlib.Path) -> None:
    write_attempt(logdir / "job", range(NUM_ROWS), times(NUM_ROWS), block_rows=4)
    with open_store("python", logdir, keep_all=False) as opened:
        table = opened.read("job", None, [STEP_MS])
        # Ten of 64 blocks of each of three full tags, and both blocks of the last.
        assert table.num_rows == table.num_read == 3 * 10 * 4 + 7
        assert (table.num_written, table.num_missing) == (NUM_ROWS, NUM_ROWS - 127)
        assert sum(gap.num_rows for gap in table.gaps) == table.num_missing
        np.testing.assert_array_equal(table.columns[STEP_MS], times(NUM_ROWS)[STEP_MS][table.steps])
        assert np.all(np.isin(np.flatnonzero(np.diff(table.steps) > 1), np.flatnonzero(table.steps % 4 == 3)))


def test_dropped_blocks_of_a_restart_are_not_superseded(logdir: pathlib.Path) -> None:
    write_attempt(logdir / "job", range(400), times(400), block_rows=4)
    write_attempt(logdir / "job", range(200, 500), times(300), block_rows=4, started_s=START_S + 1000)
    with open_store("python", logdir, keep_all=False) as opened:
        table = opened.read("job")
        assert table.num_written == 700
        assert table.num_read + table.num_missing == 700
        assert table.num_rows == table.num_read - table.num_superseded
        assert np.all(np.diff(table.steps) > 0)
