"""What all charts share: bins of the axis as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tb_stepperf.plugin.view import View
from tb_stepperf.statistics import Bins, make_bins


class Chart:
    """The bins of a view, with positions relative to the first of them.

    Args:
        view: rows to divide among the bins that its query asks for.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self.bins: Bins = make_bins(view.positions, view.query.bins)
        self.base = self.bins.start[0] if self.bins.start else view.start

    @property
    def rows(self) -> np.ndarray:
        """Edges of the bins among the rows in range, int64, shape (num_bins + 1,)."""
        return self.bins.rows

    def head(self, **fields: Any) -> dict[str, Any]:
        """Returns the members that every chart's answer begins with; `fields` stand before the axis."""
        return {
            "run": self.view.query.run,
            "member": self.view.member.member,
            **fields,
            "axis": {
                "axis": self.view.query.axis,
                "base": str(self.base),
                "start": self._relative(self.bins.start),
                "end": self._relative(self.bins.end),
            },
        }

    def positions_of(self, rows: np.ndarray) -> list[int | None]:
        """Returns the axis positions, relative to the base, of rows in range; null where a row is -1."""
        found = rows >= 0
        if not found.any():
            return [None] * rows.size
        positions = self.view.positions[np.maximum(rows, 0)].tolist()
        return [position - self.base if there else None for position, there in zip(positions, found.tolist())]

    def _relative(self, edges: Sequence[int]) -> list[int]:
        return [edge - self.base for edge in edges]
