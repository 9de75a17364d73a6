"""A log directory that changes while it is looked at, with both loaders."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

import numpy as np
import pytest

from tb_stepperf.errors import NotFoundError
from tests.store.gallery import times
from tests.store.tables import STEP_MS, Opened, listing, open_store
from tests.support import logs
from tests.support.logs import START_S, AttemptLog, record, write_attempt
from tests.support.providers import CTX, EXPERIMENT

Event = logs.Event


def num_steps(opened: Opened, run: str = "job") -> int:
    """Steps of the run's first member as the catalog has it; 0 where the run is not there."""
    found = opened.runs().get(run)
    return found.members[0].num_steps if found else 0


def test_a_run_is_followed(logdir: pathlib.Path, loader: str) -> None:
    log = AttemptLog(logdir / "job", blocks_per_tag=4)
    log.append(range(10), times(10), block_rows=5)
    with open_store(loader, logdir) as opened:
        opened.until(lambda: num_steps(opened) == 10)
        versions = [opened.catalog().version]
        assert opened.catalog().version == versions[0], "nothing has changed"
        for num_rows in (15, 20, 25, 40):
            before = log.num_rows
            log.append(range(before, num_rows), times(num_rows - before), block_rows=5)
            opened.until(lambda expected=num_rows: num_steps(opened) == expected)
            versions.append(opened.catalog().version)
            table = opened.read("job", None, [STEP_MS])
            assert table.steps.tolist() == list(range(num_rows))
            assert table.version == opened.runs()["job"].version
        log.append(counters={"num_interrupted": 2}, end="exception")
        opened.until(lambda: opened.runs()["job"].members[0].end == "exception")
        assert opened.read("job").attempts[0].counters == {"num_interrupted": 2}
    assert versions == sorted(set(versions))


def test_a_restart_takes_over_while_it_is_looked_at(logdir: pathlib.Path, loader: str) -> None:
    write_attempt(logdir / "job", range(100), times(100), block_rows=10, blocks_per_tag=3)
    write_attempt(logdir / "other", range(5), times(5))
    with open_store(loader, logdir) as opened:
        opened.until(lambda: (num_steps(opened), num_steps(opened, "other")) == (100, 5))
        other = opened.runs()["other"].version
        log = AttemptLog(logdir / "job", started_s=START_S + 1000)
        log.append(range(57, 60), times(3, 300.0))
        opened.until(lambda: num_steps(opened) == 60)
        attempts = opened.runs()["job"].members[0].attempts
        assert [attempt.num_superseded for attempt in attempts] == [43, 0]
        assert opened.read("job", None, [STEP_MS]).columns[STEP_MS][55:58].tolist() == [
            np.float32(100.055),
            np.float32(100.056),
            np.float32(300.0),
        ]
        log.append(range(60, 70), times(10, 300.0))
        opened.until(lambda: num_steps(opened) == 70)
        assert opened.runs()["other"].version == other, "only the run that changed has a new version"


def test_the_catalog_is_exact_where_only_the_ends_were_read(logdir: pathlib.Path, loader: str) -> None:
    first = AttemptLog(logdir / "job", blocks_per_tag=2)
    first.append(range(0, 400, 2), times(200), block_rows=10)
    second = AttemptLog(logdir / "job", started_s=START_S + 1000, blocks_per_tag=2)
    second.append(range(201, 300), times(99), block_rows=10)
    expected = [*range(0, 201, 2), *range(201, 300)]
    with open_store(loader, logdir) as opened:
        opened.until(lambda: {380, 291} <= set(listing(opened.loaded).get("job", {}).values()))
        before = opened.runs()["job"].members[0]
        assert opened.read("job").steps.tolist() == expected
        after = opened.runs()["job"].members[0]
        assert before == after
        assert (after.num_steps, after.attempts[0].num_superseded) == (len(expected), 99)


