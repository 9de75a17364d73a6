"""The environment record, scalars, ranks, the garbage collector, the profiler and the wall clock."""

from __future__ import annotations

import gc
import json
import os
import pathlib
import platform
import socket
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tb_stepperf import StepPerfWriter
from tb_stepperf.blocks import Flag
from tb_stepperf.recorder import environment as environment_module
from tb_stepperf.recorder.device import Accelerator
from tb_stepperf.recorder.environment import as_json, autocast_dtype, batch_shapes, nvidia_driver, torch_facts
from tb_stepperf.recorder.messages import Messages
from tests.recorder.logs import START_S, ManualClock, read_directory, read_scalars, run_python

MakeWriter = Callable[..., StepPerfWriter]


def test_the_environment_record(
    make_writer: MakeWriter, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "secret-run")
    monkeypatch.setenv("API_KEY", "secret-key")
    with make_writer(user={"lr": 0.1, "path": pathlib.Path("x"), "seed": 3}) as perf:
        perf.step()
    (attempt,) = read_directory(tmp_path)
    (record,) = attempt.environment
    assert record["python"] == platform.python_version()
    assert record["torch"] == torch.__version__
    assert record["num_threads"] == torch.get_num_threads()
    assert record["deterministic"] is False
    assert record["seed"] == 3
    assert record["user"] == {"lr": 0.1, "path": "x"}
    assert record["launcher"] == "torchrun"
    assert (record["rank"], record["world_size"], record["device"], record["clock"]) == (0, 1, "cpu", "host")
    text = json.dumps(record)
    assert "secret" not in text
    assert socket.gethostname() not in text
    assert len(record["hostname_hash"]) == 12


def test_values_that_json_cannot_hold_are_texts() -> None:
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError("no")

    assert as_json({1: (2, {"a": Broken()}), "big": 2**60}) == {"1": [2, {"a": "(Broken)"}], "big": str(2**60)}


def test_facts_of_an_accelerator_and_of_a_torch_that_lacks_some(caplog: pytest.LogCaptureFixture) -> None:
    module = types.SimpleNamespace(device_count=lambda: 8, get_device_name=lambda index: f"H100 number {index}")
    facts = torch_facts(Accelerator("cuda", module, 3), Messages())
    assert (facts["device"], facts["num_devices"], facts["device_name"]) == ("cuda", 8, "H100 number 3")
    del module.get_device_name
    assert torch_facts(Accelerator("xpu", module), Messages())["num_devices"] == 8
    assert "not all conditions are recorded" in caplog.text


