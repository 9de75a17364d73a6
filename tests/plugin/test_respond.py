"""Answers: strict JSON, compressed where accepted, never cached; numbers that do not exist are null."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Request

from tb_stepperf.plugin import json_numbers, respond

NAN, INF = float("nan"), float("inf")


def _request(accept: str | None) -> Request:
    headers = {} if accept is None else {"Accept-Encoding": accept}
    return Request(EnvironBuilder(headers=headers).get_environ())


@pytest.mark.parametrize(
    ("accept", "accepted"),
    [
        ("gzip", True),
        ("gzip, deflate, br", True),
        ("br;q=1.0, gzip;q=0.8, *;q=0.1", True),
        ("GZIP", True),
        ("x-gzip", True),
        ("*", True),
        ("deflate,gzip ; q=0.5", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("deflate", False),
        ("notgzip", False),
        ("", False),
        (None, False),
    ],
)
def test_gzip_is_used_where_it_is_accepted(accept: str | None, accepted: bool) -> None:
    request = _request(accept)
    assert respond.accepts_gzip(request) is accepted
    response = respond.json_response(request, {"values": list(range(1000))})
    assert response.headers.get("Content-Encoding") == ("gzip" if accepted else None)
    data = gzip.decompress(response.data) if accepted else response.data
    assert data == respond.encode_json({"values": list(range(1000))})
    assert response.headers["Content-Length"] == str(len(response.data))
    assert response.headers["Vary"] == "Accept-Encoding"
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_small_answers_are_not_compressed_and_equal_ones_are_equal_bytes() -> None:
    assert "Content-Encoding" not in respond.json_response(_request("gzip"), {}).headers
    payload = {"values": list(range(1000))}
    first, second = (respond.json_response(_request("gzip"), payload).data for _ in range(2))
    assert first == second


@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_a_number_that_is_not_finite_is_never_sent(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        respond.encode_json({"value": value})


def test_text_that_is_no_unicode_survives() -> None:
    assert respond.encode_json({"run": "a\udc80…"}) == b'{"run":"a\\udc80\\u2026"}'


def test_times_become_integers_of_a_tenth_of_a_microsecond() -> None:
    values = np.array([9.8, 0.0, NAN, 0.00004, 0.00006, INF], np.float32)
    assert json_numbers.scaled_ms(values) == [98000, 0, None, 0, 1, None]
    assert json_numbers.scaled_ms(np.array([9.8, 1e5], np.float32)) == [98000, 10**9]
    assert all(type(value) is int for value in json_numbers.scaled_ms(np.array([1.0])))


def test_integers_beyond_int64_do_not_overflow() -> None:
    assert json_numbers.integers(np.array([1e30, 2.0])) == [int(1e30), 2]


def test_rounded_floats() -> None:
    assert json_numbers.rounded(np.float32(9.8)) == 9.8
    assert json_numbers.rounded(NAN) is None
    assert json_numbers.rounded_list(np.array([1.23456, NAN]), 3) == [1.235, None]


def test_foreign_values_are_made_strict() -> None:
    assert json_numbers.strict({"a": [1, NAN, {"b": (INF, "NaN", None, True)}], 3: 0.5}) == {
        "a": [1, None, {"b": [None, "NaN", None, True]}],
        "3": 0.5,
    }
