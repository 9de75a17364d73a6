"""Blocks and environment records: there and back again, and everything that is refused."""

from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tb_stepperf.blocks import (
    MAX_ROWS_PER_BLOCK,
    Block,
    decode_block,
    decode_environment,
    encode_block,
    encode_environment,
)
from tb_stepperf.blocks.block import MAX_STEP
from tb_stepperf.blocks.codec import MAX_STEP_SPAN
from tb_stepperf.errors import FormatError

WALL_S = 1_700_000_000.0


def block(num_rows: int = 3, **fields: Any) -> Block:
    values: dict[str, Any] = {
        "ordinal": 0,
        "first_row": 0,
        "steps": np.arange(num_rows, dtype=np.int64),
        "wall_time_s": WALL_S + np.arange(num_rows) / 8,
        "columns": {"step_time_ms": np.arange(num_rows, dtype=np.float32)},
    }
    return Block(**{**values, **fields})


def round_trip(value: Block) -> Block:
    elements, step, wall_time_s = encode_block(value)
    return decode_block(np.array(elements, object), step, wall_time_s)


def sealed(header: bytes, body: bytes) -> list[bytes]:
    """Returns the elements of a block whose checksum is right, whatever the rest is."""
    return [header, body, zlib.crc32(header + body).to_bytes(4, "little")]


