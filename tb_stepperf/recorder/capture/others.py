"""Profilers that are not ours. Two at a time in one process end in a segmentation fault inside torch (seen with 2.13),
so ours is not started where another one is at work or will be soon, and ends before another one begins.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

_TRACKED_AS = "ProfilerStep"
_BEGINNINGS = ("_prepare_profiler", "_enable_profiler")
_started: weakref.WeakSet[Any] = weakref.WeakSet()


class Place:
    """The place of the one profiler that torch can have. While it is kept, whoever else begins is noticed just before.

    Profilers of every kind call the same two functions of the module `torch.autograd.profiler`; ours stand there
    meanwhile. A boundary is too late to look: the other one may have come and gone within a step.

    Args:
        give_way: called once, in the thread of the other profiler, before it begins.
    """

    def __init__(self, give_way: Callable[[], None]) -> None:
        self._give_way = give_way
        self._kept: dict[str, tuple[Any, Any]] = {}

    def keep(self) -> None:
        """Keeps the place from now on."""
        import torch

        module = torch.autograd.profiler
        for name in filter(functools.partial(hasattr, module), _BEGINNINGS):  # private: another torch may lack one
            original = getattr(module, name)
            own = functools.partial(self._begin, original)
            self._kept[name] = original, own
            setattr(module, name, own)

    def leave(self) -> None:
        """Keeps it no more, if it does."""
        for name in list(self._kept):
            original, own = self._kept.pop(name)
            module = sys.modules["torch.autograd.profiler"]
            if getattr(module, name) is own:  # else somebody keeps the place after us, and passes through here
                setattr(module, name, original)

    def _begin(self, original: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        if self._kept:
            self.leave()
            self._give_way()
        return original(*arguments, **options)


@contextlib.contextmanager
def noticing(give_way: Callable[[], None]) -> Iterator[None]:
    """Has a function called just before the first profiler that begins inside; does nothing without torch."""
    place = Place(give_way)
    if "torch" in sys.modules:
        place.keep()
    try:
        yield
    finally:
        place.leave()


def profiler_in_the_way(own: Any, num_steps: int) -> str | None:
    """Returns what is known of another profiler that is at work, or will be within `num_steps` steps; None without.

    Args:
        own: the profiler that would be started.
        num_steps: how far schedules are asked; that of a profiler that has not started cannot be known.
    """
    import torch

    if torch.autograd._profiler_enabled() or torch.autograd.profiler._is_profiler_enabled:
        return "another profiler is recording"
    found = _others_than(own)
    if any(other.profiler is not None and other.profiler.kineto_results is None for other in found):
        return "another profiler is warming up"
    return f"another profiler begins within {num_steps} steps" if _any_due(found, num_steps) else None


def _any_due(found: list[Any], num_steps: int) -> bool:
    """Returns whether the schedule of one of these profilers begins within `num_steps` steps."""
    import torch

    nothing = torch.profiler.ProfilerAction.NONE
    for other in found:
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
