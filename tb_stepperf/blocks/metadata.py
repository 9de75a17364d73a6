"""Tags, and the small versioned JSON that each tag's summary metadata carries."""

from __future__ import annotations

import dataclasses
import json
import math
import re

from tb_stepperf.errors import FormatError, NewerFormatError

PLUGIN_NAME = "stepperf"
"""Name of the plugin, in summary metadata and in the tab's address."""

FORMAT_VERSION = 1
"""Raised when a reader of the version before could misread what is written now."""

MAX_BLOCKS_PER_TAG = 64
"""A new tag begins after this many blocks: the Rust data server keeps 100 tensors of a tag without our flag."""

MAX_ROWS_PER_TAG = 65_536
"""A new tag begins before this many rows: one read of a tag must stay far below gRPC's 256 MiB."""

MAX_ROWS_PER_BLOCK = MAX_ROWS_PER_TAG // MAX_BLOCKS_PER_TAG
"""Most rows of one block, so that 64 full blocks fill a tag exactly."""

_KINDS = ("blocks", "environment")
_ATTEMPT = re.compile(r"[0-9]{14}-[0-9a-f]{8}")


@dataclasses.dataclass(frozen=True)
class TagMetadata:
    """What a reader knows of a tag before it reads any of its tensors.

    Attributes:
        kind: "blocks" or "environment".
        attempt: identity of the attempt, see `attempt_id`.
        process: identity of the writing process; attempts of one process never run at the same time.
        started_s: wall time at which the attempt began, seconds since the epoch.
        segment: number of the tag within the attempt, from 0 (always 0 for "environment").
        rank: rank of the writing process in [0, world_size).
        world_size: number of processes of the job.
    """

    kind: str
    attempt: str
    process: str
    started_s: float
    segment: int = 0
    rank: int = 0
    world_size: int = 1

    def to_bytes(self) -> bytes:
        """Returns the content for `SummaryMetadata.plugin_data.content`."""
        return json.dumps({"format": FORMAT_VERSION, **dataclasses.asdict(self)}, separators=(",", ":")).encode()


def attempt_id(started_s: float, random_hex: str) -> str:
    """Returns an identity that sorts by start: 14 digits of wall-clock milliseconds, a dash, 8 random hex digits.

    Args:
        started_s: wall time, seconds since the epoch; clamped into what 14 digits hold.
        random_hex: 8 hexadecimal digits, so that two processes that start in one millisecond differ.
    """
    return f"{min(max(int(started_s * 1000), 0), 10**14 - 1):014d}-{random_hex}"


def blocks_tag(attempt: str, segment: int) -> str:
    """Returns the tag that holds blocks [64 * segment, 64 * (segment + 1)) of an attempt, fewer if they are large."""
    return f"{PLUGIN_NAME}/{attempt}/{segment:06d}"


def environment_tag(attempt: str) -> str:
    """Returns the tag that holds an attempt's environment records."""
    return f"{PLUGIN_NAME}/{attempt}/environment"


def parse_metadata(content: bytes) -> TagMetadata:
    """Parses the content of a tag's summary metadata.

    Raises:
        NewerFormatError: the format version is above `FORMAT_VERSION`.
        FormatError: it is not metadata of ours.
    """
    try:
        fields = json.loads(content)
        version = fields.pop("format")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"tag metadata {content[:80]!r} is not JSON with a 'format'") from error
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FormatError(f"tag metadata has format {version!r}; an integer of at least 1 is allowed")
    if version > FORMAT_VERSION:
        raise NewerFormatError(
            f"written in block format {version}, this tb_stepperf reads up to {FORMAT_VERSION}: upgrade tb_stepperf"
        )
    known = {field.name for field in dataclasses.fields(TagMetadata)}
    try:
        metadata = TagMetadata(**{name: value for name, value in fields.items() if name in known})
        valid = (
            metadata.kind in _KINDS
            and _ATTEMPT.fullmatch(metadata.attempt)
            and isinstance(metadata.process, str)
            and type(metadata.started_s) in (int, float)
            and math.isfinite(metadata.started_s)
            and all(type(n) is int and n >= 0 for n in (metadata.segment, metadata.rank))
            and type(metadata.world_size) is int
            and metadata.rank < metadata.world_size
        )
    except (TypeError, OverflowError) as error:
        raise FormatError(f"tag metadata {content[:200]!r} lacks a field: {error}") from error
    if not valid:
        raise FormatError(f"tag metadata {content[:200]!r} has a field outside what docs/format.md allows")
    return metadata
