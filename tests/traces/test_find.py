"""Which files are traces, whose they are, and what a search leaves out."""

from __future__ import annotations

import gzip
import io
import os
import pathlib
import re
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from tb_stepperf.traces import find, finder, listing
from tb_stepperf.traces.filenames import TraceName, parse_name
from tb_stepperf.traces.find import Found, TraceFile, search
from tb_stepperf.traces.finder import Finder
from tb_stepperf.traces.heads import looks_like_a_trace
from tb_stepperf.traces.roots import Root, roots_of

TRACE = b'{"schemaVersion": 1, "traceEvents": []}'
NS = 1_700_000_000_000_000_000


def write(path: pathlib.Path, content: bytes = TRACE) -> pathlib.Path:
    """Writes a file, and the directories above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def find_in(logdir: pathlib.Path, **options: Any) -> Found:
    """Searches one log directory for the first time."""
    return search(roots_of(str(logdir)), {}, **options)


def names(found: Found) -> list[str]:
    """Returns directory and name of what was found, sorted."""
    return sorted(f"{file.directory}/{file.name}" for file in found.traces)


@pytest.mark.parametrize(
    ("name", "worker", "stamp_s", "is_sure"),
    [
        (f"host_4711.{NS}.pt.trace.json", "host_4711", 1.7e9, True),
        (f"rank_0-1f2e3d4c5b6a_4711.{NS}.pt.trace.json.gz", "rank_0-1f2e3d4c5b6a_4711", 1.7e9, True),
        ("worker0.1623143089861.pt.trace.json.gz", "worker0", 1623143089.861, True),
        ("host.a.b_1.1700000000.pt.trace", "host.a.b_1", 1.7e9, True),
        ("x.pt.trace.gz", "x", None, True),
        ("rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", "rank-0.Apr_03_18_51_38.1102", None, True),
        ("trace.json", "trace", None, False),
        ("trace.1700000000123.json.gz", "trace", 1700000000.123, False),
        ("1700000000.pt.trace.json", "1700000000", None, True),
        ("a\nb.pt.trace.json", "a\nb", None, True),
    ],
)
def test_a_name_says_worker_and_time(name: str, worker: str, stamp_s: float | None, is_sure: bool) -> None:
    said = parse_name(name)
    assert said == TraceName(worker, pytest.approx(stamp_s), is_sure)


@pytest.mark.parametrize("name", ["", ".json", "x.json.zip", "x.pt.trace.json.tmp", "events.out.tfevents.1", "x.jsonl"])
def test_other_names_are_no_traces(name: str) -> None:
    assert parse_name(name) is None


@pytest.mark.parametrize(
    ("content", "is_one"),
    [
        (TRACE, True),
        (b"\xef\xbb\xbf \n" + TRACE, True),
        (b'{"metadata": {"env": "' + b"x" * 20_000 + b'"}, "traceEvents": [', True),
        (b'[{"name": "a", "ph": "X", "ts": 1', True),
        (b'  [\n {"ph":"M"', True),
        (b'{"model": "x", "loss": [1, 2]}', False),
        (b'[{"step": 1, "loss": 2}]', False),
        (b"[[1, 2], [3, 4]]", False),
        (b"", False),
        (b"\x1f\x8b not gzip", False),
    ],
)
def test_other_json_is_told_by_its_first_bytes(content: bytes, is_one: bool) -> None:
    assert looks_like_a_trace(content) is is_one
    packed = gzip.compress(content)
    assert looks_like_a_trace(packed) is is_one
    if is_one:
        assert looks_like_a_trace(packed[:-4])


def test_log_directories_of_the_flags(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/x")
    assert roots_of("") == ()
    assert roots_of("runs,a:b") == (Root(str(tmp_path / "runs,a:b")),)
    assert roots_of("~/runs", "ignored") == (Root("/home/x/runs"),)
    assert roots_of("gs://bucket/runs") == (Root("gs://bucket/runs"),)
    assert roots_of("", "a:/x,/y:z,b:gs://c/d,s3://e/f,g,a2:/x") == (
        Root("/x", "a2"),
        Root("/y:z"),
        Root("gs://c/d", "b"),
        Root("s3://e/f"),
        Root(str(tmp_path / "g")),
    )


def test_everywhere_below_the_log_directory(tmp_path: pathlib.Path) -> None:
    for directory in ("", "run", "run/plugins/profile/2024_01_01", "a/b/run", "a/b/run/rank_3"):
        write(tmp_path / directory / f"w.{NS}.pt.trace.json")
    write(tmp_path / "run" / "config.json", b'{"lr": 0.1}')
    write(tmp_path / "run" / "plain.json")
    write(tmp_path / "run" / "plain.json.gz", gzip.compress(TRACE))
    write(tmp_path / "run" / "events.out.tfevents.1.x", b"")
    found = find_in(tmp_path)
    assert names(found) == [
        f"./w.{NS}.pt.trace.json",
        f"a/b/run/rank_3/w.{NS}.pt.trace.json",
        f"a/b/run/w.{NS}.pt.trace.json",
        "run/plain.json",
        "run/plain.json.gz",
        f"run/plugins/profile/2024_01_01/w.{NS}.pt.trace.json",
        f"run/w.{NS}.pt.trace.json",
    ]
    assert (found.num_files_seen, found.problems) == (9, ())
    assert len({file.trace for file in found.traces}) == 7


def test_a_file_that_was_found(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "run" / f"w_1.{NS + 5 * 10**8}.pt.trace.json")
    os.utime(path, (5.0, 1234.5))
    (file,) = find_in(tmp_path).traces
    assert re.fullmatch("[0-9a-f]{16}", file.trace)
    assert file == TraceFile(
        trace=file.trace,
        path=str(path),
        directory="run",
        name=path.name,
        worker="w_1",
        stamp_s=1_700_000_000.5,
        num_bytes=len(TRACE),
        modified_s=1234.5,
    )


def test_names_of_a_spec_come_first(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "one" / "x.pt.trace.json")
    write(tmp_path / "two" / "run" / "x.pt.trace.json")
    found = search(roots_of("", f"a:{tmp_path / 'one'},{tmp_path / 'two'}"), {})
    assert names(found) == ["a/x.pt.trace.json", "run/x.pt.trace.json"]


def test_links_are_followed_and_loops_end(tmp_path: pathlib.Path) -> None:
    logdir = tmp_path / "logs"
    write(tmp_path / "elsewhere" / "deep" / "far.pt.trace.json")
    write(logdir / "run" / "near.pt.trace.json")
    (logdir / "linked").symlink_to(tmp_path / "elsewhere")
    (logdir / "latest").symlink_to(logdir / "run")
    (logdir / "run" / "up").symlink_to(logdir)
    (logdir / "itself").symlink_to(logdir / "itself")
    (logdir / "gone").symlink_to(tmp_path / "nowhere")
    (logdir / "file.pt.trace.json").symlink_to(tmp_path / "elsewhere" / "deep" / "far.pt.trace.json")
    found = find_in(logdir)
    assert names(found) == ["./file.pt.trace.json", "linked/deep/far.pt.trace.json", "run/near.pt.trace.json"]
    assert found.problems == ()


def test_what_is_no_file_is_never_opened(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "pipe.pt.trace.json")
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "directory.pt.trace.json").mkdir()
    assert find_in(tmp_path) == Found()


def test_odd_names(tmp_path: pathlib.Path) -> None:
    odd = ['<img src=x onerror="alert(1)">.pt.trace.json', "a\nb.pt.trace.json", "ü 日.pt.trace.json"]
    for name in odd:
        write(tmp_path / name)
    write(tmp_path / os.fsdecode(b"\xff\xfe.pt.trace.json"))
    found = find_in(tmp_path)
    assert sorted(file.name for file in found.traces)[:3] == sorted(odd)
    assert len(found.traces) == 4


def test_a_search_is_bounded(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        path = write(tmp_path / f"run{number}" / "x.pt.trace.json")
        os.utime(path, (number, number))
        write(tmp_path / f"run{number}" / "y.json")
    found = find_in(tmp_path, max_entries=8)
    assert names(found) == ["run0/x.pt.trace.json", "run0/y.json"]
    assert found.problems[0].startswith("the search for traces ended after 8 files and directories; 5 directories")
    moments = iter([0.0, 1.0, *[1e9] * 9])
    late = find_in(tmp_path, clock=lambda: next(moments))
    assert "6 directories were not searched" in late.problems[0]

    monkeypatch.setattr(find, "MAX_TRACES", 2)
    monkeypatch.setattr(find, "MAX_HEADS", 0)
    newest = find_in(tmp_path)
    assert names(newest) == ["run4/x.pt.trace.json", "run5/x.pt.trace.json"]
    assert newest.problems == (
        "6 more .json files may be traces and were not looked at yet; names that end in .pt.trace.json always are",
        "4 older traces are left out; the newest 2 are listed",
    )


def test_heads_are_remembered_until_the_file_changes(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def spy(path: str) -> bytes:
        opened.append(os.path.basename(path))
        return listing.read_head(path)

    monkeypatch.setattr(find, "read_head", spy)
    path = write(tmp_path / "a.json")
    write(tmp_path / "b.json", b"{}")
    write(tmp_path / "sure.pt.trace.json")
    heads: find.Heads = {}
    roots = roots_of(str(tmp_path))
    search(roots, heads)
    search(roots, heads)
    assert opened == ["a.json", "b.json"]
    path.write_bytes(TRACE + b" ")
    (tmp_path / "b.json").unlink()
    search(roots, heads)
    assert opened == ["a.json", "b.json", "a.json"]
    assert len(heads) == 1


def test_directories_and_files_that_cannot_be_read_are_told(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_in(tmp_path / "nowhere").problems == ("the directory '.' cannot be read: No such file or directory",)
    write(tmp_path / "run" / "x.pt.trace.json")
    write(tmp_path / "other" / "y.pt.trace.json")

    def refuse(path: str) -> Any:
        if path.endswith("x.pt.trace.json"):
            raise PermissionError(13, "Permission denied", path)
        return os.stat(path).st_size, 0.0

    monkeypatch.setattr(find, "size_and_time", refuse)
    found = find_in(tmp_path)
    assert names(found) == ["other/y.pt.trace.json"]
    assert found.problems == ("the file 'run/x.pt.trace.json' cannot be read: Permission denied",)


class _Remote:
    """A remote file system in memory, as TensorBoard's gfile shows one."""

    FILES: ClassVar = {
        "gs://b/logs/run/w.1700000000.pt.trace.json.gz": b"12345",
        "gs://b/logs/run/config.json": b"{}",
        "gs://b/logs/run/more.json": TRACE,
        "gs://b/logs/run/events.out.tfevents.1": b"",
    }

    def __init__(self) -> None:
        self.asked: list[str] = []

    def listdir(self, path: str) -> list[str]:
        prefix = path.rstrip("/") + "/"
        inside = {file[len(prefix) :] for file in self.FILES if file.startswith(prefix)}
        if not inside:
            raise RuntimeError("no such directory")
        return sorted({name.split("/")[0] + ("/" if "/" in name else "") for name in inside})

    def isdir(self, path: str) -> bool:
        self.asked.append(path)
        return any(file.startswith(path + "/") for file in self.FILES)

    def stat(self, path: str) -> Any:
        class Status:
            length = len(self.FILES[path])

        return Status()

    def GFile(self, path: str, mode: str) -> Any:
        assert mode == "rb"
        return io.BytesIO(self.FILES[path])


