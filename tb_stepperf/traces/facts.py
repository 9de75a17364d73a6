"""What the samples of a run say of the time around a traced window: the other half of what findings rest on."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class RunFacts:
    """Figures of the steps around a window; whatever was not measured is None.

    Shares are of the step time, in [0, 1]. Counts are sums over those steps and all their ranks.

    Attributes:
        num_steps: steps that the figures are of.
        data_share: the stage `data`.
        stage_shares: (stage, share) of every labelled stage, the largest first.
        gc_share: Python's garbage collection.
        num_alloc_retries: times that the allocator had to give its cache back and try again.
        num_ooms: allocations that failed.
        peak_reserved_bytes: the most that the allocator held on one device.
        recompiled_share: time of recompiling, or where only the steps are known that did: their part of the time.
        slowest_rank: the rank whose own work (without waiting for others) takes longest.
        rank_imbalance: median own work of that rank ÷ median over the ranks, at least 1.
    """

    num_steps: int | None = None
    data_share: float | None = None
    stage_shares: tuple[tuple[str, float], ...] = ()
    gc_share: float | None = None
    num_alloc_retries: int | None = None
    num_ooms: int | None = None
    peak_reserved_bytes: int | None = None
    recompiled_share: float | None = None
    slowest_rank: int | None = None
    rank_imbalance: float | None = None
