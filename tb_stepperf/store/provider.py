"""The only place that calls TensorBoard's data provider.

A provider is TensorBoard's view of the log directory: `MultiplexerDataProvider` of the Python loader, or
`GrpcDataProvider` in front of the Rust data server. Three facts decide what is here. One answer must stay below
gRPC's 256 MiB, so reads go out in small batches that are halved when an answer is too large. A `RunTagFilter` is a
cross product of runs and tags, so no batch asks for one tag of two runs. And the Python loader changes its
dictionaries while they are read: a run or tag may vanish in the middle of a call, which shows as `KeyError`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tensorboard.data.provider import RunTagFilter

from tb_stepperf.blocks import MAX_BLOCKS_PER_TAG, PLUGIN_NAME

MAX_TAGS_PER_READ = 8
"""Tags of one read: 8 full tags of 65,536 rows are 30 MiB at 60 bytes a row, and 200 MiB with a hundred stages. More
tags in a read were measured not to be faster."""

_KEEP_ALL = 1024 * MAX_BLOCKS_PER_TAG
"""`downsample`: more tensors than any tag has, so that nothing is thinned, duplicates included."""


@dataclasses.dataclass(frozen=True, order=True)
class TagKey:
    """A tag of a TensorBoard run."""

    tb_run: str
    tag: str


@dataclasses.dataclass(frozen=True)
class TagState:
    """What the listing says of a tag; it changes whenever a block is added.

    Attributes:
        content: content of the summary metadata.
        max_step: largest event step; -1 where there is none.
        max_wall_time_s: largest event wall time, seconds since the epoch.
    """

    content: bytes
    max_step: int
    max_wall_time_s: float


Events = list[tuple[int, float, Sequence[bytes]]]
"""Tensors of a tag: event step, event wall time in seconds since the epoch, elements of the string tensor."""


class Provider:
    """A data provider, reduced to what the store needs."""

    def __init__(self, data_provider: Any) -> None:
        self._data_provider = data_provider

    def list_tags(self, ctx: Any, experiment_id: str) -> dict[TagKey, TagState]:
        """Lists all tags of this plugin; tags of other plugins cost nothing here."""
        listing = _retrying(
            lambda: self._data_provider.list_tensors(ctx, experiment_id=experiment_id, plugin_name=PLUGIN_NAME)
        )
        return {
            TagKey(tb_run, tag): TagState(
                bytes(series.plugin_content),
                -1 if series.max_step is None else series.max_step,
                _finite(series.max_wall_time),
            )
            for tb_run, tags in listing.items()
            for tag, series in tags.items()
        }

    def list_tb_runs(self, ctx: Any, experiment_id: str) -> set[str]:
        """Lists the names of all TensorBoard runs, with or without data of this plugin."""
        runs = _retrying(lambda: self._data_provider.list_runs(ctx, experiment_id=experiment_id))
        return {run.run_name for run in runs}

    def read(
        self, ctx: Any, experiment_id: str, keys: Sequence[TagKey], *, newest_only: bool = False
    ) -> dict[TagKey, Events]:
        """Reads whole tags, in one call where the answer is not too large; a tag that has vanished is left out.

        Args:
            keys: one of the batches of `batches`.
            newest_only: read only the newest tensor of each tag.
        """
        if not keys:
            return {}
        try:
            answer = self._data_provider.read_tensors(
                ctx,
                experiment_id=experiment_id,
                plugin_name=PLUGIN_NAME,
                downsample=1 if newest_only else _KEEP_ALL,  # the newest is always kept
                run_tag_filter=RunTagFilter({key.tb_run for key in keys}, {key.tag for key in keys}),
            )
        except KeyError:
            if len(keys) == 1:
                return {}
        except Exception as error:
            if len(keys) == 1 or not _is_too_large(error):
                raise
        else:
            wanted = set(keys)
            return {
                TagKey(tb_run, tag): [(datum.step, datum.wall_time, datum.numpy) for datum in data]
                for tb_run, tags in answer.items()
                for tag, data in tags.items()
                if TagKey(tb_run, tag) in wanted
            }
        half = len(keys) // 2
        halves = (self.read(ctx, experiment_id, part, newest_only=newest_only) for part in (keys[:half], keys[half:]))
        return {key: events for found in halves for key, events in found.items()}


def batches(keys: Sequence[TagKey]) -> Iterator[list[TagKey]]:
    """Splits `keys` into batches of at most `MAX_TAGS_PER_READ`, none of which has one tag of two runs."""
    batch: list[TagKey] = []
    tags: set[str] = set()
    for key in sorted(keys):
        if len(batch) == MAX_TAGS_PER_READ or key.tag in tags:
            yield batch
            batch, tags = [], set()
        batch.append(key)
        tags.add(key.tag)
    if batch:
        yield batch


def _finite(wall_time_s: float | None) -> float:
    """Returns 0 for a clock that gave no number: NaN is not equal to itself, and the tag would always look changed."""
    return 0.0 if wall_time_s is None or math.isnan(wall_time_s) else wall_time_s


def _is_too_large(error: Exception) -> bool:
    """Whether gRPC refused an answer for its size; `grpc` itself is not imported, a provider need not use it."""
    code = getattr(error, "code", None)
    return callable(code) and getattr(code(), "name", None) == "RESOURCE_EXHAUSTED"


def _retrying(call: Callable[[], Any], num_tries: int = 3) -> Any:
    """Calls again when a run or tag vanished, or came, in the middle of the call."""
    try:
        return call()
    except KeyError:
        if num_tries == 1:
            raise
    return _retrying(call, num_tries - 1)
