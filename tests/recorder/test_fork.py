"""After fork the child never writes, never locks, and closes nothing of the parent."""

from __future__ import annotations

import gc
import pathlib
import pickle
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, Dataset

from tb_stepperf import StepPerfWriter
from tb_stepperf.recorder.null import NullWriter
from tests.recorder.logs import event_files, read_directory, run_python

FORK = """
import gc, os, sys
from tb_stepperf import StepPerfWriter
perf = StepPerfWriter(sys.argv[1], flush_interval_s=1000)
for _ in range(5):
    with perf.stage("forward"):
        pass
    perf.step()
stage = perf.stage("forward")
with stage:  # a stage is open while forking
    perf._loop.lock.acquire()
    perf._loop.drain_lock.acquire()  # as another thread might hold them just then
    child = os.fork()
    if not child:
        CHILD
        sys.exit(0)
    perf._loop.drain_lock.release()
    perf._loop.lock.release()
    _, status = os.waitpid(child, 0)
perf.step()
perf.close()
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.parametrize(
    "child",
    [
        "perf.close()",
        "[perf.step() for _ in range(1000)]; perf.log_step(step_time_ms=1); perf.flush(); perf.close()",
        "del perf; gc.collect()",
        "list(perf.data([1])); perf.stage('new').__enter__(); perf.lap('x'); perf.exclude().__enter__(); perf.step()",
        "mine = StepPerfWriter(sys.argv[1] + '/child'); mine.step(); mine.close()",
    ],
)
def test_the_child_does_nothing_and_the_parent_goes_on(tmp_path: pathlib.Path, child: str) -> None:
    result = run_python(FORK.replace("CHILD", child), tmp_path)
    assert result.returncode == 0, result.stderr
    assert len(event_files(tmp_path)) == 1
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == list(range(6))
    assert attempt.end == "closed"
    if "mine" in child:
        assert read_directory(tmp_path / "child")[0].steps == [0]


class Numbers(Dataset):  # type: ignore[type-arg]
    """Uses the writer inside the workers, and collects garbage there."""

    def __init__(self, perf: StepPerfWriter) -> None:
        self.perf = perf

    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> torch.Tensor:
        gc.collect()
        with self.perf.stage("decode"):
            self.perf.step()
        return torch.full((3,), index, dtype=torch.float32)


def test_data_loader_workers(make_writer: Any, tmp_path: pathlib.Path) -> None:
    perf = make_writer()
    loader = DataLoader(Numbers(perf), batch_size=4, num_workers=2, multiprocessing_context="fork")
    for _ in range(2):
        for batch in perf.data(loader):
            assert batch.shape == (4, 3)
            perf.step()
    perf.close()
    assert len(event_files(tmp_path)) == 1
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == list(range(8))
    assert attempt.columns >= {"stage/data_ms"}
    assert "stage/decode_ms" not in attempt.columns
    assert attempt.column("num_micro_steps") == [1] * 8
    assert attempt.environment[0]["batch"] == {"batch": "float32[4, 3]"}


def test_a_pickled_writer_does_nothing(make_writer: Any) -> None:
    copy = pickle.loads(pickle.dumps(make_writer()))
    assert isinstance(copy, NullWriter)
    with copy.stage("forward"):
        copy.step()
