"""Logs with known truth, and logs that are not ours, in a real TensorBoard and a real browser."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import time
import urllib.request
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.servers import tensorboard
from tests.e2e.tab import TIMEOUT_MS, Tab, opened
from tests.support.logs import AttemptLog, write_attempt

pytestmark = pytest.mark.browser
expect.set_options(timeout=TIMEOUT_MS)

FOREIGN = pathlib.Path(__file__).parent.parent / "data" / "events"
ODD_NAME = "<img src=x onerror=alert(1)>"
HUGE_STEP = 9_007_199_254_740_993


def _columns(num_rows: int, step_time_ms: np.ndarray | None = None) -> dict[str, np.ndarray]:
    times = np.full(num_rows, 100.0) if step_time_ms is None else step_time_ms
    return {"step_time_ms": times, "stage/<b>bold</b>_ms": times * 0.6, "stage/data_ms": times * 0.1}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    logdir = tmp_path_factory.mktemp("special") / "runs"
    spike = np.full(100_000, 100.0)
    spike[77_777] = 10_000.0
    write_attempt(logdir / "spike", np.arange(100_000), _columns(100_000, spike))
    write_attempt(logdir / "huge", HUGE_STEP + np.arange(50), _columns(50))
    write_attempt(logdir / ODD_NAME, np.arange(50), _columns(50))
    write_attempt(logdir / "restarted", np.arange(151), _columns(151), end=None)
    later = _columns(101, np.full(101, 120.0))
    write_attempt(logdir / "restarted", 100 + np.arange(101), later, started_s=1_700_000_900.0)
    write_attempt(logdir / "gap", np.arange(400), _columns(400), block_rows=100, drop_ordinals={1})
    lost = {"num_rows_lost": 17, "num_interrupted": 2}
    write_attempt(logdir / "lossy", np.arange(100), _columns(100), counters=lost)
    for rank in (0, 1, 3):
        times = np.full(60, 100.0 + rank)
        directory = logdir / "job" / f"rank_{rank}"
        write_attempt(directory, np.arange(60), _columns(60, times), rank=rank, world_size=4)
    write_attempt(logdir / "healthy", np.arange(4000), _noisy(4000, slower_from=None))
    write_attempt(logdir / "slower", np.arange(4000), _noisy(4000, slower_from=2500))
    with tensorboard(logdir) as address:
        yield address


def _noisy(num_rows: int, slower_from: int | None) -> dict[str, np.ndarray]:
    """Steps of about 100 ms; from `slower_from` on, the stage `data` takes 13 ms longer."""
    random = np.random.default_rng(7)
    forward = 90.0 * np.exp(random.normal(0.0, 0.01, num_rows))
    data = 10.0 * np.exp(random.normal(0.0, 0.05, num_rows))
    if slower_from is not None:
        data[slower_from:] += 13.0
    return {"step_time_ms": forward + data, "stage/forward_ms": forward, "stage/data_ms": data}


def _show(tab: Tab, run: str) -> None:
    tab.frame.get_by_role("option", name=run, exact=True).click()
    expect(tab.chart("Step time")).to_be_visible()
    expect(tab.frame.get_by_text(re.compile("A typical step takes"))).to_be_visible()


def test_one_spike_in_100_000_steps_is_seen(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        _show(tab, "spike")
        summary = tab.frame.get_by_role("region", name="Summary")
        expect(summary).to_contain_text("step 77,777")
        expect(tab.frame.get_by_text("100,000 of 100,000 written steps read")).to_be_visible()


def test_huge_steps_are_shown_in_full(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        _show(tab, "huge")
        tab.panel("Step time").get_by_role("button", name="Show as table").click()
        expect(tab.panel("Step time").get_by_role("table").first).to_contain_text("9,007,199,254,740,993")


def test_names_from_logs_are_text(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        tab.page.on("dialog", lambda dialog: tab.complaints.append(f"dialog: {dialog.message}"))
        _show(tab, ODD_NAME)
        expect(tab.panel("Stages")).to_contain_text("<b>bold</b>")
        assert tab.frame.locator("img").count() == 0


def test_a_restart_is_a_mark_and_the_newest_attempt_wins(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        _show(tab, "restarted")
        expect(tab.panel("Conditions")).to_contain_text("51")
        tab.panel("Step time").get_by_text(re.compile(r"\d+ events? in this range")).click()
        expect(tab.panel("Step time")).to_contain_text("51 steps superseded")


def test_rows_that_never_arrived_are_counted(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        _show(tab, "gap")
        expect(tab.frame.get_by_text("300 of 400 written steps read")).to_be_visible()


def test_what_the_writer_lost_is_said(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        _show(tab, "lossy")
        expect(tab.frame.get_by_role("region", name="Summary")).to_contain_text("17")


def test_ranks_are_one_job_and_one_is_chosen(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        _show(tab, "job")
        expect(tab.frame.get_by_text(re.compile("rank 2", re.IGNORECASE)).first).to_be_visible()
        tab.frame.get_by_label(re.compile("rank", re.IGNORECASE)).first.select_option(label="rank 3")
        expect(tab.frame.get_by_text(re.compile(r"A typical step takes 103"))).to_be_visible()


def test_a_planted_slowdown_is_marked_and_put_down_to_its_stage(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        _show(tab, "slower")
        sentence = re.compile(r"Slower since step 2,(499|500|501): \+13(\.\d+)? % .* in data")
        expect(tab.frame.get_by_role("region", name="Summary").get_by_text(sentence)).to_be_visible()
        changes = tab.panel("Changes")
        expect(changes.get_by_role("row").filter(has_text=sentence)).to_have_count(1)
        changes.get_by_role("button", name=re.compile("Why")).click()
        expect(changes).to_contain_text("100 % of the change")


def test_noise_is_not_marked(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        _show(tab, "healthy")
        expect(tab.panel("Changes")).to_contain_text("No change found in 4,000 steps")


def test_two_runs_are_compared(browser: Browser, address: str) -> None:
    with opened(browser, address) as tab:
        _show(tab, "healthy")
        tab.frame.get_by_role("option", name="slower", exact=True).locator(".overlay").click()
        comparison = tab.panel("Comparison with a baseline")
        expect(comparison).to_be_visible()
        expect(comparison).to_contain_text(re.compile("run-to-run spread is unknown"))


def test_a_growing_run_is_followed(browser: Browser, tmp_path: pathlib.Path) -> None:
    logdir = tmp_path / "runs"
    log = AttemptLog(logdir / "live", started_s=time.time() - 20)
    log.append(np.arange(100), _columns(100))
    with tensorboard(logdir) as address, opened(browser, address) as tab:
        expect(tab.frame.get_by_text("100 of 100 written steps read")).to_be_visible()
        log.append(100 + np.arange(100), _columns(100))
        expect(tab.frame.get_by_text("200 of 200 written steps read")).to_be_visible(timeout=60_000)


def test_logs_without_our_data_say_what_to_do(browser: Browser, tmp_path: pathlib.Path) -> None:
    logdir = tmp_path / "runs"
    shutil.copytree(FOREIGN, logdir)
    with tensorboard(logdir) as address:
        with urllib.request.urlopen(f"{address}/data/plugins_listing") as answer:
            assert json.load(answer)["stepperf"]["enabled"] is False
        with opened(browser, address) as tab:
            expect(tab.frame.get_by_text("from tb_stepperf import StepPerfWriter")).to_be_visible()


def test_an_empty_log_directory_says_what_to_do(browser: Browser, tmp_path: pathlib.Path) -> None:
    logdir = tmp_path / "runs"
    logdir.mkdir()
    with tensorboard(logdir) as address, opened(browser, address) as tab:
        expect(tab.frame.get_by_text("from tb_stepperf import StepPerfWriter")).to_be_visible()
        expect(tab.frame.get_by_text(str(logdir))).to_be_visible()


def _runs(address: str, num_runs: int) -> list[str]:
    """Names of the runs with step data, as soon as TensorBoard has loaded so many."""
    deadline_s = time.monotonic() + 60.0
    while True:
        with urllib.request.urlopen(f"{address}/data/plugin/stepperf/runs") as answer:
            names = [run["run"] for run in json.load(answer)["runs"]]
        if len(names) >= num_runs or time.monotonic() > deadline_s:
            return names
        time.sleep(0.2)


@pytest.mark.parametrize("loader", ["true", "false"])
def test_runs_behind_symbolic_links_are_seen(tmp_path: pathlib.Path, loader: str) -> None:
    write_attempt(tmp_path / "elsewhere" / "chosen", np.arange(20), _columns(20))
    logdir = tmp_path / "runs"
    logdir.mkdir()
    (logdir / "link").symlink_to(tmp_path / "elsewhere" / "chosen")
    with tensorboard(logdir, f"--load_fast={loader}") as address:
        assert _runs(address, 1) == ["link"]


def test_two_log_directories_with_runs_of_one_name_stay_apart(tmp_path: pathlib.Path) -> None:
    write_attempt(tmp_path / "a" / "run", np.arange(20), _columns(20))
    write_attempt(tmp_path / "b" / "run", np.arange(30), _columns(30))
    specification = f"first:{tmp_path / 'a'},second:{tmp_path / 'b'}"
    with tensorboard(None, "--logdir_spec", specification, log=tmp_path / "tensorboard.log") as address:
        assert _runs(address, 2) == ["first/run", "second/run"]


def test_tensorboard_works_when_our_package_is_broken(tmp_path: pathlib.Path) -> None:
    logdir = tmp_path / "runs"
    shutil.copytree(FOREIGN / "torchtitan", logdir / "torchtitan")
    broken = tmp_path / "site"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text("import sys\nsys.modules['tb_stepperf.blocks'] = None\n")
    with tensorboard(logdir, environment={"PYTHONPATH": str(broken)}) as address:
        with urllib.request.urlopen(f"{address}/data/plugins_listing") as answer:
            plugins = json.load(answer)
        assert "scalars" in plugins
        with urllib.request.urlopen(f"{address}/data/runs") as answer:
            assert json.load(answer) == ["torchtitan"]
