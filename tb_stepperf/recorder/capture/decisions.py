"""When a window is worth its price. Asked on the background thread, of the rows that are written anyway."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tb_stepperf.recorder.capture.captures import Captures
from tb_stepperf.recorder.capture.peers import LOOK_EVERY_S, Peers
from tb_stepperf.recorder.capture.rounds import REGRESSION, SLOW_STEP, Cause, describe
from tb_stepperf.recorder.capture.rules import CaptureRules
from tb_stepperf.recorder.capture.slow import SlowSteps
from tb_stepperf.recorder.loop import LoopState
from tb_stepperf.recorder.rows import Rows

NEAR_STEPS = 50
"""A slowdown this near to a planned change is the planned one."""

_MAX_STEPS_AHEAD = 10_000
_NUM_PLANNED_KEPT = 64


class Decisions:
    """Asks for windows, within the rules.

    Args:
        captures: where to ask.
        rules: what is allowed.
        keeps_one: whether one window is kept for a lasting slowdown, since somebody looks for those.
        num_warmup_steps: steps at the start that are not looked at.
        peers: the other ranks; None without.
        loop: whose clock and step count.
    """

    def __init__(
        self,
        captures: Captures,
        rules: CaptureRules,
        keeps_one: bool,
        num_warmup_steps: int,
        peers: Peers | None,
        loop: LoopState,
    ) -> None:
        self.look_every_s = math.inf if peers is None else LOOK_EVERY_S
        self._captures = captures
        self._rules = rules
        self._max_slow = max(rules.max_captures - keeps_one, 0)
        self._peers = peers
        self._loop = loop
        self._slow_steps = SlowSteps(rules.slow_step_factor, rules.slow_step_excess_ms, num_warmup_steps)
        self._told_ms = math.inf
        self._planned: list[int] = []
        self._regression: int | None = None
        self._num_asked = 0
        self._next_s = -math.inf
        self._failed = False

    def see_rows(self, rows: Rows) -> None:
        """Takes in measured steps."""
        self._guard(self._see_rows, rows)

    def see_records(self, records: Sequence[dict[str, Any]]) -> None:
        """Takes in environment records: planned changes, and changes that were noticed."""
        self._guard(self._see_records, records)

    def decide(self) -> None:
        """Asks for what has waited for its time, of this rank and of others."""
        self._guard(self._decide)

    def _guard(self, action: Callable[..., None], *arguments: Any) -> None:
        if self._failed:
            return
        try:
            action(*arguments)
        except Exception as error:  # whatever is wrong here, steps are written as before
            self._failed = True
            self._captures.say(f"no window is captured any more: {describe(error)}")

    def _see_rows(self, rows: Rows) -> None:
        slow = self._slow_steps.see(rows)
        if slow is not None:
            self._ask(Cause(SLOW_STEP, slow), self._max_slow)
        limit_ms = self._slow_steps.limit_ms
        if limit_ms < math.inf and not 0.8 * limit_ms <= self._told_ms <= limit_ms:
            self._told_ms = 0.9 * limit_ms
            self._captures.look_for_slow(self._told_ms / 1e3)

    def _see_records(self, records: Sequence[dict[str, Any]]) -> None:
        self._planned += [record["step"] for record in records if "planned_change" in record]
        del self._planned[:-_NUM_PLANNED_KEPT]
        for record in records:
            change = record.get("provisional_change")
            if change is not None and change["kind"] == REGRESSION:
                self._regression = change["step"]

    def _decide(self) -> None:
        step = self._regression
        if step is not None and any(abs(step - planned) <= NEAR_STEPS for planned in self._planned):
            step = self._regression = None
        if step is not None and self._ask(Cause(REGRESSION, step), self._rules.max_captures):
            self._regression = None
        asked = None if self._peers is None else self._peers.look()
        if asked is not None and self._may_ask(self._rules.max_captures):
            self._count(self._captures.ask(asked))

    def _ask(self, cause: Cause, max_asked: int) -> bool:
        """Asks for a window and, where there are other ranks, them too; a request of theirs goes first."""
        if not self._may_ask(max_asked):
            return False
        if self._peers is None:
            return self._count(self._captures.ask(cause))
        theirs = self._peers.look(at_once=True)
        own = Cause(cause.reason, cause.about_step, self._loop.next_step + self._steps_ahead())
        is_asked = self._count(self._captures.ask(theirs or own))
        if is_asked and theirs is None:
            self._peers.ask(own)
        return is_asked

    def _may_ask(self, max_asked: int) -> bool:
        return self._num_asked < max_asked and self._loop.clock() >= self._next_s and self._captures.is_free

    def _count(self, is_asked: bool) -> bool:
        if is_asked:
            self._num_asked += 1
            self._next_s = self._loop.clock() + self._rules.cooldown_s
        return is_asked

    def _steps_ahead(self) -> int:
        """Returns in how many steps all ranks will have seen a request."""
        typical_ms = self._slow_steps.typical_ms
        steps = 100 if typical_ms is None else math.ceil(2 * LOOK_EVERY_S * 1e3 / typical_ms)
        return self._rules.num_warmup_steps + min(max(steps, 2), _MAX_STEPS_AHEAD)
