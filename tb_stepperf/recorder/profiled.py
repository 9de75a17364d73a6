"""Whether torch's profiler was at work in a step: what a row of the loop says of it."""

from __future__ import annotations

import sys
from typing import Any

RECORDING, AT_WORK = 1, 2
"""Values of a row, besides 0: it recorded when the step ended (so that the next one begins with it), or it was at work
in the step: prepared, started, stopped or exported."""


class NoProfiler:
    """Stands for `torch.autograd.profiler` until the loop has loaded it."""

    _is_profiler_enabled = 0


class ProfilerAtWork:
    """Stands for it in a step in which it is at work."""

    _is_profiler_enabled = AT_WORK


def find_profiler() -> Any:
    """Returns the module whose `_is_profiler_enabled` says whether a profiler records."""
    module = sys.modules.get("torch.autograd.profiler")
    return module if hasattr(module, "_is_profiler_enabled") else NoProfiler
