"""`attribute_change`: which stages make a change of step time, in ms and as shares of it.

A stage's typical time is its mean over all used steps, with each side capped at its own 99.5th percentile, so that a
single stall is no change. What no stage covers (step time − stages) is a part like the others. Means add up, medians
would not. Standard errors hold under autocorrelation (`comparison.long_run`); shares are ratios whose uncertainty
comes from `stage − share × step`, where noise that all stages have in common cancels.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np

from tb_stepperf.errors import ArgumentError
from tb_stepperf.statistics.comparison.intervals import Difference, difference, ratio_estimate
from tb_stepperf.statistics.comparison.long_run import mean_variance
from tb_stepperf.statistics.comparison.sample import usable_times
from tb_stepperf.statistics.comparison.student import Z_GRID

UNLABELLED = "(unlabelled)"
"""Name of the part of a step that no stage covers."""

BLAMED, UNIFORM, UNCLEAR, NOTHING = "blamed", "uniform", "unclear", "nothing"

MIN_CHANGE = 0.005
"""A total that moved by less, relatively, is not taken apart."""

MIN_SHARE = 0.15
"""A stage that makes less of the change is not blamed."""

MIN_ERRORS = 3.2
"""A stage is clear if its change is more than this many standard errors."""

MIN_SAMPLE = 20
"""Steps that each side needs."""

_LARGE_PART = 0.05
_ALIKE = 0.35
_CLEAR_PART = 1 / 3
_OPEN_PART = 0.25
_CAP = 0.995
_SAME_QUANTITY = 0.01
_AMOUNTS = (("num_tokens", "token"), ("num_samples", "sample"))


@dataclasses.dataclass(frozen=True, eq=False)
class StageSample:
    """Steps of one side of a change.

    Attributes:
        step_time_ms: floating-point, shape (num_steps,), in the order of time; what is not a time is left out.
        stages: stage to its exclusive time, shape (num_steps,). Time that a stage did not measure (NaN) is unlabelled.
        num_samples: samples per step, or None.
        num_tokens: tokens per step, or None.
    """

    step_time_ms: np.ndarray
    stages: Mapping[str, np.ndarray]
    num_samples: np.ndarray | None = None
    num_tokens: np.ndarray | None = None


@dataclasses.dataclass(frozen=True)
class Event:
    """Something that happened at a step and may lie near a change.

    Attributes:
        kind: such as "restart", "environment", "profiled", "memory" or "batch".
        step: where.
        text: for a person.
    """

    kind: str
    step: int
    text: str


@dataclasses.dataclass(frozen=True)
class Coincidence:
    """Something that lies near a change in time, or moved with it. Never a cause.

    Attributes:
        kind: as in `Event`, or the name of a quantity.
        text: for a person.
        distance_steps: from the change, negative before it; None for a quantity.
    """

    kind: str
    text: str
    distance_steps: int | None = None


@dataclasses.dataclass(frozen=True)
class PartChange:
    """Change of one part of the step, or of the whole.

    Attributes:
        name: stage, `UNLABELLED`, or "step".
        before_ms, after_ms: typical time on each side.
        change_ms, low_ms, high_ms: after − before, with 95 % limits.
        share, share_low, share_high: part of the whole's change, with 95 % limits; NaN where nothing is taken apart.
        clear: whether the change is more than `MIN_ERRORS` standard errors.
    """

    name: str
    before_ms: float
    after_ms: float
    change_ms: float
    low_ms: float
    high_ms: float
    share: float
    share_low: float
    share_high: float
    clear: bool

    @property
    def relative(self) -> float:
        """Change relative to before; infinite for a part that is new."""
        return self.change_ms / self.before_ms if self.before_ms > 0 else math.copysign(math.inf, self.change_ms)


@dataclasses.dataclass(frozen=True)
class Attribution:
    """A change taken apart.

    Attributes:
        outcome: "blamed" (stages are named), "uniform" (all parts moved alike: clock, heat, a neighbour on the
            machine), "unclear" (no part stands out), or "nothing" (the total did not clearly move by 0.5 %).
        blamed: names of the blamed parts, the largest share first.
        total: change of the whole step.
        parts: every stage and the unlabelled rest, the largest change first.
        vanishes_per: "token" or "sample" where the change per step is gone per unit of work; else None.
        per_amount: relative change of the time per token or sample, None where neither is counted.
        coincidences: what lies near; never causes.
        clock: "host" or "device": which times these are.
        num_before, num_after: steps used.
        sentence: all this in plain language.
    """

    outcome: str
    blamed: tuple[str, ...]
    total: PartChange
    parts: tuple[PartChange, ...]
    vanishes_per: str | None
    per_amount: float | None
    coincidences: tuple[Coincidence, ...]
    clock: str
    num_before: int
    num_after: int
    sentence: str


def attribute_change(
    before: StageSample,
    after: StageSample,
    *,
    clock: str = "host",
    change_step: int | None = None,
    events: Sequence[Event] = (),
    near_steps: int = 20,
    quantities: Mapping[str, tuple[np.ndarray, np.ndarray]] | None = None,
) -> Attribution:
    """Takes a change of step time apart into its stages.

    Args:
        before: steps before the change, or of the baseline.
        after: steps after it, or of the candidate.
        clock: "host" or "device", whichever the times are of; it is only passed on.
        change_step: step of the change, for the distance of events; None lists no event.
        events: restarts, environment changes, profiled windows and the like.
        near_steps: an event within so many steps of the change is a coincidence.
        quantities: name to its values before and after, such as memory peaks and batch sizes; one whose median moved
            by 1 % or more, and beyond its quartiles' overlap, is a coincidence.

    Raises:
        ArgumentError: the shapes of a side differ, or a side has fewer than 20 usable steps.
    """
    sides = [_parts_of(side, name) for side, name in ((before, "before"), (after, "after"))]
    names = list(dict.fromkeys([*sides[0], *sides[1]]))
    steps = [side["step"] for side in sides]
    total = _change("step", *steps)
    series = {
        name: [side.get(name, np.zeros(step.size)) for side, step in zip(sides, steps)]
        for name in names
        if name != "step"
    }
    parts = [_change(name, *both) for name, both in series.items()]
    moved = _moved(total, parts)
    if moved:
        parts = [_with_share(part, series[part.name], steps, total) for part in parts]
    parts.sort(key=lambda part: -abs(part.change_ms))
    outcome, blamed = _judge(total, parts) if moved else (NOTHING, ())
    per_amount, unit = _per_amount(before, after)
    vanishes = None
    if moved and per_amount is not None and _vanishes(total, per_amount):
        vanishes = unit
    result = Attribution(
        outcome=outcome,
        blamed=blamed,
        total=total,
        parts=tuple(parts),
        vanishes_per=vanishes,
        per_amount=None if per_amount is None else math.expm1(per_amount.value),
        coincidences=(*_near(events, change_step, near_steps), *_moved_quantities(quantities or {})),
        clock=clock,
        num_before=steps[0].size,
        num_after=steps[1].size,
        sentence="",
    )
    return dataclasses.replace(result, sentence=_sentence(result))


def _parts_of(sample: StageSample, side: str) -> dict[str, np.ndarray]:
    """Capped series of the step, each stage and the unlabelled rest, over the usable steps."""
    time_ms, usable = usable_times(sample.step_time_ms)
    if np.count_nonzero(usable) < MIN_SAMPLE:
        raise ArgumentError(
            f"the side {side!r} has {np.count_nonzero(usable)} usable steps; at least {MIN_SAMPLE} are needed"
        )
    stages = {}
    for name, values in sample.stages.items():
        if np.shape(values) != time_ms.shape:
            raise ArgumentError(f"stage {name!r} has shape {np.shape(values)}; step_time_ms has {time_ms.shape}")
        series = np.asarray(values, np.float64)[usable]
        stages[name] = np.where(np.isfinite(series), series, 0.0)
    time_ms = time_ms[usable]
    rest = time_ms - sum(stages.values(), np.zeros(time_ms.size))
    return {name: _capped(series) for name, series in {"step": time_ms, **stages, UNLABELLED: rest}.items()}


def _capped(series: np.ndarray) -> np.ndarray:
    return np.minimum(series, np.quantile(series, _CAP, method="inverted_cdf"))


def _error(series: Sequence[np.ndarray]) -> float:
    """Standard error of the difference of means, from the 95 % reach of each."""
    return math.hypot(*(float(np.interp(1.959964, Z_GRID, mean_variance(one).reach())) for one in series)) / 1.959964


def _change(name: str, before: np.ndarray, after: np.ndarray) -> PartChange:
    error = _error((before, after))
    change_ms = float(after.mean() - before.mean())
    reach = 1.959964 * error
    return PartChange(
        name=name,
        before_ms=float(before.mean()),
        after_ms=float(after.mean()),
        change_ms=change_ms,
        low_ms=change_ms - reach,
        high_ms=change_ms + reach,
        share=math.nan,
        share_low=math.nan,
        share_high=math.nan,
        clear=abs(change_ms) > MIN_ERRORS * error,
    )


def _with_share(
    part: PartChange, series: Sequence[np.ndarray], steps: Sequence[np.ndarray], total: PartChange
) -> PartChange:
    share = part.change_ms / total.change_ms
    reach = 1.959964 * _error([one - share * step for one, step in zip(series, steps)]) / abs(total.change_ms)
    return dataclasses.replace(part, share=share, share_low=share - reach, share_high=share + reach)


def _moved(total: PartChange, parts: Sequence[PartChange]) -> bool:
    """Whether there is a change to take apart: of 0.5 %, and sure as a whole or in a part that makes so much.

    A noisy stage may hide in the total what another stage clearly shows.
    """
    least_ms = MIN_CHANGE * total.before_ms
    if abs(total.change_ms) < least_ms:
        return False
    shown = [part for part in parts if part.clear and part.change_ms * total.change_ms > 0]
    return total.clear or any(abs(part.change_ms) >= least_ms for part in shown)


def _judge(total: PartChange, parts: Sequence[PartChange]) -> tuple[str, tuple[str, ...]]:
    """Uniform, blamed or unclear; see `Attribution.outcome`.

    Uniform: at least two large parts clearly moved, and together make a third of the step; every large part is nearer
    to the total's relative change than to none, but for parts that the noise leaves open and that make no more than a
    quarter of the step; and what surely moved otherwise makes no more than a twentieth.
    """
    large = [part for part in parts if part.before_ms >= _LARGE_PART * total.before_ms]
    clear = [part.before_ms for part in large if part.clear]
    other = [part.before_ms for part in parts if part.before_ms > 0 and not _alike(part, total)]
    far = [part for part in large if part.relative / total.relative <= 0.5]
    uniform = (
        len(clear) >= 2
        and sum(clear) >= _CLEAR_PART * total.before_ms
        and sum(other) <= _LARGE_PART * total.before_ms
        and not any(part.clear for part in far)
        and sum(part.before_ms for part in far) <= _OPEN_PART * total.before_ms
    )
    if uniform:
        return UNIFORM, ()
    blamed = sorted((part for part in parts if part.clear and part.share >= MIN_SHARE), key=lambda part: -part.share)
    return (BLAMED, tuple(part.name for part in blamed)) if blamed else (UNCLEAR, ())


def _alike(part: PartChange, total: PartChange) -> bool:
    """Whether a part may have moved by the same factor as the whole."""
    return abs(part.relative - total.relative) <= max(_ALIKE * abs(total.relative), 1.5 * _relative_reach(part))


def _relative_reach(part: PartChange) -> float:
    return (part.high_ms - part.low_ms) / 2 / part.before_ms


def _per_amount(before: StageSample, after: StageSample) -> tuple[Difference | None, str | None]:
    """Log change of the time per token, else per sample."""
    for field, unit in _AMOUNTS:
        estimates = []
        for side in (before, after):
            amounts = getattr(side, field)
            if amounts is None:
                break
            (time_ms, usable), amounts = usable_times(side.step_time_ms), np.asarray(amounts, np.float64)
            if amounts.shape != time_ms.shape:
                raise ArgumentError(f"{field} has shape {amounts.shape}; step_time_ms has {time_ms.shape}")
            with np.errstate(invalid="ignore"):  # comparing NaN is meant: it is not an amount
                valid = usable & np.isfinite(amounts) & (amounts > 0)
            if np.count_nonzero(valid) < MIN_SAMPLE:
                break
            estimates.append(ratio_estimate(_capped(time_ms[valid]), amounts[valid]))
        if len(estimates) == 2:
            return difference(estimates[:1], estimates[1:]), unit
    return None, None


def _vanishes(total: PartChange, per_amount: Difference) -> bool:
    """Per unit of work, less than a third of the change is left, or it points the other way."""
    per_step = math.log(total.after_ms / total.before_ms)
    return per_amount.value * math.copysign(1, per_step) < abs(per_step) / 3


def _near(events: Sequence[Event], change_step: int | None, near_steps: int) -> list[Coincidence]:
    if change_step is None:
        return []
    near = [event for event in events if abs(event.step - change_step) <= near_steps]
    near.sort(key=lambda event: (abs(event.step - change_step), event.step))
    return [Coincidence(event.kind, event.text, event.step - change_step) for event in near]


def _moved_quantities(quantities: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> list[Coincidence]:
    found = []
    for name, sides in quantities.items():
        values = [np.asarray(side, np.float64) for side in sides]
        values = [side[np.isfinite(side)] for side in values]
        if not all(side.size for side in values):
            continue
        (low_a, middle_a, high_a), (low_b, middle_b, high_b) = (np.quantile(side, (0.25, 0.5, 0.75)) for side in values)
        apart = low_b > high_a or high_b < low_a
        if apart and abs(middle_b - middle_a) >= _SAME_QUANTITY * abs(middle_a):
            relative = f" ({100 * (middle_b / middle_a - 1):+.1f} %)" if middle_a else ""
            found.append(Coincidence(name, f"{name} moved from {middle_a:.6g} to {middle_b:.6g}{relative}"))
    return found


def _sentence(result: Attribution) -> str:
    total = result.total
    word = "slower" if total.change_ms > 0 else "faster"
    whole = f"{abs(total.change_ms):.3g} ms {word} ({100 * total.relative:+.1f} %)"
    shares = {part.name: part for part in result.parts}
    if result.outcome == NOTHING:
        text = f"The mean step did not clearly move by {100 * MIN_CHANGE:g} %: nothing to attribute."
    elif result.outcome == UNIFORM:
        text = f"Steps are {whole}; all stages moved alike, as with clock, heat or another job on the machine."
    elif result.outcome == BLAMED:
        named = ", ".join(f"{name} ({100 * shares[name].share:.0f} % of the change)" for name in result.blamed)
        text = f"Steps are {whole}, in {named}."
    else:
        text = f"Steps are {whole}; no stage stands out from the noise."
    if result.vanishes_per is not None and result.per_amount is not None:
        text += (
            f" Per {result.vanishes_per} the change vanishes ({100 * result.per_amount:+.1f} %): "
            "each step does another amount of work."
        )
    if result.outcome != NOTHING:
        text += f" Times are on the {result.clock} clock."
    return text
