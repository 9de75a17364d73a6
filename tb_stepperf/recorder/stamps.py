"""Stamps: what the training loop leaves behind, and the only thing it computes per event.

A stamp is two floats in one flat list: a code and a clock reading. The code says what happened and which stage is
current *after* it, so exclusive times need no stack when they are worked out later: the time between two stamps
belongs to the stage that is current after the first of them (a lap names the stage of the time before it).
"""

from __future__ import annotations

RESUME, ENTER, LAP, EMPTY, BOUNDARY, INTERRUPT, DROP = range(7)
"""Kinds of stamps.

RESUME: a stage ended, its parent goes on. ENTER: a stage began. LAP: the time since the last stamp belonged to the
stage named, and no stage is current. EMPTY: as RESUME, but the stage was left by StopIteration and does not count as
entered. BOUNDARY: a step ended. INTERRUPT: an exception cut the step. DROP: stamps before this one were given up.
Kinds from BOUNDARY on end what is open.
"""

NUM_KINDS = 8
"""Codes are `stage * NUM_KINDS + kind`; a power of two, so that bits take them apart."""

NO_STAGE, EXCLUDED, FIRST_STAGE = range(3)
"""Stage numbers: no stage, inside `exclude(...)`, and the first that a name can have."""


def code(stage: int, kind: int) -> float:
    """Returns the code of a stamp, a float so that a list of stamps is of one type."""
    return float(stage * NUM_KINDS + kind)
