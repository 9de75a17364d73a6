"""A summary as `/trace` and `stepperf trace --json` say it."""

from __future__ import annotations

import itertools
from typing import Any

from tb_stepperf.traces.summary import TraceSummary, to_json


def summary_json(summary: TraceSummary) -> dict[str, Any]:
    """Returns the summary as JSON-able values; steps are decimal strings: JavaScript cannot hold every number."""
    answer = to_json(summary)
    for row in itertools.chain(answer["steps"], answer["waits"]):
        row["step"] = None if row["step"] is None else str(row["step"])
    return answer
