"""Directories and heads of files, local or remote as TensorBoard takes them."""

from __future__ import annotations

import dataclasses
import os
import stat
from collections.abc import Iterator

from tb_stepperf.traces.filenames import parse_name
from tb_stepperf.traces.heads import HEAD_BYTES
from tb_stepperf.traces.roots import is_remote


@dataclasses.dataclass(frozen=True)
class Entry:
    """What a directory holds.

    Attributes:
        name: of the entry.
        path: of the entry.
        is_directory: what is neither that nor a file is never listed.
        is_link: whether it is a symbolic link.
    """

    name: str
    path: str
    is_directory: bool
    is_link: bool = False


def list_directory(path: str) -> Iterator[Entry]:
    """Yields the directories and files in a directory.

    Raises:
        OSError: the directory cannot be read.
        Exception: whatever a remote file system raises.
    """
    if is_remote(path):
        yield from _list_remote(path)
        return
    with os.scandir(path) as entries:
        for entry in entries:
            try:
                is_directory = entry.is_dir()
                is_usable = is_directory or entry.is_file()
            except OSError:  # a link to itself, or into a place that may not be entered
                continue
            if is_usable:
                yield Entry(entry.name, entry.path, is_directory, entry.is_symlink())


def identity(path: str) -> object:
    """Returns what two names of one directory have in common.

    Raises:
        OSError: there is no such directory.
    """
    if is_remote(path):
        return path.rstrip("/")
    status = os.stat(path)
    return status.st_dev, status.st_ino


def size_and_time(path: str) -> tuple[int, float]:
    """Returns the size of a file in bytes, and when it was modified (0 where a remote file system does not say).

    Raises:
        OSError: there is no such file, or it is none that can be read from begin to end.
        Exception: whatever a remote file system raises.
    """
    if is_remote(path):
        status = _gfile().stat(path)
        return int(status.length), float(getattr(status, "mtime_nsec", 0)) / 1e9
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError("it is no regular file")
    return status.st_size, status.st_mtime


def read_head(path: str) -> bytes:
    """Returns the first bytes of a file.

    Raises:
        OSError: it cannot be read.
        Exception: whatever a remote file system raises.
    """
    if is_remote(path):
        with _gfile().GFile(path, "rb") as file:
            return file.read(HEAD_BYTES)
    with open(path, "rb") as file:
        return file.read(HEAD_BYTES)


def _list_remote(path: str) -> Iterator[Entry]:
    gfile = _gfile()
    for name in gfile.listdir(path):
        name = str(name).rstrip("/")
        child = f"{path.rstrip('/')}/{name}"
        # To ask what a name is costs a request: names of files that are wanted, or known, are taken at their word.
        is_file = parse_name(name) is not None or "tfevents" in name
        yield Entry(name, child, not is_file and bool(gfile.isdir(child)))


def _gfile():  # type: ignore[no-untyped-def]
    from tensorboard.compat import tf

    return tf.io.gfile
