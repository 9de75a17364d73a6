"""Runs from what a person types: a log directory, a run's directory, or LOGDIR:RUN."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Sequence

from tb_stepperf.analysis import Reader
from tb_stepperf.errors import NotFoundError
from tb_stepperf.store import LogDirectory, MemberInfo, RunInfo, is_directory, open_logdir

WHOLE = "."
"""The run that a log directory itself is."""


@dataclasses.dataclass(frozen=True)
class Log:
    """A log directory that was read.

    Attributes:
        path: as typed.
        directory: what it held.
    """

    path: str
    directory: LogDirectory

    def runs(self, names: Sequence[str] = ()) -> list[RunInfo]:
        """Returns the runs called `names`, or all.

        Raises:
            NotFoundError: there is no step data, or no run of such a name.
        """
        catalog = self.directory.catalog()
        if not catalog.runs:
            why = f" ({catalog.problems[0].message})" if catalog.problems else ""
            raise NotFoundError(f"{self.path!r} has no step data{why}; was it written by StepPerfWriter?", "run")
        by_name = {run.run: run for run in catalog.runs}
        for name in names:
            if name not in by_name:
                raise NotFoundError(f"{self.path!r} has no run {name!r}; it has {_listed(by_name)}", "run")
        return [by_name[name] for name in names] if names else list(catalog.runs)

    def problems(self) -> list[str]:
        """Returns sentences on data that could not be used."""
        return [f"{problem.run}: {problem.message}" for problem in self.directory.catalog().problems]

    def columns(self, run: RunInfo, member: MemberInfo) -> tuple[str, ...]:
        """Returns the columns that a member has; the catalog may lack some."""
        return tuple(self.directory.read(run.run, member.member, None, 0, 0).columns)

    def reader(self, run: RunInfo, member: MemberInfo) -> Reader:
        """Returns what reads rows of a member."""
        return functools.partial(self.directory.read, run.run, member.member)


def open_log(path: str) -> Log:
    """Reads a log directory.

    Raises:
        NotFoundError: there is no such directory.
    """
    return Log(path, open_logdir(path))


def find_member(run: RunInfo, name: str | None) -> MemberInfo:
    """Returns the member called `name`, or the first.

    Raises:
        NotFoundError: there is no such member.
    """
    found = next((member for member in run.members if name in (None, member.member)), None)
    if found is None:
        members = _listed([member.member for member in run.members])
        raise NotFoundError(f"run {run.run!r} has no member {name!r}; it has {members}", "member")
    return found


def open_run(text: str) -> tuple[Log, RunInfo]:
    """Returns the run that `text` names: its directory, a directory with one run, or LOGDIR:RUN.

    Raises:
        NotFoundError: there is no such directory or run, or several runs are meant.
    """
    if not is_directory(text):
        directory, colon, name = text.rpartition(":")
        if not (colon and directory and name and is_directory(directory)):
            raise NotFoundError(f"{text!r} is neither a directory nor LOGDIR:RUN of one", "run")
        log = open_log(directory)
        return log, log.runs([name])[0]
    log = open_log(text)
    runs = log.runs()
    whole = [run for run in runs if run.run == WHOLE]
    if not whole and len(runs) > 1:
        raise NotFoundError(
            f"{text!r} holds {len(runs)} runs, {_listed(run.run for run in runs)}; give one as {text}:{runs[0].run}",
            "run",
        )
    return log, (whole or runs)[0]


def split_sides(texts: Sequence[str]) -> list[str]:
    """Splits comma-separated names, but no name that is a directory itself."""
    return [part for text in texts for part in ([text] if is_directory(text) else text.split(",")) if part]


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(repr(name) for name in names[:10]) + more
