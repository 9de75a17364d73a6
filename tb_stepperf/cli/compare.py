"""`stepperf compare`: runs against runs."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tb_stepperf.analysis import RunsCompared, Side, Thresholds, compare_members, words
from tb_stepperf.analysis.as_json import comparison_json
from tb_stepperf.analysis.series import need_clock
from tb_stepperf.cli import output
from tb_stepperf.cli.logs import open_run, split_sides
from tb_stepperf.cli.options import shared_options
from tb_stepperf.statistics import UNKNOWN_SPREAD, MeasureChange, describe

_STYLES = {"regression": "bold red", "tail regression": "bold red", "same": "green", "improvement": "green"}
_HEADINGS = ("measure", "baseline", "candidate", "change (95 %)", "p")


@click.command()
@click.argument("baseline")
@click.argument("candidate")
@click.option("more_baselines", "--baseline", metavar="RUN", multiple=True, help="One more run of the baseline.")
@click.option("more_candidates", "--candidate", metavar="RUN", multiple=True, help="One more run of the candidate.")
@click.option("--overrule", is_flag=True, help="Compare although conditions differ; the result says so.")
@shared_options
def compare(
    baseline: str,
    candidate: str,
    more_baselines: Sequence[str],
    more_candidates: Sequence[str],
    overrule: bool,
    clock: str,
    min_effect: float,
    min_tail_effect: float,
    as_json: bool,
    fail_on_regression: bool,
) -> int:
    """Compares CANDIDATE with BASELINE: slower, faster, the same, or not enough data to say.

    Each is the directory of a run, or LOGDIR:RUN; several runs of one side are separated by commas. With two or more
    runs a side the intervals cover the spread from run to run. The first member of each run is compared.
    """
    named = ((baseline, *more_baselines), (candidate, *more_candidates))
    sides = [[_side(text, clock) for text in split_sides(texts)] for texts in named]
    for name, side in zip(("BASELINE", "CANDIDATE"), sides):
        if not side:
            raise click.UsageError(f"{name} is empty; name at least one run")
    both = {side.run for side in sides[0]} & {side.run for side in sides[1]}
    if both:
        raise click.UsageError(f"{sorted(both)[0]!r} is on both sides; give each run to one of them")
    with output.busy("comparing"):
        compared = compare_members(
            *sides, clock=clock, thresholds=Thresholds(min_effect, min_tail_effect), overrule=overrule
        )
    if as_json:
        output.print_json(comparison_json(compared))
    else:
        _print(compared)
    return int(fail_on_regression and compared.comparison.verdict in ("regression", "tail regression"))


def _side(text: str, clock: str) -> Side:
    with output.busy(f"reading {text}"):
        log, run = open_run(text)
    member = run.members[0]
    present = log.columns(run, member)
    need_clock(clock, present, text)
    reader = log.reader(run, member)
    return Side(text, member.member, member.label, len(run.members), run.world_size, present, reader)


def _print(compared: RunsCompared) -> None:
    result = compared.comparison
    console = output.make_console()
    titles = [", ".join(_title(side) for side in sides) for sides in compared.sides]
    output.print_title(console, f"{titles[0]} → {titles[1]}", f"{compared.clock} clock")
    output.print_verdict(console, result.sentence, _STYLES.get(result.verdict, "bold yellow"))
    measures = [(name, getattr(result, name)) for name in ("median", "p95", "mean", "throughput")]
    output.print_table(console, _HEADINGS, [_row(name, change) for name, change in measures], _HEADINGS[1:])
    if compared.attribution is not None and compared.attribution.outcome != "nothing":
        output.print_note(console, compared.attribution.sentence)
    unlike = [check for check in result.conditions if check.status != "same"]
    if unlike:
        rows = [(c.field, ", ".join(c.baseline) or "–", ", ".join(c.candidate) or "–", c.status) for c in unlike]
        output.print_table(console, ("condition", "baseline", "candidate", ""), rows, ())
    for note in result.notes:
        output.print_note(console, note)
    if not result.spread_known and UNKNOWN_SPREAD not in result.notes:
        output.print_note(console, UNKNOWN_SPREAD)


def _title(side: Side) -> str:
    return f"{side.run} ({side.label} of {side.num_members})" if side.num_members > 1 else side.run


def _row(name: str, change: MeasureChange) -> tuple[str, ...]:
    known = change.baseline == change.baseline  # NaN where a run has too few steps
    return (
        f"{name}, {change.unit}",
        f"{change.baseline:.5g}" if known else "–",
        f"{change.candidate:.5g}" if known else "–",
        describe(change),
        words.p_text(change.p_value),
    )
