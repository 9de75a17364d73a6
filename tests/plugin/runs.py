"""Members with planted changes, for the routes that judge them."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import numpy as np

from tb_stepperf.blocks import stage_column
from tb_stepperf.plugin import params
from tests.plugin.fakes import FakeMember
from tests.support import synthetic

_DOCUMENT = pathlib.Path(params.__file__).parent / "http_api.md"


def columns(
    num_steps: int = 3000, *, at: int | None = None, more_ms: float = 12.0, stage: str = "data", seed: int = 0
) -> dict[str, np.ndarray]:
    """Returns steps of 100 ms; from row `at` on, `stage` takes `more_ms` longer."""
    found = synthetic.columns(synthetic.step_time_ms(num_steps, seed=seed))
    if at is not None:
        for name in ("step_time_ms", stage_column(stage)):
            found[name][at:] += np.float32(more_ms)
    return found


def member(num_steps: int = 3000, *, at: int | None = None, seed: int = 0, **fields: Any) -> FakeMember:
    """Returns a member with `columns`; `fields` are those of `FakeMember`."""
    return FakeMember(columns(num_steps, at=at, seed=seed), **fields)


def assert_documented(answer: Any, route: str, number: int = 0) -> None:
    """Asserts that an answer has the members of the example in `http_api.md`, everywhere where the example has any.

    Args:
        answer: of the route, or the part of it that the example shows.
        route: with a section of its own.
        number: of the example in the section.
    """
    section = _DOCUMENT.read_text(encoding="utf-8").split(f"### `{route}`")[1].split("\n### ")[0]
    example = json.loads(re.findall(r"```json\n(.*?)```", section, re.DOTALL)[number])
    _assert_same_keys(answer, example, route)


def _assert_same_keys(answer: Any, example: Any, path: str) -> None:
    if isinstance(example, dict) and example and answer is not None:
        assert sorted(answer) == sorted(example), path
        for key, value in example.items():
            _assert_same_keys(answer[key], value, f"{path}.{key}")
    elif isinstance(example, list) and example and isinstance(example[0], dict):
        for item in answer:
            _assert_same_keys(item, example[0], path)
