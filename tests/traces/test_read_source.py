"""The text of a file: any file system that TensorBoard knows, progress, the limit."""

from __future__ import annotations

import gzip
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest
from tensorboard.compat.tensorflow_stub import errors
from tensorboard.compat.tensorflow_stub.io import gfile

from tb_stepperf.errors import TraceError
from tb_stepperf.traces.read import read_trace
from tb_stepperf.traces.source import Source
from tests.support.trace_files import good_text

GOOD = good_text().encode()


class Bucket:
    """A remote file system of one dictionary, as TensorBoard expects one."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files

    def read(self, name: str, binary_mode: bool, size: int | None, token: dict[str, int] | None) -> Any:
        at = (token or {}).get("at", 0)
        data = self._content(name)[at:] if size is None else self._content(name)[at : at + size]
        return data, {"at": at + len(data)}

    def stat(self, name: str) -> gfile.StatData:
        return gfile.StatData(len(self._content(name)))

    def _content(self, name: bytes | str) -> bytes:
        name = name.decode() if isinstance(name, bytes) else name
        if name not in self._files:
            raise errors.NotFoundError(None, None, f"{name} is not in the bucket")
        return self._files[name]


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bytes]]:
    files: dict[str, bytes] = {}
    monkeypatch.setitem(gfile._REGISTERED_FILESYSTEMS, "bucket", Bucket(files))
    yield files


@pytest.mark.parametrize("data", [GOOD, gzip.compress(GOOD)], ids=["plain", "gzip"])
def test_a_file_of_another_file_system(bucket: dict[str, bytes], data: bytes) -> None:
    bucket["bucket://runs/trace.json"] = data
    fractions: list[float] = []
    trace = read_trace("bucket://runs/trace.json", report=fractions.append)
    assert (trace.num_events, trace.num_bytes) == (9, len(GOOD))
    assert fractions[-1] == 1.0


@pytest.mark.parametrize("path", ["nobody://knows/this.json", "http://localhost:1/trace.json"])
def test_a_scheme_that_nothing_can_read(path: str) -> None:
    with pytest.raises(TraceError, match=r"^The file cannot be read: .*\.$"):
        read_trace(path)


def test_a_file_that_another_file_system_has_not(bucket: dict[str, bytes]) -> None:
    with pytest.raises(TraceError, match=r"cannot be read: bucket://nothing.json is not in the bucket"):
        read_trace("bucket://nothing.json")


def test_progress_is_that_of_the_file_not_of_the_text(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.json.gz"
    path.write_bytes(gzip.compress(b"a" * 1_000_000) + gzip.compress(b"b" * 1000))
    size = path.stat().st_size
    source = Source(str(path), max_bytes=10**9, piece_bytes=100)
    seen = [(source.fraction, piece) for piece in source]
    assert seen[0][0] == 100 / size
    assert [fraction for fraction, _ in seen] == sorted(fraction for fraction, _ in seen)
    assert source.fraction == 1.0
    assert source.num_bytes == 1_001_000
    assert b"".join(piece for _, piece in seen) == b"a" * 1_000_000 + b"b" * 1000


def test_an_error_in_report_ends_the_reading(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(GOOD)

    def cancelled(fraction: float) -> None:
        raise InterruptedError(f"cancelled at {fraction}")

    with pytest.raises(InterruptedError, match=r"cancelled at 1\.0"):
        read_trace(str(path), report=cancelled)


def test_exactly_the_limit_is_allowed(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(GOOD)
    assert read_trace(str(path), max_bytes=len(GOOD)).num_bytes == len(GOOD)
    with pytest.raises(TraceError, match="longer than"):
        read_trace(str(path), max_bytes=len(GOOD) - 1)
