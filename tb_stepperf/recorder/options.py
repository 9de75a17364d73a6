"""The options of `StepPerfWriter`: checked where it is constructed, the only place that raises."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from typing import Any

from tb_stepperf.errors import ConfigError
from tb_stepperf.recorder.arguments import MAX_STEP, as_step
from tb_stepperf.recorder.messages import Messages
from tb_stepperf.recorder.ranks import Rank, rank_directory
from tb_stepperf.recorder.sink import FileSink, Sink, SummaryWriterSink

_PEAK_MEMORY = ("per_step", "cumulative", "off")


def check_options(
    warmup_steps: Any, flush_interval_s: Any, first_step: Any, peak_memory: Any, max_stages: Any, user: Any
) -> None:
    """Checks the options of a `StepPerfWriter` that are not checked where they are used.

    Raises:
        ConfigError: one cannot be used.
    """
    if as_step(warmup_steps) is None:
        raise ConfigError(f"warmup_steps is {warmup_steps!r}; an integer of at least 0 is allowed")
    number = isinstance(flush_interval_s, (int, float)) and not isinstance(flush_interval_s, bool)
    if not number or not 0 < flush_interval_s < math.inf:
        raise ConfigError(f"flush_interval_s is {flush_interval_s!r}; a number of seconds above 0 is allowed")
    if as_step(first_step) is None:
        raise ConfigError(f"first_step is {first_step!r}; an integer in [0, {MAX_STEP}] is allowed")
    if peak_memory not in _PEAK_MEMORY:
        raise ConfigError(f"peak_memory is {peak_memory!r}; one of {', '.join(_PEAK_MEMORY)} is allowed")
    if not as_step(max_stages):
        raise ConfigError(f"max_stages is {max_stages!r}; an integer of at least 1 is allowed")
    if user is not None and not isinstance(user, Mapping):
        raise ConfigError(f"user is a {type(user).__name__}; a mapping from names to JSON values is allowed")


def make_sink(
    logdir: Any, summary_writer: Any, rank: Rank, messages: Messages, wall_clock: Callable[[], float]
) -> Sink:
    """Returns where a writer writes: into a file of its own, or through a `SummaryWriter`.

    Raises:
        ConfigError: not exactly one of the two is given, or it cannot be used.
    """
    if (logdir is None) == (summary_writer is None):
        given = "neither logdir nor summary_writer" if logdir is None else "both logdir and summary_writer"
        raise ConfigError(f"{given} is given; exactly one is allowed: it says where steps are written")
    if summary_writer is not None:
        return SummaryWriterSink(summary_writer, messages)
    if not isinstance(logdir, (str, os.PathLike)) or not isinstance(os.fspath(logdir), str) or not os.fspath(logdir):
        raise ConfigError(f"logdir is {logdir!r}; the path of a directory is allowed")
    return FileSink(rank_directory(os.fspath(logdir), rank), messages, wall_clock)
