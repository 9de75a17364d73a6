"""Prints what `find_changes` says of recorded step times, one line a series.

    PYTHONPATH=. python benchmarks/regression/detect_real.py FILE.csv[.gz] ... [--value COLUMN] [--run COLUMN]

Each file is a CSV with a header. `--value` names the column with the step times (default: the first of `step_time_ms`,
`dt_ms`, `iteration_time_s`, `dt_s`, `time_s` that is there); `--run` the column that tells series apart (default: `run`
where it is there). `--step` names a column whose value is printed for each marker instead of the row.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import pathlib
import time

import numpy as np

from tb_stepperf.statistics.changes import find_changes

VALUE_COLUMNS = ("step_time_ms", "dt_ms", "iteration_time_s", "dt_s", "time_s")


def read(path: pathlib.Path, value: str | None, run: str | None, step: str | None) -> dict[str, np.ndarray]:
    """Series of a file by name: arrays of shape (num_rows, 2), what to call a row and its step time."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = list(csv.DictReader(content.decode().splitlines()))
    columns = list(rows[0]) if rows else []
    value = value or next((name for name in VALUE_COLUMNS if name in columns), None)
    if value not in columns:
        raise SystemExit(f"{path}: no column {value!r}; there are {columns}: name one with --value")
    run = run or ("run" if "run" in columns else None)
    series: dict[str, list[tuple[float, float]]] = {}
    for number, row in enumerate(rows):
        name = row[run] if run else ""
        part = series.setdefault(name, [])
        called = float(row[step]) if step else float(len(part) if run else number)
        part.append((called, float(row[value] or "nan")))
    return {name: np.array(part) for name, part in series.items()}


def main() -> None:
    """Parses the command line and prints the markers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    parser.add_argument("--value")
    parser.add_argument("--run")
    parser.add_argument("--step")
    args = parser.parse_args()
    for path in args.files:
        for name, table in read(path, args.value, args.run, args.step).items():
            begin = time.perf_counter()
            changes = find_changes(table[:, 1])
            seconds = time.perf_counter() - begin
            said = []
            for change in changes:
                until = "" if change.end_step is None else f" until {table[change.end_step, 0]:.0f}"
                said.append(
                    f"{change.kind} at {table[change.step, 0]:.0f}{until}: {change.change:+.1%} "
                    f"({change.change_low:+.1%} to {change.change_high:+.1%})"
                )
            print(f"{path.name} {name} [{len(table)} rows, {seconds * 1e3:.0f} ms]: {'; '.join(said) or 'no change'}")


if __name__ == "__main__":
    main()
