"""docs/format.md promises that TensorBoard's own reader is enough; its example is run as it stands there."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import numpy as np

from tb_stepperf.blocks import Flag, schema
from tests.support.logs import write_attempt

DOCUMENT = (pathlib.Path(__file__).parents[2] / "docs" / "format.md").read_text(encoding="utf-8")


def test_the_example_reads_a_log(tmp_path: pathlib.Path) -> None:
    log = write_attempt(
        tmp_path,
        np.arange(10, 16),
        {"step_time_ms": np.array([5, 6, 7, 8, 9, 10]), "num_samples": np.full(6, 32)},
        block_rows=4,
        environment=[{"torch": "2"}],
    )
    (example,) = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    assert len([line for line in example.splitlines() if line.strip()]) <= 12
    done = subprocess.run([sys.executable, "-c", example, str(log.path)], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first.startswith(f"stepperf/{log.attempt}/000000 10 ")
    assert "'step_time_ms': array([5., 6., 7., 8.]" in first
    assert "{'num_samples': 32.0}" in first
    assert second.startswith(f"stepperf/{log.attempt}/000000 14 ")
    assert "'step_time_ms': array([ 9., 10.]" in second


def test_the_document_names_every_column() -> None:
    constants = {name: value for name, value in vars(schema).items() if name.isupper() and not name.startswith("_")}
    names = [value for value in constants.values() if isinstance(value, str)]
    assert "step_time_ms" in names
    assert [name for name in names if f"`{name}`" not in DOCUMENT] == []


def test_the_document_names_every_flag() -> None:
    line = next(line for line in DOCUMENT.splitlines() if line.startswith("| `flags`"))
    assert [int(number) for number in re.findall(r"\b(\d+) ", line)] == [int(flag) for flag in Flag]
