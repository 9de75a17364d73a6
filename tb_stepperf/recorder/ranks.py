"""Which process of a job this one is."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

from tb_stepperf.errors import ConfigError


class Rank(NamedTuple):
    """Rank of this process in [0, world_size), and the number of processes of the job."""

    rank: int
    world_size: int


def find_rank(rank: int | None, world_size: int | None) -> Rank:
    """Returns the rank as given, else as `torch.distributed` has it, else from `RANK` and `WORLD_SIZE`, else 0 of 1.

    Raises:
        ConfigError: rank and world size do not fit together.
    """
    found = _from_torch() or _from_variables() or Rank(0, 1)
    chosen = Rank(found.rank if rank is None else rank, found.world_size if world_size is None else world_size)
    whole = all(isinstance(number, int) and not isinstance(number, bool) for number in chosen)
    if not whole or not 0 <= chosen.rank < chosen.world_size:
        raise ConfigError(
            f"rank is {chosen.rank!r} and world_size {chosen.world_size!r}; integers with 0 <= rank < world_size are "
            "allowed: give both, or neither"
        )
    return chosen


def rank_directory(logdir: str, rank: Rank) -> str:
    """Returns the directory of a rank: `logdir` itself for a single process, else `rank_<n>` below it."""
    return logdir if rank.world_size == 1 else f"{logdir.rstrip('/')}/rank_{rank.rank}"


def _from_torch() -> Rank | None:
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return Rank(distributed.get_rank(), distributed.get_world_size())


def _from_variables() -> Rank | None:
    try:
        found = Rank(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    except (KeyError, ValueError):
        return None
    return found if 0 <= found.rank < found.world_size else None
