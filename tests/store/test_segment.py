"""Decoded tags: order, duplicates, damage, and the index that outlives the rows."""

from __future__ import annotations

import json
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_stepperf.blocks import Block, encode_block, encode_environment
from tb_stepperf.store.provider import Events
from tb_stepperf.store.segment import MissingRows, decode_environments, decode_segment

LAST_STEP = 2**63 - 1


def events(*parts: list[int], drop: tuple[int, ...] = ()) -> Events:
    """Returns one event per list of steps; the value of a row is its step modulo 1000."""
    found: Events = []
    first_row = 0
    for ordinal, part in enumerate(parts):
        steps = np.array(part, np.int64)
        block = Block(
            ordinal, first_row, steps, 1e9 + steps % 1000, {"step_time_ms": (steps % 1000).astype(np.float32)}
        )
        elements, step, wall_time_s = encode_block(block)
        first_row += len(part)
        if ordinal not in drop:
            found.append((step, wall_time_s, elements))
    return found


def sealed(header: bytes, body: bytes) -> list[bytes]:
    """Returns the elements of a block whose checksum is right, whatever the rest is."""
    return [header, body, zlib.crc32(header + body).to_bytes(4, "little")]


def all_steps(parts: tuple[range | np.ndarray, ...]) -> list[int]:
    return [int(step) for part in parts for step in part]


def test_blocks_are_put_in_order_and_copies_dropped() -> None:
    first, second, third = events([1, 2], [3, 4], [5, 6])
    segment = decode_segment([third, first, second, first], LAST_STEP)
    assert all_steps(segment.index.steps) == [1, 2, 3, 4, 5, 6]
    assert segment.columns["step_time_ms"].tolist() == [1, 2, 3, 4, 5, 6]
    assert (segment.index.num_blocks, segment.index.damage) == (3, ())


def test_regular_steps_take_no_memory() -> None:
    segment = decode_segment(events([0, 10, 20], [30, 40], [50]), LAST_STEP)
    assert segment.index.steps == (range(0, 51, 10),)
    regular = decode_segment(events(list(range(100)), list(range(200, 300))), LAST_STEP)
    assert regular.index.steps == (range(100), range(200, 300))
    assert regular.index.num_bytes == decode_segment([], LAST_STEP).index.num_bytes


def test_missing_blocks_are_gaps() -> None:
    index = decode_segment(events([0, 1], [2, 3], [4, 5], [6], drop=(1, 2)), LAST_STEP).index
    assert index.missing == (MissingRows(1, 6, 4),)
    assert (index.first_row, index.end_row, index.num_rows) == (0, 7, 3)
    index = decode_segment(events([0, 1], [2, 3], drop=(0,)), LAST_STEP).index
    assert (index.first_row, index.missing) == (2, ()), "what is before a segment is not the segment's to say"


def test_a_block_that_does_not_follow_is_left_out() -> None:
    index = decode_segment(events([0, 1], [1, 2], [3]), LAST_STEP).index
    assert all_steps(index.steps) == [0, 1, 3]
    assert index.damage == ("the block at step 1 does not begin after step 1, as blocks must",)
    assert index.missing == (MissingRows(1, 3, 2),)


def test_a_segment_of_damage_alone_has_no_rows() -> None:
    index = decode_segment([(0, 1.0, [b"x"]), (1, 1.0, [b"{}", b""])], LAST_STEP).index
    assert (index.num_blocks, index.num_rows, index.first_step, index.last_step) == (0, 0, None, None)
    assert len(index.damage) == 2


def test_blocks_after_the_listed_step_wait_for_the_next_listing() -> None:
    assert all_steps(decode_segment(events([0, 1], [2, 3]), 1).index.steps) == [0, 1]


def test_a_column_that_was_not_measured_is_nan_between() -> None:
    steps = np.arange(2)
    blocks = [
        Block(k, 2 * k, steps + 2 * k, 1e9 + steps, columns)
        for k, columns in enumerate(
            ({}, {"gc_ms": np.array([1, 2], np.float32)}, {"num_ooms": np.zeros(2, np.float32)})
        )
    ]
    segment = decode_segment(
        [(step, wall_s, elements) for elements, step, wall_s in map(encode_block, blocks)], LAST_STEP
    )
    nan = float("nan")
    np.testing.assert_array_equal(segment.columns["gc_ms"], [nan, nan, 1, 2, nan, nan])
    np.testing.assert_array_equal(segment.columns["num_ooms"], [nan] * 4 + [0, 0])
    assert segment.index.columns == ("gc_ms", "num_ooms")


@given(
    st.lists(st.lists(st.integers(1, 2**20), min_size=1, max_size=6), min_size=1, max_size=8),
    st.integers(0, LAST_STEP - 2**27),
    st.data(),
)
def test_rows_below_a_step_are_counted_as_if_one_looked(
    strides: list[list[int]], base: int, data: st.DataObject
) -> None:
    steps = base + np.cumsum(np.concatenate(strides))
    parts = [part.tolist() for part in np.split(steps, np.cumsum([len(part) for part in strides])[:-1])]
    index = decode_segment(events(*parts), LAST_STEP).index
    assert all_steps(index.steps) == steps.tolist()
    step = data.draw(st.integers(base, int(steps[-1]) + 2) | st.sampled_from([0, 2**63, *steps.tolist()]))
    assert index.num_rows_below(step) == int((steps < step).sum() if step <= LAST_STEP else steps.size)


def test_environment_records() -> None:
    records = [{"torch": "2"}, {"seed": 3, "step": 40}, {"seed": 4}, {"step": "x", "user": {}}]
    found: Events = [(k, 1e9, encode_environment(record)) for k, record in enumerate(records)]
    environment = decode_environments([found[2], *found, (9, 1e9, [b"no JSON"])])
    assert environment.first == {"torch": "2"}
    assert environment.changes == ((40, {"seed": 3}), (0, {"seed": 4}), (0, {"user": {}}))
    assert environment.damage == (
        "an environment record is not one JSON text: Expecting value: line 1 column 1 (char 0)",
    )
    assert decode_environments([]).first == {}


@pytest.mark.parametrize("header", [{"ordinal": 0}, {"ordinal": 0, "first_row": 0, "num_rows": 5, "columns": []}])
def test_any_damage_leaves_the_rest(header: dict[str, object]) -> None:
    damaged = (2, 1e9, sealed(json.dumps(header).encode(), b"abc"))
    index = decode_segment([*events([0, 1]), damaged], LAST_STEP).index
    assert all_steps(index.steps) == [0, 1]
    assert len(index.damage) == 1


def test_a_block_whose_checksum_differs_is_damage() -> None:
    step, wall_time_s, (header, body, checksum) = events([0, 1], [2, 3])[1]
    flipped = bytes([body[0] ^ 1]) + body[1:]
    index = decode_segment([*events([0, 1]), (step, wall_time_s, [header, flipped, checksum])], LAST_STEP).index
    assert all_steps(index.steps) == [0, 1]
    assert "its checksum differs" in index.damage[0]
