"""Blocks and environment records to tensors and back; `docs/format.md` is the description of these bytes.

Both are string tensors. A block has three elements: a JSON header, the columns as little-endian float32, one after
another, and a checksum of both: TensorBoard's fast loader does not check a record's own unless told to. Values that are
equal in every row stand in the header instead (most of `num_samples`, `flags`, `gc_ms`).
"""

from __future__ import annotations

import json
import math
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from tb_stepperf.blocks.block import MAX_STEP, Block
from tb_stepperf.blocks.metadata import MAX_ROWS_PER_BLOCK, PLUGIN_NAME, TagMetadata
from tb_stepperf.errors import FormatError

if TYPE_CHECKING:
    from tensorboard.compat.proto.summary_pb2 import Summary

_STEP_OFFSET, _WALL_OFFSET_S = "step_offset", "wall_offset_s"
MAX_STEP_SPAN = 2**24
"""Steps of one block span less than this: their offsets must be exact in float32."""


def encode_block(block: Block) -> tuple[list[bytes], int, float]:
    """Encodes a block.

    Returns:
        The three elements of the tensor, the event's step (the block's first step) and the event's wall time (that of
        the first row). A block without rows, which only ends an attempt, has step and wall time 0: the caller sets
        them.

    Raises:
        FormatError: too many rows, or steps that span 2**24 or more.
    """
    if block.num_rows > MAX_ROWS_PER_BLOCK:
        raise FormatError(f"a block of {block.num_rows} rows; at most {MAX_ROWS_PER_BLOCK} are allowed: split it")
    first_step = int(block.steps[0]) if block.num_rows else 0
    first_wall_s = float(block.wall_time_s[0]) if block.num_rows else 0.0
    header: dict[str, Any] = {"ordinal": block.ordinal, "first_row": block.first_row, "num_rows": block.num_rows}
    arrays: dict[str, np.ndarray] = {}
    if block.num_rows:
        offsets = block.steps - first_step
        if int(offsets[-1]) >= MAX_STEP_SPAN:
            raise FormatError(
                f"steps of a block span {int(offsets[-1])}; less than {MAX_STEP_SPAN} is allowed: split it"
            )
        stride = int(offsets[1]) if block.num_rows > 1 else 1
        if np.array_equal(offsets, np.arange(block.num_rows) * stride):
            header["step_stride"] = stride
        else:
            arrays[_STEP_OFFSET] = offsets.astype(np.float32)
        arrays[_WALL_OFFSET_S] = (block.wall_time_s - first_wall_s).astype(np.float32)
    constants: dict[str, float] = {}
    for name, values in block.columns.items():
        if not block.num_rows or np.isnan(values).all():
            continue
        if np.isfinite(values[0]) and (values == values[0]).all():
            constants[name] = float(values[0])
        else:
            arrays[name] = values
    header["columns"] = list(arrays)
    if constants:
        header["constants"] = constants
    if block.counters:
        header["counters"] = dict(block.counters)
    if block.end is not None:
        header["end"] = block.end
    body = b"".join(np.ascontiguousarray(values, dtype="<f4").tobytes() for values in arrays.values())
    header_bytes = json.dumps(header, separators=(",", ":")).encode()
    return [header_bytes, body, _checksum(header_bytes, body)], first_step, first_wall_s


