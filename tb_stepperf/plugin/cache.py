"""A small thread-safe memory of derived values, the least recently used forgotten first."""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable, Hashable
from typing import Any


class RecentlyUsed:
    """Keeps the latest version of a few derived values.

    Args:
        max_values: how many; each may be a few arrays as long as a run.
    """

    def __init__(self, max_values: int) -> None:
        self._max_values = max_values
        self._values: collections.OrderedDict[Hashable, tuple[Hashable, Any]] = collections.OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, version: Hashable, make: Callable[[], Any]) -> Any:
        """Returns the value of `key` at `version`, made by `make` where it is not remembered.

        `make` runs without the lock: two requests at once may both make it, and get equal values.
        """
        with self._lock:
            known = self._values.get(key)
            if known is not None and known[0] == version:
                self._values.move_to_end(key)
                return known[1]
        value = make()
        with self._lock:
            self._values[key] = (version, value)
            self._values.move_to_end(key)
            while len(self._values) > self._max_values:
                self._values.popitem(last=False)
        return value
