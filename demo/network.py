"""Pretended other ranks: what a step waits for while gradients are averaged over a slow network."""

from __future__ import annotations

import time

from torch import nn

NUM_RANKS = 8
BYTES_PER_S = 12.5e6
"""100 Mbit/s: machines that are not in one building."""


class PretendNetwork:
    """Waits as long as a ring all-reduce among `NUM_RANKS` machines would take: alone, but paced like a cluster.

    It also keeps what the demo plants the only change there is. Other programs on the same machine move the pace of
    its processor by several percent for minutes; that is real, and the tab would say so. A step that waits for a
    network for most of its time is hardly touched by it.

    Args:
        model: its parameters' gradients are what would be sent.
    """

    def __init__(self, model: nn.Module) -> None:
        num_bytes = sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())
        # in a ring, each of n ranks sends, and receives, 2 (n - 1) / n of the bytes
        self._seconds = 2 * (NUM_RANKS - 1) / NUM_RANKS * num_bytes / BYTES_PER_S

    def all_reduce(self) -> None:
        """Waits; the gradients stay as they are, as though all ranks had the same."""
        time.sleep(self._seconds)
