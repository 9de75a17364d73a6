"""What a file says in text, as small numbers: names, shapes, categories and tracks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from tb_stepperf.traces.decode import Event
from tb_stepperf.traces.events import ABSENT, Category, Track

MAX_TEXTS = 1_000_000
"""Most different names, or shapes, that are kept; all others share one."""

MAX_CHARS = 1 << 26
"""Most characters that all of them together have."""

MAX_TRACKS = 100_000
"""Most tracks that are kept; all others share one."""

MAX_TEXT_CHARS = 4096
"""Longest name or shape; the rest of a longer one is cut."""

MORE = "(more names)"
STEP_NAME = "ProfilerStep#"

_MAX_CATEGORIES = 1000
_CATEGORIES = {
    "cpu_op": Category.CPU_OP,
    "operator": Category.CPU_OP,
    "user_annotation": Category.ANNOTATION,
    "gpu_user_annotation": Category.DEVICE_ANNOTATION,
    "runtime": Category.RUNTIME,
    "driver": Category.RUNTIME,
    "kernel": Category.KERNEL,
    "memcpy": Category.COPY,
    "gpu_memcpy": Category.COPY,
    "memset": Category.SET,
    "gpu_memset": Category.SET,
    "cuda_sync": Category.SYNC,
    "python_function": Category.PYTHON,
    "overhead": Category.OVERHEAD,
}
_ON_DEVICE = (Category.KERNEL, Category.COPY, Category.SET, Category.SYNC, Category.DEVICE_ANNOTATION)
_WITHOUT_KINETO = "CPU functions"
"""`pid` of every event of a torch that was built without Kineto; such events have no category."""

_UNREADABLE = re.compile("[\x00-\x1f\x7f-\x9f\ufffd]")
_LAST_NUMBER = re.compile(r"(\d+)\s*$")


class Texts(dict[Any, int]):
    """Text as the file has it → index; asking for a new one adds it.

    Attributes:
        texts: readable text → index, in order of the index.
        num_repaired: texts in which characters were replaced.
        num_more: how often a text came that was one too many; its index is that of `MORE`.
    """

    def __init__(self, as_text: Callable[[Any], str]) -> None:
        super().__init__()
        self.texts: dict[str, int] = {}
        self.num_repaired = self.num_more = 0
        self._as_text = as_text
        self._num_chars = 0

    def __missing__(self, key: Any) -> int:
        text = _UNREADABLE.sub("\N{REPLACEMENT CHARACTER}", self._as_text(key)[:MAX_TEXT_CHARS])
        index = self.texts.get(text)
        if index is not None:
            return index
        self._num_chars += len(text)
        if len(self.texts) >= MAX_TEXTS or self._num_chars > MAX_CHARS:
            self.num_more += 1
            return self.texts.setdefault(MORE, len(self.texts))
        self.num_repaired += "\N{REPLACEMENT CHARACTER}" in text
        index = self.texts[text] = len(self.texts)
        if len(text) < MAX_TEXT_CHARS:
            self[key] = index
        return index


class Categories(dict[Any, int]):
    """A file's word for a category → `Category`; remembers the first thousand that it met."""

    def __missing__(self, key: Any) -> int:
        word = str(key).lower()
        for suffix in ("runtime", "driver"):
            word = suffix if word.endswith(f"_{suffix}") else word
        category = int(_CATEGORIES.get(word, Category.OTHER))
        if len(self) < _MAX_CATEGORIES:
            self[key] = category
        return category

    def of(self, event: Event) -> int:
        """Returns the `Category` of an event, steps not yet told from other annotations."""
        if event.cat is None and event.pid == _WITHOUT_KINETO:
            return int(Category.CPU_OP)
        return self[event.cat]


class Tracks(dict[Any, int]):
    """`pid`, `tid` and, on a device, its numbers → index.

    Attributes:
        tracks: track → index, in order of the index.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tracks: dict[Track, int] = {}

    def of(self, event: Event, category: int) -> int:
        """Returns the index of an event's track."""
        if category not in _ON_DEVICE:
            return self[event.pid, event.tid]
        if event.args is None:
            return self[event.pid, event.tid, None, None]
        return self[event.pid, event.tid, event.args.device, event.args.stream]

    def __missing__(self, key: tuple[Any, ...]) -> int:
        if len(self.tracks) >= MAX_TRACKS:
            return self.tracks.setdefault(Track(MORE, MORE), len(self.tracks))
        process, thread = str(key[0])[:MAX_TEXT_CHARS], str(key[1])[:MAX_TEXT_CHARS]
        track = Track(process, thread)
        if len(key) == 4:
            device, stream = (_number(value) for value in key[2:])
            track = Track(
                process,
                thread,
                _number(process) if device is None else device,
                _number(thread) if stream is None else stream,
            )
        index = self.tracks.setdefault(track, len(self.tracks))
        if len(self) < MAX_TRACKS:
            self[key] = index
        return index


def is_annotation(name: str) -> bool:
    """Returns whether an event that old versions call an operator is what new ones call an annotation."""
    return name.startswith(("Optimizer.", "enumerate(DataLoader)"))


def shape_text(dims: bytes) -> str:
    """Returns `Input Dims` for people: `[[64, 3], [64], []]` becomes `[64, 3], [64], []`."""
    try:
        return json.dumps(json.loads(dims))[1:-1]
    except (ValueError, RecursionError):
        return dims.decode("utf-8", "replace")


def _number(value: Any) -> int | None:
    """Returns the number, at least 0, at the end of `7`, `"7"` or `"stream 7"`; None where there is none."""
    if value is None or (isinstance(value, (int, float)) and not 0 <= value < 1 << 31):
        return None
    if isinstance(value, (int, float)):
        return int(value)
    found = _LAST_NUMBER.search(value)
    return int(found.group(1)) if found and len(found.group(1)) < 10 and "-" not in value else None


def shapes() -> Texts:
    """Returns an empty vocabulary of shapes, in which nothing stands for `ABSENT`."""
    found = Texts(shape_text)
    found[b""] = ABSENT
    return found
