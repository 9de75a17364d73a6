"""One log directory with a run for everything that can happen to a run; the names say what."""

from __future__ import annotations

import dataclasses
import pathlib
import shutil

import numpy as np

from tb_stepperf.blocks import TagMetadata, attempt_id, blocks_tag
from tests.support import logs, synthetic
from tests.support.logs import START_S, AttemptLog, write_attempt

EVENTS = pathlib.Path(__file__).parents[1] / "data" / "events"

ODD_NAMES = (
    "<img src=x onerror=alert(1)>",
    "a&b=c?d#e",
    "100% sure",
    "ručka-实验-\U0001f680",
    "\u202egnp.exe",
    "..hidden",
    " lead and trail ",
    "x" * 180,
    "quote'\"`",
    "tab\there",
    "new\nline",
    "%2e%2e%2f",
    "CON",
    "rank_0",
)
ODD_STAGES = ("<b>bold</b>", "前向", "a/b/c", "", " ", "Episode / total (mean)")


def times(num_rows: int, ms: float = 100.0) -> dict[str, np.ndarray]:
    """Step times that tell the row: `ms` plus the row number in thousandths."""
    return {"step_time_ms": np.float32(ms) + np.arange(num_rows, dtype=np.float32) / 1000}


def build(logdir: pathlib.Path) -> None:
    """Writes all runs below `logdir`."""
    _restarts(logdir)
    _gaps(logdir)
    _writers_and_ranks(logdir)
    _clocks_and_steps(logdir)
    _damage(logdir)
    for name in ODD_NAMES:
        write_attempt(logdir / "odd" / name, range(5), times(5), block_rows=2)
    columns = {f"stage/{name}_ms": np.full(5, k) for k, name in enumerate(ODD_STAGES)}
    write_attempt(logdir / "odd_stages", range(5), {**times(5), **columns})
    for directory in EVENTS.iterdir():
        if directory.is_dir():
            shutil.copytree(directory, logdir / "foreign" / directory.name)


def _restarts(logdir: pathlib.Path) -> None:
    # Stopped at 150, resumed from 100 after a pause of 885 s; then the names of the files are swapped.
    first = write_attempt(logdir / "resume", range(151), times(151), block_rows=32, end=None)
    second = write_attempt(logdir / "resume", range(101, 200), times(99, 120.0), block_rows=32, started_s=START_S + 900)
    spare = first.path.with_name("spare")
    for old, new in ((first.path, spare), (second.path, first.path), (spare, second.path)):
        old.rename(new)
    # Started anew from 0 within one process, after an attempt that never came to a step.
    write_attempt(logdir / "from_zero", range(40), times(40), process="one", end="replaced", block_rows=16)
    write_attempt(logdir / "from_zero", range(30), times(30, 200.0), process="one", started_s=START_S + 100, end=None)
    AttemptLog(logdir / "from_zero", started_s=START_S + 200).environment({"torch": "2"})
    AttemptLog(logdir / "from_zero", started_s=START_S + 300).append(end="exception", counters={"num_interrupted": 1})
    # Columns that come and go, in tags of two blocks.
    log = AttemptLog(logdir / "columns", blocks_per_tag=2)
    log.append(range(4), {**times(4), "gc_ms": np.arange(4)}, block_rows=2)
    log.append(range(4, 10), {**times(6), "num_tokens": np.full(6, 7)}, block_rows=2)
    log.append(counters={"num_rows_lost": 2}, end="closed")
    # The same file twice, as a careless copy leaves it.
    log = write_attempt(logdir / "copied", range(100), times(100), block_rows=16)
    shutil.copy(log.path, log.path.with_name(log.path.name + ".copy"))


def _gaps(logdir: pathlib.Path) -> None:
    columns = times(100)
    write_attempt(logdir / "gap_inside", range(100), columns, block_rows=10, drop_ordinals={3, 4, 7})
    write_attempt(logdir / "gap_first", range(100), columns, block_rows=10, drop_ordinals={0})
    write_attempt(logdir / "gap_last", range(100), columns, block_rows=10, drop_ordinals={9})
    write_attempt(logdir / "gap_tag", range(100), columns, block_rows=10, blocks_per_tag=2, drop_ordinals={3, 4, 5, 6})
    log = AttemptLog(logdir / "gap_before_end")
    log.append(range(20), times(20), block_rows=10, drop_ordinals={1})
    log.append(end="closed")


def _writers_and_ranks(logdir: pathlib.Path) -> None:
    for k in range(3):
        started_s = START_S + k
        write_attempt(logdir / "writers", range(200), times(200, 100.0 + 10 * k), started_s=started_s, block_rows=64)
    for rank in (0, 1, 3):
        directory = logdir / "job" / f"rank_{rank}"
        num_rows = 150 if rank == 3 else 200
        write_attempt(directory, range(num_rows), times(num_rows, 100.0 + rank), rank=rank, world_size=4)
    write_attempt(logdir / "single" / "rank_0", range(10), times(10))


def _clocks_and_steps(logdir: pathlib.Path) -> None:
    wall_time_s = START_S + np.arange(100.0)
    wall_time_s[40:] -= 7200
    write_attempt(logdir / "clock_back", range(100), times(100), wall_time_s=wall_time_s, block_rows=16)
    last = 2**63 - 1
    write_attempt(logdir / "huge_steps", [last - 40, *range(last - 9, last + 1)], times(11), block_rows=4, end=None)
    steps = np.cumsum(np.random.default_rng(1).integers(1, 50, 500))
    write_attempt(logdir / "irregular", steps, synthetic.columns(times(500)["step_time_ms"]), block_rows=64)
    write_attempt(logdir / "irregular", steps[250:] + 1, times(250), started_s=START_S + 1000, block_rows=64)


def _damage(logdir: pathlib.Path) -> None:
    log = write_attempt(logdir / "truncated", range(100), times(100), block_rows=10)
    logs.truncate(log.path, 30)
    log = AttemptLog(logdir / "flipped")
    log.append(range(50), times(50), block_rows=10)
    size = log.path.stat().st_size
    log.append(range(50, 100), times(50), block_rows=10)
    # In the length of a record: the data server checks a payload only where it does not parse.
    logs.flip_bit(log.path, size)
    # Intact records that hold no block, and metadata of a newer version and of nobody.
    log = AttemptLog(logdir / "damaged_block")
    log.append(range(20), times(20), block_rows=10)
    metadata = TagMetadata("blocks", log.attempt, log.process, START_S)
    with log.path.open("ab") as file:
        file.write(logs.event_bytes(blocks_tag(log.attempt, 0), metadata, [b"{}", b""], 20, START_S))
    log._ordinal, log.num_rows = 3, 30
    log.append(range(30, 40), times(10))
    _foreign_metadata(log.path, logs.START_S)


def _foreign_metadata(path: pathlib.Path, wall_time_s: float) -> None:
    newer = dataclasses.replace(TagMetadata("blocks", attempt_id(wall_time_s, "0" * 8), "p", wall_time_s))
    for number, content in enumerate((newer.to_bytes().replace(b'"format":1', b'"format":2'), b"not ours")):
        for segment in range(2):
            value = logs.summary_value(f"stepperf/other{number}/{segment}", newer, [b"{}", b""])
            value.metadata.plugin_data.content = content
            event = logs.Event(wall_time=wall_time_s, step=segment)
            event.summary.value.append(value)
            with path.open("ab") as file:
                file.write(logs.record(event.SerializeToString()))
