"""A log directory without a TensorBoard process: its Python loader, in this process, read once."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from tb_stepperf.blocks import PLUGIN_NAME
from tb_stepperf.errors import NotFoundError
from tb_stepperf.store.store import Store
from tb_stepperf.store.types import Catalog, Table

_KEEP_ALL = 0
_FOREIGN = ("images", "audio", "scalars", "histograms", "compressedHistograms", "tensors")
_EXPERIMENT = ""


class LogDirectory:
    """What a log directory held when it was read.

    Args:
        store: over TensorBoard's data provider.
        ctx: TensorBoard's request context.
    """

    def __init__(self, store: Store, ctx: Any) -> None:
        self._store = store
        self._ctx = ctx

    def catalog(self) -> Catalog:
        """Returns everything that there is; see `Store.catalog`."""
        return self._store.catalog(self._ctx, _EXPERIMENT)

    def read(
        self,
        run: str,
        member: str,
        columns: Sequence[str] | None,
        start_step: int | None = None,
        end_step: int | None = None,
    ) -> Table:
        """Reads rows of one member; see `Store.read`.

        Raises:
            NotFoundError: there is no such run or member.
        """
        return self._store.read(self._ctx, _EXPERIMENT, run, member, columns, start_step=start_step, end_step=end_step)


def open_logdir(path: str) -> LogDirectory:
    """Reads a log directory, local or remote as TensorBoard takes it.

    All event files of each run are read, in every directory below; of other plugins' data only one value a tag is
    kept.

    Raises:
        NotFoundError: there is no such directory.
    """
    if not is_directory(path):
        raise NotFoundError(f"{path!r} is not a directory; give a log directory, or a run's directory in it", "logdir")
    with warnings.catch_warnings():
        # TensorBoard's copy of bleach warns of its own future when it is first imported.
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
        from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
        from tensorboard.context import RequestContext
    multiplexer = EventMultiplexer(
        size_guidance=dict.fromkeys(_FOREIGN, 1),
        tensor_size_guidance={PLUGIN_NAME: _KEEP_ALL},
        event_file_active_filter=lambda _: True,
    )
    multiplexer.AddRunsFromDirectory(path)
    multiplexer.Reload()
    store = Store(MultiplexerDataProvider(multiplexer, path), min_refresh_interval_s=float("inf"))
    return LogDirectory(store, RequestContext())


def is_directory(path: str) -> bool:
    """Whether `path` is a directory, local or remote as TensorBoard takes it."""
    from tensorboard.compat import tf

    return bool(tf.io.gfile.isdir(path))
