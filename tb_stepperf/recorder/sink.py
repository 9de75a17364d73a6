"""Where events go: an event file of our own, or the `SummaryWriter` that the loop already has."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tb_stepperf.errors import ConfigError
from tb_stepperf.recorder.eventfile import EventFile, is_remote, open_event_file, record, settled
from tb_stepperf.recorder.messages import Messages

if TYPE_CHECKING:
    from tensorboard.compat.proto.event_pb2 import Event


class Sink(Protocol):
    """Takes events and never raises.

    Attributes:
        logdir: the directory that the events go to.
        at_once: whether a write costs little, so that blocks need not wait for the flush interval.
    """

    logdir: str
    at_once: bool

    def write(self, events: Sequence[Event]) -> int:
        """Writes events in order and returns how many of the first of them are safe."""

    def lost_what_was_written(self) -> bool:
        """Returns whether earlier events are gone (a deleted directory); true once per loss."""

    def close(self) -> None:
        """Ends writing."""


class FileSink:
    """An event file of its own; after an error a new one, since readers stop at a torn record."""

    def __init__(self, logdir: str, messages: Messages, wall_clock: Callable[[], float]) -> None:
        self.logdir = settled(logdir)
        self.at_once = not is_remote(logdir)
        self._messages = messages
        self._wall_clock = wall_clock
        self._file = self._open()

    def write(self, events: Sequence[Event]) -> int:
        """Writes events; a failure is said once, and the rest of these events is not tried."""
        self._file = file = self._file or self._open()
        if file is None:
            return 0
        records = [record(event.SerializeToString()) for event in events]
        if not self.at_once:  # a remote write costs a request or more: all in one
            records = [b"".join(records)]
        num_written = 0
        try:
            for one in records:
                file.write(one)
                num_written += 1
        except Exception as error:  # file systems of other libraries raise their own
            self._say(error, file.path)
            self._abandon()
            return num_written
        return len(events)

    def lost_what_was_written(self) -> bool:
        """Returns whether the file was deleted; then the next write begins a new one."""
        if self._file is None:
            return False
        try:
            if self._file.exists():
                return False
        except Exception as error:
            self._say(error, self._file.path)
            return False
        self._messages.warn_once("deleted", f"{self._file.path} was deleted while training: a new file is begun")
        self._abandon()
        return True

    def close(self) -> None:
        """Closes the file."""
        self._abandon()

    def _open(self) -> EventFile | None:
        try:
            return open_event_file(self.logdir, self._wall_clock())
        except Exception as error:
            self._say(error, self.logdir)
            return None

    def _say(self, error: Exception, path: str) -> None:
        reason = f"{error.strerror} (errno {error.errno})" if isinstance(error, OSError) and error.strerror else error
        self._messages.warn_once(
            "write",
            f"cannot write {path}: {reason}. Training goes on; steps that cannot be written are counted, and every "
            "flush tries again with a new file.",
        )

    def _abandon(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            try:
                file.close()
            except Exception as error:
                self._messages.warn_once("close", f"cannot close {file.path}: {error}")


class SummaryWriterSink:
    """The event file of a `SummaryWriter` (torch's or tensorboardX's), which stays the loop's own to close."""

    at_once = True

    def __init__(self, summary_writer: Any, messages: Messages) -> None:
        get_file_writer = getattr(summary_writer, "_get_file_writer", None)
        if not callable(get_file_writer) or not hasattr(get_file_writer(), "add_event"):
            raise ConfigError(
                f"summary_writer is a {type(summary_writer).__name__}; a SummaryWriter of torch.utils.tensorboard or "
                "tensorboardX is allowed: pass one, or a logdir"
            )
        self.logdir = settled(os.fspath(get_file_writer().get_logdir()))
        self._summary_writer = summary_writer
        self._get_file_writer = get_file_writer
        self._messages = messages
        self._event_type = _event_type(summary_writer)

    def write(self, events: Sequence[Event]) -> int:
        """Adds the events and flushes them."""
        at = 0
        try:
            file_writer = self._get_file_writer()
            for event in events:
                own = event if self._event_type is None else self._event_type.FromString(event.SerializeToString())
                file_writer.add_event(own, step=event.step, walltime=event.wall_time)
                at += 1
            self._summary_writer.flush()
        except Exception as error:  # whatever the other writer raises
            self._messages.warn_once("write", f"cannot write through the SummaryWriter of {self.logdir}: {error}")
        return at

    def lost_what_was_written(self) -> bool:
        """Returns False: the file is not ours to watch."""
        return False

    def close(self) -> None:
        """Leaves the SummaryWriter as it is."""


def _event_type(summary_writer: Any) -> Any:
    """Returns the class of events that this writer insists on, or None where it is TensorBoard's own."""
    if type(summary_writer).__module__.partition(".")[0] != "tensorboardX":
        return None
    from tensorboardX.proto import event_pb2

    return event_pb2.Event
