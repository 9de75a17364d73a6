"""Stages: the fast way into and out of a `with`, batches from an iterable, and the registry of names.

A stage of a name is one object, used again and again, also inside itself. Its `__enter__` and `__exit__` are
closures on a class of its own: `with` then calls them without making a bound method, which saves a quarter of the
cost of a stage (`python -m benchmarks.writer_cost`). They leave one stamp each and decide nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import get_ident
from types import TracebackType
from typing import Any, Protocol, cast

from tb_stepperf.recorder.loop import LoopState
from tb_stepperf.recorder.stamps import ENTER, EXCLUDED, LAP, LEAVE, code

MORE_STAGES = "(more stages)"
"""Stage that stands for all names beyond the limit."""

_MAX_FOLDED_NAMES = 10_000
"""As many names beyond the limit are remembered; a loop that makes up names must not fill the memory."""


class Stage(Protocol):
    """What `with` needs; it gives nothing and swallows nothing."""

    def __enter__(self) -> None:
        """Enters."""

    def __exit__(
        self, exception: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Leaves."""


def make_stage(loop: LoopState, number: int) -> Stage:
    """Returns the re-entrant context manager of the stage with this number."""
    enter_code, leave_code = code(number, ENTER), code(number, LEAVE)
    stamp, clock = loop.stamp, loop.clock

    def enter() -> None:
        if get_ident() == loop.owner:
            stamp((enter_code, clock()))
        else:
            loop.enter_slowly(number)

    def leave(
        exception: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if exception is None and loop.simple:
            stamp((leave_code, clock()))
        else:
            loop.leave_slowly(number, exception)

    methods = {"__slots__": (), "__enter__": staticmethod(enter), "__exit__": staticmethod(leave)}
    return cast("Stage", type("NamedStage", (), methods)())


class StageNames:
    """Numbers of stage names: at most `max_stages` names have their own, the rest share that of `MORE_STAGES`.

    Attributes:
        names: name of each stage by number; the first `FIRST_STAGE` entries are no names that a loop gave.
    """

    def __init__(self, loop: LoopState, max_stages: int) -> None:
        self.names = ["(no stage)", "exclude"]
        self._loop = loop
        self._max_stages = max_stages
        self._numbers: dict[str, int] = {}
        self._folded: set[str] = set()

    def text(self, name: Any) -> str:
        """Returns a name as text; anything else is counted as invalid, and a text is made of it."""
        if isinstance(name, str):
            return name
        self._loop.checks.invalid("stage name", name, "a text")
        return str(name) if isinstance(name, (int, float)) else f"({type(name).__name__})"

    def number(self, name: str) -> int:
        """Returns the number of a stage, new or known."""
        number = self._numbers.get(name)
        if number is not None:
            return number
        if len(self._numbers) < self._max_stages or name == MORE_STAGES:
            number = self._numbers[name] = len(self.names)
            self.names.append(name)
            return number
        if name not in self._folded and len(self._folded) < _MAX_FOLDED_NAMES:
            self._folded.add(name)
            self._loop.count("num_stages_folded")
        self._loop.messages.warn_once(
            "names",
            f"stage {name!r} is one name too many: {self._max_stages} are kept (max_stages=), further ones are summed "
            f"under {MORE_STAGES!r}. Use few fixed names; a number belongs into the step.",
        )
        return self.number(MORE_STAGES)

    def is_folded(self, name: str) -> bool:
        """Returns whether the name has no number of its own."""
        return name not in self._numbers


class Stages:
    """The stages that a loop has named.

    Attributes:
        by_name: context managers by name; those of folded names are that of `MORE_STAGES`.
        lap_codes: codes of laps by name.
        exclude: context manager whose time is no part of a step.
    """

    def __init__(self, loop: LoopState, names: StageNames) -> None:
        self.by_name: dict[str, Stage] = {}
        self.lap_codes: dict[str, float] = {}
        self.exclude = make_stage(loop, EXCLUDED)
        self._loop = loop
        self._names = names

    def add(self, name: Any) -> Stage:
        """Returns the stage of a name that is not yet in `by_name`."""
        text = self._names.text(name)
        stage = self.by_name.get(text)
        if stage is None:
            number = self._names.number(text)
            folded = self._names.is_folded(text)
            stage = self._more_stages() if folded else make_stage(self._loop, number)
            if not folded or len(self.by_name) < _MAX_FOLDED_NAMES:
                self.by_name[text] = stage
        return stage

    def add_lap(self, name: Any) -> float:
        """Returns the code of a lap of a name that is not yet in `lap_codes`."""
        text = self._names.text(name)
        lap = code(self._names.number(text), LAP)
        if len(self.lap_codes) < _MAX_FOLDED_NAMES:
            self.lap_codes[text] = lap
        return lap

    def _more_stages(self) -> Stage:
        if MORE_STAGES not in self.by_name:
            self.by_name[MORE_STAGES] = make_stage(self._loop, self._names.number(MORE_STAGES))
        return self.by_name[MORE_STAGES]


class Batches:
    """The batches of an iterable, which may be gone through again; whatever else it has is reached through this."""

    def __init__(self, loop: LoopState, stage: Stage, iterable: Iterable[Any]) -> None:
        self._loop = loop
        self._stage = stage
        self._iterable = iterable
        self._iterator: BatchIterator | None = None

    def __iter__(self) -> BatchIterator:
        return BatchIterator(self._loop, self._stage, self._iterable)

    def __next__(self) -> Any:
        if self._iterator is None:
            self._iterator = iter(self)
        return next(self._iterator)

    def __len__(self) -> int:
        return len(self._iterable)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._iterable, name)


class BatchIterator:
    """One pass through an iterable: making its iterator and waiting for each batch is one stage."""

    __slots__ = ("_iterable", "_loop", "_next", "_stage")

    def __init__(self, loop: LoopState, stage: Stage, iterable: Iterable[Any]) -> None:
        self._loop = loop
        self._stage = stage
        self._iterable = iterable
        self._next: Callable[[], Any] | None = None

    def __iter__(self) -> BatchIterator:
        return self

    def __next__(self) -> Any:
        with self._stage:  # at the end StopIteration leaves it, which does not count as entered
            if self._next is None:
                self._next = iter(self._iterable).__next__
            batch = self._next()
        if self._loop.want_batch:
            self._loop.see_batch(batch)
        return batch
