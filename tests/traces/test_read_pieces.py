"""Where pieces of the text end makes no difference."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_stepperf.errors import TraceError
from tb_stepperf.traces.events import TraceEvents
from tb_stepperf.traces.read import read_pieces
from tests.support.trace_files import complete, good_document, write_large

AWKWARD = '}, {"]\\"\\\\'
NAMES = st.text(max_size=8) | st.sampled_from([AWKWARD, "aten::mm", "ProfilerStep#1", "\u2028", "😀"])
EVENTS = st.builds(
    lambda name, cat, start, duration, args: complete(name, cat, start, duration, args=args),
    NAMES,
    st.sampled_from(["cpu_op", "kernel", "Operator", "something"]),
    st.integers(0, 10**6) | st.floats(0, 1e6) | st.floats(1.6e15, 1.7e15),
    st.integers(-5, 10**6) | st.floats(0, 1e6) | st.none(),
    st.fixed_dictionaries(
        {},
        optional={
            "External id": st.integers(0, 2**64),
            "Input Dims": st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=3),
            "groups": st.lists(st.fixed_dictionaries({"a": NAMES}), max_size=3),
        },
    ),
)
ODD_TEXTS = {
    "trailing comma": json.dumps(good_document()).replace('], "traceName"', ', ], "traceName"'),
    "commas": json.dumps(good_document()).replace('}, {"ph"', '},, , {"ph"'),
    "backslashes": json.dumps(good_document()).replace("aten::mm", "C:\\Users\\me", 2),
    "NaN": json.dumps(good_document()).replace("300.0", "NaN", 1),
    "wrong type": json.dumps(good_document(complete("k", "kernel", [1], 5.0))),
    "list never closed": json.dumps(good_document()["traceEvents"])[:-1] + " ,",
    "behind the end": json.dumps(good_document()) + " x",
}


def pieces_of(text: bytes, length: int) -> list[bytes]:
    return [text[at : at + length] for at in range(0, len(text), length)]


def outcome(text: bytes, length: int) -> dict[str, Any] | str:
    """Returns the trace as plain values, or the sentence that refuses it."""
    try:
        return plain(read_pieces(pieces_of(text, length)))
    except TraceError as error:
        return str(error)


def plain(trace: TraceEvents) -> dict[str, Any]:
    values = {field.name: getattr(trace, field.name) for field in dataclasses.fields(trace)}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}


@settings(max_examples=60, deadline=None)
@given(st.lists(EVENTS, max_size=12), NAMES, st.booleans(), st.sampled_from([None, 1]), st.integers(1, 300))
def test_pieces_of_any_length_give_the_same_trace(
    events: list[dict[str, Any]], metadata: str, is_list: bool, indent: int | None, length: int
) -> None:
    document = events if is_list else {"before": metadata, "traceEvents": events, "distributedInfo": {"rank": 3}}
    text = json.dumps(document, indent=indent).encode()
    assert outcome(text, length) == outcome(text, len(text))


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(sorted(ODD_TEXTS)), st.integers(1, 300))
def test_pieces_of_any_length_give_the_same_repairs(name: str, length: int) -> None:
    text = ODD_TEXTS[name].encode("utf-8")
    assert outcome(text, length) == outcome(text, len(text))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_cut_is_refused_or_read(data: st.DataObject) -> None:
    text = json.dumps(good_document()).encode()
    cut = data.draw(st.integers(1, len(text) - 1))
    found = outcome(text[:cut], data.draw(st.integers(64, 2000)))
    assert isinstance(found, str)
    assert f"ends at byte {cut:,} of its text" in found


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_changed_byte_never_does_more_than_refuse(data: st.DataObject) -> None:
    text = bytearray(json.dumps(good_document()).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    found = outcome(bytes(text), 128)
    assert isinstance(found, (dict, str))


@pytest.mark.parametrize("length", [64, 1000, 4096, 65537])
def test_files_of_kineto_in_pieces(tmp_path: pathlib.Path, length: int) -> None:
    path = tmp_path / "large.json"
    write_large(path, num_events=600, num_steps=3)
    text = path.read_bytes()
    assert outcome(text, length) == outcome(text, len(text))
