"""A real browser; it fails, never skips, where there is none."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

ROOT = pathlib.Path(__file__).parent.parent.parent
BROWSER_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--lang=en-US",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium from $CHROMIUM (`make test` sets it), else from PATH."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    assert path, "no Chromium: run `make test`, which finds or installs one, or set CHROMIUM to its path"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path, args=BROWSER_ARGUMENTS, env={**os.environ, "LANG": "en_US.UTF-8"}
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def demo_logs(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Logs of the demo itself, cut short: a healthy run and one with slower storage."""
    logdir = tmp_path_factory.mktemp("demo") / "runs"
    command = [sys.executable, "-m", "demo", "--no-serve", "--logdir", str(logdir), "--steps", "160"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return logdir
