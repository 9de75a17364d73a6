"""From a file to what there is to say of it; in this process."""

from __future__ import annotations

from collections.abc import Callable

from tb_stepperf.traces.read import read_trace
from tb_stepperf.traces.summarise import summarise
from tb_stepperf.traces.summary import TraceSummary

_READING = 0.8
"""Part of the time that goes into reading, on large files."""


def read_summary(path: str, *, report: Callable[[float], object] = lambda progress: None) -> TraceSummary:
    """Reads a trace and says what is in it.

    Args:
        path: of the file, local or remote as TensorBoard takes it.
        report: takes the progress in [0, 1].

    Raises:
        TraceError: the file cannot be read as a trace.
    """
    events = read_trace(path, report=lambda fraction: report(_READING * fraction))
    summary = summarise(events)
    report(1.0)
    return summary
