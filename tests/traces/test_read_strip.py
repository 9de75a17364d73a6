"""The events of a trace as a file: the same events, nothing of the metadata that nobody needs."""

from __future__ import annotations

import dataclasses
import gzip
import json
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tb_stepperf.errors import TraceError
from tb_stepperf.traces.events import TraceEvents
from tb_stepperf.traces.kept import KEPT
from tb_stepperf.traces.read import read_trace
from tb_stepperf.traces.strip import strip_events
from tests.support.trace_files import complete, good_document, good_events, good_text, write_large

DATA = pathlib.Path(__file__).parent.parent / "data" / "traces"
SECRET = "hunter2-AKIA"
SECRETS: dict[str, Any] = {
    "environment": {"AWS_SECRET_ACCESS_KEY": SECRET},
    "host_name": f"{SECRET}.example.org",
    "traceName": f"/home/{SECRET}/trace.json",
    "tw_user": SECRET,
    SECRET: [SECRET, {"deep": SECRET}],
    "stepperf": {"format": 1, "step_offset": 7, "note": SECRET},
    "with_stack": SECRET,
}


def same_events(one: TraceEvents, other: TraceEvents) -> bool:
    return all(
        np.array_equal(getattr(one, field.name), getattr(other, field.name))
        for field in dataclasses.fields(TraceEvents)
        if isinstance(getattr(one, field.name), np.ndarray)
    ) and (one.names, one.shapes, one.tracks, one.devices, one.rank, one.origin_us) == (
        (other.names, other.shapes, other.tracks, other.devices, other.rank, other.origin_us)
    )


@pytest.fixture
def stripped(tmp_path: pathlib.Path) -> Any:
    def stripped(path: pathlib.Path) -> pathlib.Path:
        result = tmp_path / "stripped.json.gz"
        result.write_bytes(b"".join(strip_events(str(path))))
        return result

    return stripped


@pytest.mark.parametrize("name", sorted(str(path.relative_to(DATA)) for path in DATA.glob("[hkt]*/**/*json*")))
def test_the_same_events_and_only_the_keys_that_count(stripped: Any, name: str) -> None:
    original = DATA / name
    result = stripped(original)
    content = json.loads(gzip.decompress(result.read_bytes()))
    assert set(content) <= KEPT
    text = original.read_bytes()
    before = json.loads(gzip.decompress(text) if name.endswith(".gz") else text)
    assert content == {key: value for key, value in before.items() if key in KEPT}
    assert same_events(read_trace(str(original)), read_trace(str(result)))


@pytest.mark.parametrize("behind", [False, True])
def test_secrets_stay_behind(tmp_path: pathlib.Path, stripped: Any, behind: bool) -> None:
    document = good_document(**SECRETS)
    if behind:
        document = dict(reversed(document.items()))
    path = tmp_path / "secret.json"
    path.write_text(json.dumps(document))
    content = gzip.decompress(stripped(path).read_bytes())
    assert SECRET.encode() not in content
    assert json.loads(content)["distributedInfo"] == {"backend": "nccl", "rank": 0, "world_size": 2}
    assert json.loads(content)["traceEvents"] == good_events()
    trace = read_trace(str(path))
    assert SECRET not in repr(trace)
    assert trace.step_offset == 7
    assert trace.profiler == {"with_stack": True}


def test_metadata_events_are_labels_and_no_more(tmp_path: pathlib.Path, stripped: Any) -> None:
    label = {"name": "process_name", "ph": "M", "ts": 1.5, "pid": 4711, "tid": "t", "args": {"name": "python"}}
    odd = [
        {**label, "args": {"name": "python", "environment": {"TOKEN": SECRET}}, "note": SECRET},
        {"name": "environment", "ph": "M", "pid": 4711, "args": {"TOKEN": SECRET}},
        {"name": "process_labels", "ph": "M", "pid": 4711, "args": {"labels": {"TOKEN": SECRET}}},
        {"name": "environment", "args": {"TOKEN": SECRET}},
    ]
    path = tmp_path / "secret.json"
    path.write_text(json.dumps(good_document(traceEvents=odd + good_events() + odd[1:])))
    content = gzip.decompress(stripped(path).read_bytes())
    assert SECRET.encode() not in content
    assert json.loads(content)["traceEvents"] == [label, *good_events()]


def test_what_devices_and_job_are_not_stays_behind(tmp_path: pathlib.Path, stripped: Any) -> None:
    device = {"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 8}
    job = {"backend": "nccl", "rank": 0, "world_size": 2, "pg_count": 1}
    path = tmp_path / "secret.json"
    path.write_text(
        json.dumps(
            good_document(
                deviceProperties=[{**device, "host": SECRET, "environment": {"TOKEN": SECRET}}, SECRET],
                distributedInfo={**job, "host": SECRET},
                displayTimeUnit={"TOKEN": SECRET},
            )
        )
    )
    content = json.loads(gzip.decompress(stripped(path).read_bytes()))
    assert SECRET not in json.dumps(content)
    assert (content["deviceProperties"], content["distributedInfo"]) == ([device], job)


def test_a_list_at_the_top_becomes_an_object(tmp_path: pathlib.Path, stripped: Any) -> None:
    path = tmp_path / "list.json"
    path.write_text(json.dumps(good_events()))
    assert json.loads(gzip.decompress(stripped(path).read_bytes())) == {"traceEvents": good_events()}


def test_what_is_no_json_is_repaired(tmp_path: pathlib.Path, stripped: Any) -> None:
    path = tmp_path / "odd.json"
    odd = good_text(complete("k", "kernel", 1.0, 2.0, args=[5])).replace("sgemm", "s\x01\\gemm", 1).replace("}]", "},]")
    path.write_text(odd.replace("300.0", "NaN", 1))
    events = json.loads(gzip.decompress(stripped(path).read_bytes()))["traceEvents"]
    assert len(events) == 9
    assert (events[6]["name"], events[6]["dur"]) == ("s\x01\\gemm", None)
    assert same_events(read_trace(str(path)), read_trace(str(tmp_path / "stripped.json.gz")))


def test_large_files_come_in_pieces(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "large.json"
    num_complete = write_large(path, num_events=30_000)
    pieces = list(strip_events(str(path)))
    assert len(pieces) > 5
    assert max(map(len, pieces)) < 1 << 20
    result = tmp_path / "stripped.json.gz"
    result.write_bytes(b"".join(pieces))
    assert read_trace(str(result)).num_events == num_complete
    assert b"somebody" not in gzip.decompress(result.read_bytes())


def taken(pieces: Iterator[bytes]) -> bytes:
    return b"".join(pieces)


@pytest.mark.parametrize("name", ["foreign/tf_trace_viewer.json", "foreign/horovod_timeline_small.json", "README.md"])
def test_foreign_files_are_refused_before_anything_is_sent(name: str) -> None:
    with pytest.raises(TraceError) as refused:
        read_trace(str(DATA / name))
    with pytest.raises(TraceError) as caught:
        strip_events(str(DATA / name))
    assert str(caught.value) == str(refused.value)


def test_a_file_without_events_is_refused(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "none.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": []}))
    with pytest.raises(TraceError, match="recorded nothing"):
        strip_events(str(path))


def test_a_file_that_is_cut_off_further_on_breaks_off(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "large.json"
    write_large(path, num_events=30_000)
    path.write_bytes(path.read_bytes()[:-5000])
    pieces = strip_events(str(path))
    with pytest.raises(TraceError, match="cut off"):
        taken(pieces)
