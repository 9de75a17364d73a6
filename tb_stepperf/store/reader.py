"""Reads tags through the provider once, and keeps decoded segments within a memory cap.

**Threads.** One lock guards the dictionaries, and is never held over a provider call or a decode. A thread that
wants a segment which another is reading waits for that one only; segments of other runs go on. If the other thread
fails, the waiting one tries itself, so that an error is told to everyone who asked.
"""

from __future__ import annotations

import collections
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from typing import Any

from tb_stepperf.store.provider import Provider, TagKey, TagState, batches
from tb_stepperf.store.segment import Environment, Segment, SegmentIndex, decode_environments, decode_segment

_CacheKey = tuple[str, TagKey, TagState]


class SegmentReader:
    """Least-recently-used cache of decoded segments over a provider.

    Args:
        provider: where tags are read.
        max_bytes: most bytes of arrays that are kept. A segment is returned also where it alone is above that.
    """

    def __init__(self, provider: Provider, max_bytes: int) -> None:
        self._provider = provider
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._kept: collections.OrderedDict[_CacheKey, Segment] = collections.OrderedDict()
        self._reading: dict[_CacheKey, Future[Segment | None]] = {}
        self._num_bytes = 0

    @property
    def num_bytes(self) -> int:
        """Bytes that are kept now."""
        return self._num_bytes

    def segments(
        self, ctx: Any, experiment_id: str, tags: Mapping[TagKey, TagState]
    ) -> Iterator[tuple[TagKey, Segment]]:
        """Yields the segments of `tags`, in any order; a tag that has vanished meanwhile is left out.

        At most one batch is held beyond the cap while the caller looks at the segments one by one.
        """
        misses: list[TagKey] = []
        for key, state in tags.items():
            segment = self._look_up((experiment_id, key, state))
            if segment is None:
                misses.append(key)
            else:
                yield key, segment
        for batch in batches(misses):
            yield from self._batch(ctx, experiment_id, {key: tags[key] for key in batch}).items()

    def environments(
        self, ctx: Any, experiment_id: str, tags: Mapping[TagKey, TagState]
    ) -> Iterator[tuple[TagKey, Environment]]:
        """Yields the environment records of `tags`; they are small, and the caller keeps them."""
        for batch in batches(list(tags)):
            for key, events in self._provider.read(ctx, experiment_id, batch).items():
                yield key, decode_environments(events)

    def newest(
        self, ctx: Any, experiment_id: str, tags: Mapping[TagKey, TagState]
    ) -> Iterator[tuple[TagKey, SegmentIndex]]:
        """Yields the index of only the newest block of each tag; nothing is kept."""
        for batch in batches(list(tags)):
            for key, events in self._provider.read(ctx, experiment_id, batch, newest_only=True).items():
                yield key, decode_segment(events, tags[key].max_step).index

    def retain(self, experiment_id: str, tags: Mapping[TagKey, TagState]) -> None:
        """Drops every segment of the experiment that is not, in this state, in `tags`."""
        with self._lock:
            stale = [key for key in self._kept if key[0] == experiment_id and tags.get(key[1]) != key[2]]
            for key in stale:
                self._num_bytes -= self._kept.pop(key).num_bytes

    def _look_up(self, key: _CacheKey) -> Segment | None:
        with self._lock:
            segment = self._kept.get(key)
            if segment is not None:
                self._kept.move_to_end(key)
            return segment

    def _batch(self, ctx: Any, experiment_id: str, tags: Mapping[TagKey, TagState]) -> dict[TagKey, Segment]:
        """Returns the segments of one batch: kept ones, ones that this thread reads, ones that others read."""
        found: dict[TagKey, Segment] = {}
        open_keys = set(tags)
        while open_keys:
            mine: dict[TagKey, Future[Segment | None]] = {}
            others: dict[TagKey, Future[Segment | None]] = {}
            with self._lock:
                for key in open_keys:
                    cache_key = (experiment_id, key, tags[key])
                    if cache_key in self._kept:
                        self._kept.move_to_end(cache_key)
                        found[key] = self._kept[cache_key]
                    elif cache_key in self._reading:
                        others[key] = self._reading[cache_key]
                    else:
                        mine[key] = self._reading[cache_key] = Future()
            try:
                found |= self._read(ctx, experiment_id, {key: tags[key] for key in mine})
            finally:
                with self._lock:
                    for key in mine:
                        del self._reading[experiment_id, key, tags[key]]
                for key, future in mine.items():
                    future.set_result(found.get(key))
            for key, future in others.items():
                segment = future.result()
                if segment is not None:
                    found[key] = segment
            open_keys = others.keys() - found.keys()  # whoever was reading these failed: try in this thread
        return found

    def _read(self, ctx: Any, experiment_id: str, tags: Mapping[TagKey, TagState]) -> dict[TagKey, Segment]:
        answer = self._provider.read(ctx, experiment_id, list(tags))
        read = {key: decode_segment(events, tags[key].max_step) for key, events in answer.items()}
        with self._lock:
            for key, segment in read.items():
                self._kept[experiment_id, key, tags[key]] = segment
                self._num_bytes += segment.num_bytes
            while self._num_bytes > self._max_bytes and self._kept:
                self._num_bytes -= self._kept.popitem(last=False)[1].num_bytes
        return read
