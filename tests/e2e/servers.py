"""A real TensorBoard process, and a reverse proxy in front of it."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
import urllib.parse
from collections.abc import Iterator, Sequence

START_TIMEOUT_S = 60.0


@contextlib.contextmanager
def tensorboard(
    logdir: pathlib.Path | None,
    *arguments: str,
    environment: dict[str, str] | None = None,
    log: pathlib.Path | None = None,
) -> Iterator[str]:
    """Runs TensorBoard on a free port and yields its address, without a slash at the end.

    Args:
        logdir: the log directory; None where `arguments` name one in another way.
        arguments: further ones of the command line.
        environment: variables on top of ours.
        log: where its output goes; by default into a file beside `logdir`.

    Raises:
        RuntimeError: it ended, or said no address in time; its log is in the message.
    """
    if logdir is not None:
        arguments = ("--logdir", str(logdir), *arguments)
        log = log or logdir.parent / f"tensorboard-{time.monotonic_ns()}.log"
    assert log is not None, "say where the output goes, log=, when there is no logdir"
    command = [sys.executable, "-m", "tensorboard.main", "--port", "0", "--reload_interval", "1", *arguments]
    with log.open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output, env={**os.environ, **(environment or {})})
    try:
        yield _address(server, log)
    finally:
        server.terminate()
        server.wait()


def _address(server: subprocess.Popen[bytes], log_path: pathlib.Path) -> str:
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline_s and server.poll() is None:
        if found := re.search(r"at (http://\S+)", log_path.read_text(errors="replace")):
            return found[1].rstrip("/")
        time.sleep(0.05)
    server.kill()
    raise RuntimeError(f"TensorBoard did not start; its log:\n{log_path.read_text(errors='replace')}")


@contextlib.contextmanager
def reverse_proxy(upstream: str, prefix: str) -> Iterator[str]:
    """Serves `upstream` below `prefix` on a port of its own, as a notebook server's proxy does; yields the address."""
    target = urllib.parse.urlsplit(upstream)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._forward(None)

        def do_POST(self) -> None:
            self._forward(self.rfile.read(int(self.headers.get("Content-Length", 0))))

        def _forward(self, body: bytes | None) -> None:
            if not self.path.startswith(prefix):
                self.send_error(404, "outside the prefix")
                return
            connection = http.client.HTTPConnection(target.hostname or "", target.port or 80)
            headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in _HOP_BY_HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            connection.close()

        def log_message(self, format: str, *arguments: object) -> None:
            """Says nothing: the test looks at the browser."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


_HOP_BY_HOP: Sequence[str] = ("connection", "keep-alive", "transfer-encoding", "content-length", "host")
