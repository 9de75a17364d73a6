"""Character-level windows of the Python standard library's own source: real data that every machine has."""

from __future__ import annotations

import pathlib
import sysconfig
import time

import torch
from torch.utils.data import Dataset

NUM_CHARACTERS = 128
"""ASCII; anything else becomes a question mark."""

STORAGE_LATENCY_S = 0.02
"""Pretended time to the first byte of a file on shared storage."""

_NOT_LIBRARY = ("site-packages", "test", "tests", "lib2to3", "idlelib", "turtledemo")


def load_sources(max_bytes: int = 2_000_000) -> list[bytes]:
    """Returns source files of the standard library of middling size, in name order, at most `max_bytes` in total.

    Raises:
        FileNotFoundError: this Python has no standard library source beside it.
    """
    folder = pathlib.Path(sysconfig.get_paths()["stdlib"])
    sources: list[bytes] = []
    num_bytes = 0
    for path in [*sorted(folder.glob("*.py")), *sorted(folder.glob("*/*.py"))]:
        source = path.read_bytes() if path.parent.name not in _NOT_LIBRARY else b""
        if 15_000 < len(source) < 40_000 and num_bytes + len(source) <= max_bytes:
            sources.append(source)
            num_bytes += len(source)
    if not sources:
        raise FileNotFoundError(f"no Python source in {folder}; the demo trains on the standard library's own source")
    return sources


class Windows(Dataset):
    """Windows of source text for batches that are numbered in advance, so that a cause can be planted at a step.

    Args:
        sources: the files to draw from.
        num_batches: number of batches; one item of this dataset is one whole batch.
        batch_size: windows in a batch.
        length: characters in a window.
        slow_data_at: from this batch on, every window's file is fetched from shared storage anew, as though somebody
            had switched a cache off: each waits for `STORAGE_LATENCY_S`. None plants nothing.
        long_windows_at: from this batch on, windows are twice as long. None plants nothing.
    """

    def __init__(
        self,
        sources: list[bytes],
        *,
        num_batches: int,
        batch_size: int,
        length: int,
        slow_data_at: int | None = None,
        long_windows_at: int | None = None,
    ) -> None:
        self._sources = sources
        self._num_batches = num_batches
        self._batch_size = batch_size
        self._length = length
        self._slow_data_at = slow_data_at
        self._long_windows_at = long_windows_at

    def __len__(self) -> int:
        """Number of batches."""
        return self._num_batches

    def __getitem__(self, batch: int) -> torch.Tensor:
        """Returns batch number `batch`: int64 characters of shape (batch_size, length + 1)."""
        if batch >= self._num_batches:
            raise IndexError(f"batch {batch}; there are {self._num_batches}")
        random = torch.Generator().manual_seed(batch)
        length = self._length
        if self._long_windows_at is not None and batch >= self._long_windows_at:
            length *= 2
        is_cached = self._slow_data_at is None or batch < self._slow_data_at
        rows = []
        for _ in range(self._batch_size):
            source = self._sources[int(torch.randint(len(self._sources), (), generator=random))]
            if not is_cached:
                time.sleep(STORAGE_LATENCY_S)
            start = int(torch.randint(len(source) - length - 1, (), generator=random))
            rows.append(torch.frombuffer(bytearray(source[start : start + length + 1]), dtype=torch.uint8))
        characters = torch.stack(rows).long()
        return torch.where(characters < NUM_CHARACTERS, characters, ord("?"))
