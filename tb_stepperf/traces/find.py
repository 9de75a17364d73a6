"""One search for trace files below the log directories, bounded in entries and time."""

from __future__ import annotations

import collections
import dataclasses
import hashlib
import posixpath
import time
from collections.abc import Callable, Sequence

from tb_stepperf.traces.filenames import TraceName, parse_name
from tb_stepperf.traces.heads import looks_like_a_trace
from tb_stepperf.traces.listing import Entry, identity, list_directory, read_head, size_and_time
from tb_stepperf.traces.roots import Root

MAX_ENTRIES = 500_000
MAX_SEARCH_S = 60.0
MAX_HEADS = 2_000
"""Files of doubtful names that one search opens; what they are is remembered for the next."""
MAX_TRACES = 2_000
MAX_PROBLEMS = 20

_ROOT = "."


@dataclasses.dataclass(frozen=True)
class TraceFile:
    """A trace file that was found.

    Attributes:
        trace: opaque identity; requests name a file by it and never by a path.
        path: of the file.
        directory: its directory as TensorBoard would name a run there, `.` for the log directory itself.
        name: of the file.
        worker: the name before its time stamp.
        stamp_s: time in its name, or where there is none of its last change; seconds since the epoch.
        num_bytes: size.
        modified_s: last change, seconds since the epoch; 0 where a remote file system does not say.
    """

    trace: str
    path: str
    directory: str
    name: str
    worker: str
    stamp_s: float
    num_bytes: int
    modified_s: float


@dataclasses.dataclass(frozen=True)
class Found:
    """What a search found.

    Attributes:
        traces: at most `MAX_TRACES`, the newest.
        num_files_seen: files of any kind.
        problems: sentences on what was not read or left out.
    """

    traces: tuple[TraceFile, ...] = ()
    num_files_seen: int = 0
    problems: tuple[str, ...] = ()


Heads = dict[tuple[str, int, float], bool]
"""Path, size and time of files of doubtful names → whether they look like a trace."""


def search(
    roots: Sequence[Root],
    heads: Heads,
    on_found: Callable[[TraceFile], None] = lambda found: None,
    *,
    clock: Callable[[], float] = time.monotonic,
    max_entries: int = MAX_ENTRIES,
) -> Found:
    """Searches the log directories.

    Args:
        roots: the log directories.
        heads: what is known of files of doubtful names; afterwards, of those that are there.
        on_found: is given every file at once.
        clock: monotonic clock in seconds, for the time limit.
        max_entries: directories and files after which the search ends.
    """
    walk = _Walk(heads, on_found, clock, max_entries)
    for root in roots:
        walk.run(root)
    heads.clear()
    heads.update(walk.seen_heads)
    return walk.result()


class _Walk:
    """The state of one search."""

    def __init__(
        self, heads: Heads, on_found: Callable[[TraceFile], None], clock: Callable[[], float], max_entries: int
    ) -> None:
        self.seen_heads: Heads = {}
        self._heads = heads
        self._on_found = on_found
        self._clock = clock
        self._deadline_s = clock() + MAX_SEARCH_S
        self._max_entries = max_entries
        self._traces: list[TraceFile] = []
        self._num_entries = 0
        self._num_files = 0
        self._num_opened = 0
        self._num_unopened = 0
        self._num_unsearched = 0
        self._problems: list[str] = []

    def run(self, root: Root) -> None:
        """Searches below one log directory, the nearest directories first.

        Symbolic links come last: a directory that is also there without one is named without it, and a loop ends.
        """
        directories = collections.deque([(root.path, posixpath.normpath(root.name or _ROOT))])
        links: collections.deque[tuple[str, str]] = collections.deque()
        visited = set()
        while directories or links:
            if self._is_over():
                self._num_unsearched += len(directories) + len(links)
                return
            path, name = (directories or links).popleft()
            try:
                known = identity(path)
                if known in visited:
                    continue
                visited.add(known)
                entries = sorted(list_directory(path), key=lambda entry: entry.name)
            except Exception as error:  # of a remote file system, anything
                self._problems.append(f"the directory {_shown(name)} cannot be read: {_reason(error)}")
                continue
            self._num_entries += len(entries)
            for entry in entries:
                if entry.is_directory:
                    child = entry.name if name == _ROOT else f"{name}/{entry.name}"
                    (links if entry.is_link else directories).append((entry.path, child))
                else:
                    self._num_files += 1
                    self._look_at(root, name, entry)

    def result(self) -> Found:
        """Returns what was found, the newest if there is too much."""
        problems = self._problems[:MAX_PROBLEMS]
        if more := len(self._problems) - len(problems):
            problems.append(f"{more} more directories or files cannot be read")
        if self._num_unsearched:
            problems.append(
                f"the search for traces ended after {self._num_entries:,} files and directories; "
                f"{self._num_unsearched:,} directories were not searched: choose a log directory with less in it"
            )
        if self._num_unopened:
            problems.append(
                f"{self._num_unopened:,} more .json files may be traces and were not looked at yet; "
                "names that end in .pt.trace.json always are"
            )
        traces = sorted(self._traces, key=lambda found: -found.stamp_s)[:MAX_TRACES]
        if older := len(self._traces) - len(traces):
            problems.append(f"{older:,} older traces are left out; the newest {MAX_TRACES:,} are listed")
        return Found(tuple(traces), self._num_files, tuple(problems))

    def _is_over(self) -> bool:
        return self._num_entries >= self._max_entries or self._clock() > self._deadline_s

    def _look_at(self, root: Root, directory: str, entry: Entry) -> None:
        said = parse_name(entry.name)
        if said is None:
            return
        try:
            num_bytes, modified_s = size_and_time(entry.path)
            if not said.is_sure and not self._looks_right(entry.path, num_bytes, modified_s):
                return
        except Exception as error:  # of a remote file system, anything
            self._problems.append(f"the file {_shown(f'{directory}/{entry.name}')} cannot be read: {_reason(error)}")
            return
        found = _trace_file(root, directory, entry, said, num_bytes, modified_s)
        self._traces.append(found)
        self._on_found(found)

    def _looks_right(self, path: str, num_bytes: int, modified_s: float) -> bool:
        key = path, num_bytes, modified_s
        known = self._heads.get(key)
        if known is None:
            if self._num_opened >= MAX_HEADS:
                self._num_unopened += 1
                return False
            self._num_opened += 1
            known = looks_like_a_trace(read_head(path))
        self.seen_heads[key] = known
        return known


def _trace_file(
    root: Root, directory: str, entry: Entry, said: TraceName, num_bytes: int, modified_s: float
) -> TraceFile:
    identity = f"{root.name}\0{entry.path}".encode("utf-8", "surrogateescape")
    return TraceFile(
        trace=hashlib.sha256(identity).hexdigest()[:16],
        path=entry.path,
        directory=directory,
        name=entry.name,
        worker=said.worker,
        stamp_s=modified_s if said.stamp_s is None else said.stamp_s,
        num_bytes=num_bytes,
        modified_s=modified_s,
    )


def _shown(name: str) -> str:
    return repr(name.encode("utf-8", "replace").decode())


def _reason(error: Exception) -> str:
    """Returns why, without the path that messages of the system repeat."""
    return getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
