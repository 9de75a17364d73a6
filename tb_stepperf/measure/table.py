"""Evidence as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from tb_stepperf.measure.evidence import HotSpot, Memory, StepEvidence

MAX_SHOWN_OPERATORS = 8
"""Operators that are printed; the record holds more."""

_MAX_NAME = 44
_WIDTH = 100
_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def as_table(evidence: StepEvidence) -> str:
    """Returns an evidence as text of lines of at most 100 characters; a long path has a line of its own."""
    lines = [_title(evidence), "", *_figures(evidence)]
    if evidence.stages:
        lines += ["", *_stages(evidence)]
    if evidence.operators:
        lines += ["", *_operators(evidence)]
    if evidence.logdir is not None:
        lines += ["", f"run       {evidence.logdir}"]
    if evidence.trace is not None:
        lines += [f"trace     {evidence.trace.path}", f"          {evidence.trace.num_events:,} events"]
    if evidence.notes:
        lines += ["", "notes"]
    for note in evidence.notes:
        lines += _wrapped(note, "  - ", "    ")
    return "\n".join(lines)


def _title(evidence: StepEvidence) -> str:
    device = evidence.environment.get("device_name") or evidence.environment.get("device")
    return (
        f"{len(evidence.step_times_ms)} steps measured after {len(evidence.warmup_times_ms)} warm-up, on {device}, "
        f"{evidence.clock} clock"
    )


def _figures(evidence: StepEvidence) -> list[str]:
    work = evidence.throughput
    rates = ((work.steps_per_s, "steps/s"), (work.samples_per_s, "samples/s"), (work.tokens_per_s, "tokens/s"))
    rows = [
        ("median", f"{_ms(evidence.median_ms)} ms", f"from {_ms(evidence.min_ms)} to {_ms(evidence.max_ms)} ms"),
        ("p95", f"{_ms(evidence.p95_ms)} ms", ""),
        *(("throughput", f"{_rate(rate)} {unit}", "") for rate, unit in rates if rate is not None),
        *_memory(evidence.memory),
    ]
    if evidence.profiled_ratio is not None:
        num = len(evidence.profiled_times_ms)
        rows.append(("profiled", f"{evidence.profiled_ratio:.2f} × median", f"{num} steps, not in the figures above"))
    rows.append(("waited for", evidence.synchronised, ""))
    return [f"{name:<12}{value:<22}{rest}".rstrip() for name, value, rest in rows]


def _memory(memory: Memory) -> list[tuple[str, str, str]]:
    peaks = (
        (memory.peak_allocated_bytes, "held by tensors on the device"),
        (memory.peak_reserved_bytes, "held by the allocator on the device"),
        (memory.peak_resident_bytes, "resident memory of the process"),
    )
    return [("peak", _bytes(value), what) for value, what in peaks if value is not None]


def _stages(evidence: StepEvidence) -> list[str]:
    on_device = any(stage.device_share is not None for stage in evidence.stages)
    rows = [["stage", "host ms/step", "share", *(["device ms/step", "share"] if on_device else [])]]
    for stage in evidence.stages:
        device = [_ms(stage.device_ms_per_step), _percent(stage.device_share)] if on_device else []
        rows.append([_name(stage.name), _ms(stage.host_ms_per_step), _percent(stage.host_share), *device])
    return [*_aligned(rows), *_hot("stage", evidence.hot_stage)]


def _operators(evidence: StepEvidence) -> list[str]:
    shown = evidence.operators[:MAX_SHOWN_OPERATORS]
    on_device = any(one.self_device_ms_per_step is not None for one in shown)
    device_title = ["self device ms"] if on_device else []
    rows = [["operator, per profiled step", "calls", "self host ms", *device_title, "share"]]
    for one in shown:
        device = [_ms(one.self_device_ms_per_step)] if on_device else []
        rows.append(
            [_name(one.name), f"{one.calls_per_step:.4g}", _ms(one.self_host_ms_per_step), *device, _percent(one.share)]
        )
    return [*_aligned(rows), *_hot("operator", evidence.hot_operator)]


def _hot(kind: str, spot: HotSpot | None) -> list[str]:
    if spot is None:
        return []
    text = f"hot {kind}: {_name(spot.name)}, {_percent(spot.share)} of the {spot.share_of}: {spot.claim}"
    return _wrapped(text)


def _wrapped(text: str, first: str = "", others: str = "") -> list[str]:
    """Returns lines that begin with these; no word or path is broken."""
    wrapper = textwrap.TextWrapper(_WIDTH, first, others, break_long_words=False, break_on_hyphens=False)
    return wrapper.wrap(text)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns a line per row: the first column to the left, numbers to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
        for row in rows
    ]


def _name(name: str) -> str:
    """Returns a name on one line, cut where it is long."""
    printable = "".join(character if character.isprintable() else "�" for character in name)
    return printable if len(printable) <= _MAX_NAME else printable[: _MAX_NAME - 1] + "…"


def _ms(value: float | None) -> str:
    """Returns milliseconds with about four digits."""
    if value is None:
        return "–"
    whole = len(str(int(value))) if value >= 1 else 0
    return f"{value:,.{max(4 - max(whole, 0), 0)}f}"


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.1f} %"


def _bytes(value: float) -> str:
    size, unit = next(((size, unit) for size, unit in _UNITS if value >= size), (1, "B"))
    return f"{value / size:.4g} {unit}"
