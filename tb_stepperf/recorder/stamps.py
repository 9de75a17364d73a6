"""Stamps: what the training loop leaves behind, and the only thing it computes per event.

A stamp is two floats in one flat list: a code and a clock reading. The code says what happened to which stage. What
lies inside what is worked out later (`nesting.py`), so that the loop keeps no stack.
"""

from __future__ import annotations

LEAVE, ENTER, LAP, EMPTY, BOUNDARY, INTERRUPT, DROP = range(7)
"""Kinds of stamps.

LEAVE: a stage ended (of `NO_STAGE`: nothing, a mark in time). ENTER: a stage began. LAP: the time since the last stamp
belonged to the stage. EMPTY: the stage was left by StopIteration and does not count as entered. BOUNDARY: a step ended,
and all stages with it. INTERRUPT: an exception left the stage (or, of `NO_STAGE`, the whole loop) and cut the step.
DROP: stamps before this one were given up. Kinds from BOUNDARY on end what is open.
"""

NUM_KINDS = 8
"""Codes are `stage * NUM_KINDS + kind`; a power of two, so that bits take them apart."""

KIND_BITS = NUM_KINDS.bit_length() - 1

NO_STAGE, EXCLUDED, FIRST_STAGE = range(3)
"""Stage numbers: no stage, `exclude(...)`, and the first that a name can have."""


def code(stage: int, kind: int) -> float:
    """Returns the code of a stamp, a float so that a list of stamps is of one type."""
    return float(stage * NUM_KINDS + kind)
