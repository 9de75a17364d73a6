"""Which rows a statistic uses, and why the others are left out."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping

import numpy as np

from tb_stepperf.errors import ArgumentError

NOT_FINITE, NEGATIVE = "not_finite", "negative"
_MAX_FLAGS = 2**24  # integers below are exact in float32


@dataclasses.dataclass(frozen=True, eq=False)
class Selection:
    """The rows that a statistic uses; `num_used` and the counts of `left_out` add up to the number of rows.

    Attributes:
        used: bool, shape (num_rows,).
        flagged: bool, shape (num_rows,): left out because of a flag, with a value that can be drawn.
        num_used: number of rows used.
        left_out: reason to number of rows; every reason is there, 0 included.
    """

    used: np.ndarray
    flagged: np.ndarray
    num_used: int
    left_out: Mapping[str, int]


def select(
    values: np.ndarray, flags: np.ndarray, bits: Mapping[str, int], keep: Collection[str] = frozenset()
) -> Selection:
    """Leaves out flagged rows and values that cannot be a time.

    A row counts under the first reason that applies: the flags in the order of `bits`, then `not_finite`, then
    `negative`. A value of 0 is used.

    Args:
        values: floating-point, shape (num_rows,).
        flags: int32, shape (num_rows,), see `flag_bits`.
        bits: reason to the bit of `flags` that stands for it, in order of precedence.
        keep: reasons of `bits` that do not leave a row out.

    Raises:
        ArgumentError: the shapes differ, or `keep` names an unknown reason.
    """
    if values.shape != flags.shape:
        raise ArgumentError(f"values have shape {values.shape}, flags {flags.shape}; equal shapes are allowed")
    if unknown := sorted(set(keep) - set(bits)):
        raise ArgumentError(f"keep names {unknown}; {sorted(bits)} are allowed")
    left_out = dict.fromkeys([*bits, NOT_FINITE, NEGATIVE], 0)
    rest = np.ones(values.shape, bool)
    for reason, bit in bits.items():
        if reason in keep:
            continue
        hit = rest & ((flags & bit) != 0)
        left_out[reason] = int(np.count_nonzero(hit))
        rest &= ~hit
    valid = np.isfinite(values)
    left_out[NOT_FINITE] = int(np.count_nonzero(rest & ~valid))
    with np.errstate(invalid="ignore"):  # comparing NaN is meant: it is neither negative nor not
        negative = valid & (values < 0)
    left_out[NEGATIVE] = int(np.count_nonzero(rest & negative))
    valid &= ~negative
    used = rest & valid
    return Selection(used, ~rest & valid, int(np.count_nonzero(used)), left_out)


def everything(num_rows: int, bits: Mapping[str, int]) -> Selection:
    """Returns the selection of all rows, for statistics that leave nothing out (a peak is a peak)."""
    left_out = dict.fromkeys([*bits, NOT_FINITE, NEGATIVE], 0)
    return Selection(np.ones(num_rows, bool), np.zeros(num_rows, bool), num_rows, left_out)


def flag_bits(flags: np.ndarray) -> np.ndarray:
    """Returns a float column of bit sets as int32; what was not measured (NaN) or is out of range has no flag."""
    if flags.size and flags.min() >= 0 and flags.max() < _MAX_FLAGS:  # NaN fails both
        return flags.astype(np.int32)
    known = (flags >= 0) & (flags < _MAX_FLAGS)
    return np.where(known, flags, 0).astype(np.int32)


def true_stretches(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the starts and ends (half-open) of the stretches of successive True values, two int64 vectors."""
    edges = np.diff(mask.astype(np.int8), prepend=0, append=0)
    return np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
