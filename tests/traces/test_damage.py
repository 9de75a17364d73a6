"""One good small trace and its damaged or odd copies: each is read with exact values, or refused in a sentence."""

from __future__ import annotations

import gzip
import json
import pathlib
from typing import Any

import numpy as np
import pytest

from tb_stepperf.errors import TraceError
from tb_stepperf.traces.events import ABSENT, Category, TraceEvents
from tb_stepperf.traces.read import read_trace
from tests.support.trace_files import complete, good_document, good_events, good_text

GOOD = good_text().encode()
SUFFIX = ".pt.trace.json"


@pytest.fixture
def read(tmp_path: pathlib.Path) -> Any:
    def read(data: bytes | str, suffix: str = SUFFIX) -> TraceEvents:
        path = tmp_path / f"hosta_1.1700000000000{suffix}"
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return read_trace(str(path))

    return read


def replaced(old: str, new: str) -> str:
    text = GOOD.decode()
    assert old in text
    return text.replace(old, new, 1)


def assert_good(trace: TraceEvents, **oddities: int) -> None:
    """Checks three steps of 1,000 µs, a device that is busy for 30 % of each, and what was found odd."""
    assert trace.start_ns[trace.category == Category.STEP].tolist() == [0, 1_000_000, 2_000_000]
    assert trace.duration_ns[trace.category == Category.STEP].tolist() == [1_000_000] * 3
    on_device = trace.category == Category.KERNEL
    assert trace.start_ns[on_device].tolist() == [200_000, 1_200_000, 2_200_000]
    assert trace.duration_ns[on_device].tolist() == [300_000] * 3
    assert trace.start_ns[trace.category == Category.CPU_OP][:3].tolist() == [100_000, 1_100_000, 2_100_000]
    assert trace.origin_us == 1000.0
    assert {sentence.split(" (")[0]: count for sentence, count in trace.oddities.items()} == {
        sentence.replace("_", " "): count for sentence, count in oddities.items()
    }


@pytest.mark.parametrize(
    ("data", "suffix"),
    [
        pytest.param(GOOD, SUFFIX, id="plain"),
        pytest.param(gzip.compress(GOOD), f"{SUFFIX}.gz", id="gzip"),
        pytest.param(gzip.compress(GOOD), SUFFIX, id="gzip without its suffix"),
        pytest.param(GOOD, f"{SUFFIX}.gz", id="plain with the suffix of gzip"),
        pytest.param(gzip.compress(GOOD), "", id="gzip without any suffix"),
        pytest.param(gzip.compress(GOOD[:200]) + gzip.compress(GOOD[200:]), f"{SUFFIX}.gz", id="two members"),
        pytest.param(gzip.compress(GOOD) + b"\0" * 512, f"{SUFFIX}.gz", id="gzip, padded"),
        pytest.param(b"\xef\xbb\xbf" + GOOD, SUFFIX, id="byte order mark"),
        pytest.param(json.dumps(good_document(), indent=2).encode(), SUFFIX, id="indented"),
        pytest.param(GOOD + b"\n\n", SUFFIX, id="blank lines at the end"),
        pytest.param(good_text(traceName="C:\\Users\\me\\t.json").encode(), SUFFIX, id="escaped backslashes"),
        pytest.param(good_text(traceName="[Strategy]DDP.pt.trace.json").encode(), SUFFIX, id="bracket in a name"),
        pytest.param(good_text(traceName='}, {"]').encode(), SUFFIX, id="brackets in a name"),
    ],
)
def test_forms_of_one_trace(read: Any, data: bytes, suffix: str) -> None:
    trace = read(data, suffix)
    assert_good(trace)
    assert (trace.rank, trace.world_size, trace.backend) == (0, 2, "nccl")


