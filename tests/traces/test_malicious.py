"""Files made to do harm: they end in a sentence or in a bounded result, and what is in them stays text."""

from __future__ import annotations

import gzip
import json
import os
import pathlib
import tracemalloc
import zlib
from collections.abc import Iterator

import pytest

from tb_stepperf.errors import TraceError
from tb_stepperf.traces import buffer, scan, vocabulary
from tb_stepperf.traces.read import read_pieces, read_trace
from tb_stepperf.traces.repair import escape_quotes
from tests.support.trace_files import complete, good_document, good_events, good_text

GOOD = good_text().encode()
MIB = 1 << 20


def repeated(beginning: bytes, piece: bytes, times: int) -> Iterator[bytes]:
    yield beginning
    for _ in range(times):
        yield piece


@pytest.mark.parametrize(
    "beginning",
    [
        pytest.param(b"", id="zeros"),
        pytest.param(b'{"a": 1' + b" " * 100, id="blanks"),
        pytest.param(b'{"traceEvents": [' + json.dumps(good_events()).encode()[1:-1] + b", ", id="blanks after events"),
    ],
)
def test_a_gzip_bomb_ends_at_the_limit_without_the_memory(tmp_path: pathlib.Path, beginning: bytes) -> None:
    packer = zlib.compressobj(9, wbits=31)
    filler = (b" " if beginning else b"\0") * MIB
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(b"".join(map(packer.compress, repeated(beginning, filler, 60))) + packer.flush())
    assert path.stat().st_size < MIB
    tracemalloc.start()
    with pytest.raises(TraceError, match=r"longer than 31,457,280 bytes of text, the limit: .* raise the limit"):
        read_trace(str(path), max_bytes=30 * MIB)
    assert tracemalloc.get_traced_memory()[1] < 20 * MIB
    tracemalloc.stop()


@pytest.mark.parametrize(
    "beginning",
    [
        pytest.param(b'{"traceEvents": [{"name": "', id="name of an event"),
        pytest.param(b'{"traceEvents": [{"args": {"x": [', id="arguments of an event"),
        pytest.param(b'{"environment": "', id="text in the metadata"),
        pytest.param(b'{"', id="key"),
        pytest.param(b'{"distributedInfo": [', id="list in the metadata that counts"),
    ],
)
def test_a_value_of_gigabytes_ends_early(monkeypatch: pytest.MonkeyPatch, beginning: bytes) -> None:
    monkeypatch.setattr(buffer, "MAX_VALUE_BYTES", 4 * MIB)
    taken = 0

    def pieces() -> Iterator[bytes]:
        nonlocal taken
        for piece in repeated(beginning, b"1," * (MIB // 2), 3000):
            taken += len(piece)
            yield piece

    with pytest.raises(TraceError, match="begins an event or text of more than 4 MiB"):
        read_pieces(pieces())
    assert taken <= 12 * MIB


def test_metadata_of_any_length_is_skipped() -> None:
    def text() -> Iterator[bytes]:
        yield from repeated(b'{"environment": [', b'{"b": "}%b"}, ' % (b"x" * 100_000) * 10, 60)
        yield b'1], "traceEvents": ' + json.dumps(good_events()).encode() + b"}"

    tracemalloc.start()
    assert read_pieces(text()).num_events == 9
    assert tracemalloc.get_traced_memory()[1] < 20 * MIB
    tracemalloc.stop()


@pytest.mark.parametrize("bracket", ["[]", "{}"])
@pytest.mark.parametrize(
    ("place", "depth"),
    [
        ('{"environment": %s}', scan.MAX_DEPTH + 1),
        ('{"environment": %s}', 100_000),
        ('{"distributedInfo": %s}', 100_000),
        ('{"traceEvents": [{"ph": "X", "args": {"x": %s}}, {"ph": "X"}]}', 100_000),
        ('{"traceEvents": [{"ph": "X", "ts": %s}]}', scan.MAX_DEPTH + 1),
        ('{"traceEvents": [{"ph": "X", "ts": %s}]}', 100_000),
    ],
)
def test_deep_nesting_is_refused(place: str, depth: int, bracket: str) -> None:
    opening, closing = bracket if bracket == "[]" else ('{"a":', "}")
    nested = opening * depth + "1" + closing * depth
    with pytest.raises(TraceError, match="nests values more than 200 deep"):
        read_pieces([(place % nested).encode()])


def test_html_in_names_stays_text(tmp_path: pathlib.Path) -> None:
    name = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    path = tmp_path / "html.json"
    path.write_text(good_text(complete(name, "kernel", 1.0, 2.0, pid=name, tid="../../etc/passwd")))
    trace = read_trace(str(path))
    assert name in trace.names
    assert {(track.process, track.thread) for track in trace.tracks} >= {(name, "../../etc/passwd")}


def test_more_names_than_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "MAX_TEXTS", 10)
    monkeypatch.setattr(vocabulary, "MAX_TRACKS", 5)
    events = [complete(f"op {number}", "cpu_op", number, 1.0, tid=number) for number in range(100)]
    trace = read_pieces([json.dumps(events).encode()])
    assert trace.num_events == 100
    assert trace.names == (*(f"op {number}" for number in range(10)), "(more names)")
    assert len(trace.tracks) == 6
    assert [trace.names[name] for name in trace.name[[9, 10, 99]]] == ["op 9", "(more names)", "(more names)"]
    assert trace.oddities == {"event whose name is one too many (all of them are (more names) now)": 90}


def test_long_names_are_cut_and_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "MAX_CHARS", 10_000)
    events = [complete(str(number) * 5000, "cpu_op", number, 1.0) for number in range(5)]
    trace = read_pieces([json.dumps(events).encode()])
    assert trace.names == ("0" * 4096, "1" * 4096, "(more names)")


def test_many_categories_of_its_own() -> None:
    events = [complete("x", f"category {number}", number, 1.0) for number in range(3000)]
    with pytest.raises(TraceError, match=r"not of torch.profiler") as caught:
        read_pieces([json.dumps(events).encode()])
    assert len(str(caught.value)) < 400


def test_a_pipe_is_not_opened(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(TraceError, match="no regular file"):
        read_trace(str(tmp_path / "pipe.json"))


def test_a_name_full_of_escapes_takes_no_time_and_no_memory() -> None:
    name = "\\n" * (2 * MIB)
    tracemalloc.start()
    text = good_text(complete("NAME", "kernel", 1.0, 2.0, args=[5])).replace("NAME", name).encode()
    trace = read_pieces([text])
    assert trace.oddities == {"event that is not in order (left out)": 1}
    assert tracemalloc.get_traced_memory()[1] < 60 * MIB
    tracemalloc.stop()


def test_a_name_full_of_quotes_takes_no_time() -> None:
    text = json.dumps(good_document(), indent=2).replace("sgemm", '"' * MIB, 1)
    trace = read_pieces([text.encode()])
    assert trace.oddities == {"name with quotes that were not escaped (repaired)": 1}
    assert trace.num_events == 9


def test_a_line_full_of_quotes_without_an_end_takes_no_time() -> None:
    line = b'"name": "' + b'" ' * MIB + b"x"
    assert escape_quotes(line + b"\n") == (line + b"\n", 0)


def test_concatenated_bombs(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "members.json.gz"
    path.write_bytes(gzip.compress(GOOD) + gzip.compress(b" " * MIB) * 50)
    with pytest.raises(TraceError, match="the limit"):
        read_trace(str(path), max_bytes=10 * MIB)
    assert read_trace(str(path)).num_events == 9
