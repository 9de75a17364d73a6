"""Tags, and the metadata that each carries."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_stepperf.blocks import TagMetadata, attempt_id, blocks_tag, environment_tag, parse_metadata
from tb_stepperf.errors import FormatError, NewerFormatError

METADATA = TagMetadata("blocks", "01700000000500-0123abcd", "5f0c", 1_700_000_000.5, segment=3, rank=1, world_size=2)


def content(**changes: Any) -> bytes:
    fields = {**json.loads(METADATA.to_bytes()), **changes}
    return json.dumps({key: value for key, value in fields.items() if value != "absent"}).encode()


def test_metadata_survives_the_round_trip() -> None:
    assert parse_metadata(METADATA.to_bytes()) == METADATA


def test_names() -> None:
    attempt = attempt_id(1_700_000_000.5, "0123abcd")
    assert attempt == METADATA.attempt
    assert blocks_tag(attempt, 12) == "stepperf/01700000000500-0123abcd/000012"
    assert environment_tag(attempt) == "stepperf/01700000000500-0123abcd/environment"


@pytest.mark.parametrize(("started_s", "digits"), [(-5.0, "0" * 14), (0.0, "0" * 14), (1e30, "9" * 14)])
def test_a_clock_that_is_far_off_still_gives_an_identity(started_s: float, digits: str) -> None:
    attempt = attempt_id(started_s, "00000000")
    assert attempt == f"{digits}-00000000"
    assert parse_metadata(content(attempt=attempt)).attempt == attempt


@given(st.floats(0, 1e10), st.floats(0, 1e10))
def test_identities_sort_by_start(a_s: float, b_s: float) -> None:
    earlier, later = sorted([a_s, b_s])
    assert attempt_id(earlier, "0" * 8) <= attempt_id(later, "0" * 8)


def test_keys_of_later_minor_versions_are_ignored() -> None:
    assert parse_metadata(content(colour="green")) == METADATA


def test_fields_that_have_defaults_may_be_missing() -> None:
    found = parse_metadata(content(segment="absent", rank="absent", world_size="absent"))
    assert (found.segment, found.rank, found.world_size) == (0, 0, 1)


def test_a_newer_format_says_what_to_do() -> None:
    with pytest.raises(NewerFormatError, match=r"block format 2, this tb_stepperf reads up to 1: upgrade tb_stepperf"):
        parse_metadata(content(format=2, kind="something new"))


@pytest.mark.parametrize("version", [0, -1, 1.0, True, "1", None])
def test_versions_that_are_none(version: Any) -> None:
    with pytest.raises(FormatError, match="an integer of at least 1 is allowed"):
        parse_metadata(content(format=version))


@pytest.mark.parametrize("bad", [b"", b"\x0a\x00", b"[]", b"1", b"{", b'{"kind": "blocks"}', b"null", b"\xff"])
def test_content_that_is_not_ours(bad: bytes) -> None:
    with pytest.raises(FormatError, match="is not JSON with a 'format'"):
        parse_metadata(bad)


@pytest.mark.parametrize("field", ["kind", "attempt", "process", "started_s"])
def test_a_missing_field_is_named(field: str) -> None:
    with pytest.raises(FormatError, match=f"lacks a field: .*{field}"):
        parse_metadata(content(**{field: "absent"}))


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "scalars"},
        {"kind": ["blocks"]},
        {"attempt": "../../etc"},
        {"attempt": "01700000000500-0123ABCD"},
        {"attempt": 5},
        {"process": None},
        {"started_s": "today"},
        {"started_s": None},
        {"started_s": True},
        {"started_s": float("nan")},
        {"segment": -1},
        {"segment": 0.5},
        {"rank": 2},
        {"rank": -1},
        {"rank": True},
        {"world_size": 0},
        {"world_size": 2.0},
    ],
)
def test_fields_outside_what_is_allowed(changes: dict[str, Any]) -> None:
    with pytest.raises(FormatError):
        parse_metadata(content(**changes))