def test_metadata_may_stand_before_or_behind_the_events(read: Any) -> None:
    document = good_document()
    events = document.pop("traceEvents")
    noise = {"environment": {"LIST": ["[", "}", '"', {"deep": [1, [2, [3]]]}]}, "long": "x" * 5000}
    for text in ({"traceEvents": events, **noise, **document}, {**noise, **document, "traceEvents": events}):
        trace = read(json.dumps(text))
        assert_good(trace)
        assert trace.rank == 0


def test_a_list_at_the_top(read: Any) -> None:
    trace = read(json.dumps(good_events()))
    assert_good(trace)
    assert (trace.rank, trace.world_size, trace.backend) == (None, None, None)


def test_a_list_that_is_never_closed(read: Any) -> None:
    assert_good(read(json.dumps(good_events())[:-1] + ","), list_of_events_without_its_closing_bracket=1)


def test_memory_events_that_cannot_be(read: Any) -> None:
    def memory(at_us: Any) -> dict[str, Any]:
        return {"ph": "i", "name": "[memory]", "ts": at_us, "args": {"Bytes": 8, "Device Id": 0, "Device Type": 1}}

    trace = read(good_text(*map(memory, [1500.0, 1e300, 4e15, "never", None, 900.0])))
    assert trace.memory is not None
    assert trace.memory.at_ns.tolist() == [0, 600_000]
    assert trace.start_ns[0] == 100_000
    assert trace.origin_us == 900.0


def test_the_first_time_stamp_is_lost(read: Any) -> None:
    events = [complete("lost", "kernel", 1e300, 5.0), *good_events()]
    assert_good(read(json.dumps(events)), event_without_a_usable_time_stamp=1)


@pytest.mark.parametrize("end", [", ]", ",]", ",\n,\n]"])
def test_a_comma_too_many(read: Any, end: str) -> None:
    assert_good(read(replaced('], "traceName"', f'{end}, "traceName"')), comma_too_many=end.count(","))


def test_commas_too_many_between_events(read: Any) -> None:
    assert_good(read(replaced('}, {"ph"', '},, , {"ph"')), comma_too_many=2)


def test_not_a_number_and_infinity(read: Any) -> None:
    trace = read(replaced("300.0", "NaN").replace("50.0", "Infinity", 1).replace('"x"', "-Infinity"))
    assert trace.duration_ns[trace.category == Category.KERNEL].tolist() == [300_000] * 2
    assert trace.duration_ns[trace.category == Category.CPU_OP].tolist() == [50_000] * 2
    assert trace.oddities == {"unfinished event (left out)": 2}


@pytest.mark.parametrize("character", ["\x01", "\n", "\\u0001", "\x85"])
def test_a_control_character_in_a_name(read: Any, character: str) -> None:
    trace = read(replaced("aten::mm", f"aten::{character}mm"))
    assert_good(trace, name_with_control_characters_or_broken_bytes=1)
    assert trace.names.count("aten::�mm") == 1


def test_a_name_that_is_not_utf8(read: Any) -> None:
    trace = read(GOOD.replace(b"sgemm", b"sg\xff\xfemm", 1))
    assert_good(trace, name_with_control_characters_or_broken_bytes=1)
    assert "sg��mm" in trace.names


def test_half_of_a_surrogate_pair(read: Any) -> None:
    trace = read(replaced("sgemm", "s\\ud83dgemm").replace("aten::mm", "\\ud83d\\ude00 \\\\ud83d", 1))
    assert_good(trace, name_with_control_characters_or_broken_bytes=1)
    assert {"s�gemm", "😀 \\ud83d"} <= set(trace.names)


def test_single_backslashes_of_a_windows_path(read: Any) -> None:
    path = "C:\\Users\\me\\new\\t.json"
    trace = read(replaced("aten::mm", path).replace('"x"', f'"{path}"'))
    assert_good(trace, text_with_a_backslash_that_was_not_escaped=1)
    assert path in trace.names


