"""`stepperf markers`: what changed within each run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console

from tb_stepperf.analysis import Marker, MemberAnalysis, Thresholds, analyse_member, open_provisional, words
from tb_stepperf.analysis.as_json import analysis_json
from tb_stepperf.analysis.series import need_clock
from tb_stepperf.cli import output
from tb_stepperf.cli.logs import Log, find_member, open_log
from tb_stepperf.cli.options import shared_options
from tb_stepperf.statistics import TailCauses
from tb_stepperf.store import MemberInfo, RunInfo

_HEADINGS = ("step", "kind", "change", "95 %", "p", "ms before → after", "where")

_LONG_TAIL = 1.2


@click.command()
@click.argument("logdir")
@click.option("names", "--run", metavar="NAME", multiple=True, help="Only this run; may be repeated.")
@click.option("--member", metavar="NAME", help="Member of the runs, such as a rank; the first by default.")
@shared_options
def markers(
    logdir: str,
    names: Sequence[str],
    member: str | None,
    clock: str,
    min_effect: float,
    min_tail_effect: float,
    as_json: bool,
    fail_on_regression: bool,
) -> int:
    """Finds what became slower, or faster, within each run of LOGDIR: since when, by how much, in which stages."""
    thresholds = Thresholds(min_effect, min_tail_effect)
    with output.busy(f"reading {logdir}"):
        log = open_log(logdir)
    found = []
    for run in log.runs(names):
        one = find_member(run, member)
        with output.busy(f"analysing {run.run}"):
            found.append((run, one, _analyse(log, run, one, clock, thresholds)))
    if as_json:
        runs = [_as_json(run, one, analysis) for run, one, analysis in found]
        output.print_json({"logdir": logdir, "runs": runs, "problems": log.problems()})
    else:
        _print(found, log.problems())
    regressed = any(words.is_standing_regression(marker) for _, _, analysis in found for marker in analysis.markers)
    return int(fail_on_regression and regressed)


def _analyse(log: Log, run: RunInfo, member: MemberInfo, clock: str, thresholds: Thresholds) -> MemberAnalysis:
    present = log.columns(run, member)
    need_clock(clock, present, run.run)
    return analyse_member(log.reader(run, member), present, clock=clock, thresholds=thresholds)


def _as_json(run: RunInfo, member: MemberInfo, analysis: MemberAnalysis) -> dict[str, Any]:
    base = member.first_step or 0
    steps = [marker.step for marker in analysis.markers]
    provisional = open_provisional(member.attempts, steps, analysis.as_of_step, analysis.num_steps)
    return {
        "run": run.run,
        "member": member.member,
        "axis": "step",
        "base": str(base),
        "clock": analysis.clock,
        "min_effect": analysis.thresholds.min_effect,
        "min_tail_effect": analysis.thresholds.min_tail_effect,
        "state": "done" if analysis.is_sufficient else "insufficient",
        **analysis_json(analysis, provisional, lambda step: step - base),
    }


def _print(found: Sequence[tuple[RunInfo, MemberInfo, MemberAnalysis]], problems: Sequence[str]) -> None:
    console = output.make_console()
    for index, (run, member, analysis) in enumerate(found):
        if index:
            console.print()
        _print_member(console, run, member, analysis)
    for problem in problems:
        output.print_note(console, problem)


def _print_member(console: Console, run: RunInfo, member: MemberInfo, analysis: MemberAnalysis) -> None:
    of = f"{member.label} of {len(run.members)}, " if len(run.members) > 1 else ""
    output.print_title(console, run.run, f"{of}{analysis.num_steps:,} steps, {analysis.clock} clock")
    sentence, _ = words.verdict(analysis)
    regressed = any(words.is_standing_regression(marker) for marker in analysis.markers)
    style = "bold red" if regressed else "bold yellow" if analysis.markers or not analysis.is_sufficient else "green"
    output.print_verdict(console, sentence, style)
    if analysis.markers:
        output.print_table(console, _HEADINGS, [_row(marker) for marker in analysis.markers], ("step", "change", "p"))
    if analysis.tails is not None and _is_long(analysis.tails):
        output.print_note(console, words.tails_sentence(analysis.tails, analysis.tails_since))


def _is_long(tails: TailCauses) -> bool:
    """Whether the slowest steps are worth a sentence."""
    return tails.threshold_ms >= _LONG_TAIL * tails.median_ms or any(cause.explains for cause in tails.causes)


def _row(marker: Marker) -> tuple[str, ...]:
    change = marker.change
    kind = f"{change.kind}, planned: {marker.planned}" if marker.planned is not None else change.kind
    end = "" if marker.end_step is None else f" – {words.step_text(marker.end_step)}"
    size, interval = words.size_text(change.change, change.change_low, change.change_high).split(" % ")
    times = words.ms_text(change.before_ms, change.after_ms)
    return (
        f"{words.step_text(marker.step)}{end}",
        kind,
        f"{size} %{'' if change.measure == 'typical' else f' of {change.measure}'}",
        interval.strip("()"),
        words.p_text(change.p_value),
        times.removesuffix(" ms"),
        words.stages_text(marker).removeprefix(", ").removeprefix("in "),
    )
