"""Samples to figures: quantiles, throughput, shares, hot spots, memory. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tb_stepperf.measure.evidence import NO_STAGE, HotSpot, Memory, Operator, Stage, Throughput
from tb_stepperf.measure.steps import Step
from tb_stepperf.statistics import nearest_rank_rows


def quantiles_ms(times_ms: Sequence[float], percentiles: Sequence[float]) -> list[float]:
    """Returns nearest-rank percentiles of at least one sample."""
    rows = nearest_rank_rows(np.array([len(times_ms)]), percentiles)[:, 0]
    return [sorted(times_ms)[row] for row in rows]


def profiled_ratio(profiled_ms: Sequence[float], median_ms: float) -> float | None:
    """Returns the median of the profiled steps over that of the measured ones; None where there is none of either."""
    return quantiles_ms(profiled_ms, [50])[0] / median_ms if profiled_ms and median_ms > 0 else None


def throughput(steps: Sequence[Step], num_samples: float | None, num_tokens: float | None) -> Throughput:
    """Returns work per second of measured time."""
    total_s = sum(step.time_ms for step in steps) / 1e3
    per_s = len(steps) / total_s if total_s > 0 else None
    definition = (
        f"{len(steps)} steps (times the samples or tokens of a step) ÷ the sum of their {len(steps)} step times, "
        "of this process; time between steps is not in it"
    )
    return Throughput(per_s, _times(num_samples, per_s), _times(num_tokens, per_s), definition)


def _times(amount: float | None, per_s: float | None) -> float | None:
    return None if amount is None or per_s is None else float(amount) * per_s


def stages(steps: Sequence[Step]) -> tuple[Stage, ...]:
    """Returns the mean times of the stages and their shares; empty where none was labelled."""
    names = list(dict.fromkeys(name for step in steps for name in step.stages.host_ms))
    if not names:
        return ()
    host_ms = sum(step.time_ms for step in steps)
    by_name = {name: sum(step.stages.host_ms.get(name, 0.0) for step in steps) for name in names}
    by_name[NO_STAGE] = host_ms - sum(by_name.values())
    device = [step for step in steps if step.stages.device_step_ms is not None]
    device_ms = sum(step.stages.device_step_ms or 0.0 for step in device)
    on_device = {name: sum(step.stages.device_ms.get(name, 0.0) for step in device) for name in names}
    on_device[NO_STAGE] = device_ms - sum(on_device.values())
    return tuple(
        Stage(
            name,
            max(by_name[name], 0.0) / len(steps),
            _share(by_name[name], host_ms),
            max(on_device[name], 0.0) / len(device) if device else None,
            _share(on_device[name], device_ms),
        )
        for name in by_name
    )


def _share(part: float, whole: float) -> float | None:
    return min(max(part / whole, 0.0), 1.0) if whole > 0 else None


def hot_stage(found: Sequence[Stage], num_steps: int) -> HotSpot | None:
    """Returns the labelled stage with the most time: on the device's clock where there is one."""
    on_device = any(stage.device_share is not None for stage in found)
    shares = {
        stage.name: stage.device_share if on_device else stage.host_share for stage in found if stage.name != NO_STAGE
    }
    known = {name: share for name, share in shares.items() if share is not None}
    if not known:
        return None
    name = max(known, key=lambda one: known[one])
    return HotSpot(name, known[name], f"{'device' if on_device else 'host'} time of {num_steps} measured steps")


def hot_operator(found: Sequence[Operator], num_steps: int) -> HotSpot | None:
    """Returns the first of the hottest operators."""
    if not found or found[0].share is None:
        return None
    kind = "host" if found[0].self_device_ms_per_step is None else "device"
    return HotSpot(found[0].name, found[0].share, f"time of {num_steps} profiled steps (self {kind} time)")


def memory(steps: Sequence[Step]) -> Memory:
    """Returns the largest peak of each kind."""
    peaks = {}
    for name in ("peak_allocated_bytes", "peak_reserved_bytes", "peak_resident_bytes"):
        values = [step.peaks[name] for step in steps if name in step.peaks]
        finite = [value for value in values if np.isfinite(value)]
        peaks[name] = max(finite) if finite else None
    return Memory(**peaks)
