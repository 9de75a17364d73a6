"""What the tab waits for: `python -m benchmarks.tab_speed`.

Real event files, TensorBoard's data server, TensorBoard's WSGI application with our plugin, a process of its own for
each size. Printed as a Markdown table: milliseconds of wall time (for refreshes of CPU time), the median where a
request is repeated, and this process's peak resident memory; the data server's memory is its own.
"""

from __future__ import annotations

import argparse
import gzip
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from werkzeug.test import Client

from tests.support import logs, synthetic
from tests.support.providers import Loaded, open_provider

CHARTS = ("/summary", "/bands", "/stages", "/memory", "/throughput", "/marks")
NUM_ZOOMS = 9
NUM_REFRESHES = 5
REFRESH_ROWS = 512


class Tab:
    """The plugin's routes within TensorBoard's application, and what they cost."""

    def __init__(self, loaded: Loaded, logdir: pathlib.Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            from tensorboard.backend import application
            from tensorboard.plugins.core.core_plugin import CorePluginLoader

            from tb_stepperf.plugin.loader import DEFAULT_CACHE_MB, StepPerfLoader
        flags = argparse.Namespace(
            logdir=str(logdir),
            logdir_spec="",
            path_prefix="",
            window_title="",
            samples_per_plugin={},
            reload_interval=5,
            stepperf_cache_mb=DEFAULT_CACHE_MB,
        )
        loaders = [CorePluginLoader(), StepPerfLoader()]
        self._client = Client(application.TensorBoardWSGIApp(flags, loaders, loaded.data_provider))
        self.largest_bytes = 0
        self.largest_gzip_bytes = 0

    def get(self, route: str, clock: Callable[[], float] = time.perf_counter, **arguments: Any) -> tuple[float, Any]:
        """Returns milliseconds on `clock`, and the JSON."""
        path = f"/data/plugin/stepperf{route}"
        started_s = clock()
        response = self._client.get(path, query_string=arguments, headers={"Accept-Encoding": "gzip"})
        data = response.data
        milliseconds = (clock() - started_s) * 1e3
        is_gzip = response.headers.get("Content-Encoding") == "gzip"
        text = gzip.decompress(data) if is_gzip else data
        if response.status_code != 200:
            raise RuntimeError(f"{route} {arguments} answered {response.status_code}: {text[:300]!r}")
        self.largest_bytes = max(self.largest_bytes, len(text))
        self.largest_gzip_bytes = max(self.largest_gzip_bytes, len(data))
        return milliseconds, json.loads(text)


def measure_one(num_steps: int) -> dict[str, float]:
    """Measures one run of `num_steps` steps; the keys are the rows of the table."""
    with tempfile.TemporaryDirectory() as directory:
        logdir = pathlib.Path(directory)
        times = synthetic.step_time_ms(num_steps + NUM_REFRESHES * REFRESH_ROWS)
        columns = synthetic.columns(times)
        log = logs.AttemptLog(logdir / "job")

        def append(first: int, end: int) -> None:
            log.append(np.arange(first, end), {name: values[first:end] for name, values in columns.items()})

        append(0, num_steps)
        with open_provider("rust", logdir) as loaded:
            tab = Tab(loaded, logdir)
            started_s = time.perf_counter()
            loaded.until(lambda: _listing(loaded) and _has_all(loaded, num_steps))
            results = {"TensorBoard's data server loads (ms)": (time.perf_counter() - started_s) * 1e3}
            results.update(_first(tab))
            results.update(_zooms(tab, num_steps))
            end = num_steps
            refreshes: list[dict[str, float]] = []
            for _ in range(NUM_REFRESHES):
                append(end, end + REFRESH_ROWS)
                start, end = end, end + REFRESH_ROWS
                loaded.until(lambda start=start: _last_step(loaded) >= start)
                time.sleep(1.0)  # the store refreshes at most once a second
                refreshes.append(_refresh(tab, end))
            for name in refreshes[0]:
                results[name] = statistics.median(refresh[name] for refresh in refreshes)
            results["encode one chart as JSON (ms)"] = _encode_ms(tab)
            results["largest answer (KB)"] = tab.largest_bytes / 1e3
            results["largest answer, gzipped (KB)"] = tab.largest_gzip_bytes / 1e3
            results["peak memory (MiB)"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            return results


def measure_many(num_runs: int, num_steps: int) -> dict[str, float]:
    """Measures many runs: the list, then one chart of each."""
    with tempfile.TemporaryDirectory() as directory:
        logdir = pathlib.Path(directory)
        columns = synthetic.columns(synthetic.step_time_ms(num_steps))
        for number in range(num_runs):
            logs.write_attempt(logdir / f"sweep_lr_{number:03d}", np.arange(num_steps), columns)
        with open_provider("rust", logdir) as loaded:
            tab = Tab(loaded, logdir)
            loaded.until(lambda: len(_listing(loaded)) == num_runs and _has_all(loaded, num_steps))
            first_ms, answer = tab.get("/runs")
            runs = [run["run"] for run in answer["runs"]]
            charts = [tab.get("/bands", run=run)[0] for run in runs]
            again = [tab.get("/bands", run=run)[0] for run in runs]
            return {
                "first /runs": first_ms,
                "first /bands": statistics.median(charts),
                "again /bands": statistics.median(again),
                "all first /bands, together": sum(charts),
                "largest answer (KB)": tab.largest_bytes / 1e3,
                "largest answer, gzipped (KB)": tab.largest_gzip_bytes / 1e3,
                "peak memory (MiB)": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }


def _first(tab: Tab) -> dict[str, float]:
    started_s = time.perf_counter()
    results = {"first /runs": tab.get("/runs")[0]}
    for route in ("/bands", "/summary", "/stages", "/memory", "/throughput", "/marks", "/conditions"):
        results[f"first {route}"] = tab.get(route, run="job")[0]
        if route == "/bands":
            results["first chart (/runs and /bands)"] = (time.perf_counter() - started_s) * 1e3
    for axis in ("relative", "wall"):
        results[f"first /bands, axis {axis}"] = tab.get("/bands", run="job", axis=axis)[0]
    for route in CHARTS:
        results[f"again {route}"] = statistics.median(tab.get(route, run="job")[0] for _ in range(3))
    return results


def _zooms(tab: Tab, num_steps: int) -> dict[str, float]:
    """A tenth of the run, at places drawn with a fixed seed; on the relative axis a step is about 100 ms."""
    results = {}
    starts = np.random.default_rng(0).integers(0, num_steps * 9 // 10, NUM_ZOOMS).tolist()
    for route in ("/bands", "/stages", "/summary"):
        zooms = [tab.get(route, run="job", start=start, end=start + num_steps // 10)[0] for start in starts]
        results[f"zoom to a tenth, {route}"] = statistics.median(zooms)
    zooms = [
        tab.get("/bands", run="job", axis="relative", start=start * 100, end=(start + num_steps // 10) * 100)[0]
        for start in starts
    ]
    results["zoom to a tenth, /bands, axis relative"] = statistics.median(zooms)
    return results


def _refresh(tab: Tab, num_steps: int) -> dict[str, float]:
    cpu_ms, answer = tab.get("/runs", time.process_time)
    results = {"refresh /runs (CPU)": cpu_ms}
    for route in ("/bands", "/summary"):
        results[f"refresh {route} (CPU)"], answer = tab.get(route, time.process_time, run="job")
        if answer["sample"]["num_read"] != num_steps:
            raise RuntimeError(f"{route} shows {answer['sample']['num_read']} steps; {num_steps} are written")
    results["refresh /runs and /bands (CPU)"] = results["refresh /runs (CPU)"] + results["refresh /bands (CPU)"]
    return results


def _encode_ms(tab: Tab) -> float:
    from tb_stepperf.plugin.respond import encode_json

    _, payload = tab.get("/bands", run="job")
    times = []
    for _ in range(9):
        started_s = time.perf_counter()
        encode_json(payload)
        times.append((time.perf_counter() - started_s) * 1e3)
    return statistics.median(times)


def _listing(loaded: Loaded) -> dict[str, Any]:
    from tests.support.providers import CTX

    return loaded.data_provider.list_tensors(CTX, experiment_id="", plugin_name="stepperf")


def _last_step(loaded: Loaded) -> int:
    """Returns the first step of the newest block."""
    return max((tag.max_step for tags in _listing(loaded).values() for tag in tags.values()), default=-1)


def _has_all(loaded: Loaded, num_steps: int) -> bool:
    newest = (num_steps - 1) // 512 * 512
    return all(max(tag.max_step for tag in tags.values()) >= newest for tags in _listing(loaded).values())


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", default="100000,1000000,10000000", help="steps of one run, comma-separated")
    parser.add_argument("--runs", default="100x100000", help="runs x steps of the case with many runs")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        sizes = [int(size) for size in arguments.case.split("x")]
        print(json.dumps(measure_one(*sizes) if len(sizes) == 1 else measure_many(*sizes)))
        return
    cases = [*arguments.steps.split(","), arguments.runs]
    columns = {case: _measure_apart(case) for case in cases}
    titles = [" runs × ".join(f"{int(size):,}" for size in case.split("x")) for case in cases]
    print("| ms, unless said otherwise | " + " | ".join(f"{title} steps" for title in titles) + " |")
    print("|---|" + "--:|" * len(cases))
    for name in dict.fromkeys(name for results in columns.values() for name in results):
        cells = [f"{columns[case][name]:,.1f}" if name in columns[case] else "" for case in cases]
        print(f"| {name} | " + " | ".join(cells) + " |")


def _measure_apart(case: str) -> dict[str, float]:
    """Measures in a fresh process, so that peak memory is that of the case."""
    command = [sys.executable, "-m", "benchmarks.tab_speed", "--case", case]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
