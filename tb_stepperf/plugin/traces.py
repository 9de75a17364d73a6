"""What one TensorBoard knows of traces, and whose they are."""

from __future__ import annotations

import dataclasses
import posixpath
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tb_stepperf.analysis.captures import Capture, captures_of
from tb_stepperf.errors import NotFoundError
from tb_stepperf.plugin.cache import RecentlyUsed
from tb_stepperf.plugin.loader import DEFAULT_PERFETTO_URL, DEFAULT_TRACE_MEMORY_MB, DEFAULT_TRACE_TIMEOUT_S
from tb_stepperf.traces.find import TraceFile
from tb_stepperf.traces.finder import Finder
from tb_stepperf.traces.process import Limits
from tb_stepperf.traces.readings import Readings
from tb_stepperf.traces.roots import roots_of

if TYPE_CHECKING:
    from tb_stepperf.store import Catalog, MemberInfo, RunInfo

MAX_SENT = 4
"""Files sent at a time: each takes a process, and a browser that stopped reading holds its own for long."""

_FIGURES_BYTES = 1 << 20
_PROFILES = "plugins/profile"
"""Below a run, where profilers write that follow TensorFlow's."""


class Traces:
    """The trace files of one TensorBoard, and how far reading them is.

    Attributes:
        finder: which there are.
        readings: what was read.
        perfetto_url: the address that the tab hands a file over to.
        figures: shared memory of figures from the samples around windows.
        sending: places for files that are being sent.
    """

    def __init__(self, finder: Finder, readings: Readings, perfetto_url: str = DEFAULT_PERFETTO_URL) -> None:
        self.finder = finder
        self.readings = readings
        self.perfetto_url = perfetto_url
        self.figures = RecentlyUsed(_FIGURES_BYTES)
        self.sending = threading.BoundedSemaphore(MAX_SENT)

    def file(self, trace: str, parameter: str) -> TraceFile:
        """Returns the file of an identity.

        Raises:
            NotFoundError: no such file is known.
        """
        found = self.finder.find(trace)
        if found is None:
            raise NotFoundError(f"there is no trace {trace!r}; perhaps it was deleted: /traces lists them", parameter)
        return found


def traces_of(flags: Any, logdir: str | None) -> Traces:
    """Returns the traces of a TensorBoard that was started with `flags`, which may lack any of ours."""
    limits = Limits(
        getattr(flags, "stepperf_trace_memory_mb", None) or DEFAULT_TRACE_MEMORY_MB,
        getattr(flags, "stepperf_trace_timeout_s", None) or DEFAULT_TRACE_TIMEOUT_S,
    )
    roots = roots_of(logdir or "", getattr(flags, "logdir_spec", None) or "")
    perfetto_url = getattr(flags, "stepperf_perfetto_url", None) or DEFAULT_PERFETTO_URL
    return Traces(Finder(roots), Readings(limits), perfetto_url)


@dataclasses.dataclass(frozen=True)
class Owner:
    """Who wrote a trace, or recorded a capture.

    Attributes:
        name: of the run, or of the file's directory where no run has it.
        run: None where no run has it.
        member: None where that is not known.
        capture: what the writer recorded of it; None for the file of a plain profiler.
    """

    name: str
    run: RunInfo | None = None
    member: MemberInfo | None = None
    capture: Capture | None = None


class Owners:
    """Finds out whose a trace file is.

    Args:
        catalog: what there is.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._runs = {posixpath.normpath(run.run): run for run in catalog.runs}
        self._members: dict[str, list[tuple[RunInfo, MemberInfo]]] = {}
        self._captures: dict[tuple[str, str], Owner] = {}
        self._all: list[tuple[Owner, tuple[str, str] | None]] = []
        for run in catalog.runs:
            for member in run.members:
                directory = posixpath.normpath(member.tb_run)
                self._members.setdefault(directory, []).append((run, member))
                for capture in captures_of(member.attempts):
                    owner = Owner(run.run, run, member, capture)
                    key = None if capture.file is None else (directory, capture.file)
                    self._all.append((owner, key))
                    if key is not None:
                        self._captures[key] = owner

    def of(self, file: TraceFile) -> Owner:
        """Returns whose a file is: of the nearest directory, its own or above, that is a run's or a member's."""
        recorded = self._captures.get((file.directory, file.name))
        if recorded is not None:
            return recorded
        for directory in _upwards(file.directory):
            members = self._members.get(directory, [])
            if len(members) == 1:
                run, member = members[0]
                return Owner(run.run, run, member)
            run = members[0][0] if members else self._runs.get(directory)
            if run is not None:
                return Owner(run.run, run)
        return Owner(_without_profiles(file.directory))

    def without_file(self, files: Sequence[TraceFile]) -> list[Owner]:
        """Returns the captures of which none of `files` is."""
        there = {(file.directory, file.name) for file in files}
        return [owner for owner, key in self._all if key not in there]


def _upwards(directory: str) -> Iterator[str]:
    while directory != ".":
        yield directory
        directory = posixpath.dirname(directory) or "."
    yield "."


def _without_profiles(directory: str) -> str:
    """A directory that no run has, without the part that the profiler's handler adds below it."""
    head, found, _ = f"{directory}/".partition(f"{_PROFILES}/")
    if not found or (head and not head.endswith("/")):
        return directory
    return head.rstrip("/") or "."
