"""Loading and reading 10^5 to 10^7 steps: `python -m benchmarks.load_speed` prints two Markdown tables.

The first is about one run, the second about many. Each row is measured in a process of its own, so that peak memory
belongs to it alone. "CPU" of a load is that of the process that loads: the Rust data server, or for the Python loader
this one. Everything else is CPU of the reading process. Event files are written from `tests.support.synthetic`, in
blocks of 512 rows with five stages and memory.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from tb_stepperf.store import Store
from tests.support import synthetic
from tests.support.logs import AttemptLog
from tests.support.providers import CTX, EXPERIMENT, Loaded, open_provider

CASES = (("rust", 10**5), ("rust", 10**6), ("rust", 10**7), ("python", 10**5), ("python", 10**6))
MANY_CASES = (("rust", 100, 10**5), ("rust", 400, 10**4))
CAPS_MIB = (1024, 32)
NUM_REFRESHES = 5
MIB = 1 << 20


@dataclasses.dataclass(frozen=True)
class Result:
    """One row of the table; seconds are wall time unless the name says CPU."""

    loader: str
    num_steps: int
    cap_mib: int
    load_cpu_s: float
    load_s: float
    catalog_s: float
    catalog_cpu_s: float
    first_column_s: float
    again_ms: float
    all_columns_s: float
    zoom_ms: float
    refresh_cpu_ms: float
    kept_mib: float
    peak_mib: float


@dataclasses.dataclass(frozen=True)
class ManyResult:
    """One row of the table about many runs."""

    loader: str
    num_runs: int
    num_steps: int
    catalog_s: float
    catalog_cpu_s: float
    unchanged_cpu_ms: float
    one_grown_cpu_ms: float
    all_grown_cpu_ms: float
    first_column_s: float
    kept_mib: float
    peak_mib: float


HEADINGS = {
    "loader": "loader",
    "num_steps": "steps",
    "cap_mib": "cap, MiB",
    "load_cpu_s": "load, CPU s",
    "load_s": "load, s",
    "catalog_s": "catalog, s",
    "catalog_cpu_s": "catalog, CPU s",
    "first_column_s": "first read of step_time_ms, s",
    "again_ms": "again, ms",
    "all_columns_s": "all columns, s",
    "zoom_ms": "1 % of the steps, ms",
    "refresh_cpu_ms": "refresh after one block, CPU ms",
    "kept_mib": "kept, MiB",
    "peak_mib": "peak above start, MiB",
}


MANY_HEADINGS = {
    "loader": "loader",
    "num_runs": "runs",
    "num_steps": "steps each",
    "catalog_s": "first catalog, s",
    "catalog_cpu_s": "first catalog, CPU s",
    "unchanged_cpu_ms": "refresh, nothing new, CPU ms",
    "one_grown_cpu_ms": "one run grew, CPU ms",
    "all_grown_cpu_ms": "all runs grew, CPU ms",
    "first_column_s": "first read of one run, s",
    "kept_mib": "kept, MiB",
    "peak_mib": "peak above start, MiB",
}


class Watch:
    """Wall and CPU seconds since it was made."""

    def __init__(self) -> None:
        self._wall_s, self._cpu_s = time.perf_counter(), time.process_time()

    @property
    def wall_s(self) -> float:
        return time.perf_counter() - self._wall_s

    @property
    def cpu_s(self) -> float:
        return time.process_time() - self._cpu_s


def write(directory: pathlib.Path, num_steps: int) -> AttemptLog:
    """Writes a run of `num_steps` and returns its log, still open."""
    log = AttemptLog(directory)
    log.environment({"device": "cpu"})
    part = 500 * 512
    for first in range(0, num_steps, part):
        steps = np.arange(first, min(first + part, num_steps))
        log.append(steps, synthetic.columns(synthetic.step_time_ms(steps.size, seed=first)))
    return log


def measure(loader: str, num_steps: int, cap_mib: int, directory: pathlib.Path) -> Result:
    """Measures one row; writes the run and one more block per refresh below `directory`."""
    log = write(directory / "job", num_steps)
    watch = Watch()
    with open_provider(loader, directory) as loaded:
        last_step = log.num_rows - 1
        loaded.until(lambda: _max_step(loaded) > last_step - 512)
        load_s, load_cpu_s = watch.wall_s, _cpu_s(loaded.pid, watch)
        with _peak_memory_mib() as peak_mib:
            store = Store(loaded.data_provider, max_bytes=cap_mib * MIB, min_refresh_interval_s=0)
            watch = Watch()
            store.catalog(CTX, EXPERIMENT)
            catalog_s, catalog_cpu_s = watch.wall_s, watch.cpu_s
            first_column_s = _read_s(store, ["step_time_ms"])
            again_s = _read_s(store, ["step_time_ms"])
            all_columns_s = _read_s(store, None)
            middle = num_steps // 2
            zoom_s = _read_s(store, ["step_time_ms"], start_step=middle, end_step=middle + num_steps // 100)
        refreshes = [_refresh_cpu_s(loaded, store, log) for _ in range(NUM_REFRESHES)]
        return Result(
            loader,
            num_steps,
            cap_mib,
            load_cpu_s,
            load_s,
            catalog_s,
            catalog_cpu_s,
            first_column_s,
            again_s * 1e3,
            all_columns_s,
            zoom_s * 1e3,
            statistics.median(refreshes) * 1e3,
            store.num_bytes / MIB,
            peak_mib[0],
        )


def measure_many(loader: str, num_runs: int, num_steps: int, directory: pathlib.Path) -> ManyResult:
    """Measures one row of the second table, with the default memory cap."""
    logs = [write(directory / f"job{number}", num_steps) for number in range(num_runs)]
    block = synthetic.columns(synthetic.step_time_ms(512))

    def until_read() -> None:
        expected = {f"job{number}": log.num_rows - 512 for number, log in enumerate(logs)}
        loaded.until(lambda: all(_max_step(loaded, run) >= step for run, step in expected.items()))

    def refresh_cpu_ms(grown: Sequence[AttemptLog]) -> float:
        for log in grown:
            log.append(np.arange(log.num_rows, log.num_rows + 512), block)
        until_read()
        watch = Watch()
        store.catalog(CTX, EXPERIMENT)
        return watch.cpu_s * 1e3

    with open_provider(loader, directory) as loaded:
        until_read()
        with _peak_memory_mib() as peak_mib:
            store = Store(loaded.data_provider, min_refresh_interval_s=0)
            watch = Watch()
            catalog = store.catalog(CTX, EXPERIMENT)
            catalog_s, catalog_cpu_s = watch.wall_s, watch.cpu_s
            assert [run.members[0].num_steps for run in catalog.runs] == [num_steps] * num_runs
            unchanged, one, every = (refresh_cpu_ms(grown) for grown in ([], logs[:1], logs))
            first_column_s = _read_s(store, ["step_time_ms"], "job1")
        kept_mib = store.num_bytes / MIB
    return ManyResult(
        loader,
        num_runs,
        num_steps,
        catalog_s,
        catalog_cpu_s,
        unchanged,
        one,
        every,
        first_column_s,
        kept_mib,
        peak_mib[0],
    )


def _read_s(store: Store, columns: Sequence[str] | None, run: str = "job", **steps: int) -> float:
    watch = Watch()
    table = store.read(CTX, EXPERIMENT, run, None, columns, **steps)
    assert table.num_missing == 0
    return watch.wall_s


def _refresh_cpu_s(loaded: Loaded, store: Store, log: AttemptLog) -> float:
    """CPU seconds of what the store does when one block came: new catalog, and the rows of the last tag read."""
    first = log.num_rows
    log.append(np.arange(first, first + 512), synthetic.columns(synthetic.step_time_ms(512, seed=first)))
    loaded.until(lambda: _max_step(loaded) == first)
    watch = Watch()
    store.catalog(CTX, EXPERIMENT)
    table = store.read(CTX, EXPERIMENT, "job", None, ["step_time_ms"], start_step=first - 10_000)
    assert int(table.steps[-1]) == first + 511
    return watch.cpu_s


def _max_step(loaded: Loaded, run: str = "job") -> int:
    listed = loaded.data_provider.list_tensors(CTX, experiment_id=EXPERIMENT, plugin_name="stepperf")
    return max((series.max_step for series in listed.get(run, {}).values()), default=-1)


def _cpu_s(pid: int, watch: Watch) -> float:
    if pid == os.getpid():
        return watch.cpu_s
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def _peak_memory_mib() -> Iterator[list[float]]:
    """Yields a list that afterwards holds by how much resident memory rose at most, in MiB."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = _status_mib("VmRSS")
    peak: list[float] = []
    yield peak
    peak.append(_status_mib("VmHWM") - before)


