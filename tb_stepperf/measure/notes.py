"""What a reader of the figures should know: each rule looks at the samples or the conditions and may say a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tb_stepperf.measure.evidence import Stage
from tb_stepperf.measure.figures import quantiles_ms
from tb_stepperf.measure.instruments import Instruments
from tb_stepperf.measure.steps import Step

MIN_FOR_P95 = 20
"""With fewer samples the nearest-rank p95 is the largest sample."""

MIN_FOR_SHAPE = 8
"""With fewer samples nothing is said of drift and spread."""

DRIFT = 0.03
"""Smallest relative difference of the medians of both halves that is drift."""

NUM_STANDARD_ERRORS = 3.0
"""And as many standard errors, too."""

SPREAD = 0.10
"""Interquartile range over median from which on the spread is large."""

UNLABELLED = 0.20
"""Share of the step without a stage from which on it is worth a sentence."""

RESOLUTION = 0.01
"""Resolution of the clock over median from which on it limits the samples."""

OBSERVER = 1.2
"""Profiled over unprofiled median from which on it is worth a sentence."""

_MEDIAN_FACTOR = 1.2533  # standard error of a normal median: 1.2533 σ / √n
_IQR_OF_NORMAL = 1.349  # interquartile range of a normal distribution: 1.349 σ


def of_samples(times_ms: Sequence[float], num_warmup: int, resolution_ms: float | None) -> list[str]:
    """Returns what is to be said of the measured samples."""
    num, notes = len(times_ms), []
    median_ms = quantiles_ms(times_ms, [50])[0]
    if num < MIN_FOR_P95:
        notes.append(f"few repeats: the p95 of {num} is their maximum; from {MIN_FOR_P95} on it is not")
    if not num_warmup:
        notes.append("no warm-up steps: the first samples may hold what is done only once")
    if num >= MIN_FOR_SHAPE and median_ms > 0:
        notes += _drift(times_ms)
        spread = _interquartile_ms(times_ms) / median_ms
        if spread > SPREAD:
            notes.append(f"large spread: the middle half of the samples covers {spread * 100:.0f} % of the median")
    if resolution_ms is not None and resolution_ms > RESOLUTION * median_ms:
        notes.append(
            f"the clock's resolution of {resolution_ms * 1e3:.3g} µs is more than {RESOLUTION * 100:.0f} % of the "
            "median: let one call of step_fn do more"
        )
    return notes


def _drift(times_ms: Sequence[float]) -> list[str]:
    """Compares the medians of both halves; the spread within them says what a difference by chance looks like."""
    half = len(times_ms) // 2
    first, second = times_ms[:half], times_ms[-half:]
    (before_ms,), (after_ms,) = quantiles_ms(first, [50]), quantiles_ms(second, [50])
    deviation_ms = (_interquartile_ms(first) + _interquartile_ms(second)) / 2 / _IQR_OF_NORMAL
    error_ms = _MEDIAN_FACTOR * deviation_ms * math.sqrt(2 / half)
    change = after_ms / before_ms - 1 if before_ms > 0 else 0.0
    if abs(change) <= DRIFT or abs(after_ms - before_ms) <= NUM_STANDARD_ERRORS * error_ms:
        return []
    return [
        f"drift: the median of the second half of the samples is {abs(change) * 100:.0f} % "
        f"{'above' if change > 0 else 'below'} that of the first; more warm-up steps, or a machine that does nothing "
        "else, may help"
    ]


def _interquartile_ms(times_ms: Sequence[float]) -> float:
    low_ms, high_ms = quantiles_ms(times_ms, [25, 75])
    return high_ms - low_ms


def of_stages(steps: Sequence[Step], found: Sequence[Stage]) -> list[str]:
    """Returns what is to be said of the stages that were found in the steps."""
    if not found:
        return ["no stage was labelled: a step_fn(perf) may say with perf.stage('forward'): where its time goes"]
    rest = found[-1].host_share if found[-1].device_share is None else found[-1].device_share
    notes = [] if rest is None or rest <= UNLABELLED else [f"{rest * 100:.0f} % of the step lie in no stage"]
    still_open = dict.fromkeys(name for step in steps for name in step.stages.still_open)
    return notes + [
        f"stage {name!r} was still open when the step ended: it is counted up to there" for name in still_open
    ]


def of_conditions(instruments: Instruments) -> list[str]:
    """Returns what is to be said of clocks, the device and memory."""
    notes = []
    if instruments.accelerator is None:
        notes.append("host clock only: no accelerator was in use, so nothing was synchronised")
        late = instruments.in_use() if instruments.searches else None
        if late is not None:
            notes.append(
                f"{late.kind} was first used by the measured steps, which did not wait for it: use at least one "
                "warm-up step, or say device="
            )
    else:
        notes.append(
            f"each step waited for {instruments.name}: a loop that does not wait overlaps host and device, and may be "
            "faster"
        )
    if instruments.peak_note is not None:
        notes.append(f"memory: {instruments.peak_note}")
    return notes


def of_profile(ratio: float | None) -> list[str]:
    """Returns what is to be said of the profiler's own cost."""
    if ratio is None or ratio <= OBSERVER:
        return []
    return [
        f"under the profiler a step took {ratio:.2f} times as long: shares of operators are of such steps, and "
        "operators that are called often look more expensive than they are"
    ]
