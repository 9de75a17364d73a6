"""The commands, and what their exit codes mean."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import click

from tb_stepperf._version import __version__
from tb_stepperf.cli.compare import compare
from tb_stepperf.cli.markers import markers
from tb_stepperf.cli.trace import trace
from tb_stepperf.errors import StepPerfError

RESULT, REGRESSION, REFUSED, FAULT, CLOSED_PIPE = 0, 1, 2, 3, 141


@click.group(no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="stepperf")
def app() -> None:
    """Step performance of PyTorch trainings: what became slower, since when, and where in the step.

    Exit code 0: there is a result. 1: a regression, where --fail-on-regression asks for that. 2: the command or the
    data cannot be used, with the reason in a sentence. 3: a fault of stepperf itself.
    """


app.add_command(markers)
app.add_command(compare)
app.add_command(trace)


def run(arguments: Sequence[str]) -> int:
    """Runs a command line and returns the exit code; errors become one sentence on standard error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that lacks a sign shows "?" for it
    try:
        # Not `app.main`: it would exit with 1, our code for a regression, where a pipe is closed.
        with app.make_context("stepperf", list(arguments)) as context:
            result = app.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        return _refuse(error.format_message())
    except StepPerfError as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        return _refuse("interrupted")
    except BrokenPipeError:
        # Whoever read our output has left; without this, Python complains once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except Exception:
        traceback.print_exc()
        return FAULT
    return result if isinstance(result, int) else RESULT


def _refuse(message: str) -> int:
    sys.stderr.write(f"stepperf: {' '.join(message.split())}\n")
    return REFUSED
