"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from tb_stepperf.analysis import CLOCKS, Thresholds

Command = TypeVar("Command", bound=Callable[..., Any])

_DEFAULTS = Thresholds()


def shared_options(command: Command) -> Command:
    """Adds the clock, both thresholds, `--json` and `--fail-on-regression`."""
    effect = click.FloatRange(0, 1, min_open=True, max_open=True)
    for option in (
        click.option("--fail-on-regression", is_flag=True, help="Exit with 1 where something became slower (for CI)."),
        click.option("as_json", "--json", is_flag=True, help="Print JSON, as the HTTP API of the tab has it."),
        click.option(
            "--min-tail-effect",
            type=effect,
            default=_DEFAULTS.min_tail_effect,
            show_default=True,
            help="Smallest relative change of p95 that counts.",
        ),
        click.option(
            "--min-effect",
            type=effect,
            default=_DEFAULTS.min_effect,
            show_default=True,
            help="Smallest relative change of the typical step that counts; 0.03 is 3 %.",
        ),
        click.option(
            "--clock", type=click.Choice(CLOCKS), default=CLOCKS[0], show_default=True, help="Step time to look at."
        ),
    ):
        command = option(command)
    return command
