"""Set arithmetic on intervals, against the same on single nanoseconds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tb_stepperf.traces.intervals import NOTHING, Intervals, common, joined, union, without

LENGTH = 40
pairs = st.lists(st.tuples(st.integers(0, LENGTH), st.integers(0, 12)), max_size=12)


def made(of: list[tuple[int, int]]) -> Intervals:
    start = np.array([a for a, _ in of], np.int64)
    return union(start, start + np.array([d for _, d in of], np.int64))


def moments(intervals: Intervals) -> set[int]:
    found = [moment for a, b in zip(intervals.start, intervals.end) for moment in range(a, b)]
    assert len(found) == len(set(found)), "intervals overlap"
    assert np.all(intervals.start < intervals.end)
    assert np.all(intervals.start[1:] >= intervals.end[:-1])
    return set(found)


@given(pairs)
def test_a_union_holds_every_moment_once(of: list[tuple[int, int]]) -> None:
    assert moments(made(of)) == {moment for a, d in of for moment in range(a, a + d)}


@given(pairs, pairs)
def test_sets_of_two(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    a, b = made(one), made(other)
    assert moments(common(a, b)) == moments(a) & moments(b)
    assert moments(without(a, b)) == moments(a) - moments(b)
    assert moments(joined(a, b)) == moments(a) | moments(b)


@given(pairs, st.integers(0, LENGTH), st.integers(0, LENGTH))
def test_covered_part_of_a_window(of: list[tuple[int, int]], start: int, length: int) -> None:
    intervals = made(of)
    covered = intervals.covered(np.array([start]), np.array([start + length]))
    assert covered.tolist() == [len(moments(intervals) & set(range(start, start + length)))]


def test_nothing_covers_nothing() -> None:
    assert NOTHING.covered(np.array([0, 5]), np.array([10, 6])).tolist() == [0, 0]
    assert joined(NOTHING, NOTHING).num == 0
