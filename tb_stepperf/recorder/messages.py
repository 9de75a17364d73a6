"""Warnings of the recorder: each said once, and never able to stop a training.

They go through `logging` (logger `tb_stepperf`) and not through `warnings`, which a filter can turn into exceptions.
"""

from __future__ import annotations

import logging

logger = logging.getLogger("tb_stepperf")


class Messages:
    """Says each kind of warning once per writer."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def warn_once(self, kind: str, text: str) -> None:
        """Logs `text` as a warning unless one of the same `kind` was logged before."""
        if kind not in self._said:
            self._said.add(kind)
            logger.warning("%s", text)
