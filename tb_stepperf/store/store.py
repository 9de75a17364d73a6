"""`Store`: the reading half's one door to the data."""

from __future__ import annotations

import collections
import dataclasses
import itertools
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tb_stepperf.errors import NotFoundError
from tb_stepperf.store.grouping import natural_order
from tb_stepperf.store.index import Index
from tb_stepperf.store.provider import Provider, TagKey, TagState
from tb_stepperf.store.reader import SegmentReader
from tb_stepperf.store.snapshot import Member, Run, group_tags
from tb_stepperf.store.table import SegmentChangedError, assemble
from tb_stepperf.store.types import Catalog, Table

MAX_EXPERIMENTS = 8
"""Experiments that are remembered at once; a local TensorBoard has one, whatever its address says."""

_NUM_TRIES = 3


@dataclasses.dataclass(frozen=True, eq=False)
class _Snapshot:
    """A catalog, and the runs behind it by name."""

    tags: Mapping[TagKey, TagState]
    runs: Mapping[str, Run]
    catalog: Catalog
    index_size: int


class _Experiment:
    """What changes over time: the newest snapshot, and when it was taken."""

    def __init__(self) -> None:
        self.refreshing = threading.Lock()
        self.snapshot: _Snapshot | None = None
        self.refreshed_at_s = -float("inf")
        self.looked_at_s = -float("inf")
        self.saw_data = False


