"""The tab's own words: what each column and statistic means, and what is not covered.

The texts depend on the member's columns and environment, so that each sentence is true of the data on the screen.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from tb_stepperf.blocks import device_stage_name, stage_name
from tb_stepperf.blocks.schema import (
    DEVICE_STEP_TIME_MS,
    EXCLUDED_MS,
    GC_MS,
    NUM_ALLOC_RETRIES,
    NUM_MICRO_STEPS,
    NUM_OOMS,
    NUM_SAMPLES,
    NUM_TOKENS,
    PEAK_ALLOCATED_BYTES,
    PEAK_RESERVED_BYTES,
    PEAK_RESIDENT_BYTES,
    STEP_TIME_MS,
)

THROUGHPUT = (
    "sum of num_samples (or num_tokens) / sum of step time, over the used steps that carry it; "
    "excluded time is not in it; of this rank only"
)

_COLUMNS = {
    STEP_TIME_MS: "Time from one perf.step() to the next, on the host's monotonic clock, without time inside "
    "exclude(...). It is what a user waits for, data loading and Python included.",
    DEVICE_STEP_TIME_MS: "Time between two device events recorded at the same boundaries as the step time. "
    "Nothing is synchronised to measure it.",
    EXCLUDED_MS: "Time inside exclude(...), such as evaluation or checkpoints, within the step. It is not part of "
    "the step time.",
    GC_MS: "Time inside Python's garbage collector. It lies inside the stages and is part of the step time.",
    NUM_MICRO_STEPS: "How often the most often entered stage was entered within the step, or as the loop gave it: "
    "gradient accumulation makes it more than 1.",
    NUM_SAMPLES: "Samples that this rank processed in the step, as the loop gave them.",
    NUM_TOKENS: "Tokens that this rank processed in the step, as the loop gave them.",
    NUM_ALLOC_RETRIES: "How often the device allocator had to free its cache and try again within the step.",
    NUM_OOMS: "Out-of-memory errors of the device allocator within the step.",
}

_PEAKS = {
    PEAK_ALLOCATED_BYTES: "peak of the device memory held by tensors",
    PEAK_RESERVED_BYTES: "peak of the device memory held by the caching allocator",
    PEAK_RESIDENT_BYTES: "peak resident memory of the process",
}

_PEAK_MODES = {
    "per_step": "within each step",
    "cumulative": "since the process started (a running maximum: it never falls)",
    "sampled": "since the last reading (not every step is read)",
}


def peak_meaning(column: str, environment: Mapping[str, Any]) -> str:
    """Returns what a memory column means under `environment`, for its legend."""
    mode = _PEAK_MODES.get(environment.get("peak_memory") or "")
    text = f"{_PEAKS[column]}, {mode}" if mode else _PEAKS[column]
    note = environment.get("peak_memory_note")
    return f"{text}; {note}" if note else text


def memory_reason(environment: Mapping[str, Any]) -> str:
    """Returns why there is no memory column."""
    if note := environment.get("peak_memory_note"):
        return f"No memory peaks were recorded: {note}"
    if environment.get("peak_memory") == "off":
        return "No memory peaks were recorded: they are switched off in the writer"
    return "No memory peaks were recorded, and the log does not say why"


def definitions(columns: Collection[str], environment: Mapping[str, Any]) -> dict[str, str]:
    """Returns term to definition, for what this member has.

    Args:
        columns: of the member.
        environment: see `analysis.latest_environment`.
    """
    terms = {column: text for column, text in _COLUMNS.items() if column in columns}
    if any(stage_name(column) is not None for column in columns):
        terms["stage"] = (
            "Exclusive host time of a named part of the step: a stage opened inside another pauses the outer one, so "
            "stages never overlap. A stage that occurs several times in a step is summed."
        )
        terms["unlabelled"] = "Step time that lies in no stage: step time − sum of the stages, never below 0."
        terms["share"] = "Stage ÷ sum of all stages over the used steps. Unlabelled time is not in the denominator."
        terms["coverage"] = (
            "Sum of all stages ÷ step time, over the used steps: how much of the step the stages explain."
        )
    if any(device_stage_name(column) is not None for column in columns):
        terms["device stage"] = (
            "Exclusive time of a stage between device events. Waiting for data counts on this clock only where the "
            "device had nothing left to do."
        )
    for column in _PEAKS:
        if column in columns:
            text = peak_meaning(column, environment)
            terms[column] = text[0].upper() + text[1:] + "."
    return {**terms, **_statistics(columns, environment)}


def _statistics(columns: Collection[str], environment: Mapping[str, Any]) -> dict[str, str]:
    warmup_steps = environment.get("warmup_steps")
    warmup = f"the first {warmup_steps} steps of an attempt" if warmup_steps else "the first steps of an attempt"
    terms = {
        "quantile": "Nearest rank (inverted_cdf): p95 is the smallest step time that at least 95 % of the used steps "
        "do not exceed. It is the time of a step that happened, never interpolated.",
        "bands": "Each bin of the axis is sorted on its own: p5–p95, p25–p75, median and p99 of its steps, and the "
        "smallest and largest, so that no spike disappears. With no more steps in range than bins, each bin is one "
        "step.",
        "left out": f"Not used in statistics unless included: warmup ({warmup}: caches and compilers are still "
        "filling), profiled (torch.profiler was recording, which costs time) and restart (the first step of an "
        "attempt, which also holds its start). They measure something else than steady training. They stay in the "
        "log, in downloads and, drawn differently, in the chart. Garbage collections and allocator retries are used: "
        "a user waits for them.",
        "not measured": "A value that was not measured is missing, never 0. A time that is not finite or is negative "
        "is left out and counted; 0 is a value.",
        "superseded": "A step that a later attempt counted again, after a restart from a checkpoint. The newest "
        "attempt wins from its first step on.",
        "missing": "Steps that the writer says it wrote and that never arrived here, known from gaps in the numbers "
        "of the blocks.",
        "relative time": "Measured time (step time and excluded time) from the start of the first step to the start "
        "of this one. Pauses between attempts are not in it.",
        "wall time": "Time of day at the end of the step. Where the clock was set back, the axis waits until it has "
        "caught up.",
    }
    if NUM_SAMPLES in columns or NUM_TOKENS in columns:
        terms["throughput"] = THROUGHPUT[0].upper() + THROUGHPUT[1:] + "."
    return terms


def not_covered(columns: Collection[str], environment: Mapping[str, Any], world_size: int) -> list[str]:
    """Returns sentences on what the numbers cannot show.

    Args:
        columns: of the member.
        environment: see `analysis.latest_environment`.
        world_size: number of processes of the job.
    """
    device = environment.get("device")
    sentences = []
    if DEVICE_STEP_TIME_MS not in columns:
        if device not in (None, "cpu"):
            sentences.append(
                "The clock is the host's: it measures what the Python process waits for. Work of the device "
                f"({device}) runs asynchronously and shows in the stage in which the host happens to wait for it."
            )
        else:
            sentences.append("The clock is the host's: it measures what the Python process waits for.")
    else:
        sentences.append(
            "Device time is the time between events in the device's queue: it says how long, not which kernel; a "
            "torch.profiler trace does."
        )
    if environment.get("peak_memory") == "sampled":
        sentences.append("Memory peaks are read only every few steps; a value covers all steps since the one before.")
    if environment.get("peak_memory") == "cumulative":
        sentences.append("Memory peaks are running maxima: a step that needs less than an earlier one does not show.")
    if world_size > 1:
        sentences.append("Ranks are shown one at a time and are not compared yet; each has its own clock.")
    return [
        *sentences,
        "Code before the first perf.step() and after the last is in no step.",
        "What was lost at the very end of a process that was killed cannot be seen: no later block shows the gap.",
        "A step cut by an exception is counted, not sampled.",
    ]
