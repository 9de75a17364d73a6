"""The block format: the contract between the training process that writes and the viewer that reads.

`docs/format.md` describes the bytes. This package is the only code that knows them; it imports numpy, and
TensorBoard's protos only inside the functions that build or take apart a proto.
"""

from tb_stepperf.blocks.block import Block
from tb_stepperf.blocks.codec import decode_block, decode_environment, encode_block, encode_environment, summary_value
from tb_stepperf.blocks.metadata import (
    FORMAT_VERSION,
    MAX_BLOCKS_PER_TAG,
    MAX_ROWS_PER_BLOCK,
    MAX_ROWS_PER_TAG,
    PLUGIN_NAME,
    TagMetadata,
    attempt_id,
    blocks_tag,
    environment_tag,
    parse_metadata,
)
from tb_stepperf.blocks.schema import Flag, device_stage_column, device_stage_name, stage_column, stage_name

__all__ = [
    "FORMAT_VERSION",
    "MAX_BLOCKS_PER_TAG",
    "MAX_ROWS_PER_BLOCK",
    "MAX_ROWS_PER_TAG",
    "PLUGIN_NAME",
    "Block",
    "Flag",
    "TagMetadata",
    "attempt_id",
    "blocks_tag",
    "decode_block",
    "decode_environment",
    "device_stage_column",
    "device_stage_name",
    "encode_block",
    "encode_environment",
    "environment_tag",
    "parse_metadata",
    "stage_column",
    "stage_name",
    "summary_value",
]
