"""Both of TensorBoard's ways to a log directory, for real: its Python loader and its Rust data server."""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard.context import RequestContext
from tensorboard.data.server_ingester import ExistingServerDataIngester, get_server_binary
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
        pid: process that loads.
    """

    def __init__(self, data_provider: Any, reload: Callable[[], None], pid: int) -> None:
        self.data_provider = data_provider
        self.reload = reload
        self.pid = pid

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
        yield Loaded(MultiplexerDataProvider(multiplexer, str(logdir)), reload, os.getpid())
        return
    with _data_server(logdir, ["--samples-per-plugin=stepperf=all"] if keep_all else []) as (process, address):
        ingester = ExistingServerDataIngester(address, channel_creds_type=ChannelCredsType.LOCAL)
        yield Loaded(ingester.data_provider, lambda: None, process.pid)


@contextlib.contextmanager
def _data_server(logdir: pathlib.Path, arguments: list[str]) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Starts the Rust data server as TensorBoard does, reloading every second; yields it and its address."""
    with tempfile.TemporaryDirectory() as directory:
        port_file = pathlib.Path(directory) / "port"
        command = [get_server_binary().path, f"--logdir={logdir}", "--reload=1", "--port=0", "--die-after-stdin"]
        server = subprocess.Popen([*command, f"--port-file={port_file}", *arguments], stdin=subprocess.PIPE)
        try:
            deadline_s = time.monotonic() + DEADLINE_S
            while not (port_file.exists() and port_file.read_text().endswith("\n")):
                if server.poll() is not None or time.monotonic() > deadline_s:
                    raise RuntimeError(f"the data server did not start; exit status {server.poll()}")
                time.sleep(0.01)
            yield server, f"localhost:{int(port_file.read_text())}"
        finally:
            server.kill()
            server.communicate()
