"""Trace files: their names, what is added to them, and how they get compressed into the run's directory.

A name is `<worker>.<nanoseconds>.pt.trace.json.gz` with `<anything>_<process>` as worker, the pattern of torch's own
`tensorboard_trace_handler`, which the old TensorBoard plugin takes apart into worker and span.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from tb_stepperf.recorder.eventfile import host_hash, is_remote
from tb_stepperf.recorder.ranks import Rank

SUFFIX = ".pt.trace.json.gz"
FORMAT = 1
"""Version of the object `stepperf` in a trace file."""

_CHUNK_BYTES = 1 << 20
_HEAD_BYTES, _TAIL_BYTES = 1 << 16, 64
_HOST_NAME = re.compile(rb'"host_name": "[^"]*"')
_LEVEL = 4  # a fifth of the time of the default (9), for files that are a seventh larger


@dataclasses.dataclass(frozen=True)
class Exported:
    """A trace as torch exported it, waiting to be compressed.

    Attributes:
        path: of the temporary file.
        name: that the trace file will have.
        step_offset: training step minus number of the profiler's step; None where they do not go together.
        step: first profiled step.
        fields: the capture record, without state and file.
    """

    path: str
    name: str
    step_offset: int | None
    step: int
    fields: dict[str, Any]


class TraceFiles:
    """The trace files of one writer.

    Args:
        directory: where they go, also `gs://…`.
        place: rank of this process.
        clock_ns: nanoseconds since the epoch.
    """

    def __init__(self, directory: str, place: Rank, clock_ns: Callable[[], int] = time.time_ns) -> None:
        self._directory = directory
        self._place = place
        self._clock_ns = clock_ns
        self._last_ns = 0

    def new_name(self) -> str:
        """Returns a name that no other trace has: rank, host and process, and a time stamp that always grows."""
        self._last_ns = max(self._clock_ns(), self._last_ns + 1)
        return f"rank_{self._place.rank}-{host_hash()}_{os.getpid()}.{self._last_ns}{SUFFIX}"

    def export(self, profiler: Any) -> str:
        """Has a profiler write its trace into a file in a temporary directory of its own; returns the path.

        To be called in the loop's thread: torch does not promise that a trace can be written while another thread
        starts the next profiler. Uncompressed it is the smaller part of what stopping takes.

        Raises:
            Exception: whatever the profiler or the file system raises; nothing is left then.
        """
        path = os.path.join(tempfile.mkdtemp(prefix="stepperf_"), "trace.json")
        try:
            profiler.export_chrome_trace(path)
        except Exception:
            discard_export(path)
            raise
        return path

    def place(self, trace: Exported) -> None:
        """Compresses a trace into the directory, under its name; the temporary file is gone afterwards.

        Raises:
            Exception: whatever the file system raises; no part of the file is left then.
        """
        try:
            _check_complete(trace.path)
            with open(trace.path, "rb") as source:
                if is_remote(self._directory):
                    self._place_remotely(source, trace)
                else:
                    self._place_locally(source, trace)
        finally:
            discard_export(trace.path)

    def _place_locally(self, source: BinaryIO, trace: Exported) -> None:
        os.makedirs(self._directory, exist_ok=True)
        path = os.path.join(self._directory, trace.name)
        try:
            with open(path + ".tmp", "xb") as target:
                self._compress(source, target, trace)
            os.replace(path + ".tmp", path)  # readers never see a part
        except Exception:
            with contextlib.suppress(OSError):
                os.unlink(path + ".tmp")
            raise

    def _place_remotely(self, source: BinaryIO, trace: Exported) -> None:
        from tensorboard.compat import tf

        gfile: Any = tf.io.gfile
        with tempfile.TemporaryFile(prefix="stepperf_") as compressed:
            self._compress(source, compressed, trace)
            compressed.seek(0)
            gfile.makedirs(self._directory)
            with gfile.GFile(f"{self._directory.rstrip('/')}/{trace.name}", "wb") as target:
                target.write(compressed.read())  # in one piece: few remote file systems can append

    def _compress(self, source: BinaryIO, target: Any, trace: Exported) -> None:
        """Compresses, with our metadata first in the top-level object, and the host named by its hash as everywhere.

        A list, as torch writes it without kineto, stays as it is.
        """
        with gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=target) as compressed:
            head = source.read(_HEAD_BYTES).lstrip()
            if head[:1] == b"{":
                head = _HOST_NAME.sub(b'"host_name": "%s"' % host_hash().encode(), head, count=1)
                head = b"{" + _members(self._metadata(trace)) + b"," + head[1:]
            compressed.write(head)
            shutil.copyfileobj(source, compressed, _CHUNK_BYTES)

    def _metadata(self, trace: Exported) -> dict[str, Any]:
        place = {"rank": self._place.rank, "world_size": self._place.world_size}
        offset = {} if trace.step_offset is None else {"step_offset": trace.step_offset}
        metadata: dict[str, Any] = {"stepperf": {"format": FORMAT, **offset, **place}}
        if not _torch_knows_the_rank():
            metadata["distributedInfo"] = {"backend": None, **place}
        return metadata


def _members(values: Mapping[str, Any]) -> bytes:
    """Returns members of a JSON object, a line each: HolisticTraceAnalysis looks for the rank line by line."""
    return "".join(f"\n  {json.dumps(name)}: {json.dumps(value)}," for name, value in values.items())[:-1].encode()


def _torch_knows_the_rank() -> bool:
    """Returns whether torch itself writes `distributedInfo`."""
    distributed = sys.modules.get("torch.distributed")
    return distributed is not None and distributed.is_available() and distributed.is_initialized()


def _check_complete(path: str) -> None:
    """Looks at the end of what was exported: torch does not say that a disk was full.

    Raises:
        OSError: the end is missing.
    """
    num_bytes = os.path.getsize(path) if os.path.exists(path) else 0
    end = b""
    if num_bytes:
        with open(path, "rb") as file:
            file.seek(max(num_bytes - _TAIL_BYTES, 0))
            end = file.read().rstrip()[-1:]
    if end not in (b"}", b"]"):
        raise OSError(
            f"torch exported only a part of the trace, {num_bytes} bytes: make room in the temporary directory, or "
            "choose another with TMPDIR"
        )


def discard_export(path: str) -> None:
    """Removes what `TraceFiles.export` has left."""
    shutil.rmtree(os.path.dirname(path), ignore_errors=True)
