"""HTTP answers: strict JSON, one error shape, gzip where accepted, never cached.

TensorBoard's own `http_util.Respond` turns NaN into the text "NaN"; here a number that does not exist is null (made by
`json_numbers.py`), and `allow_nan=False` makes anything else a failure that tests see.
"""

from __future__ import annotations

import functools
import gzip
import json
import logging
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from werkzeug.wrappers import Request, Response

from tb_stepperf.errors import BusyError, NotFoundError, RequestError

JSON_TYPE = "application/json; charset=utf-8"
CSV_TYPE = "text/csv; charset=utf-8"
GZIP_TYPE = "application/gzip"
GZIP_LEVEL = 4
"""Measured on chart answers: level 6 takes twice the time for 4 % fewer bytes."""

_MIN_GZIP_BYTES = 1024
_ACCEPTS_GZIP = re.compile(r"(?:^|,)\s*(?:gzip|x-gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[0-9.]+\s*)?(?=,|$)")
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Vary": "Accept-Encoding"}

logger = logging.getLogger("tensorboard")

WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def route(handler: Callable[[Request], Response]) -> WsgiApp:
    """Makes a WSGI application of a handler; every failure is answered in the one error shape.

    `RequestError` becomes 400, `NotFoundError` 404, `BusyError` 503; any other exception is our fault: it is logged
    with its traceback and becomes 500.
    """

    @functools.wraps(handler)
    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        request = Request(environ)
        try:
            response = _method_refusal(request) or handler(request)
        except NotFoundError as error:
            response = error_response(404, "not_found", str(error), error.parameter)
        except BusyError as error:
            response = error_response(503, "busy", str(error), error.parameter)
        except RequestError as error:
            response = error_response(400, "bad_parameter", str(error), error.parameter)
        except Exception as error:
            logger.exception("stepperf: %s failed", request.path)
            message = f"{type(error).__name__}: {error}; TensorBoard's log has the traceback"
            response = error_response(500, "internal", message, None)
        return response(environ, start_response)

    return application


def error_response(status: int, code: str, message: str, parameter: str | None) -> Response:
    """Returns the one error shape of `http_api.md`."""
    body = {"error": {"code": code, "message": message, "parameter": parameter}}
    return Response(encode_json(body), status, _HEADERS, content_type=JSON_TYPE)


def json_response(request: Request, payload: Any) -> Response:
    """Returns `payload` as JSON."""
    body = encode_json(payload)
    headers = dict(_HEADERS)
    if accepts_gzip(request) and len(body) >= _MIN_GZIP_BYTES:
        body = gzip.compress(body, GZIP_LEVEL, mtime=0)
        headers["Content-Encoding"] = "gzip"
    return Response(body, 200, headers, content_type=JSON_TYPE)


def download_response(request: Request, chunks: Iterable[bytes], content_type: str, file_name: str) -> Response:
    """Returns a stream that a browser saves as `file_name` (ASCII letters, digits, `._-`)."""
    response = packed_response(chunks, content_type, file_name)
    if accepts_gzip(request):
        response.response = _gzip_stream(chunks)
        response.headers["Content-Encoding"] = "gzip"
    return response


def packed_response(chunks: Iterable[bytes], content_type: str, file_name: str) -> Response:
    """Returns a stream as it is, such as a gzipped file, that a browser saves as `file_name` (as above)."""
    headers = {**_HEADERS, "Content-Disposition": f'attachment; filename="{file_name}"'}
    return Response(chunks, 200, headers, content_type=content_type)


def encode_json(payload: Any) -> bytes:
    """Encodes strict JSON without white space.

    Raises:
        ValueError: a number is not finite; it should have been made null.
    """
    return json.dumps(payload, separators=(",", ":"), allow_nan=False).encode("ascii")


def accepts_gzip(request: Request) -> bool:
    """Whether the client takes gzip: named, or `*`, and not with weight 0."""
    return bool(_ACCEPTS_GZIP.search(request.headers.get("Accept-Encoding", "").lower()))


def _method_refusal(request: Request) -> Response | None:
    if request.method in ("GET", "HEAD"):
        return None
    response = error_response(405, "bad_parameter", f"the method is {request.method}; GET is allowed", None)
    response.headers["Allow"] = "GET, HEAD"
    return response


def _gzip_stream(chunks: Iterable[bytes]) -> Iterator[bytes]:
    compressor = zlib.compressobj(GZIP_LEVEL, wbits=zlib.MAX_WBITS | 16)
    for chunk in chunks:
        if compressed := compressor.compress(chunk):
            yield compressed
    yield compressor.flush()
