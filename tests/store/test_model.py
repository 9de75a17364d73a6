"""Merged attempts against the rule in one line: from an attempt's first step on, the newest attempt wins."""

from __future__ import annotations

import dataclasses
import pathlib
import tempfile

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.tables import STEP_MS, open_store
from tests.support.logs import START_S, write_attempt


@dataclasses.dataclass(frozen=True)
class Written:
    """One attempt: its steps, rows of a block, blocks of a tag, and blocks that are dropped."""

    first: int
    strides: list[int]
    block_rows: int
    blocks_per_tag: int
    dropped: set[int]

    @property
    def steps(self) -> np.ndarray:
        return self.first + np.cumsum([0, *self.strides])

    @property
    def is_present(self) -> np.ndarray:
        ordinals = np.arange(self.steps.size) // self.block_rows
        return ~np.isin(ordinals, list(self.dropped))


ATTEMPTS = st.lists(
    st.builds(
        Written,
        first=st.integers(0, 60),
        strides=st.lists(st.sampled_from([1, 1, 1, 2, 5]), max_size=40),
        block_rows=st.integers(1, 8),
        blocks_per_tag=st.integers(1, 4),
        dropped=st.sets(st.integers(0, 8), max_size=2),
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=60, deadline=None)
@given(ATTEMPTS, st.integers(-5, 200), st.integers(-5, 200))
def test_the_newest_attempt_wins_from_its_first_step_on(attempts: list[Written], start: int, end: int) -> None:
    expected: dict[int, tuple[int, int]] = {}
    num_missing = []
    for number, attempt in enumerate(attempts):
        present = np.flatnonzero(attempt.is_present)
        num_missing.append(int((~attempt.is_present[: present[-1] + 1]).sum()) if present.size else 0)
        if present.size:
            expected = {step: row for step, row in expected.items() if step < attempt.steps[present[0]]}
            expected.update({int(attempt.steps[row]): (number, int(row)) for row in present})
    with tempfile.TemporaryDirectory() as directory:
        logdir = pathlib.Path(directory)
        for number, attempt in enumerate(attempts):
            write_attempt(
                logdir / "job",
                attempt.steps,
                {STEP_MS: 1000 * number + np.arange(attempt.steps.size)},
                started_s=START_S + 1000 * number,
                wall_time_s=START_S + 1000 * number + np.arange(attempt.steps.size),
                block_rows=attempt.block_rows,
                blocks_per_tag=attempt.blocks_per_tag,
                drop_ordinals=attempt.dropped,
            )
        with open_store("python", logdir) as opened:
            before = opened.runs().get("job")
            if before is None:
                assert not expected
                return
            table = opened.read("job", None, [STEP_MS])
            part = opened.read("job", None, [STEP_MS], start_step=start, end_step=end)
            after = opened.runs()["job"].members[0]
    rows = sorted(expected)
    present = [attempt for attempt in range(len(attempts)) if attempts[attempt].is_present.any()]
    assert table.steps.tolist() == rows
    assert [present[k] for k in table.attempt_index] == [expected[step][0] for step in rows]
    assert table.columns[STEP_MS].tolist() == [1000 * expected[step][0] + expected[step][1] for step in rows]
    assert part.steps.tolist() == [step for step in rows if start <= step < end]
    assert [attempt.num_missing for attempt in table.attempts] == [num_missing[k] for k in present]
    assert table.num_read == sum(int(attempts[k].is_present.sum()) for k in present)
    assert table.num_superseded == table.num_read - table.num_rows
    assert (after.num_steps, after.first_step, after.last_step) == (len(rows), rows[0], rows[-1])
    if not any(num_missing):
        assert before.members[0] == after, "the catalog was exact before the whole was read"