@pytest.mark.parametrize("name", ['"quoted"', 'f("a", "b")', 'say "hi', '"', '5\\" pipe'])
def test_quotes_that_pytorch_does_not_escape(read: Any, name: str) -> None:
    text = json.dumps(good_document(), indent=2)
    trace = read(text.replace("sgemm", name, 2))
    assert_good(trace, **({} if "\\" in name else {"name_with_quotes_that_were_not_escaped": 2}))
    assert name.replace("\\", "") in trace.names


def test_quotes_do_not_touch_lines_with_several_fields(read: Any) -> None:
    text = json.dumps(good_document(), indent=2).replace('"sgemm",', '"sgemm", "z": "1",\n"y": "\x01",', 1)
    assert_good(read(text))


def test_a_time_stamp_as_text(read: Any) -> None:
    assert_good(read(replaced("1100.0", '"1100.0"')))


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (complete("lost", "kernel", 0, 0), "event without a usable time stamp"),
        (complete("lost", "kernel", "soon", 5), "event without a usable time stamp"),
        ({"ph": "X", "cat": "kernel", "name": "lost", "dur": 5}, "event without a usable time stamp"),
        (complete("lost", "kernel", 1e17, 5), "event without a usable time stamp"),
        (complete("lost", "kernel", 4e15, 5), "event more than 30 days from the rest of the trace"),
        (complete("aten::neg", "cpu_op", 1000.0, -1.0), "event with a negative duration"),
        (complete("aten::unfinished", "cpu_op", 1000.0, 9223372036854775.0), "unfinished event"),
        (complete("aten::unfinished", "cpu_op", 1000.0, 7.5e12), "unfinished event"),
        ({"ph": "X", "name": "aten::nodur", "ts": 1, "pid": 1, "tid": 1}, "unfinished event"),
        (complete("aten::none", "cpu_op", 1.0, None), "unfinished event"),
        (complete("aten::x", "cpu_op", 1.0, {"ms": 5}), "event that is not in order"),
        (complete("aten::x", "cpu_op", 1.0, 5.0, args=[1]), "event that is not in order"),
        ({"ph": "B", "cat": "cpu_op", "name": "begins", "ts": 1, "pid": 1, "tid": 1}, "begin or end event"),
    ],
)
def test_events_that_cannot_be_are_left_out_and_counted(read: Any, event: dict[str, Any], sentence: str) -> None:
    trace = read(good_text(event))
    assert trace.num_events == 9
    assert_good(trace, **{sentence.replace(" ", "_"): 1})


def test_an_integer_above_two_to_the_63(read: Any) -> None:
    ids = [10159970886766084423, 10159970886766084424, 10159970886766084423, 2**64 - 1, 2**70 + 5, "77", 1.0, None]
    trace = read(
        good_text(*(complete("k", "kernel", 1000.0, 5.0, args={"correlation": one, "pg": one}) for one in ids))
    )
    found = trace.correlation[trace.duration_ns == 5000].tolist()
    wrapped = 10159970886766084423 - 2**64
    assert found == [wrapped, wrapped + 1, wrapped, ABSENT, 5, 77, 1, ABSENT]
    assert trace.oddities == {}


def test_a_kernel_stamped_too_late_overlaps_its_track(read: Any) -> None:
    trace = read(good_text(complete("late_stamp", "kernel", 1250.0, 1_600_000.0, pid=0, tid=7)))
    late = trace.duration_ns == 1_600_000_000
    assert trace.start_ns[late].tolist() == [250_000]
    assert trace.num_events == 10
    assert trace.oddities == {}


def test_a_step_twice(read: Any) -> None:
    repeated = [complete(f"ProfilerStep#{n}", "gpu_user_annotation", 1000.0 + 1000 * n, 16.0, pid=0) for n in range(3)]
    trace = read(good_text(*repeated))
    assert_good(trace)
    assert trace.duration_ns[trace.category == Category.DEVICE_ANNOTATION].tolist() == [16_000] * 3


