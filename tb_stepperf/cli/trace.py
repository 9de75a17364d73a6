"""`stepperf trace`: where the time went within a traced window, or what changed from one to another."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence

import click
from rich.console import Console

from tb_stepperf.cli import output
from tb_stepperf.traces.answer import summary_json
from tb_stepperf.traces.compare import WindowComparison, compare_windows, to_json
from tb_stepperf.traces.digest import read_summary
from tb_stepperf.traces.summary import BREAKDOWN, OperatorRow, StepSlice, TraceSummary

MAX_STEPS = 20
MAX_OPERATORS = 15

_OPERATOR = ("operator", "calls", "self host ms", "total host ms")
_ON_DEVICE = ("self device ms", "total device ms")
_CHANGE = ("operator", "change ms", "share", "before ms", "after ms", "calls before", "calls after")
_PARTS = {
    "set": "fill",
    "exposed_communication": "exposed comm",
    "data_loading": "data",
    "cpu_operators": "host ops",
}
"""Parts of a step whose names are too long, or too short, for the heading of a column."""

_MAX_SHAPES = 40
_SAME_CHANGE = 0.01


@click.command()
@click.argument("file")
@click.argument("after", required=False)
@click.option("as_json", "--json", is_flag=True, help="Print JSON, as the HTTP API of the tab has it.")
def trace(file: str, after: str | None, as_json: bool) -> None:
    """Says what the torch.profiler trace FILE says: steps, where their time went, operators, findings.

    With a second trace, AFTER, says what changed from FILE to it, per operator.
    """
    summary = _read(file)
    if after is None:
        if as_json:
            output.print_json(summary_json(summary))
        else:
            _print(file, summary)
        return
    comparison = compare_windows(summary, _read(after))
    if as_json:
        output.print_json(to_json(comparison))
    else:
        _print_comparison(f"{os.path.basename(file)} → {os.path.basename(after)}", comparison)


def _read(file: str) -> TraceSummary:
    with output.busy(f"reading {file}"):
        return read_summary(file)


def _print(file: str, summary: TraceSummary) -> None:
    console = output.make_console()
    output.print_title(console, os.path.basename(file), _details(summary))
    _print_findings(console, summary)
    _print_steps(console, summary)
    _print_operators(console, summary)
    for note in summary.info.notes:
        output.print_note(console, note)


def _print_operators(console: Console, summary: TraceSummary) -> None:
    headings = [*_OPERATOR, *(() if summary.device_busy_share is None else _ON_DEVICE)]
    rows = [_operator(row)[: len(headings)] for row in summary.operators[:MAX_OPERATORS]]
    output.print_table(console, headings, rows, headings[1:])
    if summary.num_steps_used > 1:
        output.print_note(console, f"Calls and times of operators are sums over {summary.num_steps_used:,} steps.")
    if (more := summary.num_operators - MAX_OPERATORS) > 0:
        output.print_note(console, f"{more:,} more operators; --json has them.")


def _details(summary: TraceSummary) -> str:
    info = summary.info
    parts = [
        f"{info.num_events:,} event{'' if info.num_events == 1 else 's'}",
        f"{_ms(info.span_ms)} ms",
        *info.devices,
    ]
    if info.rank is not None:
        parts.append(f"rank {info.rank}" if info.world_size is None else f"rank {info.rank} of {info.world_size}")
    if info.steps_from == "optimizer":
        parts.append("steps inferred from the optimizer")
    elif summary.steps:
        parts.append(f"steps as the {info.numbering} counts")
    return ", ".join(parts)


def _print_findings(console: Console, summary: TraceSummary) -> None:
    if not summary.findings:
        output.print_verdict(console, "No rule finds a cause in this trace.", "green")
    for finding in summary.findings:
        output.print_verdict(console, f"{finding.candidate} {finding.evidence}", "bold yellow")
        output.print_note(console, f"Next: {finding.next_check} {finding.limit}")


def _print_steps(console: Console, summary: TraceSummary) -> None:
    """Prints a row a step and one for their mean; of the whole trace where it has no step. Parts without time: none."""
    is_busy_known = summary.device_busy_share is not None
    used = [any(parts) for parts in zip(summary.breakdown_ms, *(step.breakdown_ms for step in summary.steps))]
    headings = ["step", "ms", *itertools.compress((_PARTS.get(part, part) for part in BREAKDOWN), used)]
    headings += ["device busy"] if is_busy_known else []
    rows = [[*_step(step, used), *([_busy(step)] if is_busy_known else [])] for step in summary.steps[:MAX_STEPS]]
    total = "trace" if summary.step_ms is None else f"mean of {summary.num_steps_used}"
    whole_ms = sum(summary.breakdown_ms) if summary.step_ms is None else summary.step_ms
    last = [total, _ms(whole_ms), *map(_ms, itertools.compress(summary.breakdown_ms, used))]
    if summary.device_busy_share is not None:
        last.append(f"{summary.device_busy_share:.0%}")
    output.print_table(console, headings, [*rows, last], headings[1:])
    if (more := len(summary.steps) - MAX_STEPS) > 0:
        output.print_note(console, f"{more:,} more steps; --json has them.")


def _step(step: StepSlice, used: Sequence[bool]) -> list[str]:
    cut = "" if step.cut is None else f", cut at its {step.cut}"
    return [f"{step.step:,}{cut}", _ms(step.duration_ms), *map(_ms, itertools.compress(step.breakdown_ms, used))]


def _busy(step: StepSlice) -> str:
    is_known = step.device_busy_ms is not None and step.duration_ms > 0
    return f"{step.device_busy_ms / step.duration_ms:.0%}" if is_known else "–"


def _operator(row: OperatorRow) -> tuple[str, ...]:
    times = (row.self_host_ms, row.total_host_ms, row.self_device_ms, row.total_device_ms)
    shapes = "" if row.shapes is None else f" ({_shortened(row.shapes)})"
    return (f"{row.name}{shapes}", f"{row.num_calls:,}", *map(_ms, times))


def _shortened(shapes: str) -> str:
    return shapes if len(shapes) <= _MAX_SHAPES else f"{shapes[: _MAX_SHAPES - 1]}…"


def _print_comparison(title: str, comparison: WindowComparison) -> None:
    console = output.make_console()
    output.print_title(console, title, f"{comparison.basis} clock, per {comparison.per}")
    is_slower = comparison.change_ms > _SAME_CHANGE * comparison.before_ms
    output.print_verdict(console, comparison.sentence, "bold red" if is_slower else "green")
    parts = [
        (_PARTS.get(part.part, part.part), _ms(part.before_ms), _ms(part.after_ms), _signed(part.change_ms))
        for part in comparison.parts
        if part.before_ms or part.after_ms
    ]
    headings: Sequence[str] = ("part", "before ms", "after ms", "change ms")
    output.print_table(console, headings, parts, headings[1:])
    rows = [
        (
            row.name,
            _signed(row.change_ms),
            "–" if row.share is None else f"{row.share:.0%}",
            _ms(row.before_ms),
            _ms(row.after_ms),
            f"{row.before_calls:,.4g}",
            f"{row.after_calls:,.4g}",
        )
        for row in comparison.operators[:MAX_OPERATORS]
    ]
    output.print_table(console, _CHANGE, rows, _CHANGE[1:])
    for note in comparison.notes:
        output.print_note(console, note)


def _ms(value: float) -> str:
    if 0 < abs(value) < 0.001:
        return f"{value:.1g}"
    return f"{value:,.3f}" if abs(value) < 10 else f"{value:,.1f}"


def _signed(value: float) -> str:
    return f"{value:+,.3f}" if abs(value) < 10 else f"{value:+,.1f}"
