"""Device time: events beside the stamps, resolved later by asking, never by waiting.

The loop records an event with every stamp that could have device work before it. At later boundaries it asks whether
the last event of the oldest unresolved step has completed and, if so, takes the differences; the events return to a
pool. All device calls happen in the loop's thread at marks and boundaries: a query from another thread would break
the capture of a CUDA graph, which forbids it in every thread of the process.
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from tb_stepperf.recorder.messages import Messages
from tb_stepperf.recorder.nesting import Nesting
from tb_stepperf.recorder.stamps import EXCLUDED, INTERRUPT, NO_STAGE

MAX_EVENTS = 1024
"""Most events that exist at a time: about 100 steps of five stages under way."""

GIVE_UP_S = 30.0
"""A step whose events have not completed this long after its end is not measured on the device."""

_SHARE_S = 10e-6
_MAX_RESOLVED_PER_STEP = 2
_FINISH_S = 2.0


class DeviceClock(Protocol):
    """A device's events, as little of them as is needed; what it raises ends device timing, never the loop."""

    def new_event(self) -> Any:
        """Returns an event that can be timed."""

    def can_record(self) -> bool:
        """Returns whether the device may be spoken to now (not while a graph is captured)."""

    def record(self, event: Any) -> None:
        """Puts the event behind the work that was given to the device so far."""

    def query(self, event: Any) -> bool:
        """Returns at once whether all work before the event is done."""

    def elapsed_ms(self, start: Any, end: Any) -> float:
        """Returns the device time between two completed events."""


class DeviceStep:
    """What the device measured of a step.

    Attributes:
        done: whether anything more will be known.
        step_time_ms: device time between the boundaries without excluded time; None where it could not be measured.
        stage_time_ms: exclusive device time by stage number.
    """

    __slots__ = ("done", "stage_time_ms", "step_time_ms")

    def __init__(self) -> None:
        self.done = False
        self.step_time_ms: float | None = None
        self.stage_time_ms: dict[int, float] = {}


class DeviceTimer:
    """Records events at stamps and resolves them at later boundaries.

    Args:
        clock: the device's events.
        max_events: most events that exist at a time; with none free, a step is not measured.
        give_up_s: how long after its end a step may stay unresolved, in the time of the loop's clock.
    """

    def __init__(self, clock: DeviceClock, max_events: int = MAX_EVENTS, give_up_s: float = GIVE_UP_S) -> None:
        self._clock = clock
        self._max_events = max_events
        self._give_up_s = give_up_s
        self._free: list[Any] = []
        self._num_events = 0
        self._nesting = Nesting()
        self._marks: list[tuple[int, Any]] = []
        self._last_s = 0.0
        self._pending: deque[tuple[DeviceStep, list[tuple[int, Any]], float]] = deque()

    @property
    def num_events(self) -> int:
        """Events that exist: free, recorded or waiting."""
        return self._num_events

    def mark(self, code: float, now_s: float) -> None:
        """Records an event for a stamp; shares the last one where no stage was open for a moment."""
        owner, kind, *_ = self._nesting.follow(int(code))
        last = self._marks[-1][1] if self._marks else None
        event = last if owner == NO_STAGE and now_s - self._last_s <= _SHARE_S and last else self._record()
        self._marks.append((owner, event))
        self._last_s = now_s
        if kind == INTERRUPT:
            self._end(now_s)
            self.resolve(now_s)

    def end_step(self, code: float, now_s: float) -> DeviceStep:
        """Ends the step at a boundary, and resolves older ones.

        Returns:
            What will be known of the step that ended.
        """
        self.mark(code, now_s)
        step = self._end(now_s)
        self.resolve(now_s)
        return step

    def _end(self, now_s: float) -> DeviceStep:
        step = DeviceStep()
        self._pending.append((step, self._marks, now_s))
        self._marks = self._marks[-1:]
        return step

    def resolve(self, now_s: float, most: int = _MAX_RESOLVED_PER_STEP) -> None:
        """Resolves up to `most` of the oldest steps whose events have completed, and gives up those too old."""
        if not self._clock.can_record():
            return
        for _ in range(min(most, len(self._pending))):
            step, marks, end_s = self._pending[0]
            recorded = [event for _, event in marks if event is not None]
            if recorded and not self._clock.query(recorded[-1]):
                if now_s - end_s < self._give_up_s:
                    return
                self._num_events -= len(_without_last(recorded))  # they may yet be written to: never used again
            else:
                if len(recorded) == len(marks):
                    self._measure(step, marks)
                self._free.extend(_without_last(recorded))
            step.done = True
            self._pending.popleft()

    def finish(self, now_s: float) -> None:
        """Asks for at most two seconds until all steps are resolved, then leaves the rest not measured."""
        deadline_s = time.monotonic() + _FINISH_S
        self.resolve(now_s, len(self._pending))
        while self._pending and time.monotonic() < deadline_s:
            time.sleep(0.001)
            self.resolve(now_s, len(self._pending))
        self.abandon()

    def abandon(self) -> None:
        """Leaves what is not resolved not measured, without another word to the device."""
        for step, _, _ in self._pending:
            step.done = True
        self._pending.clear()

    def _record(self) -> Any:
        if not self._clock.can_record():
            return None
        if self._free:
            event = self._free.pop()
        elif self._num_events < self._max_events:
            event = self._clock.new_event()
            self._num_events += 1
        else:
            return None
        self._clock.record(event)
        return event

    def _measure(self, step: DeviceStep, marks: list[tuple[int, Any]]) -> None:
        stage_time_ms: dict[int, float] = {}
        for (_, start), (stage, end) in itertools.pairwise(marks):
            if start is not end:
                stage_time_ms[stage] = stage_time_ms.get(stage, 0.0) + self._clock.elapsed_ms(start, end)
        step.step_time_ms = sum(time_ms for stage, time_ms in stage_time_ms.items() if stage != EXCLUDED)
        step.stage_time_ms = stage_time_ms


