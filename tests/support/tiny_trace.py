"""A small trace whose truth is known: three steps of 10 ms, 15 ms apart from what each test adds."""

from __future__ import annotations

import gzip
import json
import pathlib
from collections.abc import Mapping
from typing import Any

SECRET = "hunter2-of-the-environment"
"""Stands in the metadata of every trace made here, and may stand in no answer."""

HTML = "<img src=x onerror=alert(1)>"
FORMULA = "=HYPERLINK(0)"
ORIGIN_US = 1_700_000_000_000_000


def events(*, first_step: int = 5, num_steps: int = 3, op_us: int = 4000) -> list[dict[str, Any]]:
    """Returns steps of 10 ms; in each `aten::mm` for `op_us`, and 1 ms of two operators with odd names.

    Args:
        first_step: number that the profiler gives the first step.
        num_steps: how many.
        op_us: duration of `aten::mm`, at most 6,000.
    """
    found = []
    for number in range(num_steps):
        start = ORIGIN_US + 10_000 * number
        step = f"ProfilerStep#{first_step + number}"
        found += [
            _event(step, "user_annotation", start, 10_000),
            _event("aten::mm", "cpu_op", start + 1000, op_us),
            _event(HTML, "cpu_op", start + 8000, 1000),
            _event(FORMULA, "cpu_op", start + 9000, 1000),
        ]
    return found


def trace(**metadata: Any) -> dict[str, Any]:
    """Returns a whole trace; `metadata` stands beside its events, and so does a secret."""
    return {"schemaVersion": 1, "env": {"API_KEY": SECRET}, "traceEvents": events(), **metadata}


def write(path: pathlib.Path, content: Mapping[str, Any] | None = None) -> pathlib.Path:
    """Writes a trace, gzipped where the name says so, and the directories above it."""
    data = json.dumps(trace() if content is None else content).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def _event(name: str, category: str, start_us: int, duration_us: int) -> dict[str, Any]:
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": 1,
        "tid": 1,
        "ts": start_us,
        "dur": duration_us,
        "args": {},
    }
