"""Files: names, records, directories that vanish or refuse, remote file systems, a shared SummaryWriter."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys
import types
from collections.abc import Callable
from typing import Any

import fsspec
import pytest
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto import event_pb2
from torch.utils.tensorboard import SummaryWriter

from tb_stepperf import StepPerfWriter
from tb_stepperf.errors import ConfigError
from tb_stepperf.recorder.eventfile import file_name, open_event_file
from tests.recorder.logs import START_S, event_files, read_directory, read_log, run_python

MakeWriter = Callable[..., StepPerfWriter]


def test_the_file_is_an_event_file_that_names_no_host(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    with make_writer() as perf:
        assert perf.logdir == str(tmp_path)
        perf.step()
    (file,) = event_files(tmp_path)
    name = os.path.basename(file)
    assert name.startswith(f"events.out.tfevents.{START_S:.0f}.")
    assert name.endswith(".stepperf")
    assert os.uname().nodename not in name
    events = [event_pb2.Event.FromString(raw) for raw in RawEventFileLoader(file).Load()]
    assert events[0].file_version == "brain.Event:2"
    assert [event.summary.value[0].metadata.plugin_data.plugin_name for event in events[1:]] == ["stepperf"] * 2


def test_names_never_collide_and_sort_by_age_within_a_process() -> None:
    names = [file_name(START_S) for _ in range(1000)]
    assert len(set(names)) == 1000
    assert names == sorted(names)


def test_two_writers_in_one_directory(make_writer: MakeWriter, tmp_path: pathlib.Path) -> None:
    first, second = make_writer(), make_writer()
    for perf in (first, second, first):
        perf.step()
    first.close()
    second.close()
    assert sorted(len(attempt.steps) for attempt in read_directory(tmp_path)) == [1, 2]


def test_a_restart_into_the_same_directory_is_a_new_attempt(
    make_writer: MakeWriter, wall_clock: Any, tmp_path: pathlib.Path
) -> None:
    for first_step in (0, 2):
        with make_writer(first_step=first_step) as perf:
            for _ in range(4):
                perf.step()
        wall_clock.advance(885)
    first, second = read_directory(tmp_path)
    assert (first.steps, second.steps) == ([0, 1, 2, 3], [2, 3, 4, 5])
    assert second.metadata.started_s - first.metadata.started_s == 885
    assert first.metadata.process != second.metadata.process


def test_a_deleted_directory_is_noticed_and_written_anew(
    make_writer: MakeWriter, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    logdir = tmp_path / "run"
    perf = make_writer(logdir=logdir)
    for _ in range(2):
        perf.step()
        assert perf.flush()
        shutil.rmtree(logdir)
    perf.step()
    perf.close()
    (attempt,) = read_directory(logdir)
    assert attempt.steps == [2]
    assert attempt.blocks[0].first_row == 2
    assert attempt.environment[0]["python"]
    assert attempt.counters == {}
    (record,) = caplog.records
    assert f"{logdir}/events.out.tfevents" in record.message
    assert "was deleted while training" in record.message


def test_a_directory_that_cannot_be_made_does_not_stop_the_loop(
    make_writer: MakeWriter, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("not a directory")
    perf = make_writer(logdir=tmp_path / "file" / "run")
    perf.step()
    perf.step()
    perf.close()
    assert perf.counters == {"num_rows_lost": 2}
    messages = [record.message for record in caplog.records]
    assert messages[0].startswith(f"cannot write {tmp_path}/file/run: Not a directory (errno 20). Training goes on")
    assert messages[1:] == ["2 rows not written"]


def test_writing_goes_on_when_the_directory_can_be_written_again(
    make_writer: MakeWriter, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "run").write_text("in the way")
    perf = make_writer(logdir=tmp_path / "run")
    perf.step()
    perf.flush()
    (tmp_path / "run").unlink()
    perf.step()
    perf.close()
    (attempt,) = read_directory(tmp_path / "run")
    assert attempt.steps == [1]
    assert attempt.blocks[0].ordinal == 0
    assert attempt.counters == {"num_rows_lost": 1}


FULL_DISK = """
import resource, signal, sys
from tb_stepperf import StepPerfWriter
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # write() then fails with EFBIG, as it does with ENOSPC on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
perf = StepPerfWriter(sys.argv[1])
for step in range(1024):
    for name in "abcdefghijkl":
        with perf.stage(name):
            pass
    perf.step(num_samples=step)
    if step == 9:
        perf.flush()
