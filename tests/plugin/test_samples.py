"""`/samples`: every raw row, in full precision, in two formats that open safely."""

from __future__ import annotations

import csv
import gzip
import io
import json

import numpy as np
import pytest

from tb_stepperf.blocks import Flag
from tb_stepperf.errors import RequestError
from tb_stepperf.plugin import respond
from tb_stepperf.plugin.params import Query
from tb_stepperf.plugin.payloads import samples
from tests.plugin.fakes import START_S, FakeMember, FakeStore, body, get, source

NAN = float("nan")

MEMBER = FakeMember(
    {
        "step_time_ms": [10.1, 20.0, NAN],
        "num_samples": [32, 32, 32],
        "peak_resident_bytes": [812000000, NAN, NAN],
        'stage/a,"b"\n_ms': [0.1, float("inf"), -1.5],
        "=cmd|' /C calc'!A0": [1, 2, 3],
        "flags": [Flag.WARMUP | Flag.RESTART, 0, Flag.GC],
    },
    steps=[0, 7, 9007199254740993],
    wall_time_s=[START_S + 0.5, START_S + 1, START_S + 2.25],
)
STORE = FakeStore({"a b/…": [MEMBER]})


def test_csv() -> None:
    response = get(STORE, "/samples", run="a b/…", format="csv")
    assert response.content_type == "text/csv; charset=utf-8"
    assert response.headers["Content-Disposition"] == 'attachment; filename="stepperf-a-b-0.csv"'
    assert response.headers["Cache-Control"] == "no-store"
    rows = list(csv.reader(io.StringIO(response.text, newline="")))
    assert rows == [
        [
            "step",
            "wall_time_s",
            "step_time_ms",
            "'=cmd|' /C calc'!A0",
            "num_samples",
            "peak_resident_bytes",
            'stage/a,"b"\n_ms',
            "flags",
        ],
        ["0", "1700000000.5", "10.1", "1", "32", "812000000", "0.1", "65"],
        ["7", "1700000001.0", "20.0", "2", "32", "", "", "0"],
        ["9007199254740993", "1700000002.25", "", "3", "32", "", "-1.5", "8"],
    ]


def test_json() -> None:
    response = get(STORE, "/samples", run="a b/…", start=1)
    assert response.content_type == "application/json; charset=utf-8"
    assert response.headers["Content-Disposition"] == 'attachment; filename="stepperf-a-b-0.json"'
    payload = body(response)
    assert payload["run"] == "a b/…"
    assert payload["columns"][:3] == ["step", "wall_time_s", "step_time_ms"]
    assert payload["columns"][-1] == "flags"
    assert payload["rows"] == [
        ["7", 1700000001.0, 20.0, 2, 32, None, None, 0],
        ["9007199254740993", 1700000002.25, None, 3, 32, None, -1.5, 8],
    ]
    for row in payload["rows"]:
        assert all(type(value) in (int, float, type(None)) for value in row[1:])


@pytest.mark.parametrize("extension", ["csv", "json"])
def test_many_rows_are_all_there_with_every_bit(extension: str) -> None:
    values = np.random.default_rng(0).lognormal(size=20_000).astype(np.float32)
    chunks, _ = samples.samples_impl(source(FakeMember({"step_time_ms": values})), Query(run="job", format=extension))
    text = b"".join(chunks).decode()
    if extension == "csv":
        read = [float(row["step_time_ms"]) for row in csv.DictReader(io.StringIO(text))]
    else:
        read = [row[2] for row in json.loads(text)["rows"]]
    assert np.array_equal(np.array(read, np.float32), values)


@pytest.mark.parametrize("extension", ["csv", "json"])
def test_no_rows(extension: str) -> None:
    response = get(STORE, "/samples", run="a b/…", format=extension, start=-5, end=0)
    if extension == "csv":
        assert len(list(csv.reader(io.StringIO(response.text, newline="")))) == 1
    else:
        assert body(response)["rows"] == []


def test_too_many_rows_are_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "MAX_SAMPLES", 2)
    message = "the range holds 3 rows; at most 2 are allowed: narrow it with start and end"
    with pytest.raises(RequestError, match=message):
        samples.samples_impl(source(MEMBER), Query(run="job"))
    assert samples.samples_impl(source(MEMBER), Query(run="job", start=1))


def test_a_download_is_compressed_as_a_stream() -> None:
    def chunks():
        yield b"a" * 5000
        yield b"b"

    class Asks:
        headers = {"Accept-Encoding": "gzip, deflate"}  # noqa: RUF012

    response = respond.download_response(Asks(), chunks(), respond.CSV_TYPE, "x.csv")  # type: ignore[arg-type]
    assert response.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(b"".join(response.iter_encoded())) == b"a" * 5000 + b"b"


@pytest.mark.parametrize(
    ("run", "name"),
    [
        ("resnet50", "stepperf-resnet50-0.csv"),
        ("../../etc/passwd", "stepperf-etc-passwd-0.csv"),
        ('a"; filename="b.exe', "stepperf-a-filename-b-exe-0.csv"),
        ("a\r\nSet-Cookie: x", "stepperf-a-Set-Cookie-x-0.csv"),
        (".", "stepperf-0.csv"),
        ("…", "stepperf-0.csv"),
        ("x" * 300, f"stepperf-{'x' * 60}-0.csv"),
    ],
)
def test_file_names_are_harmless(run: str, name: str) -> None:
    assert samples.file_name(run, "0", "csv") == name
