"""The frontend's files: right types, revalidated, a clear answer where one is missing."""

from __future__ import annotations

import gzip
import pathlib
from typing import Any

import pytest
from werkzeug.test import Client, EnvironBuilder, TestResponse
from werkzeug.wrappers import Request, Response

from tb_stepperf.errors import NotFoundError
from tb_stepperf.plugin import static
from tb_stepperf.plugin.static import CONTENT_TYPES, static_response
from tests.plugin.fakes import body, plugin


def _get(directory: pathlib.Path, path: str, **headers: str) -> Response:
    request = Request(EnvironBuilder(headers={k.replace("_", "-"): v for k, v in headers.items()}).get_environ())
    return static_response(request, path, directory)


@pytest.fixture
def directory(tmp_path: pathlib.Path) -> pathlib.Path:
    for path in CONTENT_TYPES:
        (tmp_path / path.lstrip("/")).write_text(f"content of {path}", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("path", "content_type"), CONTENT_TYPES.items())
def test_files_with_their_types(directory: pathlib.Path, path: str, content_type: str) -> None:
    response = _get(directory, path)
    assert response.status_code == 200
    assert response.data.decode() == f"content of {path}"
    assert response.content_type == content_type
    assert response.headers["Cache-Control"] == "no-cache"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_a_browser_that_has_the_file_is_told_so_until_it_changes(directory: pathlib.Path) -> None:
    tag = _get(directory, "/index.js").headers["ETag"]
    again = _get(directory, "/index.js", If_None_Match=tag)
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["ETag"] == tag
    (directory / "index.js").write_text("new", encoding="utf-8")
    changed = _get(directory, "/index.js", If_None_Match=tag)
    assert (changed.status_code, changed.data) == (200, b"new")
    assert changed.headers["ETag"] != tag


def test_files_are_compressed_where_that_is_accepted(directory: pathlib.Path) -> None:
    response = _get(directory, "/style.css", Accept_Encoding="gzip")
    assert response.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(response.data) == b"content of /style.css"
    assert response.headers["ETag"] == _get(directory, "/style.css").headers["ETag"]


def test_a_missing_file_says_what_to_do(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotFoundError, match=r"index\.js of the tab is not in this installation"):
        _get(tmp_path, "/index.js")
    monkeypatch.setattr(static, "STATIC_DIR", tmp_path)
    response: TestResponse = Client(plugin().get_plugin_apps()["/index.js"]).get("/index.js")
    error: dict[str, Any] = body(response)["error"]
    assert (response.status_code, error["code"]) == (404, "not_found")
    assert "install the package again" in error["message"]


def test_only_the_named_files_are_served() -> None:
    served = {route for route in plugin().get_plugin_apps() if "." in route}
    assert served == {f"/{file.name}" for file in static.STATIC_DIR.iterdir()} - {"/vendor.LICENSE.txt"}
    assert {"/index.js", "/vendor.js", "/style.css"} < served
