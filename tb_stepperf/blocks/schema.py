"""Names, units and meanings of the columns of a block, and the flags of a row.

One row is one step. Units stand in the names: `_ms` is milliseconds, `_bytes` bytes, `num_` a count. NaN means *not
measured*, never 0; a column that is missing from a block was not measured in any of its rows.
"""

from __future__ import annotations

import enum

STEP_TIME_MS = "step_time_ms"
"""Host time between two successive step boundaries, without the time inside `exclude(...)`."""

DEVICE_STEP_TIME_MS = "device_step_time_ms"
"""Time between device events recorded at the same two boundaries, without the device time inside `exclude(...)`."""

EXCLUDED_MS = "excluded_ms"
"""Host time inside `exclude(...)` between the two boundaries; it is not part of `step_time_ms`."""

GC_MS = "gc_ms"
"""Host time inside Python's garbage collector between the two boundaries; it lies inside the stages."""

NUM_MICRO_STEPS = "num_micro_steps"
"""Times that the most often entered top-level stage was entered, or what `step(num_micro_steps=…)` was given."""

NUM_SAMPLES = "num_samples"
"""Samples processed by this rank in the step, as given by the loop."""

NUM_TOKENS = "num_tokens"
"""Tokens processed by this rank in the step, as given by the loop."""

BUCKET = "bucket"
"""Kind of the step (sequence-length bucket, curriculum stage) as a number; the environment record names some."""

PEAK_ALLOCATED_BYTES = "peak_allocated_bytes"
"""Peak of the device memory held by tensors; the environment record says whether per step or cumulative."""

PEAK_RESERVED_BYTES = "peak_reserved_bytes"
"""Peak of the device memory held by the caching allocator; per step or cumulative as above."""

PEAK_RESIDENT_BYTES = "peak_resident_bytes"
"""Peak resident memory of the process (CPU); where not every step is read, a value covers the steps since the last."""

NUM_ALLOC_RETRIES = "num_alloc_retries"
"""Allocator retries (cache flushes) within the step."""

NUM_OOMS = "num_ooms"
"""Out-of-memory errors that the allocator raised within the step."""

FLAGS = "flags"
"""Bit set of `Flag`; integers up to 2**24 are exact in float32."""

_STAGE_PREFIX, _DEVICE_STAGE_PREFIX, _STAGE_SUFFIX = "stage/", "device_stage/", "_ms"


class Flag(enum.IntFlag):
    """What is special about a step. Flagged rows are kept; statistics say which flags they leave out."""

    WARMUP = 1
    """Among the first `warmup_steps` of its attempt."""
    PROFILED = 2
    """`torch.profiler` was recording when the step ended."""
    EXCLUDED = 4
    """Some time between the boundaries was taken out by `exclude(...)`."""
    GC = 8
    """Python's garbage collector ran."""
    RECOMPILED = 16
    """A compiler built new code (reserved; not yet written)."""
    ALLOC_RETRY = 32
    """The device allocator had to free its cache and try again."""
    RESTART = 64
    """First step of an attempt: what lies before it (process start, first batch) is not comparable."""
    LOGGED = 128
    """The sample was measured elsewhere and handed over with `log_step`."""
    AFTER_INTERRUPTION = 256
    """First step after one that an exception cut."""


LEFT_OUT_BY_DEFAULT = Flag.WARMUP | Flag.PROFILED | Flag.RESTART
"""Flags whose rows statistics leave out unless asked.

Collections, allocator retries and recompilations stay in: they are time that a user waits for, and the cause of most
tails. Warm-up, profiled and first steps measure something else than the training's steady state.
"""


def stage_column(name: str) -> str:
    """Returns the column that holds the exclusive host time of the stage called `name` (any text, also empty)."""
    return f"{_STAGE_PREFIX}{name}{_STAGE_SUFFIX}"


def device_stage_column(name: str) -> str:
    """Returns the column that holds the exclusive device time of the stage called `name`."""
    return f"{_DEVICE_STAGE_PREFIX}{name}{_STAGE_SUFFIX}"


def stage_name(column: str) -> str | None:
    """Returns the stage whose host time `column` holds, or None where it is no such column."""
    return _between(column, _STAGE_PREFIX)


def device_stage_name(column: str) -> str | None:
    """Returns the stage whose device time `column` holds, or None where it is no such column."""
    return _between(column, _DEVICE_STAGE_PREFIX)


def _between(column: str, prefix: str) -> str | None:
    if column.startswith(prefix) and column.endswith(_STAGE_SUFFIX) and len(column) >= len(prefix) + len(_STAGE_SUFFIX):
        return column[len(prefix) : -len(_STAGE_SUFFIX)]
    return None
