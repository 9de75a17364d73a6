"""The log directories of a TensorBoard, as its flags name them."""

from __future__ import annotations

import dataclasses
import os
import re

_URI = re.compile(r"[a-zA-Z][0-9a-zA-Z.+-]*://.*", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Root:
    """A log directory.

    Attributes:
        path: absolute, or with the scheme of a remote file system.
        name: put before the names of its runs; empty for none.
    """

    path: str
    name: str = ""


def roots_of(logdir: str, logdir_spec: str = "") -> tuple[Root, ...]:
    """Returns the log directories that `--logdir` or else `--logdir_spec` (`name:path,path,…`) name.

    As in TensorBoard, a path that begins with a slash or a scheme has no name, however many colons it holds.
    """
    if logdir:
        return (Root(_absolute(logdir)),)
    roots = {}
    for part in filter(None, logdir_spec.split(",")):
        name, colon, path = part.partition(":")
        if not colon or part.startswith("/") or is_remote(part):
            name, path = "", part
        roots[_absolute(path)] = name
    return tuple(Root(path, name) for path, name in roots.items())


def is_remote(path: str) -> bool:
    """Whether a path has a scheme, so that only TensorBoard's file systems can read it."""
    return _URI.fullmatch(path) is not None


def _absolute(path: str) -> str:
    return path if is_remote(path) else os.path.abspath(os.path.expanduser(path))