def decode_block(elements: Any, step: int, wall_time_s: float) -> Block:
    """Decodes a block; the inverse of `encode_block` up to the columns that are NaN throughout, which are left out.

    Args:
        elements: the three elements (bytes) of the string tensor, as TensorBoard's `make_ndarray` returns them.
        step: the event's step.
        wall_time_s: the event's wall time, seconds since the epoch.

    Raises:
        FormatError: the elements are not a block.
    """
    try:
        header_bytes, body, checksum = (bytes(element) for element in elements)
        if checksum != _checksum(header_bytes, body):
            raise FormatError(f"the block at step {step} was damaged after it was written: its checksum differs")
        header = json.loads(header_bytes)
        num_rows, names = header["num_rows"], header["columns"]
        if type(num_rows) is not int or not 0 <= num_rows <= MAX_ROWS_PER_BLOCK:
            raise FormatError(f"block header has num_rows {num_rows!r}; [0, {MAX_ROWS_PER_BLOCK}] is allowed")
        _check_header(header)
        table = np.frombuffer(body, dtype="<f4").reshape(len(names), num_rows)
        columns = dict(zip(names, table.astype(np.float32, copy=False)))
        offsets = columns.pop(_STEP_OFFSET, None)
        wall_offsets_s = columns.pop(_WALL_OFFSET_S, np.zeros(num_rows, np.float32))
        if offsets is None:
            offsets = np.arange(num_rows) * int(header.get("step_stride", 1))
        if num_rows and int(offsets[-1]) > MAX_STEP - step:
            raise FormatError(f"block at step {step} reaches beyond step {MAX_STEP}")
        with np.errstate(invalid="ignore", over="ignore"):  # damaged numbers end as steps that `Block` refuses, or inf
            for name, value in header.get("constants", {}).items():
                columns[name] = np.full(num_rows, value, np.float32)
            return Block(
                ordinal=header["ordinal"],
                first_row=header["first_row"],
                steps=step + offsets.astype(np.int64),
                wall_time_s=wall_time_s + wall_offsets_s.astype(np.float64),
                columns=columns,
                counters=header.get("counters", {}),
                end=header.get("end"),
            )
    except FormatError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise FormatError(f"the tensor at step {step} is not a block: {error}") from error


def encode_environment(record: dict[str, Any]) -> list[bytes]:
    """Encodes an environment record (JSON-able, strict JSON: numbers that are not finite become null)."""
    return [json.dumps(_finite(record), separators=(",", ":"), allow_nan=False).encode()]


def decode_environment(elements: Any) -> dict[str, Any]:
    """Decodes an environment record.

    Raises:
        FormatError: the elements are not one JSON object.
    """
    try:
        (element,) = elements
        record = json.loads(bytes(element))
    except (ValueError, TypeError) as error:
        raise FormatError(f"an environment record is not one JSON text: {error}") from error
    if not isinstance(record, dict):
        raise FormatError(f"an environment record is a JSON {type(record).__name__}; an object is allowed")
    return record


def summary_value(tag: str, metadata: TagMetadata, elements: list[bytes]) -> Summary.Value:
    """Returns the `Summary.Value` that carries string-tensor `elements` under `tag`."""
    from tensorboard.compat.proto.summary_pb2 import DATA_CLASS_TENSOR, Summary, SummaryMetadata
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
    from tensorboard.compat.proto.types_pb2 import DT_STRING

    return Summary.Value(
        tag=tag,
        metadata=SummaryMetadata(
            plugin_data=SummaryMetadata.PluginData(plugin_name=PLUGIN_NAME, content=metadata.to_bytes()),
            data_class=DATA_CLASS_TENSOR,
        ),
        tensor=TensorProto(
            dtype=DT_STRING,
            string_val=elements,
            tensor_shape=TensorShapeProto(dim=[TensorShapeProto.Dim(size=len(elements))]),
        ),
    )


def _check_header(header: dict[str, Any]) -> None:
    """Refuses fields of other types than the format's, which would fail far from here."""
    for name in ("ordinal", "first_row"):
        if type(header[name]) is not int:
            raise FormatError(f"block header has {name} {header[name]!r}; an integer is allowed")
    for name in header["columns"]:
        if not isinstance(name, str):
            raise FormatError(f"block header has a column named {name!r}; text is allowed")
    counters, end = header.get("counters", {}), header.get("end")
    if not isinstance(counters, dict) or not all(type(count) is int for count in counters.values()):
        raise FormatError(f"block header has counters {counters!r}; names and integers are allowed")
    if not (end is None or isinstance(end, str)):
        raise FormatError(f"block header has end {end!r}; text is allowed")


def _checksum(header: bytes, body: bytes) -> bytes:
    return zlib.crc32(body, zlib.crc32(header)).to_bytes(4, "little")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value