def _without_last(events: list[Any]) -> list[Any]:
    """Returns each event once, without the last, which begins the next step; shared ones lie next to each other."""
    return [event for event, following in itertools.pairwise(events) if event is not following]


@dataclasses.dataclass(frozen=True)
class Accelerator:
    """The accelerator that a loop uses.

    Attributes:
        kind: torch's name of it, such as `cuda`.
        module: `torch.cuda` or a module like it.
        index: number of the device; None for the current one.
    """

    kind: str
    module: Any
    index: int | None = None


class TorchDeviceClock:
    """Timing events of a torch accelerator (`torch.cuda`, `torch.xpu`…), on the stream that the loop began on."""

    def __init__(self, accelerator: Accelerator) -> None:
        module = accelerator.module
        self._event_type = module.Event
        self._stream = module.current_stream(accelerator.index)
        self._is_capturing: Callable[[], bool] = getattr(module, "is_current_stream_capturing", lambda: False)

    def new_event(self) -> Any:
        """Returns an event that can be timed."""
        return self._event_type(enable_timing=True)

    def can_record(self) -> bool:
        """Returns whether no graph is being captured on the current stream."""
        return not self._is_capturing()

    def record(self, event: Any) -> None:
        """Puts the event behind the work of the loop's stream."""
        event.record(self._stream)

    def query(self, event: Any) -> bool:
        """Returns at once whether all work before the event is done."""
        return bool(event.query())

    def elapsed_ms(self, start: Any, end: Any) -> float:
        """Returns the device time between two completed events."""
        return float(start.elapsed_time(end))


def find_accelerator(requested: str | None, messages: Messages) -> Accelerator | None:
    """Returns the accelerator that the process uses, or None for the host.

    Args:
        requested: a torch device such as `cuda` or `cuda:1`; None for the current accelerator if it is in use.
        messages: where to say that a requested one cannot be used.
    """
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "device"):
        return None
    kind, _, index = (requested or _current_kind(torch)).partition(":")
    if kind == "cpu":
        return None
    module: Any = getattr(torch, kind, None)
    if not all(hasattr(module, name) for name in ("Event", "current_stream", "is_available")):
        usable = False  # a torch without it, or a device without events
    else:
        usable = bool(module.is_available()) and index.isdecimal() == bool(index)
    if not usable:
        if requested is not None:
            messages.warn_once("device", f"device {requested!r} cannot be used here: times are taken on the host")
        return None
    if requested is None and not getattr(module, "is_initialized", lambda: True)():
        return None  # asking for more would create a context that the loop does not need
    return Accelerator(kind, module, int(index) if index else None)


def _current_kind(torch: Any) -> str:
    if hasattr(torch, "accelerator"):
        current = torch.accelerator.current_accelerator()
        return current.type if current is not None else "cpu"
    return "cuda" if torch.cuda.is_available() else "cpu"
