"""The writer that does nothing: `StepPerfWriter(enabled=False)`, and what a pickled writer becomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, TypeVar

from tb_stepperf.recorder.capture.profile import NullProfile
from tb_stepperf.recorder.stages import Stage
from tb_stepperf.recorder.writer import StepPerfWriter

T = TypeVar("T")


class _Nothing:
    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, exception: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return None


_NOTHING: Any = _Nothing()


def _ignore(profiler: Any) -> None:
    """Leaves the trace of a profiler where it is."""


class NullWriter(StepPerfWriter):
    """Has every method of `StepPerfWriter`; measures nothing and writes nothing."""

    __slots__ = ()

    def __init__(self, logdir: Any = None, **options: Any) -> None:
        """Takes any arguments and looks at none."""

    def data(self, iterable: Iterable[T]) -> Iterable[T]:
        """Returns the iterable itself."""
        return iterable

    def stage(self, name: str) -> Stage:
        """Returns a context manager that does nothing."""
        return _NOTHING

    def exclude(self, name: str = "evaluation") -> Stage:
        """Returns a context manager that does nothing."""
        return _NOTHING

    def lap(self, name: str) -> None:
        """Does nothing."""

    def step(self, **values: Any) -> None:
        """Does nothing."""

    def log_step(self, **values: Any) -> None:
        """Does nothing."""

    def expect_change(self, text: str) -> None:
        """Does nothing."""

    def update_environment(self, **fields: Any) -> None:
        """Does nothing."""

    def profile(self, schedule: Any = None, activities: Any = None, **options: Any) -> Any:
        """Returns a profile that does nothing."""
        return NullProfile()

    def trace_handler(self) -> Callable[[Any], None]:
        """Returns a function that does nothing."""
        return _ignore

    def request_capture(self) -> bool:
        """Does nothing."""
        return False

    def flush(self, timeout_s: float = 30.0) -> bool:
        """Does nothing; nothing is left to write."""
        return True

    def close(self, timeout_s: float = 30.0) -> None:
        """Does nothing."""

    def __enter__(self) -> NullWriter:
        return self

    def __exit__(
        self, exception: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return None

    @property
    def logdir(self) -> str:
        """No directory: an empty text."""
        return ""

    @property
    def step_number(self) -> int:
        """Always 0."""
        return 0

    @property
    def counters(self) -> dict[str, int]:
        """Nothing is counted."""
        return {}

    @property
    def peak_allocated_bytes_overall(self) -> float:
        """Not measured."""
        return float("nan")


def null_writer() -> NullWriter:
    """Returns a writer that does nothing."""
    return NullWriter(enabled=False)