def test_a_cut_record_is_read_when_the_writer_has_finished_it(logdir: pathlib.Path, loader: str) -> None:
    log = write_attempt(logdir / "job", range(30), times(30), block_rows=10)
    rest = logs.truncate(log.path, 100)
    with open_store(loader, logdir) as opened:
        opened.until(lambda: num_steps(opened) == 20)
        assert opened.catalog().problems == ()
        with log.path.open("ab") as file:
            file.write(rest)
        opened.until(lambda: num_steps(opened) == 30)
        assert opened.read("job").gaps == ()


def test_a_deleted_run_disappears_and_its_memory_is_released(logdir: pathlib.Path, loader: str) -> None:
    write_attempt(logdir / "job", range(3000), times(3000))
    write_attempt(logdir / "stays", range(10), times(10))
    with open_store(loader, logdir) as opened:
        opened.until(lambda: (num_steps(opened), num_steps(opened, "stays")) == (3000, 10))
        opened.read("job")
        version, num_bytes = opened.catalog().version, opened.store.num_bytes
        shutil.rmtree(logdir / "job")
        opened.until(lambda: "job" not in opened.runs())
        assert list(opened.runs()) == ["stays"]
        assert opened.catalog().version > version
        assert opened.store.num_bytes < num_bytes / 10
        with pytest.raises(NotFoundError, match="run is 'job'; there is 'stays'"):
            opened.read("job")


def test_a_run_that_is_deleted_and_written_again_is_a_fresh_one(logdir: pathlib.Path, loader: str) -> None:
    write_attempt(logdir / "job", range(100), times(100))
    with open_store(loader, logdir) as opened:
        opened.until(lambda: num_steps(opened) == 100)
        shutil.rmtree(logdir / "job")
        opened.until(lambda: "job" not in opened.runs())
        write_attempt(logdir / "job", range(20), times(20, 50.0))
        opened.until(lambda: num_steps(opened) == 20)
        table = opened.read("job", None, [STEP_MS])
        np.testing.assert_array_equal(table.columns[STEP_MS], times(20, 50.0)[STEP_MS])
        assert (len(table.attempts), table.num_superseded) == (1, 0)


def test_an_empty_directory_has_no_runs_and_gets_some(logdir: pathlib.Path, loader: str) -> None:
    with open_store(loader, logdir, min_refresh_interval_s=0) as opened:
        assert opened.catalog().runs == ()
        assert not opened.store.is_active(CTX, EXPERIMENT)
        with pytest.raises(NotFoundError, match="run is 'job'; no run has step data yet"):
            opened.read("job")
        write_attempt(logdir, range(10), times(10), world_size=2)
        write_attempt(logdir / "rank_1", range(10), times(10), rank=1, world_size=2)
        opened.until(lambda: opened.store.is_active(CTX, EXPERIMENT))
        opened.until(lambda: [len(run.members) for run in opened.catalog().runs] == [2])
        assert list(opened.runs()) == ["."]


def test_the_tags_of_other_plugins_cost_nothing(logdir: pathlib.Path, loader: str) -> None:
    write_attempt(logdir / "job", range(10), times(10))
    values: list[Any] = [{"tag": f"foreign/{k}", "simple_value": 1.0} for k in range(12_345)]
    event = Event(wall_time=START_S, step=1, summary={"value": values})
    (logdir / "job" / "events.out.tfevents.1600000000.foreign").write_bytes(
        logs.file_header() + record(event.SerializeToString())
    )
    with open_store(loader, logdir) as opened:
        opened.until(lambda: num_steps(opened) == 10)
        opened.until(lambda: len(listing_of_scalars(opened)) == 12_345)
        assert [run.run for run in opened.catalog().runs] == ["job"]
        assert opened.read("job").columns.keys() == {STEP_MS}


def listing_of_scalars(opened: Opened) -> Any:
    """Returns the scalar tags of the run."""
    listed = opened.loaded.data_provider.list_scalars(CTX, experiment_id=EXPERIMENT, plugin_name="scalars")
    return listed.get("job", {})
