"""Buckets: what kind of step it is (a sequence-length bucket, a stage of a curriculum), as a small number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tb_stepperf.recorder.arguments import Checks, as_step
from tb_stepperf.recorder.messages import Messages

MAX_BUCKETS = 256
"""As many are kept apart."""

MORE_BUCKETS = "(more buckets)"
"""Name of the bucket that stands for all beyond the limit."""

_MAX_EXACT = 2**24  # of a float32 column
_MAX_NAME = 200


class Buckets:
    """Numbers of buckets. An integer is its own number where that is free; everything else has a name for its number.

    Args:
        checks: counts what can be no bucket.
        messages: where to say that there are too many.

    Attributes:
        names: number (as text) to name, where they differ. Never changed in place: another thread may read it.
    """

    def __init__(self, checks: Checks, messages: Messages) -> None:
        self.names: Mapping[str, str] = {}
        self._checks = checks
        self._messages = messages
        self._numbers: dict[int | str, int] = {}
        self._taken: set[int] = set()
        self._next_free = 0

    def number(self, bucket: Any) -> int | None:
        """Returns the number of a bucket, new or known; None where it can be none. The caller holds the loop's lock."""
        kind = type(bucket)
        if kind is int or kind is str:
            number = self._numbers.get(bucket)
            if number is not None:
                return number
        key = bucket[:_MAX_NAME] if isinstance(bucket, str) else as_step(bucket)
        if key is None:
            self._checks.invalid("bucket", bucket, "a text or an integer of at least 0")
            return None
        number = self._numbers.get(key)
        return self._add(key) if number is None else number

    def _add(self, key: int | str) -> int:
        if len(self._numbers) >= MAX_BUCKETS and key != MORE_BUCKETS:
            self._messages.warn_once(
                "buckets",
                f"bucket {key!r} is one too many: {MAX_BUCKETS} are kept apart, further ones are put together as "
                f"{MORE_BUCKETS!r}. Use few kinds of steps, such as ranges of lengths.",
            )
            number = self._numbers.get(MORE_BUCKETS)
            return self._add(MORE_BUCKETS) if number is None else number
        if isinstance(key, int) and key < _MAX_EXACT and key not in self._taken:
            number = key
        else:
            while self._next_free in self._taken:
                self._next_free += 1
            number = self._next_free
            self.names = {**self.names, str(number): str(key)}
        self._taken.add(number)
        self._numbers[key] = number
        return number