def _status_mib(field: str) -> float:
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def _in_a_process_of_its_own(which: str, *case: str | int) -> Result | ManyResult:
    directory = tempfile.mkdtemp(prefix="load_speed_")
    try:
        command = [sys.executable, "-m", "benchmarks.load_speed", which, *map(str, case), directory]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        fields = json.loads(done.stdout)
        return Result(**fields) if which == "--one" else ManyResult(**fields)
    finally:
        shutil.rmtree(directory)


def _print_table(headings: dict[str, str], results: Iterable[Result | ManyResult]) -> None:
    print("| " + " | ".join(headings.values()) + " |")
    print("|---" + "|--:" * (len(headings) - 1) + "|")
    for result in results:
        print("| " + " | ".join(_text(getattr(result, name)) for name in headings) + " |", flush=True)


def _text(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if isinstance(value, int) or value >= 100 else f"{value:.2g}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the tables, or with `--one` or `--many` the row of one case as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--max-steps", type=float, default=1e7, help="leave out more steps (default: 1e7)")
    parser.add_argument("--one", nargs=4, metavar=("LOADER", "STEPS", "CAP_MIB", "DIRECTORY"), help=argparse.SUPPRESS)
    parser.add_argument("--many", nargs=4, metavar=("LOADER", "RUNS", "STEPS", "DIRECTORY"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one or options.many:
        loader, first, second, directory = options.one or options.many
        measured = (measure if options.one else measure_many)(loader, int(first), int(second), pathlib.Path(directory))
        print(json.dumps(dataclasses.asdict(measured)))
        return
    _print_table(
        HEADINGS,
        (
            _in_a_process_of_its_own("--one", loader, num_steps, cap_mib)
            for loader, num_steps in CASES
            for cap_mib in (CAPS_MIB if num_steps > 10**5 else CAPS_MIB[:1])
            if num_steps <= options.max_steps
        ),
    )
    print()
    _print_table(
        MANY_HEADINGS,
        (
            _in_a_process_of_its_own("--many", loader, num_runs, num_steps)
            for loader, num_runs, num_steps in MANY_CASES
            if num_runs * num_steps <= options.max_steps
        ),
    )


if __name__ == "__main__":
    main()
