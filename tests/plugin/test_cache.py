"""Derived values are remembered by version, and within a bound of memory."""

from __future__ import annotations

import concurrent.futures
import dataclasses
from typing import Any

from werkzeug.test import Client

from tb_stepperf.plugin.cache import RecentlyUsed
from tests.plugin.fakes import FakeMember, FakeStore, get, plugin


@dataclasses.dataclass
class _Value:
    num_bytes: int = 10


def _never() -> _Value:
    raise AssertionError("it should have been remembered")


def test_a_value_is_made_once_for_each_version() -> None:
    cache = RecentlyUsed(100)
    first = cache.get("a", 1, _Value)
    assert cache.get("a", 1, _never) is first
    assert cache.get("a", 2, _Value) is not first
    assert cache.num_bytes == 10


def test_the_least_recently_used_goes_first() -> None:
    cache = RecentlyUsed(20)
    a, b = cache.get("a", 1, _Value), cache.get("b", 1, _Value)
    assert cache.get("a", 1, _never) is a
    cache.get("c", 1, _Value)
    assert cache.num_bytes == 20
    assert cache.get("a", 1, _never) is a
    assert cache.get("b", 1, _Value) is not b


def test_what_is_larger_than_the_bound_is_not_kept() -> None:
    cache = RecentlyUsed(5)
    assert cache.get("a", 1, _Value).num_bytes == 10
    assert cache.num_bytes == 0


def test_axes_of_one_member_are_derived_once_and_anew_when_its_data_changed() -> None:
    member = FakeMember({"step_time_ms": [10.0, 20.0]})
    store = FakeStore({"job": [member]})

    def whole_reads() -> int:
        return sum(start is None and columns is not None for _, _, columns, start, _ in store.reads)

    browser = Client(plugin(store).get_plugin_apps()["/bands"])
    for _ in range(3):
        assert browser.get("/bands", query_string={"run": "job", "axis": "relative"}).status_code == 200
    assert whole_reads() == 1
    member.columns = {"step_time_ms": [10.0, 20.0, 30.0]}
    member.version = 2
    answer = browser.get("/bands", query_string={"run": "job", "axis": "relative"}).json
    assert whole_reads() == 2
    assert answer["axis"]["start"] == [0, 10, 30]


def test_a_zoom_reads_only_its_steps() -> None:
    store = FakeStore({"job": [FakeMember({"step_time_ms": [10.0] * 100})]})
    assert get(store, "/bands", run="job", start=20, end=30).json["sample"]["num_in_range"] == 10
    assert store.reads[-1] == ("job", "0", ["flags", "step_time_ms"], 20, 30)


def test_data_that_changes_between_two_reads_is_read_anew() -> None:
    member = FakeMember({"step_time_ms": [10.0, 20.0]})

    class Growing(FakeStore):
        def read(self, *args: Any, **kwargs: Any) -> Any:
            table = super().read(*args, **kwargs)
            if len(self.reads) == 2:  # right after the axis was derived
                member.columns = {"step_time_ms": [10.0, 20.0, 30.0]}
                member.version = 2
            return table

    answer = get(Growing({"job": [member]}), "/bands", run="job", axis="relative").json
    assert answer["axis"]["start"] == [0, 10, 30]
    assert answer["max"] == [100000, 200000, 300000]


def test_requests_in_many_threads_get_the_same_answer() -> None:
    store = FakeStore({"job": [FakeMember({"step_time_ms": [10.0] * 1000})]})
    application = plugin(store).get_plugin_apps()["/bands"]

    def ask(axis: str) -> bytes:
        return Client(application).get("/bands", query_string={"run": "job", "axis": axis}).data

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, ["relative", "wall"] * 20))
    assert len(set(answers)) == 2
