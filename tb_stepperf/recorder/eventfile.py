"""Event files: names, records and the two kinds of files under them."""

from __future__ import annotations

import hashlib
import itertools
import os
import socket
import struct
import uuid
from typing import Any, Protocol

import google_crc32c

_file_numbers = itertools.count()


def record(payload: bytes) -> bytes:
    """Frames a serialised event: length, masked CRC of the length, payload, masked CRC of the payload.

    This is TensorFlow's record format (`tensorflow/core/lib/io/record_writer.h`), with the checksum from a compiled
    library: TensorBoard's own holds the interpreter for milliseconds.
    """
    length = struct.pack("<Q", len(payload))
    return length + _masked_crc(length) + payload + _masked_crc(payload)


def host_hash() -> str:
    """Returns 12 hexadecimal digits that tell hosts apart without naming them."""
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:12]


def file_name(wall_time_s: float) -> str:
    """Returns the name of an event file that no other process or writer can have.

    Within a process later names sort behind earlier ones: TensorBoard follows the last of a directory.
    """
    seconds = min(max(int(wall_time_s), 0), 10**10 - 1)
    order, unique = next(_file_numbers), uuid.uuid4().hex[:8]
    return f"events.out.tfevents.{seconds:010d}.{host_hash()}.{os.getpid()}.{order:04d}-{unique}.stepperf"


def settled(logdir: str) -> str:
    """Returns a directory that stays the same one where the process goes to another directory."""
    return logdir if is_remote(logdir) else os.path.abspath(logdir)


def is_remote(path: str) -> bool:
    """Returns whether a path names a file system of its own (`gs://…`)."""
    return "://" in path


class EventFile(Protocol):
    """An event file that is open for appending. Every method may raise what its file system raises."""

    path: str

    def write(self, records: bytes) -> None:
        """Writes whole records; they are safe from a crash of this process when it returns."""

    def exists(self) -> bool:
        """Returns whether the file is still there."""

    def close(self) -> None:
        """Closes the file."""


class LocalFile:
    """A file of the operating system, without a buffer: an error comes at once, with its errno."""

    def __init__(self, directory: str, name: str) -> None:
        os.makedirs(directory, exist_ok=True)
        self.path = os.path.join(directory, name)
        self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)

    def write(self, records: bytes) -> None:
        """Writes whole records.

        Raises:
            OSError: the file system refuses; a part may have been written.
        """
        left = memoryview(records)
        while left:
            left = left[os.write(self._descriptor, left) :]

    def exists(self) -> bool:
        """Returns whether the path leads to a file."""
        return os.path.exists(self.path)

    def close(self) -> None:
        """Closes the file."""
        os.close(self._descriptor)

    def discard(self) -> None:
        """Closes and removes the file."""
        self.close()
        os.unlink(self.path)


class RemoteFile:
    """A file of any file system that TensorBoard knows, through its gfile."""

    def __init__(self, directory: str, name: str) -> None:
        from tensorboard.compat import tf

        self._gfile: Any = tf.io.gfile
        self._gfile.makedirs(directory)
        self.path = f"{directory.rstrip('/')}/{name}"
        self._file = self._gfile.GFile(self.path, "wb")

    def write(self, records: bytes) -> None:
        """Writes whole records; may raise whatever the file system's library raises."""
        self._file.write(records)
        self._file.flush()

    def exists(self) -> bool:
        """Returns whether the file system has the file."""
        return bool(self._gfile.exists(self.path))

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def discard(self) -> None:
        """Closes the file."""
        self.close()


def open_event_file(directory: str, wall_time_s: float) -> EventFile:
    """Creates an event file with its first record in a directory, which is made if need be."""
    from tensorboard.compat.proto.event_pb2 import Event

    kind = RemoteFile if is_remote(directory) else LocalFile
    file = kind(directory, file_name(wall_time_s))
    try:
        file.write(record(Event(wall_time=wall_time_s, file_version="brain.Event:2").SerializeToString()))
    except Exception:
        file.discard()
        raise
    return file


def _masked_crc(data: bytes) -> bytes:
    crc = google_crc32c.value(data)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)
