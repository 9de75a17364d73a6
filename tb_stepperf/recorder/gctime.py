"""Time inside Python's garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any


class GcTime:
    """Adds up the time of collections in any thread: a collection stops them all.

    It refers to nothing but a clock, so that a writer that nobody closed can be collected itself.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.seconds = 0.0
        self._clock = clock
        self._began_s: float | None = None

    def install(self) -> None:
        """Begins to listen."""
        gc.callbacks.append(self._on_collection)

    def remove(self) -> None:
        """Stops listening; once is enough, more is harmless."""
        if self._on_collection in gc.callbacks:
            gc.callbacks.remove(self._on_collection)

    def take_s(self) -> float:
        """Returns the seconds since the last call."""
        seconds, self.seconds = self.seconds, 0.0
        return seconds

    def _on_collection(self, phase: str, info: dict[str, Any]) -> None:
        if phase == "start":
            self._began_s = self._clock()
        elif self._began_s is not None:
            self.seconds += self._clock() - self._began_s
            self._began_s = None
