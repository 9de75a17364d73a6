"""A small thread-safe memory of derived values, the least recently used forgotten first."""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable, Hashable
from typing import Protocol, TypeVar


class Sized(Protocol):
    """A value that knows how much memory it holds."""

    @property
    def num_bytes(self) -> int:
        """Bytes held in memory."""
        ...


Value = TypeVar("Value", bound=Sized)


class RecentlyUsed:
    """Keeps the latest version of derived values, within a bound of memory.

    Args:
        max_bytes: most bytes of all values together; a value that is larger is made anew each time.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._values: collections.OrderedDict[Hashable, tuple[Hashable, Sized]] = collections.OrderedDict()
        self._num_bytes = 0
        self._lock = threading.Lock()

    @property
    def num_bytes(self) -> int:
        """Bytes that are held now."""
        return self._num_bytes

    def get(self, key: Hashable, version: Hashable, make: Callable[[], Value]) -> Value:
        """Returns the value of `key` at `version`, made by `make` where it is not remembered.

        `make` runs without the lock: two requests at once may both make it, and get equal values.
        """
        with self._lock:
            known = self._values.get(key)
            if known is not None and known[0] == version:
                self._values.move_to_end(key)
                return known[1]  # type: ignore[return-value]
        value = make()
        with self._lock:
            old = self._values.pop(key, None)
            self._num_bytes += value.num_bytes - (old[1].num_bytes if old else 0)
            self._values[key] = (version, value)
            while self._num_bytes > self._max_bytes:
                _, (_, forgotten) = self._values.popitem(last=False)
                self._num_bytes -= forgotten.num_bytes
        return value
