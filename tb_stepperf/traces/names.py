"""What events are, told by their names: communication, data loading, waits, the allocator's calls."""

from __future__ import annotations

import re

import numpy as np

from tb_stepperf.traces.events import TraceEvents

COMMUNICATION_KERNEL = re.compile(
    r"nccl|rccl|oneccl|hccl|nvshmem|cross_device_reduce|(one|two)_shot_all_?reduce|multimem_\w*reduce|deep_ep",
    re.IGNORECASE,
)
"""Kernels that move data between ranks."""

COMMUNICATION_CALL = re.compile(r"^((nccl|gloo|mpi|ucc|xccl|ccl|hccl):|c10d::|record_param_comms$)")
"""What the host records of a collective."""

DATA_LOADING = re.compile(r"^enumerate\((DataLoader|DataPipe)\)#")
"""The loop's wait for the next batch, and, without workers, the making of it."""

STEP = re.compile(r"^ProfilerStep#(\d{1,18})$")
OPTIMIZER_STEP = re.compile(r"^Optimizer\.step#")

SYNCHRONISATION = re.compile(
    r"^(cuda|hip|cu)\w*Synchronize(_\w+)?$|^(cudaMemcpy|hipMemcpy|hipMemcpyWithStream)$|^ur\w*(Wait|Finish)$"
    r"|^aclrtSynchronize\w+$"
)
"""Calls of a device's runtime that return when the device has done something."""

ALLOCATION = re.compile(r"^(cuda|hip|cuMem)(Malloc|Free|Create|Release)$")
"""Calls that get memory from the driver or give it back; the cache of PyTorch's allocator makes them rare."""

COLLECTION = re.compile(r"^Python GC$")
"""Garbage collections as `record_python_gc_info` records them, among Python's functions."""

COMPILATION = re.compile(r"\(dynamo_timed\)$")
"""Work of torch.compile."""


def named(events: TraceEvents, pattern: re.Pattern[str]) -> np.ndarray:
    """Whether the name of each event matches; bool, shape (num_events,)."""
    hits = np.fromiter((bool(pattern.search(name)) for name in events.names), bool, len(events.names))
    return hits[events.name]
