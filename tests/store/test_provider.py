"""The one place that calls the data provider: batches, answers that are too large, runs that vanish in between."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tensorboard.data.provider import Run, TensorDatum, TensorTimeSeries

from tb_stepperf.store.provider import MAX_TAGS_PER_READ, Provider, TagKey, TagState, batches


class TooLargeError(Exception):
    """What gRPC raises, as far as it is looked at."""

    def code(self) -> Any:
        return type("Code", (), {"name": "RESOURCE_EXHAUSTED"})


class Fake:
    """Holds one tensor in each of the tags `t0`, `t1`… of the run `a`, and refuses to answer more than `limit`."""

    def __init__(self, num_tags: int, limit: int, error: Exception) -> None:
        self.num_tags, self.limit, self.error = num_tags, limit, error
        self.calls: list[int] = []
        self.num_failures = 0

    def read_tensors(self, ctx: Any, *, run_tag_filter: Any, **_: Any) -> Any:
        self.calls.append(len(run_tag_filter.tags))
        if len(run_tag_filter.tags) > self.limit:
            raise self.error
        datum = TensorDatum(step=1, wall_time=2.0, numpy=np.array([b"x", b"y"], object))
        return {"a": {f"t{k}": [datum] for k in range(self.num_tags) if f"t{k}" in run_tag_filter.tags}}

    def list_tensors(self, ctx: Any, **_: Any) -> Any:
        if self.num_failures:
            self.num_failures -= 1
            raise KeyError("vanished")
        series = TensorTimeSeries(
            max_step=None, max_wall_time=None, plugin_content=b"c", description="", display_name=""
        )
        return {"a": {"t0": series}}

    def list_runs(self, ctx: Any, **_: Any) -> Any:
        return [Run(run_id="a", run_name="a", start_time=1.0), Run(run_id="b", run_name="b", start_time=None)]


def keys(*numbers: int) -> list[TagKey]:
    return [TagKey("a", f"t{number}") for number in numbers]


def test_an_answer_that_is_too_large_is_asked_for_in_halves() -> None:
    fake = Fake(8, 3, TooLargeError())
    found = Provider(fake).read(None, "", keys(*range(8)))
    assert sorted(found) == keys(*range(8))
    assert fake.calls == [8, 4, 2, 2, 4, 2, 2]


def test_a_single_tag_that_is_too_large_is_an_error() -> None:
    with pytest.raises(TooLargeError):
        Provider(Fake(2, 0, TooLargeError())).read(None, "", keys(0, 1))


def test_other_errors_are_not_tried_again() -> None:
    fake = Fake(8, 3, OSError("the server went away"))
    with pytest.raises(OSError, match="went away"):
        Provider(fake).read(None, "", keys(*range(8)))
    assert fake.calls == [8]


def test_a_tag_that_vanished_is_left_out_and_the_others_are_read() -> None:
    fake = Fake(3, 1, KeyError("t3"))
    assert sorted(Provider(fake).read(None, "", keys(0, 1, 2, 3))) == keys(0, 1, 2)
    assert Provider(Fake(3, 0, KeyError("t"))).read(None, "", keys(0)) == {}


def test_nothing_is_asked_for_nothing() -> None:
    fake = Fake(3, 1, KeyError("t3"))
    assert Provider(fake).read(None, "", []) == {}
    assert fake.calls == []


def test_a_tag_without_tensors_is_listed() -> None:
    assert Provider(Fake(1, 1, OSError())).list_tags(None, "") == {TagKey("a", "t0"): TagState(b"c", -1, 0.0)}
    assert Provider(Fake(1, 1, OSError())).list_tb_runs(None, "") == {"a", "b"}


def test_a_listing_is_tried_three_times_while_runs_come_and_go() -> None:
    fake = Fake(1, 1, OSError())
    fake.num_failures = 2
    assert len(Provider(fake).list_tags(None, "")) == 1
    fake.num_failures = 3
    with pytest.raises(KeyError, match="vanished"):
        Provider(fake).list_tags(None, "")


def test_batches_are_small_and_have_no_tag_twice() -> None:
    wanted = [TagKey(run, f"t{k}") for run in ("a", "b") for k in range(MAX_TAGS_PER_READ + 3)]
    found = list(batches(wanted))
    assert sorted(key for batch in found for key in batch) == sorted(wanted)
    assert max(map(len, found)) <= MAX_TAGS_PER_READ
    assert all(len({key.tag for key in batch}) == len(batch) for batch in found)
    assert list(batches([])) == []
