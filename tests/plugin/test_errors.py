"""One error shape, on every route, for every kind of failure."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from werkzeug.test import Client, TestResponse

from tb_stepperf.plugin.params import PARAMETERS
from tb_stepperf.plugin.static import CONTENT_TYPES
from tb_stepperf.traces.finder import Finder
from tests.plugin.fakes import FakeMember, FakeStore, body, get, plugin

STORE = FakeStore({name: [FakeMember({"step_time_ms": [10.0, 20.0]})] for name in ("job", "other")})

BAD_VALUES = {
    "axis": "time",
    "start": "x",
    "end": "1.5",
    "bins": "9000",
    "include": "gc",
    "percentiles": "101",
    "column": "flags",
    "clock": "gpu",
    "format": "xml",
    "overrule": "yes",
    "min_effect": "3",
    "min_tail_effect": "0",
    "trace": "../../etc/passwd",
    "before": "5B0C61D2A9F04E17",
    "after": "5b0c61d2a9f04e170",
    "cancel": "2",
    "table": "findings",
}

TRACES = {"trace": "0" * 16, "before": "0" * 16, "after": "1" * 16, "table": "steps"}
"""Arguments that are well-formed; there is no such trace."""


def _required(route: str) -> dict[str, Any]:
    """Returns the arguments without which `route` refuses."""
    if route == "/comparison":
        return {"baseline": "job", "candidate": "other"}
    arguments = {"run": "job"} if "run" in PARAMETERS[route] else {}
    return arguments | {name: value for name, value in TRACES.items() if name in PARAMETERS[route]}


def assert_error(response: TestResponse, status: int, code: str, parameter: str | None, *parts: str) -> None:
    """Asserts the error shape of `http_api.md`, and that the message contains `parts`."""
    assert response.status_code == status
    assert response.content_type == "application/json; charset=utf-8"
    assert response.headers["Cache-Control"] == "no-store"
    payload = body(response)
    assert list(payload) == ["error"]
    error = payload["error"]
    assert sorted(error) == ["code", "message", "parameter"]
    assert (error["code"], error["parameter"]) == (code, parameter)
    for part in parts:
        assert part in error["message"]


@pytest.mark.parametrize("route", sorted(PARAMETERS))
def test_bad_parameters(route: str) -> None:
    allowed = PARAMETERS[route]
    run = _required(route)
    assert_error(get(STORE, route, **run, colour="red"), 400, "bad_parameter", "colour", route, "no parameter 'colour'")
    for name in allowed:
        repeated = get(STORE, route, **{**run, name: ["job", "job"]})
        says = "names a run twice" if name in ("baseline", "candidate") else f"{name} is given 2 times"
        assert_error(repeated, 400, "bad_parameter", name, says)
        assert_error(get(STORE, route, **{**run, name: ""}), 400, "bad_parameter", name, f"{name} is empty")
        if name in BAD_VALUES:
            response = get(STORE, route, **{**run, name: BAD_VALUES[name]})
            assert_error(response, 400, "bad_parameter", name, f"'{BAD_VALUES[name]}'", "allowed")
    if "run" in allowed:
        assert_error(get(STORE, route), 400, "bad_parameter", "run", "run is missing")
        assert_error(get(STORE, route, run="nope"), 404, "not_found", "run", "'nope'", "/runs lists")
        assert_error(get(STORE, route, run="job", member="7"), 404, "not_found", "member", "'7'", "it has '0'")
    for name in set(TRACES) & set(allowed):
        rest = {other: value for other, value in run.items() if other != name}
        assert_error(get(STORE, route, **rest), 400, "bad_parameter", name, f"{name} is missing; give")
        if name != "table":
            parameter = "before" if name == "after" else name
            assert_error(get(STORE, route, **run), 404, "not_found", parameter, "there is no trace", "/traces lists")
    if "start" in allowed:
        response = get(STORE, route, run="job", start=5, end=5)
        assert_error(response, 400, "bad_parameter", "end", "start is '5' and end is '5'")


def test_a_column_or_clock_that_is_not_there() -> None:
    response = get(STORE, "/bands", run="job", column="gc_ms")
    assert_error(response, 404, "not_found", "column", "no column 'gc_ms'", "step_time_ms")
    response = get(STORE, "/stages", run="job", clock="device")
    assert_error(response, 404, "not_found", "clock", "no device time", "clock=host")
    response = get(STORE, "/markers", run="job", clock="device")
    assert_error(response, 404, "not_found", "clock", "'job' has no device time", "take the host's clock")
    response = get(STORE, "/comparison", baseline="job", candidate="other", clock="device")
    assert_error(response, 404, "not_found", "clock", "'job' has no device time", "take the host's clock")


def test_sides_of_a_comparison() -> None:
    def refused(status: int, code: str, parameter: str, *parts: str, **arguments: Any) -> None:
        assert_error(get(STORE, "/comparison", **arguments), status, code, parameter, *parts)

    refused(400, "bad_parameter", "baseline", "baseline is missing", candidate="job")
    refused(400, "bad_parameter", "candidate", "candidate is missing", baseline="job")
    refused(400, "bad_parameter", "candidate", "'job' is on both sides", baseline="job", candidate=["other", "job"])
    many = [str(number) for number in range(9)]
    refused(400, "bad_parameter", "baseline", "given 9 times; 1 to 8", baseline=many, candidate="job")
    refused(404, "not_found", "run", "'nope'", "/runs lists", baseline="nope", candidate="job")


@pytest.mark.parametrize("route", sorted(PARAMETERS))
def test_our_own_faults_are_logged_with_their_traceback(
    route: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise ZeroDivisionError("planted")

    class Broken(FakeStore):
        catalog = fail

    monkeypatch.setattr(Finder, "find", fail)
    with caplog.at_level(logging.ERROR, "tensorboard"):
        response = get(Broken({}), route, **_required(route))
    assert_error(response, 500, "internal", None, "ZeroDivisionError: planted", "TensorBoard's log has the traceback")
    assert "planted" in caplog.text
    assert "Traceback" in caplog.text


@pytest.mark.parametrize("route", [*sorted(PARAMETERS), *CONTENT_TYPES])
def test_only_get_is_allowed(route: str) -> None:
    client = Client(plugin(STORE).get_plugin_apps()[route])
    for method in ("POST", "PUT", "DELETE"):
        response = client.open(route, method=method)
        assert_error(response, 405, "bad_parameter", None, f"the method is {method}; GET is allowed")
        assert response.headers["Allow"] == "GET, HEAD"


def test_head_has_no_body() -> None:
    response = Client(plugin(STORE).get_plugin_apps()["/runs"]).head("/runs")
    assert (response.status_code, response.data) == (200, b"")
