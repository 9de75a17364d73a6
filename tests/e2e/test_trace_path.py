"""From a marker to the operator that caused it: the way that a person walks, over a run that was captured by itself."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import time
from collections.abc import Iterator

import pytest
import torch
from playwright.sync_api import Browser, expect
from torch.utils.data import DataLoader, Dataset

from tb_stepperf import StepPerfWriter
from tb_stepperf.recorder import changes
from tests.e2e.servers import tensorboard
from tests.e2e.tab import TIMEOUT_MS, opened

pytestmark = pytest.mark.browser
expect.set_options(timeout=TIMEOUT_MS)

PLANTED_AT = 500
MAX_STEPS = 6000


class Samples(Dataset[torch.Tensor]):
    """Samples whose preparation takes three times as long from a certain one on."""

    def __len__(self) -> int:
        return MAX_STEPS

    def __getitem__(self, index: int) -> torch.Tensor:
        time.sleep(0.001 if index < PLANTED_AT else 0.006)
        return torch.ones(16, 16)


@dataclasses.dataclass(frozen=True)
class Trained:
    """A run on disk: TensorBoard's address, and its trace files by time."""

    address: str
    traces: tuple[pathlib.Path, ...]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trained]:
    """A loop in two lines of ours; it goes on until it was captured because it got slower."""
    logdir = tmp_path_factory.mktemp("traces") / "logs"
    weight = torch.ones(16, 16, requires_grad=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(changes, "MAX_SHARE", 1.0)  # a detector that may look as often as it likes, so that this is short
        with StepPerfWriter(logdir / "loop", capture="regression", flush_interval_s=0.2) as perf:
            for number, sample in enumerate(perf.data(DataLoader(Samples(), batch_size=None))):
                with perf.stage("forward"):
                    loss = (sample @ weight).sum()
                with perf.stage("backward"):
                    loss.backward()
                perf.step()
                if number >= PLANTED_AT + 600 and number % 50 == 0 and len(_traces(logdir)) == 2:
                    break
    traces = _traces(logdir)
    assert len(traces) == 2, f"a reference and a window of the slowdown, not {[path.name for path in traces]}"
    with tensorboard(logdir) as address:
        yield Trained(address, traces)


def _traces(logdir: pathlib.Path) -> tuple[pathlib.Path, ...]:
    return tuple(sorted(logdir.rglob("*.pt.trace.json.gz")))


def test_a_marker_leads_to_the_traces_and_they_name_the_cause(browser: Browser, trained: Trained) -> None:
    with opened(browser, trained.address) as tab:
        changes_panel = tab.panel("Changes")
        expect(changes_panel).to_contain_text(re.compile(r"Slower since step \d+.*in data"))
        marker = changes_panel.get_by_role("row").filter(has_text="Slower since step").first
        expect(marker).to_contain_text("(reference)")
        marker.get_by_role("button", name="Compare the traces before and after").click()
        comparison = tab.frame.get_by_role("article").filter(has_text="compared with")
        expect(comparison.locator(".sentence")).to_contain_text("enumerate(DataLoader)")
        rows = comparison.get_by_role("table", name="Operators compared").get_by_role("row")
        expect(rows.nth(1)).to_contain_text("enumerate(DataLoader)")
        assert [request["before"] != request["after"] for request in tab.data_requests("trace_comparison")]


def test_a_trace_shows_where_its_steps_go(browser: Browser, trained: Trained) -> None:
    with opened(browser, trained.address) as tab:
        section = tab.frame.locator("#traces")
        expect(section).to_contain_text("Recorded because")
        assert tab.data_requests("trace") == [], "a trace was read that nobody asked for"
        section.get_by_role("button", name=re.compile(re.escape(trained.traces[1].name))).click()
        expect(section).to_contain_text("waits for its data")
        expect(section).to_contain_text("a candidate, not a proven cause")
        with tab.page.expect_download() as download:
            section.get_by_role("link", name="CSV").first.click()
        assert "csv" in download.value.suggested_filename
