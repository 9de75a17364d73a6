"""Whether a `.json` of any origin looks like a trace, by its first bytes."""

from __future__ import annotations

import re
import zlib

HEAD_BYTES = 1 << 16

_GZIP = b"\x1f\x8b"
_OBJECT = re.compile(rb'\s*\{.*?"(?:traceEvents|schemaVersion|deviceProperties|displayTimeUnit)"\s*:', re.DOTALL)
_LIST = re.compile(rb'\s*\[\s*\{[^{}]*"ph"\s*:\s*"', re.DOTALL)


def looks_like_a_trace(head: bytes) -> bool:
    """Whether bytes, gzipped or not, begin as a file of trace events does: an object that has them, or their list.

    Args:
        head: the first `HEAD_BYTES` of a file, or all where it has fewer.
    """
    if head.startswith(_GZIP):
        try:
            head = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, HEAD_BYTES)
        except zlib.error:
            return False
    head = head.removeprefix(b"\xef\xbb\xbf")
    return bool(_OBJECT.match(head) or _LIST.match(head))
