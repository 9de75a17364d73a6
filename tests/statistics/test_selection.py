"""Every row is used, or left out under exactly one reason."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_stepperf.errors import ArgumentError
from tb_stepperf.statistics import everything, flag_bits, select, true_stretches

BITS = {"warmup": 1, "profiled": 2, "restart": 64}
NAN, INF = float("nan"), float("inf")


def test_odd_values_are_left_out_and_counted_and_zero_is_a_value() -> None:
    values = np.array([100.0] * 20 + [NAN, INF, -INF, 0.0, -1.0, 1e-9, 1e12, 3.4e38], np.float32)
    selection = select(values, np.zeros(values.size, np.int32), BITS)
    assert selection.left_out == {"warmup": 0, "profiled": 0, "restart": 0, "not_finite": 3, "negative": 1}
    assert selection.num_used == 24
    assert selection.used.tolist() == [True] * 20 + [False, False, False, True, False, True, True, True]
    assert not selection.flagged.any()


def test_a_row_with_several_reasons_counts_under_the_first() -> None:
    values = np.array([1, 1, 1, NAN, NAN, -1, 1], np.float32)
    flags = np.array([1 | 2 | 64, 2 | 64, 64, 1, 0, 64, 8], np.int32)
    selection = select(values, flags, BITS)
    assert selection.left_out == {"warmup": 2, "profiled": 1, "restart": 2, "not_finite": 1, "negative": 0}
    assert selection.used.tolist() == [False] * 6 + [True]
    assert selection.flagged.tolist() == [True, True, True, False, False, False, False]


def test_kept_flags_leave_nothing_out() -> None:
    values, flags = np.ones(3, np.float32), np.array([1, 2, 1 | 2], np.int32)
    selection = select(values, flags, BITS, keep=("warmup",))
    assert selection.left_out == {"warmup": 0, "profiled": 2, "restart": 0, "not_finite": 0, "negative": 0}
    assert selection.used.tolist() == [True, False, False]


@given(
    st.lists(st.tuples(st.floats(width=32), st.integers(0, 511)), max_size=50),
    st.sets(st.sampled_from(sorted(BITS))),
)
def test_used_and_left_out_add_up(rows: list[tuple[float, int]], keep: set[str]) -> None:
    values = np.array([value for value, _ in rows], np.float32)
    flags = np.array([bits for _, bits in rows], np.int32)
    selection = select(values, flags, BITS, keep)
    assert selection.num_used == np.count_nonzero(selection.used)
    assert selection.num_used + sum(selection.left_out.values()) == len(rows)
    assert not (selection.used & selection.flagged).any()


def test_everything_leaves_nothing_out() -> None:
    selection = everything(2, BITS)
    assert selection.used.all()
    assert selection.num_used == 2
    assert set(selection.left_out.values()) == {0}


def test_flags_that_were_not_measured_or_make_no_sense_are_no_flags() -> None:
    bits = flag_bits(np.array([0, 65, 2**24 - 1, NAN, INF, -1, 2**24], np.float32))
    assert bits.dtype == np.int32
    assert bits.tolist() == [0, 65, 2**24 - 1, 0, 0, 0, 0]


def test_stretches_are_half_open() -> None:
    starts, ends = true_stretches(np.array([1, 1, 0, 1, 0, 0, 1], bool))
    assert list(zip(starts.tolist(), ends.tolist())) == [(0, 2), (3, 4), (6, 7)]
    assert [part.size for part in true_stretches(np.zeros(0, bool))] == [0, 0]


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ArgumentError, match="equal shapes are allowed"):
        select(np.zeros(2), np.zeros(1, np.int32), BITS)
    with pytest.raises(ArgumentError, match=r"keep names \['gc'\]"):
        select(np.zeros(1), np.zeros(1, np.int32), BITS, keep=("gc",))
