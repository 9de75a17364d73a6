"""Comparison and markers on the tab, as a demanding user works with them, in a real browser over planted runs."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.e2e.servers import tensorboard
from tests.e2e.tab import TIMEOUT_MS, Tab, opened
from tests.support import logs, synthetic

pytestmark = pytest.mark.browser
expect.set_options(timeout=TIMEOUT_MS)

MEDIANS_MS = {"old-1": 100.0, "old-2": 100.4, "new-1": 106.2, "new-2": 105.8}
"""Run to its typical step: the new ones are 6 % slower, and starts of the same training differ by 0.3 %."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """TensorBoard over the four runs, one that becomes 2 % slower midway, and one that is four times as slow."""
    logdir = tmp_path_factory.mktemp("comparison") / "logs"
    levels = {name: ((0, median_ms),) for name, median_ms in MEDIANS_MS.items()}
    levels |= {"drifting": ((0, 100.0), (1200, 102.0)), "far": ((0, 400.0),)}
    for seed, (name, level) in enumerate(levels.items()):
        columns = synthetic.columns(synthetic.step_time_ms(2000, levels=level, seed=seed))
        logs.write_attempt(logdir / name, np.arange(2000), columns, environment=[{"device": "cpu", "num_devices": 0}])
    with tensorboard(logdir) as found:
        yield found


def asked(tab: Tab, route: str) -> list[dict[str, list[str]]]:
    """Returns the parameters of the requests to one of our routes, in order; each may be given several times."""
    parts = [urllib.parse.urlsplit(url) for url in tab.requests]
    return [urllib.parse.parse_qs(part.query) for part in parts if part.path.endswith(f"/stepperf/{route}")]


def overlay(tab: Tab, *runs: str) -> None:
    """Shows the first of `runs`, and lays the others over it."""
    first, *others = (tab.frame.get_by_role("option", name=run, exact=True) for run in runs)
    first.click()
    expect(first).to_have_attribute("aria-selected", "true")
    for other in others:
        other.locator(".overlay").click()


def set_limit(tab: Tab, panel: Locator, label: str, percent: str) -> None:
    """Changes the smallest change that is told, by keyboard."""
    panel.get_by_role("button", name="Smallest change").click()
    panel.get_by_label(label).fill(percent)
    tab.page.keyboard.press("Enter")
    tab.page.keyboard.press("Escape")
    expect(panel.get_by_label(label)).to_be_hidden()


def test_several_runs_a_side_tell_the_spread(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        overlay(tab, "old-1", "new-1")
        panel = tab.panel("Comparison with a baseline")
        expect(panel.locator(".sentence")).to_contain_text(re.compile(r"Slower: median step time \+6\.\d+ %"))
        expect(panel).to_contain_text("run-to-run spread is unknown")
        panel.get_by_role("button", name="Several runs a side").click()
        several = tab.panel("Comparison of several runs a side")
        for side, run in (("baselines", "old-2"), ("candidates", "new-2")):
            several.get_by_role("button", name=f"Choose {side}").click()
            # The search has the focus: a person types and ticks without the mouse.
            tab.page.keyboard.type(run)
            box = several.get_by_role("checkbox", name=run)
            expect(several.get_by_role("checkbox")).to_have_count(1)
            tab.page.keyboard.press("Tab")
            tab.page.keyboard.press("Space")
            expect(box).to_be_checked()
            tab.page.keyboard.press("Escape")
            expect(box).to_be_hidden()
        expect(several.get_by_role("article", name="2 candidates together")).to_be_visible()
        expect(several.locator(".badge")).to_have_text("▲ regression")
        expect(several).to_contain_text(re.compile(r"Run-to-run spread: 0\.\d+ %"))
        expect(several).not_to_contain_text("run-to-run spread is unknown")
        assert (asked(tab, "comparison")[-1]["baseline"], asked(tab, "comparison")[-1]["candidate"]) == (
            ["old-1", "old-2"],
            ["new-1", "new-2"],
        )
        tab.page.wait_for_function("() => location.hash.includes('new-2')")
        shared = tab.page.url
    context = browser.new_context()
    page = context.new_page()
    page.goto(shared)
    again = page.frame_locator("iframe").get_by_role("article", name="2 candidates together")
    expect(again).to_contain_text("Run-to-run spread")
    context.close()


def test_the_smallest_change_reaches_markers_and_comparison(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        overlay(tab, "old-1", "drifting")
        changes, comparison = tab.panel("Changes"), tab.panel("Comparison with a baseline")
        expect(comparison.locator(".badge")).to_have_text("= same")
        expect(changes.locator(".analysis").last).to_contain_text("No change found")
        assert "min_effect" not in asked(tab, "markers")[-1]
        set_limit(tab, changes, "Typical step", "1")
        expect(changes.locator("tr.change")).to_contain_text(re.compile(r"Slower since step 1,\d\d\d"))
        expect(comparison).to_contain_text("Candidate drifting itself becomes slower at step")
        expect(comparison).to_contain_text("±1 %")
        assert asked(tab, "markers")[-1]["min_effect"] == asked(tab, "comparison")[-1]["min_effect"] == ["0.01"]
        tab.page.wait_for_function("() => location.hash.includes('effect=0.01')")
        changes.get_by_role("button", name="Smallest change: 1 %").click()
        changes.get_by_role("button", name="Back to 3 % and 5 %").click()
        expect(changes.locator("tr.change")).to_have_count(0)
        tab.page.wait_for_function("() => !location.hash.includes('effect')")


def test_a_far_run_leaves_the_others_readable_and_is_told_in_words(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        overlay(tab, "old-1", "new-1", "far")
        outside = tab.frame.get_by_role("list", name="Outside the chart")
        expect(outside).to_contain_text(re.compile(r"far above at p1–p99 \(as far as \+30\d %\)"))
        expect(outside).not_to_contain_text("new-1")


def test_the_slowest_steps_of_every_run_are_explained(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        overlay(tab, "old-1", "new-1")
        for run in ("old-1", "new-1"):
            expect(tab.panel("Changes").get_by_role("article", name=run)).to_contain_text("p99 is")