def test_what_may_be_missing(read: Any) -> None:
    document = good_document()
    del document["distributedInfo"]
    trace = read(json.dumps(document))
    assert_good(trace)
    assert (trace.rank, trace.world_size, trace.backend) == (None, None, None)
    trace = read(replaced('"rank": 0, ', ""))
    assert_good(trace)
    assert (trace.rank, trace.world_size) == (None, 2)


def test_no_steps(read: Any) -> None:
    trace = read(GOOD.replace(b"ProfilerStep#", b"MyStep#"))
    assert not np.any(trace.category == Category.STEP)
    assert np.count_nonzero(trace.category == Category.ANNOTATION) == 3


def test_text_behind_the_end(read: Any) -> None:
    assert_good(read(GOOD + b"x"), text_after_the_end_of_the_trace=1)


NOT_MUCH = {"schemaVersion": 1, "traceEvents": [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "p"}}]}
SPAN = complete("PyTorch Profiler (0)", "Trace", 1.0, 5.0, pid="Spans", tid="PyTorch Profiler")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(gzip.compress(GOOD)[:-40], r"gzip data ends at byte \d+ before its end mark", id="gzip cut off"),
        pytest.param(gzip.compress(GOOD)[:60] + b"\xff" * 60, "gzip data is damaged near byte", id="gzip damaged"),
        pytest.param(GOOD[: len(GOOD) // 2], r"ends at byte \d+ of its text in the middle.*cut off", id="cut in half"),
        pytest.param(GOOD[:-1], "ends at byte .* cut off", id="last brace missing"),
        pytest.param(GOOD[: GOOD.index(b"}, {") + 1], "ends at byte .* cut off", id="cut behind an event"),
        pytest.param(json.dumps(good_events()).encode()[:200], "ends at byte 200", id="list cut off"),
        pytest.param(b'{"traceEvents', "ends at byte 13 ", id="cut in a key"),
        pytest.param(b'{"traceEvents" [', "damaged at byte 15 of its text, where a colon was expected", id="no colon"),
        pytest.param(b'{"a": 1, 5: 2}', "damaged at byte 9 ", id="a number as a key"),
        pytest.param(GOOD.replace(b'"sgemm"', b'"sgemm', 1), "cut off", id="quote missing"),
        pytest.param(b"", "is empty", id="empty"),
        pytest.param(b"   \n ", "is empty", id="blank"),
        pytest.param(b"\0" * 2000, "is empty", id="zeros"),
        pytest.param(gzip.compress(b""), "is empty", id="empty gzip"),
        pytest.param(b"<!DOCTYPE html><html>", "HTML or XML", id="HTML"),
        pytest.param(b"PK\x03\x04abc", "ZIP archive", id="ZIP"),
        pytest.param(gzip.compress(gzip.compress(GOOD)), "gzip twice", id="gzip twice"),
        pytest.param(GOOD.decode().encode("utf-16"), "UTF-16", id="UTF-16"),
        pytest.param(b"\n\x0bsomething\x12binary", "not JSON: it begins with", id="binary"),
        pytest.param(b"[]", "recorded nothing", id="empty list"),
        pytest.param(b'{"traceEvents": []}', "recorded nothing", id="no events"),
        pytest.param(json.dumps({"traceEvents": [SPAN]}).encode(), "recorded nothing", id="the profiler's span only"),
        pytest.param(b'{"traceEvents": 5}', "without a list of traceEvents", id="number for events"),
        pytest.param(b'{"traceEvents": [1, 2]}', "something else than events", id="numbers for events"),
        pytest.param(b"{}", "without a list of traceEvents", id="empty object"),
        pytest.param(b'[{"a": 1}]', "something else than events", id="list of objects"),
        pytest.param(json.dumps(NOT_MUCH).encode(), "recorded nothing", id="labels only"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(read: Any, data: bytes, words: str) -> None:
    with pytest.raises(TraceError, match=words) as caught:
        read(data)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)
