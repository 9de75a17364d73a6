"""`StageLabels`: what a step function labels its stages with, and the times that come of it."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping
from threading import get_ident
from types import TracebackType
from typing import Any

import numpy as np

from tb_stepperf.errors import ArgumentError
from tb_stepperf.recorder.assemble import Assembler
from tb_stepperf.recorder.device import DeviceStep, DeviceTimer
from tb_stepperf.recorder.stamps import BOUNDARY, ENTER, EXCLUDED, FIRST_STAGE, LEAVE, NO_STAGE, code

_BEGIN, _END = code(NO_STAGE, LEAVE), code(NO_STAGE, BOUNDARY)
_BETWEEN, _NEXT = code(EXCLUDED, ENTER), code(EXCLUDED, LEAVE)

Mirror = Callable[[str], contextlib.AbstractContextManager[Any]]


@dataclasses.dataclass(frozen=True)
class StageTimes:
    """Where the time of one step went.

    Attributes:
        host_ms: stage name to exclusive milliseconds of the host, in the order of first use.
        device_step_ms: device time of the step; None where it was not measured.
        device_ms: stage name to exclusive milliseconds of the device; empty where not measured.
        still_open: names of stages that the step function left open.
    """

    host_ms: Mapping[str, float]
    device_step_ms: float | None
    device_ms: Mapping[str, float]
    still_open: tuple[str, ...]


class StageLabels:
    """Given to a step function that takes an argument::

        def step(perf):
            with perf.stage("forward"):
                loss = model(batch)

    Stages are exclusive: one opened inside another pauses the outer one. Stages of other threads are not timed.

    Attributes:
        mirrors: also entered with each stage, by its name, such as `record_function`.
        timer: times the stages on the device as well; None without.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.mirrors: tuple[Mirror, ...] = ()
        self.timer: DeviceTimer | None = None
        self._clock = clock
        self._thread = get_ident()
        self._numbers: dict[str, int] = {}
        self._stamps: list[tuple[float, float]] = []

    def stage(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Returns a context manager whose time is the stage `name`.

        Raises:
            ArgumentError: the name is no text.
        """
        if not isinstance(name, str):
            raise ArgumentError(f"the name of a stage is {name!r}; a text is allowed, such as 'forward'")
        return _Stage(self, name, self._numbers.setdefault(name, FIRST_STAGE + len(self._numbers)))

    def mark(self, stamp_code: float) -> None:
        """Leaves a stamp, if this is the thread of the steps."""
        if get_ident() == self._thread:
            self._stamp(stamp_code, self._clock())

    def _stamp(self, stamp_code: float, now_s: float) -> None:
        self._stamps.append((stamp_code, now_s))
        if self.timer is not None:
            self.timer.mark(stamp_code, now_s)

    def begin(self, now_s: float) -> None:
        """Begins a step."""
        self._stamps = [(_BEGIN, now_s)]
        if self.timer is not None:
            self.timer.mark(_NEXT, now_s)

    def end(self, now_s: float) -> StageTimes:
        """Ends the step and returns its times; the device has nothing left to do by then."""
        self._stamps.append((_END, now_s))
        device = self._end_on_device(now_s)
        steps = Assembler().feed(np.array(self._stamps))
        seconds = steps.stage_time_s[0].tolist()
        names = list(self._numbers)
        device_ms = {} if device is None else device.stage_time_ms
        return StageTimes(
            {name: seconds[number] * 1e3 for name, number in self._numbers.items() if number < len(seconds)},
            None if device is None else device.step_time_ms,
            {name: device_ms.get(number, 0.0) for name, number in self._numbers.items()} if device_ms else {},
            tuple(names[number - FIRST_STAGE] for number in steps.still_open),
        )

    def _end_on_device(self, now_s: float) -> DeviceStep | None:
        if self.timer is None:
            return None
        step = self.timer.end_step(_END, now_s)
        self.timer.mark(_BETWEEN, now_s)
        self.timer.finish(now_s)
        return step


class _Stage:
    __slots__ = ("_entered", "_labels", "_name", "_number")

    def __init__(self, labels: StageLabels, name: str, number: int) -> None:
        self._labels = labels
        self._name = name
        self._number = number
        self._entered: list[contextlib.AbstractContextManager[Any]] = []

    def __enter__(self) -> None:
        for mirror in self._labels.mirrors:
            self._entered.append(mirror(self._name))
            self._entered[-1].__enter__()
        self._labels.mark(code(self._number, ENTER))

    def __exit__(
        self, exception: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._labels.mark(code(self._number, LEAVE))
        while self._entered:
            self._entered.pop().__exit__(exception, value, traceback)
