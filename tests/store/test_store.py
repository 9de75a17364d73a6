"""When the provider is asked, and how often; memory and threads. With the Python loader, which a test can steer."""

from __future__ import annotations

import pathlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tb_stepperf.store import Store
from tb_stepperf.store.provider import MAX_TAGS_PER_READ
from tests.store.gallery import times
from tests.store.spy import Spy
from tests.store.tables import STEP_MS, plain
from tests.support import synthetic
from tests.support.logs import START_S, AttemptLog, write_attempt
from tests.support.providers import CTX, DEADLINE_S, EXPERIMENT, Loaded, open_provider


class Clock:
    """A monotonic clock that a test sets."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


Make = Callable[..., tuple[Store, Spy, Loaded]]


@pytest.fixture
def make(logdir: pathlib.Path, request: pytest.FixtureRequest) -> Make:
    """Returns a function that makes a store over `logdir`, with a spy between."""

    def make_store(**arguments: Any) -> tuple[Store, Spy, Loaded]:
        context = open_provider("python", logdir)
        loaded = context.__enter__()
        request.addfinalizer(lambda: context.__exit__(None, None, None))
        spy = Spy(loaded.data_provider)
        return Store(spy, **arguments), spy, loaded

    return make_store


def read(store: Store, run: str = "job", columns: Any = None, **steps: int) -> Any:
    return store.read(CTX, EXPERIMENT, run, None, columns, **steps)


def test_the_listing_is_asked_for_at_most_once_an_interval(logdir: pathlib.Path, make: Make) -> None:
    write_attempt(logdir / "job", range(10), times(10))
    clock = Clock()
    store, spy, _ = make(min_refresh_interval_s=2.0, clock=clock)
    first = store.catalog(CTX, EXPERIMENT)
    clock.now_s += 1.9
    assert store.catalog(CTX, EXPERIMENT) is first
    read(store)
    assert spy.num_listings == 1
    clock.now_s += 0.1
    assert store.catalog(CTX, EXPERIMENT) is first, "nothing has changed"
    assert spy.num_listings == 2
    store.catalog(CTX, EXPERIMENT, force=True)
    assert spy.num_listings == 3


def test_only_tags_that_changed_are_read_again(logdir: pathlib.Path, make: Make) -> None:
    log = AttemptLog(logdir / "job", blocks_per_tag=2)
    log.environment({"torch": "2"})
    log.append(range(70), times(70), block_rows=10)
    store, spy, loaded = make()
    read(store)
    assert set(spy.reads.values()) == {1}
    assert len(spy.reads) == 5
    spy.reads.clear()
    spy.newest_reads.clear()
    log.append(range(70, 80), times(10))
    loaded.reload()
    store.catalog(CTX, EXPERIMENT, force=True)
    grown = ("job", f"stepperf/{log.attempt}/000003")
    assert (dict(spy.reads), dict(spy.newest_reads)) == ({}, {grown: 1}), "the catalog needs the newest block only"
    assert read(store).steps.tolist() == list(range(80))
    assert dict(spy.reads) == {grown: 1}
    log.environment({"seed": 3, "step": 80})
    loaded.reload()
    store.catalog(CTX, EXPERIMENT, force=True)
    assert spy.reads["job", f"stepperf/{log.attempt}/environment"] == 1
    assert read(store).attempts[0].changes == ((80, {"seed": 3}),)


def test_the_catalog_reads_no_middle_of_a_run(logdir: pathlib.Path, make: Make) -> None:
    log = write_attempt(logdir / "job", range(1000), times(1000), block_rows=10, blocks_per_tag=5)
    store, spy, _ = make()
    (run,) = store.catalog(CTX, EXPERIMENT).runs
    assert run.members[0].num_steps == 1000
    assert dict(spy.reads) == {("job", f"stepperf/{log.attempt}/000000"): 1}
    assert dict(spy.newest_reads) == {("job", f"stepperf/{log.attempt}/000019"): 1}


def test_the_catalog_reads_the_tag_where_a_restart_takes_over(logdir: pathlib.Path, make: Make) -> None:
    old = write_attempt(logdir / "job", range(1000), times(1000), block_rows=10, blocks_per_tag=5)
    write_attempt(logdir / "job", range(525, 600), times(75), started_s=START_S + 1000)
    store, spy, _ = make()
    (run,) = store.catalog(CTX, EXPERIMENT).runs
    assert run.members[0].num_steps == 600
    assert [attempt.num_superseded for attempt in run.members[0].attempts] == [475, 0]
    read_of_old = sorted(tag[-2:] for _, tag in spy.reads if old.attempt in tag)
    assert read_of_old == ["00", "09", "10"], "first, and the two that may hold step 525"


@pytest.mark.parametrize("max_bytes", [0, 40_000, 1 << 30])
def test_memory_is_bounded_and_the_rows_are_the_same(logdir: pathlib.Path, make: Make, max_bytes: int) -> None:
    num_rows = 20_000
    columns = synthetic.columns(synthetic.step_time_ms(num_rows))
    log = AttemptLog(logdir / "job", blocks_per_tag=4)
    log.append(range(num_rows), columns, block_rows=128)
    store, spy, _ = make(max_bytes=max_bytes)
    for _ in range(2):
        table = read(store, columns=[STEP_MS, "flags"])
        assert store.num_bytes <= max_bytes
        assert table.steps.tolist() == list(range(num_rows))
        np.testing.assert_array_equal(table.columns[STEP_MS], columns[STEP_MS])
        np.testing.assert_array_equal(table.columns["flags"], columns["flags"])
    times_read = set(spy.reads.values())
    assert times_read == {1} if max_bytes == 1 << 30 else max(times_read) > 1
    assert spy.largest_read <= MAX_TAGS_PER_READ


def test_a_range_reads_only_its_tags_again(logdir: pathlib.Path, make: Make) -> None:
    log = write_attempt(logdir / "job", range(2000), times(2000), block_rows=10, blocks_per_tag=10)
    store, spy, _ = make(max_bytes=0)
    read(store)
    spy.reads.clear()
    assert read(store, start_step=450, end_step=650).num_rows == 200
    assert sorted(spy.reads) == [("job", f"stepperf/{log.attempt}/{k:06d}") for k in (4, 5, 6)]


def test_values_that_never_change_are_kept_once(logdir: pathlib.Path, make: Make) -> None:
    num_rows = 30_000
    write_attempt(logdir / "job", range(num_rows), {"num_samples": np.full(num_rows, 32), "flags": np.zeros(num_rows)})
    store, _, _ = make()
    assert read(store).columns["num_samples"].tolist() == [32.0] * num_rows
    assert store.num_bytes < num_rows * 8 + 20_000, "wall times, and nothing else by the row"


def _together(count: int, call: Callable[[], Any]) -> list[Any]:
    """Calls from several threads that all begin before any has ended."""
    barrier = threading.Barrier(count, timeout=DEADLINE_S)

    def go(_: int) -> Any:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(go, range(count)))


def test_threads_that_ask_for_the_same_read_it_once(logdir: pathlib.Path, make: Make) -> None:
    write_attempt(logdir / "job", range(2000), times(2000), block_rows=10, blocks_per_tag=10)
    store, spy, _ = make()
    tables = _together(8, lambda: read(store))
    assert all(plain(table) == plain(tables[0]) for table in tables)
    assert set(spy.reads.values()) == {1}
    assert len(spy.reads) == 20
    assert spy.num_listings == 1


def test_a_slow_read_of_one_run_does_not_hold_up_another(logdir: pathlib.Path, make: Make) -> None:
    slow = write_attempt(logdir / "slow", range(300), times(300), block_rows=10, blocks_per_tag=10)
    write_attempt(logdir / "job", range(30), times(30))
    store, spy, loaded = make(min_refresh_interval_s=0)
    store.catalog(CTX, EXPERIMENT)
    may_go, is_waiting = threading.Event(), threading.Event()

    def wait_for_slow(name: str, arguments: dict[str, Any]) -> None:
        if name == "read_tensors" and any(slow.attempt in tag for tag in arguments["run_tag_filter"].tags):
            is_waiting.set()
            assert may_go.wait(DEADLINE_S)

    spy.before = wait_for_slow
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(read, store, "slow")
        assert is_waiting.wait(DEADLINE_S)
        assert read(store, "job").num_rows == 30
        write_attempt(logdir / "later", range(5), times(5))
        loaded.reload()
        assert [run.run for run in store.catalog(CTX, EXPERIMENT).runs] == ["job", "later", "slow"]
        may_go.set()
        assert future.result(DEADLINE_S).num_rows == 300


def test_a_refresh_by_another_thread_is_not_waited_for(logdir: pathlib.Path, make: Make) -> None:
    write_attempt(logdir / "job", range(30), times(30))
    store, spy, _ = make(min_refresh_interval_s=0)
    first = store.catalog(CTX, EXPERIMENT)
    may_go, is_waiting = threading.Event(), threading.Event()

    def wait(name: str, arguments: dict[str, Any]) -> None:
        if not is_waiting.is_set():
            is_waiting.set()
            assert may_go.wait(DEADLINE_S)

    spy.before = wait
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(store.catalog, CTX, EXPERIMENT)
        assert is_waiting.wait(DEADLINE_S)
        assert store.catalog(CTX, EXPERIMENT) is first
        may_go.set()
        assert future.result(DEADLINE_S) is first


def test_who_waits_for_a_read_that_fails_tries_itself(logdir: pathlib.Path, make: Make) -> None:
    write_attempt(logdir / "job", range(300), times(300), block_rows=10, blocks_per_tag=10)
    store, spy, _ = make()
    store.catalog(CTX, EXPERIMENT)
    lock, failed = threading.Lock(), []

    def fail_once(name: str, arguments: dict[str, Any]) -> None:
        with lock:
            if not failed:
                failed.append(name)
                raise OSError("the server went away")

    spy.before = fail_once

    def attempt() -> Any:
        try:
            return read(store).num_rows
        except OSError as error:
            return str(error)

    assert sorted(map(str, _together(4, attempt))) == ["300", "300", "300", "the server went away"]
    assert attempt() == 300


def test_threads_read_while_the_log_grows(logdir: pathlib.Path, make: Make) -> None:
    log = AttemptLog(logdir / "job", blocks_per_tag=4)
    log.append(range(40), times(40), block_rows=10)
    store, _, loaded = make(min_refresh_interval_s=0, max_bytes=3000)
    done = threading.Event()

    def look() -> int:
        last = 0
        while not done.is_set():
            store.catalog(CTX, EXPERIMENT)
            table = read(store)
            assert table.steps.tolist() == list(range(table.num_rows))
            assert table.num_written == table.num_rows >= last
            last = table.num_rows
        return last

    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(look) for _ in range(4)]
        for first in range(40, 800, 20):
            log.append(range(first, first + 20), times(20), block_rows=10)
            loaded.reload()
        done.set()
        assert all(future.result(DEADLINE_S) <= 800 for future in futures)
    store.catalog(CTX, EXPERIMENT, force=True)
    assert read(store).num_rows == 800


def test_a_tag_that_grew_since_the_listing_reads_as_listed(logdir: pathlib.Path, make: Make) -> None:
    log = AttemptLog(logdir / "job")
    log.append(range(40), times(40), block_rows=10)
    clock = Clock()
    store, _, loaded = make(max_bytes=0, clock=clock)
    store.catalog(CTX, EXPERIMENT)
    log.append(range(40, 60), times(20), block_rows=10)
    loaded.reload()
    assert read(store).num_rows == 40
    clock.now_s += 10
    store.catalog(CTX, EXPERIMENT)
    assert read(store).num_rows == 60


def test_is_active_lists_and_reads_nothing(logdir: pathlib.Path, make: Make) -> None:
    clock = Clock()
    store, spy, loaded = make(clock=clock)
    assert not store.is_active(CTX, EXPERIMENT)
    write_attempt(logdir / "job", range(30), times(30))
    loaded.reload()
    assert not store.is_active(CTX, EXPERIMENT), "within the interval the last answer holds"
    assert spy.num_listings == 1
    clock.now_s += 1
    assert store.is_active(CTX, EXPERIMENT)
    assert store.is_active(CTX, EXPERIMENT)
    assert (spy.num_listings, dict(spy.reads)) == (2, {})
    store.catalog(CTX, EXPERIMENT)
    clock.now_s += 100
    assert store.is_active(CTX, EXPERIMENT), "a catalog with data is enough"
    assert spy.num_listings == 3


def test_few_experiments_are_remembered(logdir: pathlib.Path, make: Make) -> None:
    write_attempt(logdir / "job", range(3000), times(3000))
    store, _, _ = make()
    store.read(CTX, "first", "job", None, None)
    one = store.num_bytes
    for number in range(30):
        store.read(CTX, f"other {number}", "job", None, None)
    assert store.num_bytes == 8 * one


def test_a_run_that_vanishes_between_listing_and_read(logdir: pathlib.Path, make: Make) -> None:
    write_attempt(logdir / "job", range(300), times(300), block_rows=10, blocks_per_tag=10)
    write_attempt(logdir / "stays", range(30), times(30))
    store, spy, _ = make()
    store.catalog(CTX, EXPERIMENT)
    vanished = KeyError("job")

    def vanish(name: str, arguments: dict[str, Any]) -> None:
        if name == "read_tensors" and "job" in arguments["run_tag_filter"].runs:
            raise vanished

    spy.before = vanish
    with pytest.raises(ValueError, match="run 'job' changes faster than it can be read"):
        read(store)
    assert read(store, "stays").num_rows == 30
