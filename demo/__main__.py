"""`python -m demo`: trains a healthy run and one that gets slower, with TensorBoard open from the start."""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from demo.train import Plan, train

START_TIMEOUT_S = 60.0
_ADDRESS = re.compile(r"at (http://\S+)")


def main() -> None:
    """Trains both runs, serving TensorBoard meanwhile and afterwards."""
    parser = argparse.ArgumentParser(prog="python -m demo", description=main.__doc__)
    parser.add_argument("--logdir", default="runs/demo", help="where to write (default runs/demo)")
    parser.add_argument("--steps", type=int, default=2400, help="steps of each run at most (default 2400)")
    parser.add_argument("--seconds", type=float, default=60.0, help="duration of each run at most (default 60)")
    parser.add_argument("--no-serve", action="store_true", help="train only; do not start TensorBoard")
    parser.add_argument("--host", default="localhost", help="address that TensorBoard binds to (default localhost)")
    parser.add_argument("--port", type=int, default=6006, help="TensorBoard's port; the next free one if taken")
    options = parser.parse_args()
    logdir = pathlib.Path(options.logdir)
    logdir.mkdir(parents=True, exist_ok=True)
    if options.no_serve:
        _train_both(logdir, options.steps, options.seconds)
        return
    server, address = _serve(logdir, options.host, options.port)
    try:
        print(f"\nOpen {address} and watch it train.\n", flush=True)
        _train_both(logdir, options.steps, options.seconds)
        print(f"\nTraining is done. The tab: {address}\nPress Ctrl-C to stop TensorBoard.", flush=True)
        server.wait()
    except KeyboardInterrupt:
        print("\nStopped.")
    finally:
        server.terminate()
        server.wait()


def _train_both(logdir: pathlib.Path, num_steps: int, seconds: float) -> None:
    """Trains the healthy run, then one whose storage gets slower after two fifths of the steps."""
    healthy, slower = _new_runs(logdir)
    plan = Plan(num_steps=num_steps, max_seconds=seconds, checkpoint_every=200)
    print(f"1 of 2: {healthy} (nothing planted)", flush=True)
    result = train(healthy, plan)
    print(f"  loss {result.loss:.3f} nats a character; a uniform guess has 4.85", flush=True)
    slow_data_at = result.num_steps * 2 // 5
    print(f"2 of 2: {slower} (storage gets slower at step {slow_data_at})", flush=True)
    result = train(slower, dataclasses.replace(plan, slow_data_at=slow_data_at), seed=1)
    print(f"  loss {result.loss:.3f} nats a character", flush=True)


def _new_runs(logdir: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    """Returns directories that do not exist yet, so that a second demo stands beside the first."""
    number = 1
    while any((logdir / f"{name}-{number}").exists() for name in ("healthy", "slower")):
        number += 1
    return logdir / f"healthy-{number}", logdir / f"slower-{number}"


def _serve(logdir: pathlib.Path, host: str, port: int) -> tuple[subprocess.Popen[bytes], str]:
    """Starts TensorBoard and waits until it says its address.

    Raises:
        RuntimeError: it ended, or said nothing in time; its log is in the message.
    """
    arguments = ["--logdir", str(logdir), "--host", host, "--reload_interval", "3"]
    for candidate in range(port, port + 20):
        with tempfile.NamedTemporaryFile() as log:
            command = [sys.executable, "-m", "tensorboard.main", *arguments, "--port", str(candidate)]
            server = subprocess.Popen(command, stdout=log, stderr=log)
            text = _wait_for(server, pathlib.Path(log.name))
        if found := _ADDRESS.search(text):
            return server, found[1].rstrip("/") + "/#stepperf"
        if server.poll() is None:
            server.kill()
            raise RuntimeError(f"TensorBoard said no address within {START_TIMEOUT_S:.0f} s; its log:\n{text}")
        if "already in use" not in text and "is in use" not in text:
            raise RuntimeError(f"TensorBoard ended with exit status {server.returncode}; its log:\n{text}")
    raise RuntimeError(f"ports {port} to {port + 19} are all taken; give another with --port")


def _wait_for(server: subprocess.Popen[bytes], log: pathlib.Path) -> str:
    """Returns the server's log as soon as it holds an address or the server has ended."""
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline_s and server.poll() is None:
        if _ADDRESS.search(text := log.read_text(errors="replace")):
            return text
        time.sleep(0.1)
    return log.read_text(errors="replace")


if __name__ == "__main__":
    main()