def test_remote_directories(monkeypatch: pytest.MonkeyPatch) -> None:
    remote = _Remote()
    monkeypatch.setattr(listing, "_gfile", lambda: remote)
    found = search(roots_of("gs://b/logs/"), {})
    assert names(found) == ["run/more.json", "run/w.1700000000.pt.trace.json.gz"]
    assert remote.asked == ["gs://b/logs/run"]
    (file,) = [file for file in found.traces if file.num_bytes == 5]
    assert (file.path, file.modified_s) == ("gs://b/logs/run/w.1700000000.pt.trace.json.gz", 0.0)
    gone = search(roots_of("gs://b/nothing"), {})
    assert gone.problems == ("the directory '.' cannot be read: RuntimeError: no such directory",)


class _Later:
    """Keeps work for later, as a thread would that is not scheduled yet."""

    def __init__(self) -> None:
        self.work: list[Callable[[], None]] = []

    def run(self) -> None:
        self.work.pop(0)()


def test_asking_never_waits_and_searches_again_after_a_while(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "a.pt.trace.json")
    now_s, later = [100.0], _Later()
    traces = Finder(roots_of(str(tmp_path)), clock=lambda: now_s[0], start=later.work.append)
    assert traces.ask() == (Found(), False)
    assert traces.ask() == (Found(), False)
    assert len(later.work) == 1
    later.run()
    found, is_complete = traces.ask()
    assert (names(found), is_complete) == (["./a.pt.trace.json"], True)
    assert traces.find(found.traces[0].trace) == found.traces[0]
    assert traces.find("0" * 16) is None

    write(tmp_path / "b.pt.trace.json")
    now_s[0] += finder.MIN_INTERVAL_S - 0.1
    assert len(traces.ask()[0].traces) == 1
    assert later.work == []
    now_s[0] += 0.1
    assert len(traces.ask()[0].traces) == 1  # that of before, while the new search runs
    later.run()
    assert len(traces.ask()[0].traces) == 2


