"""The text of a trace file, piece by piece: any file system, gzip or not, never more than was agreed."""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator
from typing import Any

from tb_stepperf.errors import TraceError

PIECE_BYTES = 1 << 18
"""Length of a piece of text, roughly. Larger ones are no faster, and memory while reading is dozens of times that."""

_GZIP = b"\x1f\x8b"


class Source:
    """A file as pieces of decompressed text; whether it is gzip is decided by its first bytes, not by its name.

    Attributes:
        num_bytes: length of the text so far, decompressed.
        fraction: part of the file read so far, in [0, 1].

    Args:
        path: a local path, or one that TensorBoard's gfile opens (`scheme://…`).
        max_bytes: most text to take.
        piece_bytes: length of a piece, roughly.
    """

    def __init__(self, path: str, *, max_bytes: int, piece_bytes: int = PIECE_BYTES) -> None:
        self.num_bytes = 0
        self.fraction = 0.0
        self._path, self._max_bytes, self._piece_bytes = path, max_bytes, piece_bytes
        self._read_bytes, self._size = 0, 1

    def __iter__(self) -> Iterator[bytes]:
        """Yields the text once, in order.

        Raises:
            TraceError: the file cannot be opened or read, its gzip data is cut off or damaged, or there is more text
                than `max_bytes`.
        """
        if "://" in self._path:
            yield from self._remote()
            return
        try:
            if not stat.S_ISREG(os.stat(self._path).st_mode):
                raise TraceError("The path names no regular file: a trace is one.")
            with open(self._path, "rb") as file:
                yield from self._pieces(file, os.path.getsize(self._path))
        except OSError as error:
            raise TraceError(f"The file cannot be read: {error.strerror or error}.") from error

    def _remote(self) -> Iterator[bytes]:
        from tensorboard.compat import tf

        try:
            with tf.io.gfile.GFile(self._path, "rb") as file:
                yield from self._pieces(file, tf.io.gfile.stat(self._path).length)
        except (TraceError, MemoryError):
            raise
        except Exception as error:  # of a remote file system, anything; of a scheme that nothing here can read, too
            reason = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
            raise TraceError(f"The file cannot be read: {reason.rstrip('.')}.") from error

    def _pieces(self, file: Any, size: int) -> Iterator[bytes]:
        self._size = max(size, 1)
        first = self._read(file)
        for piece in self._inflated(file, first) if first.startswith(_GZIP) else self._plain(file, first):
            self.num_bytes += len(piece)
            if self.num_bytes > self._max_bytes:
                raise TraceError(
                    f"The trace is longer than {self._max_bytes:,} bytes of text, the limit: "
                    "profile fewer steps, or raise the limit."
                )
            yield piece

    def _read(self, file: Any) -> bytes:
        data = file.read(self._piece_bytes)
        self._read_bytes += len(data)
        self.fraction = min(self._read_bytes / self._size, 1.0)
        return data

    def _plain(self, file: Any, data: bytes) -> Iterator[bytes]:
        while data:
            yield data
            data = self._read(file)

    def _inflated(self, file: Any, data: bytes) -> Iterator[bytes]:
        member = zlib.decompressobj(wbits=31)
        while True:
            try:
                piece = member.decompress(data, self._piece_bytes)
            except zlib.error as error:
                raise TraceError(
                    f"The gzip data is damaged near byte {self._read_bytes - len(data):,} "
                    f"of {self._size:,}: copy the file again."
                ) from error
            data = member.unconsumed_tail
            if piece:
                yield piece
            if member.eof:
                data = member.unused_data.lstrip(b"\0") or self._read(file).lstrip(b"\0")
                if len(data) == 1:
                    data += self._read(file)
                if not data.startswith(_GZIP):  # the end, or what gzip itself would ignore
                    return
                member = zlib.decompressobj(wbits=31)
            elif not data and len(piece) < self._piece_bytes:
                data = self._read(file)
                if not data:
                    raise TraceError(
                        f"The gzip data ends at byte {self._read_bytes:,} before its end mark: "
                        "the file was cut off, or is still being written."
                    )
