"""Asking the other ranks for the same window: a small file in the directory of the run, never a collective."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable
from typing import Any

from tb_stepperf.recorder.capture.rounds import REGRESSION, SLOW_STEP, Cause
from tb_stepperf.recorder.eventfile import is_remote
from tb_stepperf.recorder.messages import Messages
from tb_stepperf.recorder.ranks import Rank
from tb_stepperf.recorder.sink import FileSink, Sink

FILE_NAME = "capture_request.json"
LOOK_EVERY_S = 5.0
"""How often each rank looks for a request of another."""

_MAX_BYTES = 4096


def find_peers(
    sink: Sink, place: Rank, clock: Callable[[], float], wall_clock: Callable[[], float], messages: Messages
) -> Peers | None:
    """Returns the other ranks, None where there are none or where they write to a remote file system."""
    if place.world_size == 1 or not isinstance(sink, FileSink) or is_remote(sink.logdir):
        return None
    return Peers(os.path.dirname(sink.logdir), place.rank, clock, wall_clock, messages)


class Peers:
    """The request that lies beside the directories of the ranks; a newer one takes its place.

    What lies there at the start is of an earlier attempt and ignored, and so is what a process asked for that had
    begun before this one did (by the wall clock, which attempts of a job share well enough).

    Args:
        directory: parent of the ranks' directories, on a local file system.
        rank: of this process.
        clock: monotonic seconds.
        wall_clock: seconds since the epoch.
        messages: where to say that it cannot be used.
    """

    def __init__(
        self,
        directory: str,
        rank: int,
        clock: Callable[[], float],
        wall_clock: Callable[[], float],
        messages: Messages,
    ) -> None:
        self._path = os.path.join(directory, FILE_NAME)
        self._rank = rank
        self._clock = clock
        self._wall_clock = wall_clock
        self._messages = messages
        self._began_s = wall_clock()
        self._seen = self._signature()
        self._look_at_s = clock()

    def ask(self, cause: Cause) -> None:
        """Asks the others for a window; that it fails costs their windows only."""
        request = {
            "format": 1,
            "id": uuid.uuid4().hex,
            "rank": self._rank,
            "time_s": self._wall_clock(),
            "reason": cause.reason,
            "about_step": cause.about_step,
            "at_step": cause.at_step,
        }
        own = f"{self._path}.{request['id']}.tmp"
        try:
            with open(own, "x", encoding="utf-8") as file:
                json.dump(request, file)
            os.replace(own, self._path)
            self._seen = self._signature()
        except OSError as error:
            self._messages.warn_once("peers", f"the other ranks are not asked for a trace: {error}")

    def look(self, at_once: bool = False) -> Cause | None:
        """Returns what another rank asks for, once per request; looks every few seconds only, or at once."""
        now_s = self._clock()
        if now_s < self._look_at_s and not at_once:
            return None
        self._look_at_s = now_s + LOOK_EVERY_S
        signature = self._signature()
        if signature is None or signature == self._seen:
            return None
        self._seen = signature
        try:
            with open(self._path, encoding="utf-8") as file:
                request = json.loads(file.read(_MAX_BYTES))
        except (OSError, ValueError) as error:
            self._messages.warn_once("peers", f"{self._path} cannot be read: {error}")
            return None
        return self._cause(request)

    def _cause(self, request: Any) -> Cause | None:
        if not isinstance(request, dict) or request.get("rank") == self._rank:
            return None
        reason, about_step, at_step, time_s = (
            request.get(key) for key in ("reason", "about_step", "at_step", "time_s")
        )
        is_known = reason in (REGRESSION, SLOW_STEP) and type(about_step) is int and type(at_step) is int
        if not is_known or not isinstance(time_s, (int, float)) or time_s < self._began_s:
            return None
        return Cause(reason, about_step, at_step)

    def _signature(self) -> tuple[int, int] | None:
        """Returns what tells one request from another without opening it; None where there is none."""
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino
