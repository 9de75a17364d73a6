"""Trace files with planted properties: small ones event by event, large ones as Kineto lays them out.

The small trace that most damage is done to (`good_document`) has three steps of 1,000 µs; in each an operator of 50 µs
starts at 100 µs and a kernel of 300 µs at 200 µs: the device is busy for 30 % of a step.
"""

from __future__ import annotations

import gzip
import json
import pathlib
from collections.abc import Iterable
from typing import Any

_LARGE_HEAD = """{
  "schemaVersion": 1,
  "deviceProperties": [
    {
      "id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85018279936,
      "computeMajor": 9, "computeMinor": 0, "warpSize": 32, "numSms": 132
    }
  ],
  "record_shapes": %(shapes)d,
  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8},
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1735632360000000000,
  "traceEvents": [
  {
    "name": "process_name", "ph": "M", "ts": 0, "pid": 4711, "tid": 0,
    "args": {
      "name": "python3"
    }
  }"""
_STEP = """,
  {
    "ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d", "pid": 4711, "tid": 4711,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "External id": %d,"Record function id": 1, "Ev Idx": %d
    }
  }"""
_OPERATOR = """,
  {
    "ph": "X", "cat": "cpu_op", "name": "aten::%s", "pid": 4711, "tid": 4711,
    "ts": %.3f, "dur": 14.000,
    "args": {
      "External id": %d,"Record function id": 0, %s"Ev Idx": %d
    }
  }"""
_LAUNCH = """,
  {
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4711, "tid": 4711,
    "ts": %.3f, "dur": 6.000,
    "args": {
      "External id": %d, "cbid": 211, "correlation": %d
    }
  },
  {
    "ph": "s", "id": %d, "pid": 4711, "tid": 4711, "ts": %.3f,
    "cat": "ac2g", "name": "ac2g"
  },
  {
    "ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": 7,
    "ts": %.3f, "dur": 9.500,
    "args": {
      "External id": %d, "queued": 0, "device": 0, "context": 1,
      "stream": 7, "correlation": %d,
      "registers per thread": 32, "shared memory": 0, "blocks per SM": 3.764706, "warps per SM": 15.058824,
      "grid": [497, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %%": 24
    }
  },
  {
    "ph": "f", "id": %d, "pid": 0, "tid": 7, "ts": %.3f,
    "cat": "ac2g", "name": "ac2g", "bp": "e"
  }"""
_SHAPES = (
    '"Concrete Inputs": ["", "", "1"], "Input type": ["float", "float", "Scalar"], '
    '"Input Strides": [[512, 1], [512, 1], []], "Input Dims": [[%d, 512], [%d, 512], []], '
)
_NAMES = ("add", "mul", "addmm", "relu", "layer_norm", "softmax", "copy_", "dropout", "gelu", "bmm", "sum")
_KERNEL = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::%s_functor<float>, std::array<char*, 3ul> >"
    "(int, at::native::%s_functor<float>, std::array<char*, 3ul>)"
)
_LARGE_TAIL = """
  ],
  "traceName": "%s"
}
"""

_EVENTS_A_PAIR = 6
"""Of two operators one is an event, the other five: itself, the launch, the kernel, and the ends of a flow."""


def complete(name: str, cat: str, start_us: float, duration_us: float, **more: Any) -> dict[str, Any]:
    """Returns a complete event of the host's thread 1; `more` overrides or adds fields."""
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": start_us, "dur": duration_us, **more}


def good_events() -> list[dict[str, Any]]:
    """Returns the events of `good_document`: steps, operators, kernels."""
    starts_us = [1000.0, 2000.0, 3000.0]
    return [
        *(complete(f"ProfilerStep#{n}", "user_annotation", at, 1000.0) for n, at in enumerate(starts_us)),
        *(complete("aten::mm", "cpu_op", at + 100, 50.0) for at in starts_us),
        *(complete("sgemm", "kernel", at + 200, 300.0, pid=0, tid=7) for at in starts_us),
    ]


def good_document(*more: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """Returns the small trace of this module, with `more` events at its end and `metadata` instead of its own."""
    return {
        "schemaVersion": 1,
        "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2},
        "traceEvents": [*good_events(), *more],
        "traceName": "x",
        **metadata,
    }


def good_text(*more: dict[str, Any], **metadata: Any) -> str:
    """Returns the same as JSON text."""
    return json.dumps(good_document(*more, **metadata))


def write_large(path: pathlib.Path, *, num_events: int, num_steps: int = 10, with_shapes: bool = True) -> int:
    """Writes a trace as Kineto does it on a CUDA device, in constant memory.

    Each step is a row of operators of 14 µs every 20 µs; every second one launches a kernel of 9.5 µs (6 µs of
    launching) 10 µs after its start. With shapes an event takes about 310 bytes, without about 255.

    Args:
        path: of the file; gzip where it ends in `.gz`.
        num_events: about how many events of all kinds.
        num_steps: steps among them.
        with_shapes: whether operators have their input shapes.

    Returns:
        The number of complete events.
    """
    pairs_a_step = max((num_events - num_steps) // num_steps // _EVENTS_A_PAIR, 1)
    step_us = pairs_a_step * 40.0
    num_complete = 0
    with gzip.open(path, "wb", compresslevel=4) if path.suffix == ".gz" else open(path, "wb") as file:
        file.write((_LARGE_HEAD % {"shapes": with_shapes}).encode())
        for step in range(num_steps):
            start_us = 4203669603000.123 + step * step_us
            text = [_STEP % (step, start_us, step_us, step + 1, step)]
            for pair in range(pairs_a_step):
                text += _two_operators(start_us + pair * 40, step * pairs_a_step + pair, with_shapes)
                if len(text) > 10_000:
                    file.write("".join(text).encode())
                    text.clear()
            file.write("".join(text).encode())
            num_complete += 1 + 4 * pairs_a_step
        file.write((_LARGE_TAIL % "/home/somebody/trace.json").encode())
    return num_complete


def _two_operators(at_us: float, number: int, with_shapes: bool) -> Iterable[str]:
    name = _NAMES[number % len(_NAMES)]
    size = 8 << (number % 5)
    shapes = _SHAPES % (size, size) if with_shapes else ""
    first = 2 * number + 1
    launch = first + 10**6
    yield _OPERATOR % (name, at_us, first, shapes, first)
    yield _LAUNCH % (
        at_us + 4, first, launch, launch, at_us + 4, _KERNEL % (name, name), at_us + 10, first, launch, launch,
        at_us + 10,
    )  # fmt: skip
    yield _OPERATOR % ("empty_like", at_us + 20, first + 1, shapes, first + 1)
