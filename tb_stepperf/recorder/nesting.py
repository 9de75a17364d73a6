"""What lies inside what: from the order of stamps to the stage that each piece of time belongs to.

Three ways that give the same answer, the first that can. Stages that follow each other are read off from neighbours;
nested ones, each left before the one around it, are followed all at once; everything else (generators left open, the
wrong order, exceptions) one by one, with a stack.
"""

from __future__ import annotations

import dataclasses

import numpy as np

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
    NUM_KINDS,
)

_MAX_DEPTH_AT_ONCE = 8


@dataclasses.dataclass(frozen=True, eq=False)
class Followed:
    """What stamps mean, one entry per stamp.

    Attributes:
        owners: stage that the time before the stamp belongs to.
        kinds: kind of the stamp; one that has no effect (a stage left twice) is LEAVE.
        entered: top-level stage that was entered, else `NO_STAGE`.
        emptied: top-level stage whose entering does not count after all, else `NO_STAGE`.
        still_open: stages that were open at boundaries, which closed them.
    """

    owners: np.ndarray
    kinds: np.ndarray
    entered: np.ndarray
    emptied: np.ndarray
    still_open: tuple[int, ...] = ()


class Nesting:
    """The stages that are open, outermost first."""

    def __init__(self) -> None:
        self._stack: list[int] = []

    def follow(self, stamp_code: int) -> tuple[int, int, int, int, tuple[int, ...]]:
        """Follows one stamp; returns an entry of each field of `Followed`."""
        stage, kind = stamp_code >> KIND_BITS, stamp_code & (NUM_KINDS - 1)
        stack = self._stack
        excluding = EXCLUDED in stack
        owner = EXCLUDED if excluding else stack[-1] if stack else NO_STAGE
        top = stage if not stack and stage >= FIRST_STAGE else NO_STAGE
        if kind == ENTER:
            stack.append(stage)
            return owner, kind, top, NO_STAGE, ()
        if kind == LAP:
            return owner if excluding else stage, kind, top, NO_STAGE, ()
        if kind in (BOUNDARY, DROP):
            still_open = tuple(stack) if kind == BOUNDARY else ()
            stack.clear()
            return owner, kind, NO_STAGE, NO_STAGE, still_open
        if stage == NO_STAGE:
            return owner, kind, NO_STAGE, NO_STAGE, ()
        if stage not in stack:
            return owner, LEAVE, NO_STAGE, NO_STAGE, ()  # closed at a boundary, or left twice
        while stack.pop() != stage:
            continue  # opened inside it and still open: they end with it
        if kind == INTERRUPT and EXCLUDED in stack:
            kind = LEAVE  # what happens inside an exclusion is no part of the step
        emptied = stage if kind == EMPTY and not stack and stage >= FIRST_STAGE else NO_STAGE
        return owner, kind, NO_STAGE, emptied, ()

    def follow_all(self, codes: np.ndarray) -> Followed:
        """Follows stamps in order.

        Args:
            codes: int64, shape (num_stamps,), at least one.
        """
        return self._flat(codes) or self._at_once(codes) or self._one_by_one(codes)

    def _flat(self, codes: np.ndarray) -> Followed | None:
        """The usual case, in few operations: returns None unless every stage is left by the very next stamp."""
        kinds, stages = codes & (NUM_KINDS - 1), codes >> KIND_BITS
        if len(self._stack) > 1 or int(kinds.max()) > BOUNDARY:
            return None
        enters, laps, empties = kinds == ENTER, kinds == LAP, kinds == EMPTY
        leaves = (kinds == LEAVE) | empties
        leaves &= stages != NO_STAGE
        entered = np.where(enters, stages, NO_STAGE)
        owners = np.empty_like(entered)
        owners[0], owners[1:] = self._stack[0] if self._stack else NO_STAGE, entered[:-1]
        if not np.array_equal(np.where(leaves, stages, NO_STAGE), owners):
            return None
        if laps.any():
            owners, entered = np.where(laps, stages, owners), np.where(laps, stages, entered)
        emptied = np.where(empties, stages, NO_STAGE) if empties.any() else np.zeros_like(codes)
        for column in (entered, emptied):
            column[column == EXCLUDED] = NO_STAGE
        self._stack = [int(stages[-1])] if enters[-1] else []
        return Followed(owners, kinds, entered, emptied)

    def _one_by_one(self, codes: np.ndarray) -> Followed:
        owners, kinds, entered, emptied, still_open = zip(*(self.follow(stamp_code) for stamp_code in codes.tolist()))
        return Followed(
            np.array(owners, np.int64),
            np.array(kinds, np.int64),
            np.array(entered, np.int64),
            np.array(emptied, np.int64),
            tuple(stage for stages in still_open for stage in stages),
        )

    def _at_once(self, codes: np.ndarray) -> Followed | None:
        """Returns None where the stamps are not those of stages left in order."""
        kinds, stages = codes & (NUM_KINDS - 1), codes >> KIND_BITS
        if int(kinds.max()) > BOUNDARY:
            return None
        enters = kinds == ENTER
        leaves = ((kinds == LEAVE) | (kinds == EMPTY)) & (stages != NO_STAGE)
        change = enters.astype(np.int64) - leaves
        depth = len(self._stack) + np.cumsum(change)
        max_depth = int(depth.max())
        if depth.min() < 0 or max_depth > _MAX_DEPTH_AT_ONCE or depth[kinds == BOUNDARY].any():
            return None

        # The stage that is current at a depth is the last one entered to that depth.
        after, stack = np.zeros_like(codes), []
        order = np.arange(1, len(codes) + 1)
        for level in range(1, max(max_depth, len(self._stack)) + 1):
            at_level = depth == level
            last = np.maximum.accumulate(np.where(enters & at_level, order, 0))
            known = self._stack[level - 1] if level <= len(self._stack) else NO_STAGE
            current = np.where(last > 0, stages[last - 1], known)
            after[at_level] = current[at_level]
            stack.append(int(current[-1]))
        owners = np.empty_like(codes)
        owners[0], owners[1:] = self._stack[-1] if self._stack else NO_STAGE, after[:-1]
        if (owners[leaves] != stages[leaves]).any():
            return None

        laps, outside = kinds == LAP, depth - change == 0
        owners = np.where(laps, stages, owners)
        exclusions = stages == EXCLUDED
        if exclusions.any() or EXCLUDED in self._stack:
            inside = self._stack.count(EXCLUDED) + np.cumsum(np.where(exclusions, change, 0))
            owners[(inside - np.where(exclusions, change, 0)) > 0] = EXCLUDED
        entered = np.where((enters | laps) & outside & ~exclusions, stages, NO_STAGE)
        emptied = np.where((kinds == EMPTY) & (depth == 0) & ~exclusions, stages, NO_STAGE)
        self._stack = stack[: int(depth[-1])]
        return Followed(owners, kinds, entered, emptied)
