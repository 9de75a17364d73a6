"""How results are printed: text for people, JSON for programs."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_WIDTH_OF_FILES = 120
_INDENT = (0, 0, 0, 2)


def print_json(value: Any) -> None:
    """Prints strict JSON: a number that does not exist is null."""
    sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")


def make_console() -> Console:
    """Returns the console of standard output. Names from logs are text to it, never markup."""
    width = None if sys.stdout.isatty() else _WIDTH_OF_FILES
    return Console(file=sys.stdout, width=width, markup=False, emoji=False, highlight=False)


@contextlib.contextmanager
def busy(message: str) -> Iterator[None]:
    """Shows on a terminal that something takes its time; silent elsewhere."""
    console = Console(file=sys.stderr, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        yield
        return
    with console.status(Text(printable(message))):
        yield


def print_title(console: Console, text: str, details: str = "") -> None:
    """Prints a heading and, dimmed, what belongs to it."""
    title = Text(printable(text), style="bold")
    if details:
        title.append(f"  {printable(details)}", style="dim not bold")
    console.print(title)


def print_verdict(console: Console, text: str, style: str) -> None:
    """Prints the sentence that matters most."""
    _print_text(console, Text(printable(text), style=style))


def print_note(console: Console, text: str) -> None:
    """Prints a sentence that one should know."""
    _print_text(console, Text(printable(text), style="dim"))


def print_table(console: Console, headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str]) -> None:
    """Prints a table.

    Args:
        headings: of the columns.
        rows: cells as text.
        right: headings of the columns whose cells are numbers.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")
    for heading in headings:
        table.add_column(heading, justify="right" if heading in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    console.print(Padding(table, _INDENT, expand=False))


def _print_text(console: Console, text: Text) -> None:
    """Prints wrapped lines, indented, that end where their text does: `Padding` would fill them with blanks."""
    for line in text.wrap(console, console.width - _INDENT[3]):
        line.rstrip()
        console.print(Text(" " * _INDENT[3]).append_text(line), soft_wrap=True)


def printable(text: str) -> str:
    """Replaces what could steer a terminal: names of runs and stages come from logs."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
