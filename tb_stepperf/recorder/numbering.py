"""Numbers of steps, where the loop gives its own or counting alone does not settle them."""

from __future__ import annotations

from typing import Any

from tb_stepperf.recorder.arguments import MAX_STEP, Checks, as_step
from tb_stepperf.recorder.messages import Messages

_MAX_SHORT_ATTEMPTS = 16
_SHORT_ATTEMPT = 8


class Numbering:
    """Chooses the number of a step, and notices numbers that go back again and again.

    A number that does not ascend begins a new attempt, which is right for a loop that went back to a checkpoint. A loop
    that gives the same number for every step would begin one each time: after 16 attempts of at most 8 steps in a row,
    such numbers are replaced from then on.
    """

    def __init__(self, first_step: int, checks: Checks, messages: Messages) -> None:
        self._first_of_attempt = first_step
        self._num_short_attempts = 0
        self._checks = checks
        self._messages = messages

    def choose(self, given: Any, next_step: int, any_before: bool) -> int | None:
        """Returns the number of a step that ends, or None where no number is left.

        Args:
            given: what the loop says; None where it counts on us.
            next_step: one more than the last number, or the number of the first step.
            any_before: whether there was a step before.
        """
        number = next_step if given is None else as_step(given)
        if number is None:
            self._checks.invalid("step", given, f"an integer in [0, {MAX_STEP}]")
            number = next_step
        if any_before and number < next_step:
            is_short = next_step - self._first_of_attempt <= _SHORT_ATTEMPT
            if self._num_short_attempts <= _MAX_SHORT_ATTEMPTS:
                self._num_short_attempts = self._num_short_attempts + 1 if is_short else 0
            if self._num_short_attempts <= _MAX_SHORT_ATTEMPTS:
                self._first_of_attempt = number
            else:
                self._messages.warn_once(
                    "restarts",
                    f"step={number} after step {next_step - 1}, and not for the first time: numbers that keep going "
                    "back are replaced by the next one. Pass the global step, or none.",
                )
                number = next_step
        if number > MAX_STEP:
            self._checks.invalid("step", number, f"an integer in [0, {MAX_STEP}]")
            return None
        return number
