"""Lets a caller do something in the middle of a long computation, such as give way to the threads that it shares with.

Nothing here knows of threads or time: long computations say where they can pause, and whoever runs one inside
`pausing` decides what that means.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Iterator

_pause: contextvars.ContextVar[Callable[[], None] | None] = contextvars.ContextVar("pause", default=None)


@contextlib.contextmanager
def pausing(pause: Callable[[], None]) -> Iterator[None]:
    """Has `pause` called at every `pause_point` that this thread passes inside the `with`.

    Args:
        pause: takes nothing, returns nothing; an error that it raises ends the computation.
    """
    token = _pause.set(pause)
    try:
        yield
    finally:
        _pause.reset(token)


def pause_point() -> None:
    """Marks a place, at most some tenths of a millisecond of work from the next, where a computation may pause."""
    pause = _pause.get()
    if pause is not None:
        pause()
