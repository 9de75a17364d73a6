"""Following stamps all at once equals following them one by one, wherever it is tried."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_stepperf.recorder.nesting import Followed, Nesting
from tb_stepperf.recorder.stamps import (
    BOUNDARY,
    DROP,
    EMPTY,
    ENTER,
    EXCLUDED,
    FIRST_STAGE,
    INTERRUPT,
    KIND_BITS,
    LAP,
    LEAVE,
    NO_STAGE,
)

A, B = FIRST_STAGE, FIRST_STAGE + 1


def codes(*stamps: tuple[int, int]) -> np.ndarray:
    return np.array([(stage << KIND_BITS) + kind for stage, kind in stamps], np.int64)


def same(one: Followed, other: Followed) -> bool:
    return one.still_open == other.still_open and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("owners", "kinds", "entered", "emptied")
    )


STAGES = st.sampled_from([EXCLUDED, A, B])
ORDERLY = st.recursive(
    st.builds(lambda stage: [(stage, LAP)], st.sampled_from([A, B])) | st.just([(NO_STAGE, LEAVE)]),
    lambda inner: st.builds(
        lambda stage, inside, kind: [(stage, ENTER), *(stamp for part in inside for stamp in part), (stage, kind)],
        STAGES,
        st.lists(inner, max_size=4),
        st.sampled_from([LEAVE, LEAVE, LEAVE, EMPTY]),
    ),
    max_leaves=20,
)
STEPS = st.lists(ORDERLY.map(lambda stamps: [*stamps, (NO_STAGE, BOUNDARY)]), min_size=1, max_size=5)
ANY = st.lists(
    st.tuples(STAGES, st.sampled_from([ENTER, LEAVE, LAP, EMPTY, INTERRUPT]))
    | st.tuples(st.just(NO_STAGE), st.sampled_from([LEAVE, BOUNDARY, INTERRUPT, DROP])),
    min_size=1,
    max_size=30,
)


@settings(max_examples=300, deadline=None)
@given(steps=STEPS, cut=st.integers(1, 60))
def test_orderly_stamps_are_followed_at_once(steps: list[list[tuple[int, int]]], cut: int) -> None:
    stamps = codes(*(stamp for step in steps for stamp in step))
    at_once, one_by_one = Nesting(), Nesting()
    for portion in (stamps[:cut], stamps[cut:]):
        if len(portion):
            flat = Nesting()
            flat._stack = list(one_by_one._stack)
            read_off = flat._flat(portion)
            followed = at_once._at_once(portion)
            expected = one_by_one._one_by_one(portion)
            assert followed is None or same(followed, expected)
            assert read_off is None or (same(read_off, expected) and flat._stack == one_by_one._stack)
            assert followed is not None or _is_deep(steps)
            if followed is None:
                at_once._one_by_one(portion)
            assert at_once._stack == one_by_one._stack


def _is_deep(steps: list[list[tuple[int, int]]]) -> bool:
    return any(sum(1 for _, kind in step if kind == ENTER) > 8 for step in steps)


@settings(max_examples=500, deadline=None)
@given(stamps=ANY, cut=st.integers(1, 29))
def test_any_stamps_mean_the_same_either_way(stamps: list[tuple[int, int]], cut: int) -> None:
    both, one_by_one = Nesting(), Nesting()
    for portion in (stamps[:cut], stamps[cut:]):
        if portion:
            assert same(both.follow_all(codes(*portion)), one_by_one._one_by_one(codes(*portion)))
            assert both._stack == one_by_one._stack


def test_stages_that_follow_each_other_are_read_off() -> None:
    nesting = Nesting()
    first = nesting._flat(codes((A, ENTER), (A, LEAVE), (B, LAP), (EXCLUDED, ENTER), (EXCLUDED, LEAVE), (A, ENTER)))
    second = nesting._flat(codes((A, EMPTY), (NO_STAGE, LEAVE), (NO_STAGE, BOUNDARY)))
    assert first is not None
    assert second is not None
    assert first.owners.tolist() == [NO_STAGE, A, B, NO_STAGE, EXCLUDED, NO_STAGE]
    assert first.entered.tolist() == [A, NO_STAGE, B, NO_STAGE, NO_STAGE, A]
    assert second.owners.tolist() == [A, NO_STAGE, NO_STAGE]
    assert second.emptied.tolist() == [A, NO_STAGE, NO_STAGE]
    assert nesting._flat(codes((A, ENTER), (B, ENTER))) is None
    assert nesting._flat(codes((A, LEAVE), (NO_STAGE, BOUNDARY))) is None


def test_what_is_left_out_of_order() -> None:
    nesting = Nesting()
    followed = nesting.follow_all(
        codes((A, ENTER), (B, ENTER), (A, LEAVE), (B, LEAVE), (B, ENTER), (NO_STAGE, BOUNDARY), (B, INTERRUPT))
    )
    assert followed.owners.tolist() == [NO_STAGE, A, B, NO_STAGE, NO_STAGE, B, NO_STAGE]
    assert followed.kinds.tolist() == [ENTER, ENTER, LEAVE, LEAVE, ENTER, BOUNDARY, LEAVE]
    assert followed.entered.tolist() == [A, NO_STAGE, NO_STAGE, NO_STAGE, B, NO_STAGE, NO_STAGE]
    assert followed.still_open == (B,)


def test_an_exclusion_takes_all_that_is_inside() -> None:
    followed = Nesting().follow_all(
        codes((A, ENTER), (EXCLUDED, ENTER), (B, ENTER), (B, LAP), (B, INTERRUPT), (EXCLUDED, LEAVE), (A, LEAVE))
    )
    assert followed.owners.tolist() == [NO_STAGE, A, EXCLUDED, EXCLUDED, EXCLUDED, EXCLUDED, A]
    assert INTERRUPT not in followed.kinds.tolist()
