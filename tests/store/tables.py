"""Comparison of tables, and stores over a log directory."""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from tb_stepperf.store import Store, Table
from tests.support.providers import CTX, EXPERIMENT, Loaded, open_provider

STEP_MS = "step_time_ms"


def plain(table: Table) -> dict[str, Any]:
    """Returns everything of a table but its version as lists; NaN as None."""
    fields = {field.name: getattr(table, field.name) for field in dataclasses.fields(table) if field.name != "version"}
    for name, value in fields.items():
        if isinstance(value, np.ndarray):
            fields[name] = value.tolist()
    fields["columns"] = {
        name: [None if np.isnan(value) else value for value in values.tolist()]
        for name, values in table.columns.items()
    }
    return fields


class Opened:
    """A store over a log directory, with the arguments that never change filled in."""

    def __init__(self, loaded: Loaded, store: Store) -> None:
        self.loaded = loaded
        self.store = store

    def catalog(self) -> Any:
        return self.store.catalog(CTX, EXPERIMENT, force=True)

    def read(self, run: str, member: str | None = None, columns: Any = None, **steps: int) -> Table:
        return self.store.read(CTX, EXPERIMENT, run, member, columns, **steps)

    def runs(self) -> dict[str, Any]:
        return {run.run: run for run in self.catalog().runs}

    def until(self, condition: Any) -> Any:
        return self.loaded.until(condition)


@contextlib.contextmanager
def open_store(loader: str, logdir: pathlib.Path, *, keep_all: bool = True, **arguments: Any) -> Iterator[Opened]:
    """Opens a store over `logdir`; the data server may not have read it yet."""
    with open_provider(loader, logdir, keep_all=keep_all) as loaded:
        yield Opened(loaded, Store(loaded.data_provider, **arguments))


def listing(loaded: Loaded) -> dict[str, dict[str, int]]:
    """Returns the largest step of every tag by TensorBoard run."""
    found = loaded.data_provider.list_tensors(CTX, experiment_id=EXPERIMENT, plugin_name="stepperf")
    return {run: {tag: series.max_step for tag, series in tags.items()} for run, tags in found.items()}
