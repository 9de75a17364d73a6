"""The frontend's files: a fixed set, read from the package, revalidated on every load.

`Cache-Control: no-cache` with an `ETag` lets the browser keep a file and ask whether it is still the same, so that an
upgrade is seen at once.
"""

from __future__ import annotations

import gzip
import hashlib
import pathlib

from werkzeug.wrappers import Request, Response

from tb_stepperf.errors import NotFoundError
from tb_stepperf.plugin.respond import GZIP_LEVEL, accepts_gzip

STATIC_DIR = pathlib.Path(__file__).parent / "static"
_TYPES = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}
CONTENT_TYPES = {
    f"/{name}": _TYPES[name.rpartition(".")[2]]
    for name in ("index.js", "vendor.js", "style.css", "comparison.js", "comparison.css", "traces.js", "traces.css")
}
"""Route to content type; no other file is served."""


def static_response(request: Request, path: str, directory: pathlib.Path | None = None) -> Response:
    """Returns the file behind the route `path`, or 304 where the browser has it already.

    Args:
        request: its `If-None-Match` and `Accept-Encoding` count.
        path: a key of `CONTENT_TYPES`.
        directory: where the files lie; by default `STATIC_DIR`.

    Raises:
        NotFoundError: the installation lacks the file.
    """
    try:
        body = ((directory or STATIC_DIR) / path.lstrip("/")).read_bytes()
    except OSError as error:
        raise NotFoundError(
            f"the file {path.lstrip('/')} of the tab is not in this installation of tb_stepperf ({error.strerror}); "
            "install the package again, or build the bundle in a source checkout"
        ) from error
    headers = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff", "Vary": "Accept-Encoding"}
    digest = hashlib.sha256(body).hexdigest()[:32]
    if request.if_none_match.contains_weak(digest):
        response = Response(b"", 304, headers)
    else:
        if accepts_gzip(request):
            body = gzip.compress(body, GZIP_LEVEL, mtime=0)
            headers["Content-Encoding"] = "gzip"
        response = Response(body, 200, headers, content_type=CONTENT_TYPES[path])
    # Weak, since one tag stands for the plain and the compressed form.
    response.set_etag(digest, weak=True)
    return response