def test_what_was_found_so_far_is_shown(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.pt.trace.json")
    write(tmp_path / "b.pt.trace.json")
    seen = []
    traces = Finder(roots_of(str(tmp_path)), start=lambda work: work())
    stat = listing.size_and_time

    def spy(path: str) -> tuple[int, float]:
        seen.append(len(traces._so_far))
        return stat(path)

    monkeypatch.setattr(find, "size_and_time", spy)
    assert len(traces.ask()[0].traces) == 2
    assert seen == [0, 1]


def test_slow_searches_are_rare(tmp_path: pathlib.Path) -> None:
    moments = [0.0]

    def clock() -> float:
        moments[0] += 1.0  # every look at the clock takes a second
        return moments[0]

    num_searches = [0]

    def start(work: Callable[[], None]) -> None:
        num_searches[0] += 1
        work()

    traces = Finder(roots_of(str(tmp_path)), clock=clock, start=start)
    traces.ask()
    began_s = moments[0]
    while num_searches[0] == 1:
        traces.ask()
    assert moments[0] - began_s > 3 / finder.MAX_SHARE


def test_a_search_that_fails_is_told_and_tried_again(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now_s = [0.0]
    traces = Finder(roots_of(str(tmp_path)), clock=lambda: now_s[0], start=lambda work: work())
    write(tmp_path / "a.pt.trace.json")
    with monkeypatch.context() as broken:
        broken.setattr(finder, "search", lambda *arguments, **options: 1 / 0)
        assert traces.ask()[0].problems == ("the search for traces failed: ZeroDivisionError: division by zero",)
    assert "division by zero" in caplog.text
    now_s[0] = 60.0
    assert len(traces.ask()[0].traces) == 1
