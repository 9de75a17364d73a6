"""Step-time series with known truth: levels, shifts, spikes, stages; the same seed gives the same values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tb_stepperf.blocks import Flag, stage_column

STAGES: Mapping[str, float] = {"data": 0.05, "forward": 0.3, "backward": 0.5, "optimizer": 0.1, "logging": 0.02}
"""Stage to share of step time; the rest is unlabelled."""


def step_time_ms(
    num_steps: int,
    *,
    levels: Sequence[tuple[int, float]] = ((0, 100.0),),
    noise: float = 0.01,
    spikes: Mapping[int, float] | None = None,
    seed: int = 0,
) -> np.ndarray:
    """Returns step times around levels that shift.

    Args:
        num_steps: number of rows.
        levels: (first row, median in ms) of each level; the first begins at row 0.
        noise: standard deviation of the logarithm of the noise; 0 gives the levels exactly.
        spikes: row to step time in ms, exactly.
        seed: of the noise.

    Returns:
        float32, shape (num_steps,).

    Raises:
        ValueError: the levels do not begin at row 0 or do not ascend.
    """
    firsts = [first for first, _ in levels]
    if firsts[:1] != [0] or firsts != sorted(set(firsts)):
        raise ValueError(f"levels begin at rows {firsts}; they must begin at 0 and ascend")
    values = np.empty(num_steps)
    for first, level_ms in levels:
        values[first:] = level_ms
    if noise:
        values *= np.exp(noise * np.random.default_rng(seed).standard_normal(num_steps))
    for row, spike_ms in (spikes or {}).items():
        values[row] = spike_ms
    return values.astype(np.float32)


def columns(
    times_ms: np.ndarray,
    *,
    stages: Mapping[str, float] = STAGES,
    num_warmup: int = 10,
    num_samples: int = 32,
    memory_every: int = 5,
    gc_every: int = 100,
) -> dict[str, np.ndarray]:
    """Returns the columns that the writer makes of a training on a CPU.

    Args:
        times_ms: step times, shape (n,).
        stages: stage to share of step time; each stage is exactly that share, so coverage is the sum of the shares.
        num_warmup: rows with the warm-up flag.
        num_samples: samples of each step.
        memory_every: `peak_resident_bytes` is measured in every such row, and rises by 1 MB with each.
        gc_every: a garbage collection of 1 ms runs in every such row.

    Returns:
        Name to float32 array of shape (n,).
    """
    n = times_ms.shape[0]
    rows = np.arange(n)
    flags = np.zeros(n)
    flags[:num_warmup] += Flag.WARMUP
    flags[:1] += Flag.RESTART
    collects = rows % gc_every == gc_every - 1
    flags[collects] += Flag.GC
    table = {
        "step_time_ms": times_ms,
        **{stage_column(name): times_ms * share for name, share in stages.items()},
        "gc_ms": np.where(collects, 1.0, 0.0),
        "excluded_ms": np.zeros(n),
        "num_samples": np.full(n, num_samples),
        "num_micro_steps": np.ones(n),
        "peak_resident_bytes": np.where(rows % memory_every == 0, 5e8 + 1e6 * (rows // memory_every % 1000), np.nan),
        "flags": flags,
    }
    return {name: np.asarray(values, np.float32) for name, values in table.items()}