def test_the_driver_is_read_from_its_file(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "version"
    monkeypatch.setattr(environment_module, "_DRIVER_FILE", str(file))
    assert nvidia_driver() is None
    file.write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\nGCC\n")
    assert nvidia_driver() == "550.54.15"


def test_changes_are_records_of_their_own(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    perf = make_writer()
    perf.step()
    perf.flush()
    perf.update_environment(compile="reduce-overhead", schedule="cosine")
    perf.step()
    perf.flush()
    perf.update_environment(schedule="cosine")
    perf.flush()
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert attempt.environment[1:] == [{"step": 1, "compile": "reduce-overhead", "user": {"schedule": "cosine"}}]


def test_batches_are_recorded_as_seen(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    perf = make_writer()
    small, large = {"x": torch.ones(4, 3), "y": [torch.ones(4, dtype=torch.int64)]}, {"x": torch.ones(8, 3)}
    for batches in ([small, large], [large, small], [large]):
        for _ in perf.data(batches):
            perf.step()
        perf.flush()
    perf.close()
    (attempt,) = read_directory(tmp_path)
    first, second = [record["batch"] for record in attempt.environment]
    assert first == {"batch.x": "float32[4, 3]", "batch.y[0]": "int64[4]"}
    assert second == {"batch.x": "float32[8, 3]"}


def test_shapes_of_batches() -> None:
    assert batch_shapes(np.ones((2, 3), np.float16)) == {"batch": "float16[2, 3]"}
    assert batch_shapes((torch.ones(1), "text", 3)) == {"batch[0]": "float32[1]"}
    assert batch_shapes("text") == {}
    assert len(batch_shapes([torch.ones(1)] * 100)) == 8


def test_autocast_is_seen_in_the_first_step(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    with make_writer() as perf:
        with torch.autocast("cpu", dtype=torch.bfloat16), perf.stage("forward"):
            assert autocast_dtype(torch) == "cpu bfloat16"
        perf.step()
    assert read_directory(tmp_path)[0].environment[0]["autocast"] == "cpu bfloat16"


def test_the_recorder_never_imports_torch_itself(tmp_path: pathlib.Path) -> None:
    code = """
import sys
from tb_stepperf import StepPerfWriter
with StepPerfWriter(sys.argv[1]) as perf:
    for _ in perf.data(range(3)):
        perf.step()
print("torch" in sys.modules, "tensorflow" in sys.modules)
"""
    result = run_python(code, tmp_path)
    assert result.stdout == "False False\n", result.stderr
    record = read_directory(tmp_path)[0].environment[0]
    assert "torch" not in record


def test_scalars_are_one_point_per_flush(make_writer: MakeWriter, clock: ManualClock, tmp_path: pathlib.Path) -> None:
    perf = make_writer(scalars=True, warmup_steps=2)
    for step in range(22):
        clock.advance(1000 if step < 2 else step)
        perf.step(num_samples=32)
    perf.flush()
    for _ in range(3):
        clock.advance(2)
        perf.step()
    perf.log_step(step_time_ms=50_000, peak_allocated_bytes=2**20)
    perf.flush()
    perf.close()
    scalars = read_scalars(tmp_path)
    assert scalars["stepperf/step_time_ms_p50"] == [(21, 11_000), (25, 2_000)]
    assert scalars["stepperf/step_time_ms_p95"] == [(21, 20_000), (25, 50_000)]
    ((step, throughput),) = scalars["stepperf/throughput_samples_per_s"]
    assert (step, throughput) == (21, pytest.approx(20 * 32 / sum(range(2, 22))))
    assert scalars["stepperf/peak_allocated_bytes"] == [(25, 2**20)]


def test_scalars_can_be_turned_off_and_need_steady_steps(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    with make_writer(logdir=tmp_path / "off") as perf:
        for _ in range(5):
            perf.step()
    assert read_scalars(tmp_path / "off") == {}
    with make_writer(logdir=tmp_path / "warm", scalars=True, warmup_steps=10) as perf:
        for _ in range(5):
            perf.step()
    assert read_scalars(tmp_path / "warm") == {}


def test_collections_are_flagged_with_their_time(
    make_writer: MakeWriter, clock: ManualClock, tmp_path: pathlib.Path
) -> None:
    def slow(phase: str, info: dict[str, Any]) -> None:
        if phase == "stop":
            clock.advance(0.25)

    num_callbacks = len(gc.callbacks)
    gc.disable()
    perf = make_writer()
    try:
        gc.callbacks.insert(0, slow)
        for step in range(4):
            clock.advance(1)
            if step == 2:
                gc.collect()
                gc.collect()
            perf.step()
        assert len(gc.callbacks) == num_callbacks + 2
    finally:
        gc.callbacks.remove(slow)
        gc.enable()
    perf.close()
    assert len(gc.callbacks) == num_callbacks
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("gc_ms") == [0, 0, 500, 0]
    assert attempt.column("step_time_ms") == [1000, 1000, 1500, 1000]
    assert attempt.flags == [Flag.RESTART, 0, Flag.GC, 0]


def test_profiled_steps_are_flagged(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    from torch.profiler import ProfilerActivity, profile, schedule

    with (
        make_writer() as perf,
        profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=2, warmup=1, active=2, repeat=1)) as profiler,
    ):
        for _ in range(8):
            torch.ones(3).sum()
            perf.step()
            profiler.step()
    (attempt,) = read_directory(tmp_path)
    profiled = [step for step, flags in enumerate(attempt.flags) if flags & Flag.PROFILED]
    assert profiled == [3, 4, 5]  # 3 and 4 are recorded; in 5 the recording is put together


def test_a_wall_clock_that_is_set_changes_no_duration(
    make_writer: MakeWriter, clock: ManualClock, wall_clock: ManualClock, tmp_path: pathlib.Path
) -> None:
    perf = make_writer()
    for step in range(6):
        clock.advance(1)
        wall_clock.advance(1)
        if step == 3:
            wall_clock.advance(7200)
        perf.step()
        perf.flush()
    perf.close()
    (attempt,) = read_directory(tmp_path)
    assert attempt.column("step_time_ms") == [1000] * 6
    assert attempt.wall_time_s == [START_S + step + 1 + (7200 if step >= 3 else 0) for step in range(6)]


@pytest.mark.parametrize(
    ("variables", "arguments", "directory", "expected"),
    [
        ({}, {}, "", (0, 1)),
        ({"RANK": "3", "WORLD_SIZE": "8"}, {}, "rank_3", (3, 8)),
        ({"RANK": "0", "WORLD_SIZE": "1"}, {}, "", (0, 1)),
        ({"RANK": "x", "WORLD_SIZE": "8"}, {}, "", (0, 1)),
        ({"RANK": "3", "WORLD_SIZE": "8"}, {"rank": 1, "world_size": 2}, "rank_1", (1, 2)),
        ({"RANK": "3", "WORLD_SIZE": "8"}, {"rank": 5}, "rank_5", (5, 8)),
    ],
)
def test_each_rank_writes_into_a_directory_of_its_own(
    make_writer: MakeWriter,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    arguments: dict[str, int],
    directory: str,
    expected: tuple[int, int],
) -> None:
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with make_writer(**arguments) as perf:
        assert perf.logdir == os.path.join(tmp_path, directory).rstrip("/")
        perf.step()
    (attempt,) = read_directory(tmp_path / directory)
    assert (attempt.metadata.rank, attempt.metadata.world_size) == expected


GLOO = """
import sys
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from tb_stepperf import StepPerfWriter

def work(rank, logdir):
    dist.init_process_group("gloo", init_method=f"file://{logdir}/rendezvous", rank=rank, world_size=2)
    with StepPerfWriter(logdir) as perf:
        for _ in range(5 + rank):
            with perf.stage("forward"):
                pass
            perf.step()
    dist.barrier()
    dist.destroy_process_group()

if __name__ == "__main__":
    mp.start_processes(work, args=(sys.argv[1],), nprocs=2, start_method="fork")
"""


def test_two_gloo_processes(tmp_path: pathlib.Path) -> None:
    result = run_python(GLOO, tmp_path)
    assert result.returncode == 0, result.stderr
    for rank in (0, 1):
        (attempt,) = read_directory(tmp_path / f"rank_{rank}")
        assert attempt.steps == list(range(5 + rank))
        assert (attempt.metadata.rank, attempt.metadata.world_size) == (rank, 2)
        assert attempt.environment[0]["world_size"] == 2