perf.close()
print("trained to the end;", perf.counters)
"""


def test_a_full_disk(tmp_path: pathlib.Path) -> None:
    result = run_python(FULL_DISK, tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("trained to the end; {'num_rows_lost': ")
    assert result.stderr.count("cannot write") == 1
    assert ": File too large (errno 27). Training goes on" in result.stderr
    assert "rows not written" in result.stderr
    attempts = read_directory(tmp_path)
    lost = int(result.stdout.partition("lost': ")[2].rstrip("}\n"))
    rows = [attempt for attempt in attempts if attempt.steps]
    assert sum(len(attempt.steps) for attempt in rows) + lost == 1024
    assert rows[0].steps[:10] == list(range(10))


def test_a_file_that_cannot_take_its_first_record_is_removed(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, data: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        open_event_file(str(tmp_path), START_S)
    assert list(tmp_path.iterdir()) == []


def test_a_remote_directory(make_writer: MakeWriter) -> None:
    logdir = "memory://bucket/run"
    perf = make_writer(logdir=logdir)
    perf.step(num_samples=1)
    assert perf.flush()
    perf.step(num_samples=2)
    perf.close()
    files = fsspec.filesystem("memory").glob("/bucket/run/*tfevents*")
    (attempt,) = read_log([f"memory://{files[0].lstrip('/')}"])
    assert attempt.steps == [0, 1]
    assert attempt.column("num_samples") == [1, 2]
    fsspec.filesystem("memory").rm("/bucket", recursive=True)


def test_a_remote_file_system_that_fails(
    make_writer: MakeWriter, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    perf = make_writer(logdir="memory://other/run")
    memory = type(fsspec.filesystem("memory"))

    def refuse(*arguments: Any, **options: Any) -> None:
        raise ConnectionError("no route to bucket")

    monkeypatch.setattr(memory, "_open", refuse)
    perf.step()
    perf.close()
    assert perf.counters == {"num_rows_lost": 1}
    assert "no route to bucket. Training goes on" in caplog.text


def test_a_shared_summary_writer_keeps_wall_times_and_stays_open(
    make_writer: MakeWriter, clock: Any, tmp_path: pathlib.Path
) -> None:
    writer = SummaryWriter(str(tmp_path))
    perf = make_writer(summary_writer=writer)
    assert perf.logdir == str(tmp_path)
    for _ in range(3):
        clock.advance(1)
        perf.step()
    assert perf.flush()
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps == [0, 1, 2]
    assert attempt.blocks[0].wall_time_s[0] == START_S - 2
    perf.close()
    writer.add_scalar("loss", 1.0, 3)
    writer.close()
    (file,) = event_files(tmp_path)
    events = [event_pb2.Event.FromString(raw) for raw in RawEventFileLoader(file).Load()]
    assert events[-1].summary.value[0].tag == "loss"


def test_a_summary_writer_of_tensorboardx_gets_events_of_its_own_kind(
    make_writer: MakeWriter, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    """tensorboardX refuses events of another class than its own copy of the protos."""
    kind = type("Event", (), {"FromString": staticmethod(lambda data: ("tensorboardX event", data))})
    proto = types.ModuleType("tensorboardX.proto")
    proto.event_pb2 = types.SimpleNamespace(Event=kind)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tensorboardX", types.ModuleType("tensorboardX"))
    monkeypatch.setitem(sys.modules, "tensorboardX.proto", proto)
    added: list[Any] = []

    class FileWriter:
        def get_logdir(self) -> str:
            return str(tmp_path)

        def add_event(self, event: Any, step: int, walltime: float) -> None:
            added.append((event[0], step, walltime))

    class XWriter:
        __module__ = "tensorboardX.writer"
        flushed = 0

        def _get_file_writer(self) -> FileWriter:
            return FileWriter()

        def flush(self) -> None:
            self.flushed += 1

    writer = XWriter()
    perf = make_writer(summary_writer=writer)
    perf.step()
    perf.close()
    assert added == [("tensorboardX event", 0, START_S), ("tensorboardX event", 0, START_S)]
    assert writer.flushed == 1


def test_a_summary_writer_that_fails_costs_rows_only(make_writer: MakeWriter, caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def _get_file_writer(self) -> Broken:
            return self

        def get_logdir(self) -> str:
            return "somewhere"

        def add_event(self, event: Any, step: int, walltime: float) -> None:
            raise RuntimeError("closed")

    perf = make_writer(summary_writer=Broken())
    perf.step()
    perf.close()
    assert perf.counters == {"num_rows_lost": 1}
    assert f"cannot write through the SummaryWriter of {pathlib.Path.cwd() / 'somewhere'}: closed" in caplog.text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"logdir": None}, "neither logdir nor summary_writer is given; exactly one is allowed"),
        ({"logdir": ""}, "logdir is ''"),
        ({"logdir": 3}, "logdir is 3"),
        ({"logdir": b"runs"}, "logdir is b'runs'"),
        ({"summary_writer": object()}, "summary_writer is a object; a SummaryWriter"),
        ({"warmup_steps": -1}, "warmup_steps is -1; an integer of at least 0"),
        ({"flush_interval_s": 0}, "flush_interval_s is 0; a number of seconds above 0"),
        ({"flush_interval_s": float("inf")}, "flush_interval_s is inf"),
        ({"flush_interval_s": "10"}, "flush_interval_s is '10'"),
        ({"first_step": 2**63}, "first_step is 9223372036854775808"),
        ({"peak_memory": "yes"}, "peak_memory is 'yes'; one of per_step, cumulative, off"),
        ({"max_stages": 0}, "max_stages is 0; an integer of at least 1"),
        ({"user": [1]}, "user is a list; a mapping"),
        ({"rank": 2, "world_size": 2}, "rank is 2 and world_size 2; integers with 0 <= rank < world_size"),
    ],
)
def test_arguments_that_cannot_be_used(make_writer: MakeWriter, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message.replace("(", r"\(")):
        make_writer(**options)


def test_logdir_and_summary_writer_exclude_each_other(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ConfigError, match="both logdir and summary_writer"):
        StepPerfWriter(tmp_path, summary_writer=object())
