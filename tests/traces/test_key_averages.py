"""The table of operators agrees with PyTorch's own, on traces captured here."""

from __future__ import annotations

import collections
import pathlib
import time

import pytest
import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils.data import DataLoader, TensorDataset

from tb_stepperf.traces.read import read_trace
from tb_stepperf.traces.summarise import summarise
from tb_stepperf.traces.summary import BREAKDOWN, TraceSummary

NUM_STEPS = 3
SLEEP_S = 0.02
PLANTED = 'planted "sleep'
"""PyTorch writes the quote unescaped."""


class SlowData(TensorDataset):
    """Takes its time for the first item of a batch."""

    def __getitem__(self, index: int) -> tuple[torch.Tensor, ...]:
        if index % 8 == 0:
            time.sleep(SLEEP_S)
        return super().__getitem__(index)


def train(path: pathlib.Path) -> dict[str, tuple[int, float, float]]:
    """Records a training, and returns what `key_averages` says: name → calls, own and total µs."""
    said: dict[str, tuple[int, float, float]] = {}

    def ready(profiler: torch.profiler.profile) -> None:
        profiler.export_chrome_trace(str(path))
        for row in profiler.key_averages():
            said[row.key] = (row.count, row.self_cpu_time_total, row.cpu_time_total)

    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(SlowData(torch.randn(64, 64), torch.randn(64, 8)), batch_size=8)
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=1, warmup=1, active=NUM_STEPS, repeat=1),
        on_trace_ready=ready,
        record_shapes=True,
        profile_memory=True,
    ) as profiler:
        for x, y in loader:
            with record_function(PLANTED):
                time.sleep(SLEEP_S)
                with record_function(PLANTED):
                    time.sleep(SLEEP_S / 4)
                with record_function(PLANTED):
                    time.sleep(SLEEP_S / 4)
            loss = torch.nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            profiler.step()
    return said


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> tuple[TraceSummary, dict[str, tuple[int, float, float]]]:
    path = tmp_path_factory.mktemp("captured") / "trace.json"
    said = train(path)
    return summarise(read_trace(str(path))), said


def test_every_operator_agrees(captured: tuple[TraceSummary, dict]) -> None:
    summary, said = captured
    ours: dict[str, list[float]] = collections.defaultdict(lambda: [0, 0.0, 0.0])
    for row in summary.operators:
        for i, value in enumerate((row.num_calls, row.self_host_ms * 1000, row.total_host_ms * 1000)):
            ours[row.name][i] += value
    assert set(ours) == set(said)
    for name, (num_calls, own_us, total_us) in said.items():
        assert ours[name][0] == num_calls, name
        assert ours[name][1:] == pytest.approx([own_us, total_us], rel=0.01, abs=0.1), name


def test_inserted_intervals_come_out(captured: tuple[TraceSummary, dict]) -> None:
    summary, _ = captured
    (planted,) = [row for row in summary.operators if row.name == PLANTED]
    assert planted.num_calls == 3 * NUM_STEPS
    assert planted.is_annotation
    assert planted.total_host_ms >= NUM_STEPS * SLEEP_S * 2 * 1000  # each inner sleep counts in its outer one, too
    assert planted.self_host_ms >= NUM_STEPS * SLEEP_S * 1.5 * 1000
    loading = summary.breakdown_ms[BREAKDOWN.index("data_loading")]
    assert loading >= SLEEP_S * 1000
    assert summary.step_ms >= 2.5 * SLEEP_S * 1000


def test_parts_and_operators_of_a_real_trace_add_up(captured: tuple[TraceSummary, dict]) -> None:
    summary, _ = captured
    assert summary.num_steps_used == NUM_STEPS
    for one in summary.steps:
        assert sum(one.breakdown_ms) == pytest.approx(one.duration_ms, rel=1e-9)
    own_ms = sum(row.self_host_ms for row in summary.operators)
    assert own_ms == pytest.approx(sum(one.duration_ms for one in summary.steps), rel=0.01)
    assert [curve.device for curve in summary.memory] == ["cpu"]
