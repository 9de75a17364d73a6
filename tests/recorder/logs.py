"""What the recorder's tests share: clocks set by hand, no hardware, and a reader that knows only docs/format.md."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util.tensor_util import make_ndarray

from tb_stepperf.blocks import Block, TagMetadata, decode_block, decode_environment, parse_metadata
from tb_stepperf.recorder.device import DeviceTimer
from tb_stepperf.recorder.hardware import Hardware
from tb_stepperf.recorder.memory import MemoryProbe
from tb_stepperf.recorder.messages import Messages

START_S = 1_700_000_000.0
ROOT = pathlib.Path(__file__).parents[2]


class ManualClock:
    """A clock that stands still until it is told to go on."""

    def __init__(self, start_s: float = 1000.0) -> None:
        self.now_s = start_s

    def __call__(self) -> float:
        return self.now_s

    def advance(self, seconds: float) -> None:
        self.now_s += seconds


class FakeHardware(Hardware):
    """The probe and the timer of a test, or none."""

    def __init__(self, probe: MemoryProbe | None = None, timer: DeviceTimer | None = None) -> None:
        super().__init__("cpu", "off", Messages())
        self.probe = probe
        self.timer = timer

    def memory_probe(self, accelerator: Any) -> tuple[MemoryProbe | None, str | None]:
        return self.probe, None

    def device_timer(self, accelerator: Any) -> DeviceTimer | None:
        return self.timer


@dataclasses.dataclass
class Attempt:
    """All that a log holds of one attempt."""

    metadata: TagMetadata
    blocks: list[Block]
    environment: list[dict[str, Any]]
    tags: list[str]

    @property
    def steps(self) -> list[int]:
        return [int(step) for block in self.blocks for step in block.steps]

    @property
    def end(self) -> str | None:
        return self.blocks[-1].end if self.blocks else None

    @property
    def counters(self) -> dict[str, int]:
        return dict(self.blocks[-1].counters) if self.blocks else {}

    @property
    def columns(self) -> set[str]:
        return {name for block in self.blocks for name in block.columns}

    def column(self, name: str) -> list[float | None]:
        """Values of a column, None where not measured."""
        values: list[float | None] = []
        for block in self.blocks:
            column = block.columns.get(name, np.full(block.num_rows, np.nan))
            values += [None if np.isnan(value) else float(value) for value in column]
        return values

    @property
    def wall_time_s(self) -> list[float]:
        return [float(value) for block in self.blocks for value in block.wall_time_s]

    @property
    def flags(self) -> list[int]:
        return [int(value or 0) for value in self.column("flags")]


def event_files(directory: Any) -> list[str]:
    """Paths of the event files that lie directly in a directory."""
    return sorted(str(path) for path in pathlib.Path(directory).glob("*tfevents*"))


def read_log(files: Iterable[str]) -> list[Attempt]:
    """Reads event files with TensorBoard's own reader; attempts in the order of their identities."""
    attempts: dict[str, Attempt] = {}
    for file in files:
        events = EventAccumulator(file, size_guidance={"tensors": 0}).Reload()
        for tag in sorted(events.Tags()["tensors"]):
            metadata = parse_metadata(events.SummaryMetadata(tag).plugin_data.content)
            attempt = attempts.setdefault(metadata.attempt, Attempt(metadata, [], [], []))
            attempt.tags.append(tag)
            for event in events.Tensors(tag):
                elements = make_ndarray(event.tensor_proto)
                if metadata.kind == "environment":
                    attempt.environment.append(decode_environment(elements))
                else:
                    attempt.blocks.append(decode_block(elements, event.step, event.wall_time))
    return [attempts[identity] for identity in sorted(attempts)]


def read_directory(directory: Any) -> list[Attempt]:
    """Reads all event files of a directory."""
    return read_log(event_files(directory))


def read_scalars(directory: Any) -> dict[str, list[tuple[int, float]]]:
    """Tag to (step, value) of the ordinary scalars in a directory."""
    events = EventAccumulator(str(directory)).Reload()
    return {tag: [(point.step, point.value) for point in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def run_python(code: str, *arguments: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs code in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )
