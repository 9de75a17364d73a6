"""A data provider that records its calls, and can fail or wait in them."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any


class Spy:
    """Passes every call on to a provider.

    Attributes:
        reads: (TensorBoard run, tag) to how often it was read as a whole.
        newest_reads: the same for reads of only the newest tensor.
        num_listings: calls of `list_tensors`.
        largest_read: most tags of one read.
        before: called before each call with its name and arguments; may raise or wait.
    """

    def __init__(self, provider: Any) -> None:
        self._provider = provider
        self.reads: collections.Counter[tuple[str, str]] = collections.Counter()
        self.newest_reads: collections.Counter[tuple[str, str]] = collections.Counter()
        self.num_listings = 0
        self.largest_read = 0
        self.before: Callable[[str, dict[str, Any]], None] = lambda name, arguments: None

    def list_tensors(self, ctx: Any, **arguments: Any) -> Any:
        self.num_listings += 1
        self.before("list_tensors", arguments)
        return self._provider.list_tensors(ctx, **arguments)

    def list_runs(self, ctx: Any, **arguments: Any) -> Any:
        self.before("list_runs", arguments)
        return self._provider.list_runs(ctx, **arguments)

    def read_tensors(self, ctx: Any, **arguments: Any) -> Any:
        self.before("read_tensors", arguments)
        answer = self._provider.read_tensors(ctx, **arguments)
        counter = self.newest_reads if arguments["downsample"] == 1 else self.reads
        counter.update((run, tag) for run, tags in answer.items() for tag in tags)
        self.largest_read = max(self.largest_read, sum(map(len, answer.values())))
        return answer
