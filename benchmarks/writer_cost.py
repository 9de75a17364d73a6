"""What recording a step costs: `python -m benchmarks.writer_cost` prints Markdown tables.

Machines are noisy, so every round runs all subjects one after another, ratios are taken inside a round, and the median
over the rounds is printed. Peers are measured where they are installed (`make bench` makes an environment for them);
a missing one is named. Targets stand in the last column.

- *thread*: CPU time of the training thread for recording one step. *Loop*: how long it is held up, with waiting for a
  queue or for the interpreter while another thread has it. *Process*: CPU time of all threads, with what is left
  written within the time. All without what the empty body costs.
- *floor*: six chained clock readings and one append of their differences.
- *real step*: a small network trained with one thread. Each short run lies between two of the bare loop, and *longer*
  is its median step against theirs. *CPU* is the training thread's own time, likewise; it does not see waiting.
- *longest step*: for every block that is written, the longest step during the work of the background thread; and the
  same in windows of equal size half-way between two such pieces of work.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import itertools
import pathlib
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.writer_subjects import OURS, PEERS, Subject, floor, nothing, with_stages_and_memory
from tb_stepperf.recorder.thread import FlushThread

FLOOR, BARE = "floor", "bare loop"
ADD_SCALAR = "SummaryWriter add_scalar × 7"
TARGETS = {
    "5 × lap + step": "≤ 2 × floor",
    "5 × stage + step": "≤ 6 × floor; add_scalar ≥ 100 × (process 200 ×)",
    "5 × stage + step, memory": "≤ 8 × floor; add_scalar ≥ 30 × (process 60 ×)",
}
REAL_TARGETS = {"5 × stage + step": "≤ 1 %", "5 × stage + step, memory": "≤ 3 %"}


def _pass() -> None:
    return None


EMPTY = (_pass,) * 5


@contextlib.contextmanager
def subjects(names: dict[str, Callable[[pathlib.Path], Subject]]) -> Iterator[dict[str, Subject]]:
    """Makes subjects in a temporary directory; names the peers that are not installed."""
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
        made = {}
        for at, (name, make) in enumerate(names.items()):
            try:
                subject = make(pathlib.Path(directory) / str(at))
            except Exception as error:  # peers fail in ways of their own; the others are still measured
                print(f"Not measured: {name} ({type(error).__name__}: {error})".splitlines()[0])
                continue
            stack.callback(subject.close)
            made[name] = subject
        yield made


def empty_step_us(subject: Subject, num_steps: int, first: int) -> tuple[float, float, float]:
    """Returns microseconds of one step with an empty body: thread CPU, loop, process CPU."""
    record = subject.record
    process_s, thread_s, loop_s = time.process_time(), time.thread_time(), time.perf_counter()
    for step in range(first, first + num_steps):
        record(step, EMPTY)
    loop_s, thread_s = time.perf_counter() - loop_s, time.thread_time() - thread_s
    subject.flush()
    process_s = time.process_time() - process_s
    return thread_s / num_steps * 1e6, loop_s / num_steps * 1e6, process_s / num_steps * 1e6


def empty_steps(num_rounds: int) -> None:
    """Prints the cost of recording an empty step."""
    costs: dict[str, list[list[float]]] = {}
    with subjects({BARE: nothing, FLOOR: floor, **OURS, **PEERS}) as made:
        sizes = {name: 300 if name in PEERS else 5000 for name in made}
        for name, subject in made.items():
            empty_step_us(subject, sizes[name], 0)
        for round_number in range(1, num_rounds + 1):
            bare = empty_step_us(made[BARE], sizes[BARE], 0)
            for name, subject in made.items():
                cost = empty_step_us(subject, sizes[name], round_number * sizes[name])
                costs.setdefault(name, []).append([max(own - base, 1e-3) for own, base in zip(cost, bare)])
    print("\n### Recording an empty step\n")
    print("| | thread, µs | × floor | loop, µs | process, µs | add_scalar × 7 costs, loop / process | target |")
    print("|---|--:|--:|--:|--:|--:|---|")
    for name, own in costs.items():
        if name == BARE:
            continue
        thread_us, loop_us, process_us = (_median(cost[at] for cost in own) for at in range(3))
        over_floor = _median(cost[0] / base[0] for cost, base in zip(own, costs[FLOOR]))
        cheaper = "–"
        if ADD_SCALAR in costs:
            times = [_median(base[at] / cost[at] for cost, base in zip(own, costs[ADD_SCALAR])) for at in (1, 2)]
            cheaper = f"{times[0]:.0f} × / {times[1]:.0f} ×"
        print(
            f"| {name} | {thread_us:.2f} | {over_floor:.1f} | {loop_us:.2f} | {process_us:.2f} | {cheaper} "
            f"| {TARGETS.get(name, '')} |"
        )


def real_body() -> Sequence[Callable[[], Any]]:
    """Returns the five parts of a real training step of 1 to 2 ms on one thread."""
    torch = importlib.import_module("torch")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    layers = [torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    inputs, labels = torch.randn(4096, 256), torch.randint(10, (4096,))
    state: dict[str, Any] = {"at": 0}

    def data() -> None:
        state["at"] = (state["at"] + 128) % 4096
        state["x"], state["y"] = inputs[state["at"] : state["at"] + 128], labels[state["at"] : state["at"] + 128]

    def forward() -> None:
        state["out"] = model(state["x"])

    def loss() -> None:
        state["loss"] = torch.nn.functional.cross_entropy(state["out"], state["y"])

    def backward() -> None:
        state["loss"].backward()

    def step() -> None:
        optimizer.step()
        optimizer.zero_grad()

    return data, forward, loss, backward, step


def step_times_s(
    subject: Subject, body: Sequence[Callable[[], Any]], num_steps: int, first: int
) -> tuple[list[float], float]:
    """Returns the wall time of each step, and the training thread's CPU time of one."""
    record, clock = subject.record, time.perf_counter
    cpu_s = time.thread_time()
    times = [clock()]
    for step in range(first, first + num_steps):
        record(step, body)
        times.append(clock())
    return [end - start for start, end in itertools.pairwise(times)], (time.thread_time() - cpu_s) / num_steps


