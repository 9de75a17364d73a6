"""The demo's logs in a real TensorBoard and a real browser."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.servers import reverse_proxy, tensorboard
from tests.e2e.tab import TIMEOUT_MS, opened

pytestmark = pytest.mark.browser
expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture(scope="module")
def address(demo_logs: pathlib.Path) -> Iterator[str]:
    with tensorboard(demo_logs) as address:
        yield address


def test_the_demo_is_shown(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        expect(tab.frame.get_by_role("option", name="healthy-1")).to_be_visible()
        expect(tab.frame.get_by_role("option", name="slower-1")).to_be_visible()
        expect(tab.frame.get_by_text(re.compile(r"A typical step takes [\d.]+ ms"))).to_be_visible()
        for panel in ("Step time", "Stages", "Memory", "Throughput"):
            expect(tab.chart(panel)).to_be_visible()
        expect(tab.panel("Conditions")).to_contain_text("2.13")
        expect(tab.frame.get_by_text("160 of 160 written steps read")).to_be_visible()


def test_the_demo_s_planted_cause_is_named(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        tab.frame.get_by_role("option", name="slower-1").click()
        # planted at 64; the first late batch arrives a little later, since some were prepared ahead
        verdict = tab.frame.get_by_text(re.compile(r"Slower since step (6\d|7[0-4]): \+\d.* in data"))
        expect(verdict.first).to_be_visible()


def test_the_python_loader_shows_the_same(browser: Browser, demo_logs: pathlib.Path, address: str) -> None:
    def sentence(at: str) -> str:
        with opened(browser, at) as tab:
            tab.frame.get_by_role("option", name="healthy-1").click()
            expect(tab.chart("Throughput")).to_be_visible()
            return tab.frame.get_by_text(re.compile(r"A typical step takes")).inner_text()

    with tensorboard(demo_logs, "--load_fast=false") as python_loader:
        assert sentence(python_loader) == sentence(address)


def test_a_drag_zooms_and_the_bands_are_computed_anew(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        chart = tab.chart("Step time")
        expect(chart).to_be_visible()
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        assert box is not None
        before = len(tab.data_requests("bands"))
        y = box["y"] + box["height"] / 2
        tab.page.mouse.move(box["x"] + box["width"] * 0.4, y)
        tab.page.mouse.down()
        tab.page.mouse.move(box["x"] + box["width"] * 0.6, y, steps=5)
        tab.page.mouse.up()
        expect(tab.frame.get_by_role("button", name="Whole run")).to_be_visible()
        asked = [request for request in tab.data_requests("bands")[before:] if "start" in request]
        assert asked, "the zoom asked for no bands"
        assert 0 < int(asked[-1]["start"]) < int(asked[-1]["end"]) < 160
        tab.frame.get_by_role("button", name="Whole run").click()
        expect(tab.frame.get_by_role("button", name="Whole run")).to_be_hidden()


def test_the_keyboard_reads_values_and_zooms(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        chart = tab.chart("Step time")
        expect(chart).to_be_visible()
        chart.focus()
        for _ in range(60):
            tab.page.keyboard.press("ArrowRight")
        readout = tab.panel("Step time").locator(".readout")
        expect(readout).to_contain_text(re.compile(r"step \d+.* ms"))
        for _ in range(20):
            tab.page.keyboard.press("Shift+ArrowRight")
        tab.page.keyboard.press("Enter")
        expect(tab.frame.get_by_role("button", name="Whole run")).to_be_visible()
        tab.page.keyboard.press("Escape")
        expect(tab.frame.get_by_role("button", name="Whole run")).to_be_hidden()


def test_dark_mode_follows_tensorboard(browser: Browser, address: str) -> None:
    def brightness() -> float:
        color = tab.frame.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")
        return sum(float(part) for part in re.findall(r"[\d.]+", color)[:3]) / 3

    with opened(browser, address) as tab:
        expect(tab.chart("Step time")).to_be_visible()
        assert brightness() > 200
        tab.page.evaluate("document.body.classList.add('dark-mode')")
        tab.page.wait_for_timeout(300)
        assert brightness() < 60


def test_a_table_stands_for_every_chart(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        for panel in ("Step time", "Stages", "Memory", "Throughput"):
            tab.panel(panel).get_by_role("button", name="Show as table").click()
            expect(tab.panel(panel).get_by_role("table").first).to_be_visible()


def test_the_state_is_in_the_address(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        tab.frame.get_by_role("option", name="healthy-1").click()
        tab.frame.get_by_role("button", name="Relative", exact=True).click()
        expect(tab.chart("Step time")).to_be_visible()
        tab.page.wait_for_function("() => location.hash.includes('relative')")
        shared = tab.page.url
    context = browser.new_context()
    page = context.new_page()
    page.goto(shared)
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("option", name="healthy-1")).to_have_attribute("aria-selected", "true")
    expect(frame.get_by_role("button", name="Relative", exact=True)).to_have_attribute("aria-pressed", "true")
    context.close()


def test_what_is_shown_can_be_downloaded(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        tab.frame.get_by_role("option", name="healthy-1").click()
        expect(tab.chart("Step time")).to_be_visible()
        tab.frame.get_by_text("Download", exact=True).click()
        with tab.page.expect_download() as waiting:
            tab.frame.get_by_role("link", name="Steps in view as CSV").click()
        rows = pathlib.Path(waiting.value.path()).read_text(encoding="utf-8").splitlines()
        assert rows[0].split(",")[:3] == ["step", "wall_time_s", "step_time_ms"]
        assert [int(row.split(",")[0]) for row in rows[1:]] == list(range(160))


def test_below_a_path_prefix_and_a_proxy(browser: Browser, demo_logs: pathlib.Path) -> None:
    with (
        tensorboard(demo_logs, "--path_prefix", "/x/y") as upstream,
        reverse_proxy(upstream.removesuffix("/x/y"), "/x/y") as proxy,
        opened(browser, f"{proxy}/x/y") as tab,
    ):
        expect(tab.chart("Step time")).to_be_visible()
        assert len(tab.data_requests("bands")) > 0
        ours = [url for url in tab.requests if "stepperf" in url]
        assert [url for url in ours if not url.startswith(f"{proxy}/x/y/")] == []
