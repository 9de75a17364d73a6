"""The reading side: blocks from a TensorBoard data provider in, tables per run and member out.

`Store` is the door. `provider.py` is the only module that calls a data provider; `segment.py` decodes tags;
`reader.py` reads each once and keeps it within a memory cap; `attempts.py` and `grouping.py` make runs, ranks,
writers and attempts of them; `snapshot.py` holds one moment of all that, `table.py` assembles rows.
`logdir.py` makes a store of a log directory where no TensorBoard runs.
"""

from tb_stepperf.store.logdir import LogDirectory, is_directory, open_logdir
from tb_stepperf.store.store import Store
from tb_stepperf.store.types import AttemptInfo, Catalog, Gap, MemberInfo, Problem, RunInfo, Table

__all__ = [
    "AttemptInfo",
    "Catalog",
    "Gap",
    "LogDirectory",
    "MemberInfo",
    "Problem",
    "RunInfo",
    "Store",
    "Table",
    "is_directory",
    "open_logdir",
]
