"""The tab as a person sees it: a page of TensorBoard, the plugin's frame in it, and all that went wrong meanwhile."""

from __future__ import annotations

import contextlib
import urllib.parse
from collections.abc import Iterator

from playwright.sync_api import Browser, ConsoleMessage, FrameLocator, Locator, Page, Request

TIMEOUT_MS = 30_000
_NOT_OURS = ("Multiple instances of Three.js", "/font-roboto/")
"""What TensorBoard's own page says in the console, and what it asks for outside its path prefix."""


class Tab:
    """One page at TensorBoard's address, with the Step Performance tab open.

    Attributes:
        page: TensorBoard's page.
        frame: the plugin's frame.
        requests: addresses that the browser asked for so far, in order.
        complaints: console errors and warnings, exceptions and failed requests so far.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frame: FrameLocator = page.frame_locator("iframe")
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.set_default_timeout(TIMEOUT_MS)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(f"exception: {error}"))
        page.on("console", self._hear)
        page.on("requestfailed", self._see_failure)

    def _hear(self, message: ConsoleMessage) -> None:
        text = f"{message.text} {message.location.get('url', '')}"
        if message.type in ("error", "warning") and not any(foreign in text for foreign in _NOT_OURS):
            self.complaints.append(f"console {message.type}: {text}")

    def _see_failure(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # a stale request that the page itself called off
            self.complaints.append(f"failed: {request.url}: {request.failure}")

    @property
    def foreign_hosts(self) -> set[str]:
        """Hosts other than this machine that were asked for anything."""
        hosts = {urllib.parse.urlsplit(url).hostname for url in self.requests}
        return {host for host in hosts if host and host not in ("localhost", "127.0.0.1")}

    def data_requests(self, route: str) -> list[dict[str, str]]:
        """Parameters of the requests to one of our routes, in order."""
        found = []
        for url in self.requests:
            parts = urllib.parse.urlsplit(url)
            if parts.path.endswith(f"/data/plugin/stepperf/{route}"):
                found.append(dict(urllib.parse.parse_qsl(parts.query)))
        return found

    def chart(self, panel: str) -> Locator:
        """The chart in the panel with this title."""
        return self.panel(panel).get_by_role("img").first

    def panel(self, title: str) -> Locator:
        """The panel with this title."""
        return self.frame.get_by_role("region", name=title, exact=True)


@contextlib.contextmanager
def opened(
    browser: Browser, address: str, *, dark: bool = False, width: int = 1280, height: int = 1000
) -> Iterator[Tab]:
    """Opens the tab; afterwards nothing may have complained and no request may have left the machine."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", accept_downloads=True
    )
    tab = Tab(context.new_page())
    try:
        tab.page.goto(f"{address}/#stepperf")
        yield tab
        assert tab.complaints == []
        assert tab.foreign_hosts == set()
    finally:
        context.close()
