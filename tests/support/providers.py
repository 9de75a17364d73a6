"""Both of TensorBoard's ways to a log directory, for real: its Python loader and its Rust data server."""

from __future__ import annotations

import contextlib
import pathlib
import time
from collections.abc import Callable, Iterator
from typing import Any

from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard.context import RequestContext
from tensorboard.data.server_ingester import SubprocessServerDataIngester, get_server_binary
from tensorboard.util.grpc_util import ChannelCredsType

CTX = RequestContext()
EXPERIMENT = ""

LOADERS = ("python", "rust")
"""Names that `open_provider` takes."""

DEADLINE_S = 30.0


class Loaded:
    """A data provider over a log directory.

    Attributes:
        data_provider: TensorBoard's.
        reload: reads what is new on disk. The Python loader does so in the call; the data server does so by itself,
            see `until`.
    """

    def __init__(self, data_provider: Any, reload: Callable[[], None]) -> None:
        self.data_provider = data_provider
        self.reload = reload

    def until(self, condition: Callable[[], Any]) -> Any:
        """Reloads until `condition` returns something true, and returns that.

        Raises:
            TimeoutError: it did not within `DEADLINE_S`.
        """
        deadline_s = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline_s:
            self.reload()
            if result := condition():
                return result
            time.sleep(0.02)
        raise TimeoutError(f"the condition did not become true within {DEADLINE_S} s")


@contextlib.contextmanager
def open_provider(loader: str, logdir: pathlib.Path, *, keep_all: bool = True) -> Iterator[Loaded]:
    """Loads `logdir` once, and then on `reload`.

    Args:
        loader: "python" or "rust".
        logdir: the log directory.
        keep_all: as with the plugin's hook for `--samples_per_plugin`; False is TensorBoard's default for a plugin
            that it does not know: 10 tensors of a tag in the Python loader, 100 in the data server.
    """
    if loader == "python":
        sizes = {"stepperf": 0} if keep_all else {}
        multiplexer = EventMultiplexer(
            size_guidance={"tensors": 10}, tensor_size_guidance=sizes, event_file_active_filter=lambda _: True
        )

        def reload() -> None:
            multiplexer.AddRunsFromDirectory(str(logdir))
            multiplexer.Reload()

        reload()
        yield Loaded(MultiplexerDataProvider(multiplexer, str(logdir)), reload)
        return
    ingester = SubprocessServerDataIngester(
        get_server_binary(),
        str(logdir),
        reload_interval=1,
        channel_creds_type=ChannelCredsType.LOCAL,
        samples_per_plugin={"stepperf": 0} if keep_all else None,
    )
    ingester.start()
    try:
        yield Loaded(ingester.data_provider, lambda: None)
    finally:
        ingester._stdin_handle.close()