class Store:
    """Reads blocks from a data provider, merges attempts, and serves columns per run and member.

    Thread-safe. A catalog is immutable and stays what it is; a read uses the newest catalog there is. Only one thread
    refreshes an experiment at a time; others go on with the catalog before. See `reader.py` for reads.

    Memory: `max_bytes` bounds the decoded segments that are kept between requests. On top come about 2 KiB for each
    tag that was ever read (8 bytes a row where steps are irregular), and the tables that callers hold.

    Args:
        data_provider: TensorBoard's `context.data_provider`.
        max_bytes: most bytes of decoded segments that are kept.
        min_refresh_interval_s: the provider is asked for its listing at most this often, per experiment.
        clock: monotonic clock in seconds.
    """

    def __init__(
        self,
        data_provider: Any,
        *,
        max_bytes: int = 1 << 30,
        min_refresh_interval_s: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._provider = Provider(data_provider)
        self._reader = SegmentReader(self._provider, max_bytes)
        self._min_refresh_interval_s = min_refresh_interval_s
        self._clock = clock
        self._versions = itertools.count(1)
        self._experiments: collections.OrderedDict[str, _Experiment] = collections.OrderedDict()
        self._lock = threading.Lock()

    @property
    def num_bytes(self) -> int:
        """Bytes of decoded segments that are kept now."""
        return self._reader.num_bytes

    def is_active(self, ctx: Any, experiment_id: str) -> bool:
        """Whether there is any data of ours; reads no tensor, and lists at most once per refresh interval."""
        experiment = self._experiment(experiment_id)
        if experiment.snapshot is not None and experiment.snapshot.tags:
            return True
        now_s = self._clock()
        if now_s - experiment.looked_at_s >= self._min_refresh_interval_s:
            experiment.saw_data = bool(self._provider.list_tags(ctx, experiment_id))
            experiment.looked_at_s = now_s
        return experiment.saw_data

    def catalog(self, ctx: Any, experiment_id: str, *, force: bool = False) -> Catalog:
        """Returns everything that there is, after a refresh if the last is older than the interval.

        Args:
            ctx: TensorBoard's request context.
            experiment_id: TensorBoard's experiment.
            force: refresh in any case, and wait for it. Otherwise a refresh by another thread is not waited for,
                unless it is the first.
        """
        return self._snapshot(ctx, experiment_id, force=force, max_age_s=self._min_refresh_interval_s).catalog

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
        """Reads rows of one member, as of the newest catalog.

        Args:
            ctx: TensorBoard's request context.
            experiment_id: TensorBoard's experiment.
            run: name of a run.
            member: member of the run; None is the first.
            columns: names of columns, or None for all. Where a column was not measured, the values are NaN.
            start_step, end_step: range [start_step, end_step) of steps; None is "no bound".

        Raises:
            NotFoundError: there is no such run or member.
        """
        for attempt in range(_NUM_TRIES):
            snapshot = self._snapshot(ctx, experiment_id, force=attempt > 0, max_age_s=float("inf"))
            if run not in snapshot.runs:
                snapshot = self._snapshot(ctx, experiment_id, force=False, max_age_s=self._min_refresh_interval_s)
            found = _find_run(snapshot, run)
            try:
                return self._read(ctx, experiment_id, found, member, columns, start_step, end_step)
            except SegmentChangedError as error:
                changed = error
        raise NotFoundError(f"run {run!r} changes faster than it can be read ({changed}): try again", "run")

    def _read(
        self,
        ctx: Any,
        experiment_id: str,
        run: Run,
        member: str | None,
        columns: Sequence[str] | None,
        start_step: int | None,
        end_step: int | None,
    ) -> Table:
        _, rows = _find_member(run, member)
        unread = {
            key: state
            for attempt_rows in rows
            for key, state in attempt_rows.attempt.segments.items()
            if not run.index.known(key).is_whole
        }
        for key, segment in self._reader.segments(ctx, experiment_id, unread):
            run.index.add_whole(key, segment.index)
        if not all(run.index.known(key).is_whole for key in unread):
            raise SegmentChangedError("a tag has vanished since it was listed")
        info, rows = _find_member(run, member)
        return assemble(
            self._reader, ctx, experiment_id, (run.run, run.version), info, rows, columns, start_step, end_step
        )

    def _snapshot(self, ctx: Any, experiment_id: str, *, force: bool, max_age_s: float) -> _Snapshot:
        experiment = self._experiment(experiment_id)

        def fresh() -> _Snapshot | None:
            is_fresh = not force and self._clock() - experiment.refreshed_at_s < max_age_s
            return experiment.snapshot if is_fresh else None

        found = fresh()
        if found is not None:
            return found
        must_wait = force or experiment.snapshot is None
        if not experiment.refreshing.acquire(blocking=must_wait):
            assert experiment.snapshot is not None
            return experiment.snapshot
        try:
            found = fresh()
            if found is None:
                now_s = self._clock()
                found = self._refresh(ctx, experiment_id, experiment.snapshot)
                experiment.snapshot, experiment.refreshed_at_s = found, now_s
            return found
        finally:
            experiment.refreshing.release()

    def _refresh(self, ctx: Any, experiment_id: str, last: _Snapshot | None) -> _Snapshot:
        tags = self._provider.list_tags(ctx, experiment_id)
        num_without_data = len(self._provider.list_tb_runs(ctx, experiment_id) - {key.tb_run for key in tags})
        is_same = last is not None and last.tags == tags and last.catalog.num_runs_without_data == num_without_data
        if last is not None and is_same:
            if last.index_size == _index_size(last.runs):
                return last
            runs, version = last.runs, last.catalog.version  # reads have completed what is known of the same data
        else:
            runs, version = self._runs(tags, last), next(self._versions)
            self._index(ctx, experiment_id, runs)
            self._reader.retain(experiment_id, tags)
        ordered = [runs[name] for name in sorted(runs, key=natural_order)]
        infos = [run.info() for run in ordered]
        catalog = Catalog(
            runs=tuple(info for info in infos if info is not None),
            problems=tuple(problem for run in ordered for problem in run.all_problems()),
            num_runs_without_data=num_without_data,
            version=version,
        )
        return _Snapshot(tags, runs, catalog, _index_size(runs))

    def _runs(self, tags: Mapping[TagKey, TagState], last: _Snapshot | None) -> dict[str, Run]:
        """Returns the runs of a listing: unchanged ones as they were, changed ones with what still holds of them."""
        before = {} if last is None else last.runs
        runs: dict[str, Run] = {}
        for name, (states, attempts, problems) in group_tags(tags).items():
            old = before.get(name)
            if old is not None and old.states == states:
                runs[name] = old
                continue
            index = Index()
            if old is not None:
                index = old.index.after(
                    unchanged=(key for key, state in states.items() if old.states.get(key) == state),
                    grown=(key for key, state in states.items() if old.states.get(key, state) != state),
                )
            runs[name] = Run(name, next(self._versions), states, attempts, problems, index)
        return runs

    def _index(self, ctx: Any, experiment_id: str, runs: Mapping[str, Run]) -> None:
        """Reads what the catalog needs, in as few calls as possible over all runs."""
        asked_newest: set[TagKey] = set()
        asked_whole: set[TagKey] = set()  # what has vanished meanwhile is not asked for again
        while True:
            whole: dict[TagKey, TagState] = {}
            newest: dict[TagKey, TagState] = {}
            environments: dict[TagKey, TagState] = {}
            index_of: dict[TagKey, Index] = {}
            for run in runs.values():
                for needed in run.needed_for_catalog(asked_newest):
                    for wanted, found in ((whole, needed.whole), (environments, needed.environments)):
                        wanted.update({key: state for key, state in found.items() if key not in asked_whole})
                    newest.update(needed.newest)
                    index_of.update(dict.fromkeys([*needed.whole, *needed.newest, *needed.environments], run.index))
            if not (whole or newest or environments):
                return
            asked_newest |= newest.keys()
            asked_whole |= whole.keys() | environments.keys()
            for key, environment in self._reader.environments(ctx, experiment_id, environments):
                index_of[key].environments[key] = environment
            for key, newest_block in self._reader.newest(ctx, experiment_id, newest):
                index_of[key].add_newest(key, newest_block)
            for key, segment in self._reader.segments(ctx, experiment_id, whole):
                index_of[key].add_whole(key, segment.index)

    def _experiment(self, experiment_id: str) -> _Experiment:
        with self._lock:
            experiment = self._experiments.setdefault(experiment_id, _Experiment())
            self._experiments.move_to_end(experiment_id)
            if len(self._experiments) > MAX_EXPERIMENTS:
                forgotten, _ = self._experiments.popitem(last=False)
                self._reader.retain(forgotten, {})
            return experiment


def _index_size(runs: Mapping[str, Run]) -> int:
    return sum(run.index.size for run in runs.values())


def _find_run(snapshot: _Snapshot, run: str) -> Run:
    found = snapshot.runs.get(run)
    if found is not None and found.attempts:
        return found
    names = [info.run for info in snapshot.catalog.runs]
    some = ", ".join(repr(name) for name in names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    there_is = f"there is {some}" if names else "no run has step data yet"
    raise NotFoundError(f"run is {run!r}; {there_is}", "run")


def _find_member(run: Run, member: str | None) -> Member:
    members = run.members()
    found = next((pair for pair in members if member in (None, pair[0].member)), None)
    if found is None:
        names = ", ".join(info.member for info, _ in members)
        raise NotFoundError(f"member is {member!r}; run {run.run!r} has {names}", "member")
    return found
