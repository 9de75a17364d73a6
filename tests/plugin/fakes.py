"""A store in memory, and requests to the plugin without a server."""

from __future__ import annotations

import dataclasses
import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from tensorboard.plugins.base_plugin import TBContext
from werkzeug.test import Client, TestResponse

from tb_stepperf.blocks.schema import FLAGS
from tb_stepperf.errors import NotFoundError
from tb_stepperf.plugin.analyses import Analyses
from tb_stepperf.plugin.cache import RecentlyUsed
from tb_stepperf.plugin.plugin import StepPerfPlugin
from tb_stepperf.plugin.traces import Traces
from tb_stepperf.plugin.view import Source
from tb_stepperf.store import AttemptInfo, Catalog, Gap, MemberInfo, Problem, RunInfo, Table
from tb_stepperf.traces.digest import read_summary
from tb_stepperf.traces.finder import Finder
from tb_stepperf.traces.process import Limits
from tb_stepperf.traces.readings import Readings
from tb_stepperf.traces.roots import roots_of
from tb_stepperf.traces.summary import TraceSummary

START_S = 1_700_000_000.0


@dataclasses.dataclass
class FakeMember:
    """Rows of one member; the fields are those of `Table` and `MemberInfo`."""

    columns: Mapping[str, Sequence[float]]
    steps: Sequence[int] | None = None
    wall_time_s: Sequence[float] | None = None
    attempt_index: Sequence[int] | None = None
    attempts: tuple[AttemptInfo, ...] = (AttemptInfo("01700000000000-00000000", "process-0", START_S),)
    gaps: tuple[Gap, ...] = ()
    num_superseded: int = 0
    rank: int = 0
    version: int = 1
    tb_run: str | None = None

    def table(self, run: str) -> Table:
        """Returns all rows."""
        columns = {name: np.array(values, np.float32) for name, values in self.columns.items()}
        n = next(iter(columns.values())).size if columns else 0
        columns.setdefault(FLAGS, np.zeros(n, np.float32))
        num_missing = sum(gap.num_rows for gap in self.gaps)
        return Table(
            run=run,
            member=str(self.rank),
            steps=np.arange(n) if self.steps is None else np.array(self.steps, np.int64),
            wall_time_s=START_S + np.arange(n) if self.wall_time_s is None else np.array(self.wall_time_s, float),
            columns=columns,
            attempt_index=np.zeros(n, np.int32)
            if self.attempt_index is None
            else np.array(self.attempt_index, np.int32),
            attempts=self.attempts,
            gaps=self.gaps,
            num_written=n + self.num_superseded + num_missing,
            num_read=n + self.num_superseded,
            num_missing=num_missing,
            num_superseded=self.num_superseded,
            version=self.version,
        )

    def info(self, run: str) -> MemberInfo:
        """Returns the catalog's description."""
        table = self.table(run)
        n = table.num_rows
        return MemberInfo(
            member=table.member,
            rank=self.rank,
            writer=0,
            label=f"rank {self.rank}",
            tb_run=run if self.tb_run is None else self.tb_run,
            num_steps=n,
            first_step=int(table.steps[0]) if n else None,
            last_step=int(table.steps[-1]) if n else None,
            first_wall_time_s=float(table.wall_time_s[0]) if n else None,
            last_wall_time_s=float(table.wall_time_s[-1]) if n else None,
            attempts=self.attempts,
            columns=tuple(table.columns),
            end=None,
        )


class FakeStore:
    """Runs in memory, with the methods of `Store` that the plugin calls.

    Args:
        runs: run to members.
        problems: of the catalog.
        num_runs_without_data: of the catalog.
    """

    def __init__(
        self,
        runs: Mapping[str, Sequence[FakeMember]],
        problems: tuple[Problem, ...] = (),
        num_runs_without_data: int = 0,
    ) -> None:
        self.runs = runs
        self.problems = problems
        self.num_runs_without_data = num_runs_without_data
        self.reads: list[tuple[Any, ...]] = []

    def catalog(self, ctx: Any, experiment_id: str, *, force: bool = False) -> Catalog:
        infos = [
            RunInfo(
                run,
                len(members),
                (),
                tuple(member.info(run) for member in members),
                version=max(member.version for member in members),
            )
            for run, members in sorted(self.runs.items())
        ]
        return Catalog(tuple(infos), self.problems, self.num_runs_without_data, 1)

    def is_active(self, ctx: Any, experiment_id: str) -> bool:
        return bool(self.runs)

    def read(
        self,
        ctx: Any,
        experiment_id: str,
        run: str,
        member: str | None,
        columns: Sequence[str] | None,
        *,
        start_step: int | None = None,
        end_step: int | None = None,
    ) -> Table:
        self.reads.append((run, member, columns, start_step, end_step))
        found = next((m for m in self.runs.get(run, ()) if member in (None, str(m.rank))), None)
        if found is None:
            raise NotFoundError(f"run {run!r} has no member {member!r}", "run")
        table = found.table(run)
        rows = (table.steps >= (start_step or 0)) & (table.steps < (end_step if end_step is not None else 2**63))
        if end_step is None:
            rows = table.steps >= (start_step or 0)
        names = list(table.columns) if columns is None else columns
        return dataclasses.replace(
            table,
            steps=table.steps[rows],
            wall_time_s=table.wall_time_s[rows],
            attempt_index=table.attempt_index[rows],
            columns={name: table.columns[name][rows] for name in names},
        )


def source(member: FakeMember, run: str = "job") -> Source:
    """Returns a source over one run with one member."""
    return Source(FakeStore({run: [member]}), None, "", RecentlyUsed(1 << 20))  # type: ignore[arg-type]


class HereReader:
    """Reads a trace in this process, as `ReaderProcess` does in another."""

    def __init__(self, path: str) -> None:
        self.path = path

    def summary(self, report: Callable[[float], None]) -> TraceSummary:
        return read_summary(self.path, report=report)

    def stop(self) -> None:
        raise AssertionError("what runs at the end of a request is never stopped")


def traces(logdir: str = "") -> Traces:
    """Returns the traces of a log directory, searched for and read in the request that asks for them."""

    def start(work: Callable[[], None]) -> None:
        work()

    return Traces(Finder(roots_of(logdir), start=start), Readings(Limits(), open_reader=HereReader, start=start))


def plugin(store: Any = None, logdir: str = "runs", found: Traces | None = None) -> StepPerfPlugin:
    """Returns the plugin over a store; by default over one without runs, and without traces.

    What would run in the background runs at the end of the request that asks for it, so the next one has the answer.
    """
    analyses = Analyses(start=lambda work: work())
    store = FakeStore({}) if store is None else store
    return StepPerfPlugin(TBContext(logdir=logdir), store, analyses, traces() if found is None else found)


def get(store: Any, route: str, **arguments: Any) -> TestResponse:
    """Requests a route of the plugin, without TensorBoard around it."""
    return Client(plugin(store).get_plugin_apps()[route]).get(route, query_string=arguments)


def body(response: TestResponse) -> Any:
    """Returns the JSON of an answer; NaN, Infinity and the like are failures."""

    def refuse(text: str) -> Any:
        raise AssertionError(f"{text} is no JSON")

    data = gzip.decompress(response.data) if response.headers.get("Content-Encoding") == "gzip" else response.data
    return json.loads(data, parse_constant=refuse)
