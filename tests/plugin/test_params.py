"""Parameters are parsed strictly; refusals say the value, what is allowed, and which parameter is meant."""

from __future__ import annotations

import pytest
from werkzeug.datastructures import MultiDict

from tb_stepperf.errors import RequestError
from tb_stepperf.plugin.params import PARAMETERS, Query, parse


def _parse(route: str, *arguments: tuple[str, str]) -> Query:
    return parse(route, MultiDict(list(arguments)))


def test_defaults() -> None:
    query = _parse("/bands", ("run", "a/b"))
    assert query == Query(run="a/b")
    assert (query.axis, query.bins, query.percentiles, query.column) == (
        "step",
        600,
        (5, 25, 50, 75, 95, 99),
        "step_time_ms",
    )


def test_every_parameter() -> None:
    assert _parse(
        "/bands",
        ("run", "job"),
        ("member", "0.1"),
        ("axis", "wall"),
        ("start", "-5"),
        ("end", "9223372036854775808"),
        ("bins", "2000"),
        ("include", "restart,warmup"),
        ("percentiles", "0,99.9,100,50.0"),
        ("column", "stage/Episode / total (mean)_ms"),
    ) == Query(
        run="job",
        member="0.1",
        axis="wall",
        start=-5,
        end=2**63,
        bins=2000,
        include=("restart", "warmup"),
        percentiles=(0, 99.9, 100, 50),
        column="stage/Episode / total (mean)_ms",
    )
    assert _parse("/stages", ("run", "job"), ("clock", "device")).clock == "device"
    assert _parse("/samples", ("run", "job"), ("format", "csv")).format == "csv"
    assert _parse(
        "/comparison",
        ("baseline", "a"),
        ("baseline", "b"),
        ("candidate", "c"),
        ("overrule", "1"),
        ("min_effect", ".1"),
        ("min_tail_effect", "0.075"),
    ) == Query(baseline=("a", "b"), candidate=("c",), overrule="1", min_effect=0.1, min_tail_effect=0.075)


@pytest.mark.parametrize("name", ["…", "a b", ".", "ünï", "=1+1", "%", "\udc80"])
def test_a_run_name_is_taken_literally(name: str) -> None:
    assert _parse("/bands", ("run", name)).run == name


BAD = [
    ("/markers", "min_effect", "1.0", r"min_effect is '1.0'; a decimal in \(0, 1\) is allowed, such as 0.03 for 3 %"),
    ("/markers", "min_effect", "-0.1", r"min_effect is '-0.1'; a decimal in \(0, 1\)"),
    ("/markers", "min_tail_effect", "0.0", r"min_tail_effect is '0.0'; a decimal in \(0, 1\)"),
    ("/bands", "bins", "0", r"bins is '0'; an integer in \[1, 2000\] is allowed"),
    ("/bands", "bins", "2001", r"bins is '2001'"),
    ("/bands", "bins", "-3", "bins is '-3'"),
    ("/bands", "bins", "1e3", "bins is '1e3'"),
    ("/bands", "bins", "6_0", "bins is '6_0'"),
    ("/bands", "bins", "٣", "bins is '٣'"),
    ("/bands", "start", "1.5", r"start is '1.5'; a decimal integer in \[-2\^63, 2\^63\] is allowed"),
    ("/bands", "start", "nan", "start is 'nan'"),
    ("/bands", "start", " 1", "start is ' 1'"),
    ("/bands", "start", "+1", r"start is '\+1'"),
    ("/bands", "end", "9223372036854775809", "end is '9223372036854775809'"),
    ("/bands", "end", "9" * 5000, "end is '999"),
    ("/bands", "start", "-9223372036854775809", "start is '-9223372036854775809'"),
    ("/bands", "axis", "time", "axis is 'time'; one of step, relative, wall is allowed"),
    ("/bands", "axis", "STEP", "axis is 'STEP'"),
    ("/bands", "include", "gc", "include holds 'gc'; warmup, profiled, restart are allowed, comma-separated"),
    ("/bands", "include", "warmup,", "include holds ''"),
    ("/bands", "include", "warmup,warmup", "include is 'warmup,warmup'; name each flag once"),
    ("/bands", "percentiles", "101", r"percentiles holds '101'; numbers in \[0, 100\] are allowed, comma-separated"),
    ("/bands", "percentiles", "-1", "percentiles holds '-1'"),
    ("/bands", "percentiles", "nan", "percentiles holds 'nan'"),
    ("/bands", "percentiles", "5,,95", "percentiles holds ''"),
    ("/bands", "percentiles", "50,50.0", "percentiles is '50,50.0'; name each percentile once"),
    ("/bands", "percentiles", "1,2,3,4,5,6,7,8,9,10", "percentiles holds 10 numbers; at most 9 are allowed"),
    ("/bands", "column", "num_samples", "column is 'num_samples'; step_time_ms, device_step_time_ms, gc_ms"),
    ("/bands", "column", "stage/forward", r"stage/<name>_ms or device_stage/<name>_ms is allowed"),
    ("/stages", "clock", "gpu", "clock is 'gpu'; one of host, device is allowed"),
    ("/samples", "format", "xml", "format is 'xml'; one of json, csv is allowed"),
]


@pytest.mark.parametrize(("route", "name", "value", "message"), BAD)
def test_malformed_values_are_refused(route: str, name: str, value: str, message: str) -> None:
    with pytest.raises(RequestError, match=message) as caught:
        _parse(route, ("run", "job"), (name, value))
    assert caught.value.parameter == name


def test_start_must_lie_below_end() -> None:
    for end in ("5", "4"):
        with pytest.raises(RequestError, match=f"start is '5' and end is '{end}'; the range is half-open") as caught:
            _parse("/marks", ("run", "job"), ("start", "5"), ("end", end))
        assert caught.value.parameter == "end"


@pytest.mark.parametrize("route", sorted(PARAMETERS))
def test_unknown_repeated_empty_and_missing_parameters_are_refused_everywhere(route: str) -> None:
    allowed = PARAMETERS[route]
    run = [("run", "job")] if "run" in allowed else []
    with pytest.raises(RequestError, match=f"{route} has no parameter 'bin'; it takes") as caught:
        _parse(route, *run, ("bin", "1"))
    assert caught.value.parameter == "bin"
    for name in allowed:
        says = "names a run twice" if name in ("baseline", "candidate") else "is given 2 times; give it once"
        with pytest.raises(RequestError, match=f"{name} {says}"):
            _parse(route, (name, "1"), (name, "1"))
        with pytest.raises(RequestError, match=f"{name} is empty; give a value, or leave it out for the default"):
            _parse(route, (name, ""))
    if run:
        with pytest.raises(RequestError, match="run is missing; give the name of a run, as /runs lists them"):
            _parse(route)
