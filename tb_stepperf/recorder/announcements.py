"""Planned changes: what the loop announces, and the step that it turns out to hold from."""

from __future__ import annotations

from typing import Any

from tb_stepperf.recorder.arguments import Checks
from tb_stepperf.recorder.messages import Messages

MAX_TEXT = 200
"""Characters of an announcement that are kept."""

MAX_ANNOUNCEMENTS = 1000
"""Announcements of one writer: a file must not fill with them."""

_ELLIPSIS = "…"


class Announcements:
    """Announcements that wait to be written. Every call is made with the loop's lock held.

    An announcement is made for the next step, whose number is not settled before it ends: a loop that resumes may name
    another one than was expected.

    Attributes:
        waiting: (step, text) of each.
    """

    def __init__(self, checks: Checks, messages: Messages) -> None:
        self.waiting: list[tuple[int, str]] = []
        self._num_taken_in = 0
        self._checks = checks
        self._messages = messages

    def announce(self, text: Any, next_step: int) -> None:
        """Takes an announcement of what holds from the next step on; what is no text is counted as invalid."""
        shown = " ".join(text.split()) if isinstance(text, str) else ""
        if not shown:
            self._checks.invalid("expect_change", text, "a text that says what changes")
            return
        self._num_taken_in += 1
        if self._num_taken_in > MAX_ANNOUNCEMENTS:
            self._messages.warn_once(
                "announcements",
                f"expect_change({shown[:80]!r}) is one too many: {MAX_ANNOUNCEMENTS} of a writer are kept. "
                "What changes from step to step is a bucket: step(bucket=…).",
            )
            return
        if len(shown) > MAX_TEXT:
            shown = shown[: MAX_TEXT - len(_ELLIPSIS)] + _ELLIPSIS
        self.waiting.append((next_step, shown))

    def place(self, expected: int, number: int) -> None:
        """Says that the step which was expected to be `expected` has ended as `number`."""
        self.waiting = [(number if step == expected else step, text) for step, text in self.waiting]

    def take(self, next_step: int) -> list[dict[str, Any]]:
        """Takes those whose step has ended, as environment records."""
        ended = [(step, text) for step, text in self.waiting if step != next_step]
        self.waiting = [(step, text) for step, text in self.waiting if step == next_step]
        return [{"step": step, "planned_change": text} for step, text in ended]