def real_steps(num_rounds: int, num_steps: int) -> None:
    """Prints by how much recording lengthens a real step."""
    body = real_body()
    typical_s: dict[str, list[float]] = {}
    longer: dict[str, list[tuple[float, float]]] = {}

    def run(subject: Subject, first: int) -> tuple[float, float]:
        times, cpu_s = step_times_s(subject, body, num_steps, first)
        return statistics.median(times), cpu_s

    with subjects({BARE: nothing, **OURS, **PEERS}) as made:
        for subject in made.values():
            run(subject, 0)
        for round_number in range(1, num_rounds + 1):
            for name, subject in made.items():
                before, own, after = run(made[BARE], 0), run(subject, round_number * num_steps), run(made[BARE], 0)
                typical_s.setdefault(name, []).append(own[0])
                ratios = (own[0] / (before[0] + after[0]) * 2 - 1, own[1] / (before[1] + after[1]) * 2 - 1)
                longer.setdefault(name, []).append(ratios)
    print("\n### Recording a real step\n")
    print("| | step, ms | longer | CPU | target |")
    print("|---|--:|--:|--:|---|")
    for name, ratios in longer.items():
        wall, cpu = (100 * _median(ratio[at] for ratio in ratios) for at in (0, 1))
        step_ms = _median(typical_s[name]) * 1e3
        print(f"| {name} | {step_ms:.3f} | {wall:+.1f} % | {cpu:+.1f} % | {REAL_TARGETS.get(name, '')} |")


def longest_steps(num_rounds: int, num_steps: int) -> None:
    """Prints the longest step while the background thread works and while it does not, and the bytes of a step."""
    work: list[tuple[float, float]] = []
    original = FlushThread._handle

    def timed_handle(thread: FlushThread, message: Any) -> None:
        start_s = time.perf_counter()
        original(thread, message)
        work.append((start_s, time.perf_counter()))

    body = real_body()
    while_working, while_idle = [], []
    FlushThread._handle = timed_handle  # type: ignore[method-assign]
    try:
        with subjects({"ours": with_stages_and_memory}) as made:
            ours = made["ours"]
            for round_number in range(num_rounds):
                work.clear()
                now_s = time.perf_counter()
                times, _ = step_times_s(ours, body, num_steps, round_number * num_steps)
                ends_s = np.cumsum(times) + now_s
                for (start_s, end_s), (next_s, _) in itertools.pairwise(list(work)):
                    half_way_s = (next_s - start_s) / 2
                    while_working.append(_longest(times, ends_s, start_s, end_s))
                    while_idle.append(_longest(times, ends_s, start_s + half_way_s, end_s + half_way_s))
            ours.flush()
            files = ours.logdir.rglob("*") if ours.logdir is not None else iter(())
            num_bytes = sum(path.stat().st_size for path in files if path.is_file())
    finally:
        FlushThread._handle = original  # type: ignore[method-assign]
    more_ms = _median(own - idle for own, idle in zip(while_working, while_idle)) * 1e3
    print("\n### Longest step\n")
    print("| | longest step of a window, ms | target |")
    print("|---|--:|---|")
    print(f"| background thread idle | {_median(while_idle) * 1e3:.2f} | |")
    print(f"| background thread at work | {_median(while_working) * 1e3:.2f} | |")
    print(f"| difference, median of {len(while_working)} windows | {more_ms:+.2f} | at most 0.5 ms |")
    per_step = num_bytes / (num_rounds * num_steps)
    print(f"\nBytes on disk: {per_step:.1f} a step with five stages, memory and scalars (target: at most 64).")


def _longest(times: Sequence[float], ends_s: np.ndarray, start_s: float, end_s: float) -> float:
    """Returns the longest of the steps that overlap a window."""
    first = int(np.searchsorted(ends_s, start_s))
    last = min(int(np.searchsorted(ends_s, end_s)), len(times) - 1)
    return max(times[min(first, last) : last + 1])


def _median(values: Any) -> float:
    return statistics.median(list(values))


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=15, help="rounds of all subjects (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="three rounds, to see that it runs")
    arguments = parser.parse_args()
    num_rounds = 3 if arguments.quick else arguments.rounds
    empty_steps(num_rounds)
    real_steps(4 * num_rounds, 25)
    longest_steps(num_rounds, 1500)


if __name__ == "__main__":
    main()
