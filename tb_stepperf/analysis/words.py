"""Changes in plain language."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from tb_stepperf.analysis.events import Provisional
from tb_stepperf.analysis.member import MIN_STEPS, Marker, MemberAnalysis, Thresholds
from tb_stepperf.statistics import UNLABELLED, TailCauses

DEFINITION = (
    "A marker is a change of step time that chance does not explain under the autocorrelation of this run, and that is "
    "at least {effect} of the typical step or {tail_effect} of p95. Sizes are relative, with 95 % intervals; p-values "
    "are corrected for the number of places searched. Warm-up, profiled and first steps of an attempt are left out; "
    "repeating patterns, single spikes and excursions that recur are no changes. {clock} clock."
)

_LASTING = ("regression", "improvement", "ramp", "drift")
_OUTSIDE = "the time outside all stages"
_MAX_LISTED = 3
_DWARFS = 2.0
_STANDS = 0.5
"""Part of a change that must be left after the later ones for it to stand."""


@dataclasses.dataclass(frozen=True)
class RunPart:
    """A stretch of a run between two of its changes.

    Attributes:
        first_step: where it begins.
        median_ms: of its steps.
    """

    first_step: int
    median_ms: float


def percent(value: float, digits: int = 1, *, signed: bool = False) -> str:
    """Returns a relative value in percent without its sign of percent: `+12.4`, `−3`, `11.8`."""
    text = f"{abs(100 * value):.{digits}f}"
    if float(text) == 0:
        return text
    return ("−" if value < 0 else "+" if signed else "") + text


def size_text(change: float, low: float, high: float) -> str:
    """Returns a change with its interval: `+12.4 % (11.8–13.1)`, `−8.1 % (−8.9 to −7.3)`."""
    digits = 2 if high - low < 0.005 else 1
    to = "–" if low >= 0 else " to "
    interval = f"{percent(low, digits)}{to}{percent(high, digits)}"
    return f"{percent(change, digits, signed=True)} % ({interval})"


def step_text(step: int) -> str:
    """Returns a step number with separators: `4,213`."""
    return f"{step:,}"


def limit_text(value: float) -> str:
    """Returns a threshold: `3 %`, `2.5 %`."""
    return f"{100 * value:g} %"


def ms_text(before_ms: float, after_ms: float) -> str:
    """Returns two times in the unit that suits them: `10.02 → 11.26 ms`."""
    if max(before_ms, after_ms) < 1000:
        return f"{before_ms:.4g} → {after_ms:.4g} ms"
    return f"{before_ms / 1000:.4g} → {after_ms / 1000:.4g} s"


def p_text(value: float) -> str:
    """Returns a p-value: `0.03`, `< 0.0001`."""
    return "< 0.0001" if value < 0.0001 else f"{value:.2g}"


def stages_text(marker: Marker) -> str:
    """Returns where in the step a change lies, as an ending of a sentence; empty where nothing is clear."""
    found = marker.attribution
    if found is None:
        return ""
    if found.outcome == "uniform":
        return ", all stages alike"
    names = [_OUTSIDE if name == UNLABELLED else name for name in found.blamed]
    if not names:
        return ""
    return f", in {names[0]}" if len(names) == 1 else f", in {', '.join(names[:-1])} and {names[-1]}"


def headline(marker: Marker, *, with_times: bool = False) -> str:
    """Returns a marker as one sentence."""
    change = marker.change
    size = size_text(change.change, change.change_low, change.change_high)
    if with_times:
        size += f", {ms_text(change.before_ms, change.after_ms)}"
    text = f"{_beginning(marker)}: {size}{stages_text(marker)}."
    if marker.attribution is not None and marker.attribution.vanishes_per is not None:
        text += f" Per {marker.attribution.vanishes_per} the change vanishes."
    if marker.planned is not None:
        text += f" Planned: {marker.planned}."
    return text


def provisional_sentence(change: Provisional) -> str:
    """Returns a change that was noticed while the training ran as one sentence."""
    about = f"about {percent(change.change, signed=True)} %"
    what = {"tail": "Slow steps changed", "variance": "Spread changed"}.get(
        change.kind, "Slower" if change.change > 0 else "Faster"
    )
    return (
        f"{what} since step {step_text(change.step)}, as noticed while training: {about}. "
        "The analysis of the whole run has yet to confirm it."
    )


def verdict(analysis: MemberAnalysis) -> tuple[str, Marker | None]:
    """Returns the sentence of the verdict strip, and the marker that it is about.

    That is the newest lasting and unplanned change of the typical step, or an earlier one that is twice as large and
    still stands; else the newest of its tail or spread; else whatever passed.
    """
    if not analysis.is_sufficient:
        return f"Too few steps for a verdict: {analysis.num_steps} of at least {MIN_STEPS}.", None
    limits = analysis.thresholds
    if not analysis.markers:
        return (
            f"No change found in {analysis.num_steps:,} steps: nothing above {limit_text(limits.min_effect)} "
            f"({limit_text(limits.min_tail_effect)} for slow steps).",
            None,
        )
    unplanned = [marker for marker in analysis.markers if marker.planned is None]
    if not unplanned:
        text = f"Only planned changes in {analysis.num_steps:,} steps: {headline(analysis.markers[-1])}"
        return _with_more(text, len(analysis.markers) - 1), analysis.markers[-1]
    chosen = _most_telling(unplanned)
    return _with_more(headline(chosen), len(analysis.markers) - 1), chosen


def is_standing_regression(marker: Marker) -> bool:
    """Whether a marker says that the training became slower, unannounced, and still is."""
    change = marker.change
    if marker.planned is not None or change.change <= 0 or marker.recovers:
        return False
    return change.kind in ("ramp", "drift") or (change.kind in ("regression", "tail") and marker.end_step is None)


def tails_sentence(tails: TailCauses, since: int | None) -> str:
    """Returns what the slowest steps coincide with, and since when that was asked."""
    return tails.sentence if since is None else f"Since step {step_text(since)}, {tails.sentence}"


def change_within(role: str, run: str, parts: Sequence[RunPart], reference_ms: float) -> str:
    """Returns that a compared run itself changes midway, and how its parts compare.

    Args:
        role: "Baseline" or "Candidate".
        run: its name.
        parts: at least two, in their order.
        reference_ms: median of what the parts are set against; NaN where there is nothing fitting.
    """
    steps = [step_text(part.first_step) for part in parts[1:]]
    medians = [part.median_ms for part in parts]
    if len(steps) == 1:
        becomes = "becomes slower" if medians[1] > medians[0] else "becomes faster"
        size = percent(medians[1] / medians[0] - 1, signed=True)
        what = f"{becomes} at step {steps[0]}: {ms_text(*medians)}, {size} %"
    elif len(steps) <= _MAX_LISTED:
        what = f"changes at steps {', '.join(steps[:-1])} and {steps[-1]}"
    else:
        what = f"changes {len(steps)} times, from step {steps[0]} to step {steps[-1]}"
    text = f"{role} {run} itself {what}. The figures of the whole run are a mix of its {len(parts)} parts."
    if math.isnan(reference_ms) or len(steps) > _MAX_LISTED:
        return text
    sizes = [f"{percent(value / reference_ms - 1, signed=True)} %" for value in medians]
    differ = f"{', '.join(sizes[:-1])} and {sizes[-1]}"
    return f"{text} Compare the parts: against the baseline, their medians differ by {differ}."


def definition(thresholds: Thresholds, clock: str) -> str:
    """Returns how markers are defined under `thresholds`, on `clock`."""
    return DEFINITION.format(
        effect=limit_text(thresholds.min_effect),
        tail_effect=limit_text(thresholds.min_tail_effect),
        clock=clock.capitalize(),
    )


def _most_telling(markers: Sequence[Marker]) -> Marker:
    lasting = [marker for marker in markers if marker.change.kind in _LASTING]
    spread = [marker for marker in markers if marker.change.kind in ("tail", "variance")]
    return _weightiest(lasting) if lasting else (spread or markers)[-1]


def _weightiest(lasting: Sequence[Marker]) -> Marker:
    """Returns the newest change, or the largest earlier one that dwarfs it and has not been undone since."""
    sizes = [math.log1p(marker.change.change) for marker in lasting]
    standing = [
        (abs(size), index)
        for index, size in enumerate(sizes)
        if size and not lasting[index].recovers and sum(sizes[index:]) / size >= _STANDS
    ]
    largest, index = max(standing, default=(0.0, -1))
    return lasting[index] if largest >= _DWARFS * abs(sizes[-1]) else lasting[-1]


def _with_more(text: str, num_more: int) -> str:
    return text if num_more == 0 else f"{text} {num_more} more {'change' if num_more == 1 else 'changes'}."


def _beginning(marker: Marker) -> str:
    change = marker.change
    start = step_text(marker.step)
    end = None if marker.end_step is None else step_text(marker.end_step)
    word = "Slower" if change.change > 0 else "Faster"
    stretch = f"from step {start} to {end}"
    if change.kind in ("ramp", "drift"):
        gradually = f"Gradually {word.lower()}"
        return f"{gradually} {stretch}" if end is not None else f"{gradually} since step {start}"
    if change.kind == "tail":
        what = "Slow steps got slower or more frequent" if change.change > 0 else "Slow steps got faster or fewer"
        return f"{what} {stretch if end is not None else f'at step {start}'}, {change.measure}"
    if change.kind == "variance":
        what = f"Step time varies {'more' if change.change > 0 else 'less'}"
        return f"{what} {stretch if end is not None else f'since step {start}'}, {change.measure}"
    if change.kind == "transient":
        return f"{word} {stretch}"
    if marker.recovers and end is None:
        return f"{word} again since step {start}"
    return f"{word} {stretch}" if end is not None else f"{word} since step {start}"
