"""Stamps to steps, against a reference that is too simple to be wrong, cut into portions at random places."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_stepperf.recorder.assemble import Assembler, Steps
from tb_stepperf.recorder.loop import LoopState
from tb_stepperf.recorder.messages import Messages
from tb_stepperf.recorder.stages import Stage, StageNames, make_stage
from tb_stepperf.recorder.stamps import (
    BOUNDARY,
    DROP,
    ENTER,
    EXCLUDED,
    FIRST_STAGE,
    INTERRUPT,
    LEAVE,
    NO_STAGE,
    code,
)
from tests.recorder.logs import ManualClock

A, B = FIRST_STAGE, FIRST_STAGE + 1


def feed(assembler: Assembler, *stamps: tuple[float, float]) -> Steps:
    return assembler.feed(np.array(stamps, np.float64))


def test_what_is_unfinished_waits_as_sums() -> None:
    assembler = Assembler()
    assert feed(assembler, (code(A, ENTER), 10)).num_steps == 0
    assert feed(assembler, (code(B, ENTER), 11), (code(B, LEAVE), 13)).num_steps == 0
    steps = feed(assembler, (code(A, LEAVE), 14), (code(NO_STAGE, BOUNDARY), 20), (code(A, ENTER), 21))
    assert steps.end_s.tolist() == [20]
    assert steps.step_time_s.tolist() == [10]
    assert steps.stage_time_s.tolist() == [[6, 0, 2, 2]]
    assert steps.num_micro_steps.tolist() == [1]


def test_readings_that_go_back_count_as_equal() -> None:
    steps = feed(
        Assembler(),
        (code(A, ENTER), 10),
        (code(NO_STAGE, BOUNDARY), 12),
        (code(A, ENTER), 11.5),  # another thread read the clock before, and came later
        (code(A, LEAVE), 11.75),
        (code(NO_STAGE, BOUNDARY), 13),
    )
    assert steps.step_time_s.tolist() == [2, 1]
    assert steps.stage_time_s[:, A].tolist() == [2, 0]


def test_an_interruption_counts_once_however_many_stages_it_leaves() -> None:
    assembler = Assembler()
    first = feed(assembler, (code(A, ENTER), 0), (code(B, ENTER), 1), (code(B, INTERRUPT), 2))
    second = feed(assembler, (code(A, INTERRUPT), 2), (code(NO_STAGE, BOUNDARY), 5))
    third = feed(assembler, (code(NO_STAGE, BOUNDARY), 6))
    assert (first.num_interrupted, second.num_interrupted) == (1, 0)
    assert second.step_time_s.tolist() == [3]
    assert second.after_interruption.tolist() == [True]
    assert third.after_interruption.tolist() == [False]


def test_nothing_begun_is_nothing_interrupted() -> None:
    steps = feed(Assembler(), (code(NO_STAGE, BOUNDARY), 1), (code(NO_STAGE, INTERRUPT), 2))
    assert (steps.num_steps, steps.num_interrupted) == (1, 0)


def test_dropped_stamps_are_no_interruption() -> None:
    steps = feed(
        Assembler(), (code(A, ENTER), 0), (code(NO_STAGE, DROP), 9), (code(A, ENTER), 9), (code(NO_STAGE, BOUNDARY), 10)
    )
    assert steps.step_time_s.tolist() == [1]
    assert steps.num_interrupted == 0
    assert steps.after_interruption.tolist() == [False]


ACTIONS = st.recursive(
    st.integers(0, 5),  # time passes
    lambda inner: st.tuples(st.sampled_from("abcx"), st.lists(inner, max_size=5)),  # a stage; x is exclude
    max_leaves=25,
)
PROGRAMS = st.lists(st.lists(ACTIONS, max_size=6), min_size=1, max_size=6)


def reference(program: list[Any]) -> tuple[list[dict[str, float]], list[int]]:
    """Walks a program: time belongs to the innermost stage, or to `x` if that is anywhere around it."""
    times, micro_steps = [], []
    for step in program:
        total: dict[str, float] = Counter()
        entered: Counter[str] = Counter()

        def walk(actions: list[Any], around: tuple[str, ...], total: Any = total, entered: Any = entered) -> None:
            for action in actions:
                if isinstance(action, int):
                    owner = "x" if "x" in around else (around[-1] if around else "")
                    total[owner] += action
                else:
                    name, inside = action
                    if not around and name != "x":
                        entered[name] += 1
                    walk(inside, (*around, name))

        walk(step, ())
        times.append(total)
        micro_steps.append(max(entered.values(), default=0))
    return times, micro_steps


@settings(max_examples=200, deadline=None)
@given(program=PROGRAMS, cuts=st.lists(st.integers(1, 12), min_size=1, max_size=10))
def test_any_nest_of_stages_equals_the_reference(program: list[Any], cuts: list[int]) -> None:
    clock = ManualClock()
    loop = LoopState(clock=clock, first_step=0, messages=Messages())
    names = StageNames(loop, 64)
    stages: dict[str, Stage] = {name: make_stage(loop, names.number(name)) for name in "abc"}
    stages["x"] = make_stage(loop, EXCLUDED)
    loop.admit()

    def run(actions: list[Any]) -> None:
        for action in actions:
            if isinstance(action, int):
                clock.advance(action)
            else:
                with stages[action[0]]:
                    run(action[1])

    loop.stamp((code(NO_STAGE, LEAVE), clock()))
    for step in program:
        run(step)
        loop.stamp((code(NO_STAGE, BOUNDARY), clock()))
        loop.after_step()  # from the second step on the fast way is taken
    stamps = np.array(loop.stamps).reshape(-1, 2)

    assembler, portions, start = Assembler(), [], 0
    while start < len(stamps):
        end = start + cuts[len(portions) % len(cuts)]
        portions.append(assembler.feed(stamps[start:end]))
        start = end
    columns = {"": NO_STAGE, "x": EXCLUDED, **{name: names.number(name) for name in "abc"}}
    times, micro_steps = reference(program)
    rows = [(part, at) for part in portions for at in range(part.num_steps)]
    assert len(rows) == len(program)
    for (part, at), expected, num_micro_steps in zip(rows, times, micro_steps):
        found = dict.fromkeys(columns, 0.0)
        found.update({name: part.stage_time_s[at, n] for name, n in columns.items() if n < part.stage_time_s.shape[1]})
        assert found == {name: expected.get(name, 0) for name in columns}
        assert part.step_time_s[at] == sum(time_s for name, time_s in expected.items() if name != "x")
        assert part.num_micro_steps[at] == num_micro_steps