def with_header(**changes: Any) -> list[bytes]:
    (header, body, _), _, _ = encode_block(block())
    fields = {**json.loads(header), **changes}
    return sealed(json.dumps({key: value for key, value in fields.items() if value != "absent"}).encode(), body)


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    num_rows = draw(st.integers(1, 40))
    gaps = draw(arrays(np.int64, num_rows, elements=st.integers(1, (MAX_STEP_SPAN - 1) // 40)))
    gaps = np.full(num_rows, gaps[0]) if draw(st.booleans()) else gaps
    offsets = np.cumsum(gaps) - gaps[0]
    first = draw(st.integers(0, MAX_STEP - int(offsets[-1])))
    values = st.floats(width=32, allow_infinity=True, allow_nan=True)
    names = draw(st.lists(st.text(max_size=12), max_size=4, unique=True))
    reserved = {"step_offset", "wall_offset_s"}
    return Block(
        ordinal=draw(st.integers(0, 2**40)),
        first_row=draw(st.integers(0, 2**40)),
        steps=first + offsets,
        wall_time_s=WALL_S + np.arange(num_rows) / 8,
        columns={name: draw(arrays(np.float32, num_rows, elements=values)) for name in names if name not in reserved},
        counters=draw(st.dictionaries(st.text(max_size=8), st.integers(1, 2**60), max_size=3)),
        end=draw(st.sampled_from([None, "closed", "exception", "replaced"])),
    )


@given(blocks())
def test_a_block_survives_the_round_trip(original: Block) -> None:
    found = round_trip(original)
    assert (found.ordinal, found.first_row, found.counters, found.end) == (
        original.ordinal,
        original.first_row,
        original.counters,
        original.end,
    )
    assert found.steps.dtype == np.int64
    np.testing.assert_array_equal(found.steps, original.steps)
    np.testing.assert_array_equal(found.wall_time_s, original.wall_time_s)
    measured = {name: values for name, values in original.columns.items() if not np.isnan(values).all()}
    assert set(found.columns) == set(measured)
    for name, values in measured.items():
        assert found.columns[name].dtype == np.float32
        np.testing.assert_array_equal(found.columns[name], values)


def test_steps_are_exact_up_to_the_largest() -> None:
    steps = np.array([MAX_STEP - 5, MAX_STEP - 1, MAX_STEP])
    assert round_trip(block(steps=steps)).steps.tolist() == [MAX_STEP - 5, MAX_STEP - 1, MAX_STEP]


def test_columns_with_one_value_stand_in_the_header() -> None:
    columns = {"num_samples": np.full(512, 32, np.float32), "flags": np.zeros(512, np.float32)}
    (header, body, _), _, _ = encode_block(block(512, columns=columns))
    assert json.loads(header)["constants"] == {"num_samples": 32.0, "flags": 0.0}
    assert len(body) == 512 * 4, "only the wall offsets"


def test_a_column_that_was_never_measured_is_left_out() -> None:
    columns = {"step_time_ms": np.ones(3, np.float32), "num_tokens": np.full(3, np.nan, np.float32)}
    assert list(round_trip(block(columns=columns)).columns) == ["step_time_ms"]


def test_a_block_without_rows_carries_the_end() -> None:
    ending = block(0, ordinal=4, first_row=2048, counters={"num_rows_lost": 3}, end="exception")
    elements, step, wall_time_s = encode_block(ending)
    assert (step, wall_time_s) == (0, 0.0)
    found = decode_block(elements, 2048, WALL_S)
    assert (found.num_rows, found.ordinal, found.first_row) == (0, 4, 2048)
    assert (found.counters, found.end) == ({"num_rows_lost": 3}, "exception")


def test_bytes_in_memory_are_counted() -> None:
    assert block(10).num_bytes == 10 * (8 + 8 + 4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ordinal": -1}, "ordinal -1 and first_row 0 must not be negative"),
        ({"first_row": -2}, "ordinal 0 and first_row -2 must not be negative"),
        ({"steps": np.arange(3, dtype=np.int32)}, r"steps are int32\(3,\); an int64 vector is allowed"),
        ({"steps": np.zeros((3, 1), np.int64)}, r"steps are int64\(3, 1\); an int64 vector"),
        ({"steps": np.array([-1, 0, 1])}, "at least 0 and strictly ascending; start a new attempt"),
        ({"steps": np.array([1, 2, 2])}, "at least 0 and strictly ascending; start a new attempt"),
        ({"wall_time_s": np.zeros(2)}, r"wall_time_s has shape \(2,\); steps have \(3,\)"),
        ({"columns": {"a": np.zeros(3)}}, r"column 'a' is float64\(3,\); float32\(3,\) is allowed"),
        ({"columns": {"a": np.zeros(2, np.float32)}}, r"column 'a' is float32\(2,\); float32\(3,\) is allowed"),
    ],
)
def test_values_that_are_no_block(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        block(**changes)


def test_too_many_rows_are_refused() -> None:
    with pytest.raises(FormatError, match=f"a block of 1025 rows; at most {MAX_ROWS_PER_BLOCK} are allowed: split it"):
        encode_block(block(MAX_ROWS_PER_BLOCK + 1))


def test_steps_that_span_too_much_are_refused() -> None:
    with pytest.raises(FormatError, match="span 16777216; less than 16777216 is allowed: split it"):
        encode_block(block(2, steps=np.array([7, 7 + MAX_STEP_SPAN])))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_rows": -1}, r"num_rows -1; \[0, 1024\] is allowed"),
        ({"num_rows": 1025}, "num_rows 1025"),
        ({"num_rows": 3.0}, "num_rows 3.0"),
        ({"num_rows": 2}, "is not a block: .*reshape"),
        ({"num_rows": "absent"}, "the tensor at step 7 is not a block: 'num_rows'"),
        ({"columns": "absent"}, "is not a block: 'columns'"),
        ({"columns": ["wall_offset_s", 5]}, "a column named 5; text is allowed"),
        ({"ordinal": "absent"}, "is not a block: 'ordinal'"),
        ({"ordinal": 1.5}, "ordinal 1.5; an integer is allowed"),
        ({"first_row": True}, "first_row True; an integer is allowed"),
        ({"first_row": -1}, "must not be negative"),
        ({"step_stride": 0}, "strictly ascending"),
        ({"step_stride": 2**63}, "is not a block"),
        ({"step_stride": "x"}, "is not a block"),
        ({"constants": {"flags": "x"}}, "is not a block"),
        ({"constants": [1]}, "is not a block"),
        ({"counters": [1]}, r"counters \[1\]; names and integers are allowed"),
        ({"counters": {"num_rows_lost": 0.5}}, "names and integers are allowed"),
        ({"end": 1}, "end 1; text is allowed"),
    ],
)
def test_headers_that_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        decode_block(with_header(**changes), 7, WALL_S)


@pytest.mark.parametrize(
    "elements",
    [
        [],
        [b"{}"],
        [b"{}", b""],
        [*sealed(b"{}", b""), b""],
        sealed(b"[]", b""),
        sealed(b"not JSON", b""),
        sealed(b"\xff", b""),
        ["text", b"", b""],
        5,
        [1.5, 2.5, 3.5],
    ],
)
def test_tensors_that_are_no_block(elements: Any) -> None:
    with pytest.raises(FormatError, match="the tensor at step 7 is not a block"):
        decode_block(elements, 7, WALL_S)


def test_a_block_that_reaches_beyond_the_largest_step_is_refused() -> None:
    with pytest.raises(FormatError, match=f"block at step {MAX_STEP - 1} reaches beyond step {MAX_STEP}"):
        decode_block(with_header(), MAX_STEP - 1, WALL_S)


def test_offsets_that_are_no_numbers_are_refused() -> None:
    offsets = np.array([0, np.nan, 2], "<f4").tobytes()
    header = {"ordinal": 0, "first_row": 0, "num_rows": 3, "columns": ["step_offset"]}
    with pytest.raises(FormatError, match="strictly ascending"):
        decode_block(sealed(json.dumps(header).encode(), offsets), 7, WALL_S)


@given(st.lists(st.binary(max_size=60), max_size=4), st.integers(-(2**63), 2**63 - 1))
def test_no_bytes_raise_anything_else(elements: list[bytes], step: int) -> None:
    with pytest.raises(FormatError):
        decode_block(elements, step, WALL_S)


@given(st.binary(max_size=60), st.binary(max_size=60), st.integers(-(2**63), 2**63 - 1))
def test_no_bytes_with_a_right_checksum_raise_anything_else(header: bytes, body: bytes, step: int) -> None:
    with pytest.raises(FormatError):
        decode_block(sealed(header, body), step, WALL_S)


def test_every_flipped_bit_is_noticed() -> None:
    elements, step, wall_time_s = encode_block(block())
    for number, element in enumerate(elements):
        for bit in range(8 * len(element)):
            damaged = bytearray(element)
            damaged[bit // 8] ^= 1 << bit % 8
            with pytest.raises(FormatError, match="was damaged after it was written: its checksum differs"):
                decode_block([*elements[:number], bytes(damaged), *elements[number + 1 :]], step, wall_time_s)


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON_VALUES, max_size=5))
def test_an_environment_record_survives_the_round_trip(record: dict[str, Any]) -> None:
    assert decode_environment(encode_environment(record)) == record


def test_an_environment_record_is_strict_json() -> None:
    record = {"user": {"lr": float("nan"), "shape": (1, float("inf")), 3: "x"}}
    assert decode_environment(encode_environment(record)) == {"user": {"lr": None, "shape": [1, None], "3": "x"}}


@pytest.mark.parametrize(
    ("elements", "message"),
    [
        ([b"[1]"], "is a JSON list; an object is allowed"),
        ([b"{"], "is not one JSON text"),
        ([b"{}", b"{}"], "is not one JSON text"),
        ([], "is not one JSON text"),
        (None, "is not one JSON text"),
    ],
)
def test_tensors_that_are_no_environment_record(elements: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        decode_environment(elements)
