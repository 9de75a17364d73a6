"""Profilers that are not ours. Two at a time in one process end in a segmentation fault inside torch (seen with 2.13),
so ours is not started where another one is at work or will be soon, and is left alone where another has taken over.
"""

from __future__ import annotations

import gc
import weakref
from typing import Any

_TRACKED_AS = "ProfilerStep"
_started: weakref.WeakSet[Any] = weakref.WeakSet()


def profiler_in_the_way(own: Any, num_steps: int) -> str | None:
    """Returns what is known of another profiler that is at work, or will be within `num_steps` steps; None without.

    Args:
        own: the profiler that would be started.
        num_steps: how far schedules are asked; that of a profiler that has not started cannot be known.
    """
    import torch

    if torch.autograd._profiler_enabled() or torch.autograd.profiler._is_profiler_enabled:
        return "another profiler is recording"
    if any_prepared(own):
        return "another profiler is warming up"
    return f"another profiler begins within {num_steps} steps" if any_due(own, num_steps) else None


def any_prepared(own: Any) -> bool:
    """Returns whether a profiler other than `own` warms up or records."""
    return any(other.profiler is not None and other.profiler.kineto_results is None for other in _others_than(own))


def any_due(own: Any, num_steps: int) -> bool:
    """Returns whether the schedule of a profiler other than `own` begins within `num_steps` steps."""
    import torch

    nothing = torch.profiler.ProfilerAction.NONE
    for other in _others_than(own):
        steps = range(other.step_num + 1, other.step_num + 1 + num_steps)
        is_under_way = other in _started or other.step_rec_fn is not None
        if is_under_way and any(other.schedule(step) != nothing for step in steps):
            return True
    return False


def any_known() -> bool:
    """Returns whether a `torch.profiler.profile` may exist that is not ours: torch counts steps for it."""
    import torch

    tracked = getattr(torch.autograd.profiler.KinetoStepTracker, "_step_dict", None)
    return tracked is None or _TRACKED_AS in tracked


def see_start(own: Any) -> None:
    """Says that a profiler of ours is started."""
    _started.add(own)


def see_end(own: Any) -> None:
    """Says that a profiler of ours is at its end."""
    _started.discard(own)


def forget_own() -> None:
    """Takes back that torch counts steps for a profiler: said after ours was made while no other was known."""
    import torch

    torch.autograd.profiler.KinetoStepTracker.erase_step_count(_TRACKED_AS)


def _others_than(own: Any) -> list[Any]:
    """Returns all other profilers that may work: of ours those that were started, else all that exist.

    To find the latter takes some 10 ms, and is done only where there may be one.
    """
    import torch

    ours = [one for one in _started if one is not own]
    if not any_known():
        return ours
    base = torch.profiler.profile
    types = [base]
    for one in types:
        types += one.__subclasses__()
    found = gc.get_referrers(*types)
    return ours + [one for one in found if issubclass(type(one), base) and one is not own]
