"""Query parameters: strict parsing into one value, `Query`.

A request that is not understood is refused, never guessed at: unknown, repeated, empty and malformed parameters raise
`RequestError`, which says the value seen, what is allowed, and the way out.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tb_stepperf.analysis import CLOCKS, LEAVING_OUT
from tb_stepperf.blocks import device_stage_name, stage_name
from tb_stepperf.blocks.schema import DEVICE_STEP_TIME_MS, EXCLUDED_MS, GC_MS, STEP_TIME_MS
from tb_stepperf.errors import RequestError
from tb_stepperf.statistics import MAX_BINS

if TYPE_CHECKING:
    from werkzeug.datastructures import MultiDict

_MEMBER = ("run", "member")
_RANGE = ("axis", "start", "end")
_THRESHOLDS = ("min_effect", "min_tail_effect")
_CHART = (*_MEMBER, *_RANGE, "bins", "include")

PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "/runs": (),
    "/summary": (*_MEMBER, *_RANGE, "include"),
    "/bands": (*_CHART, "percentiles", "column"),
    "/stages": (*_CHART, "clock"),
    "/memory": _CHART,
    "/throughput": _CHART,
    "/marks": (*_MEMBER, *_RANGE),
    "/markers": (*_MEMBER, "axis", "clock", *_THRESHOLDS),
    "/comparison": ("baseline", "candidate", "overrule", "clock", *_THRESHOLDS),
    "/traces": (),
    "/trace": ("trace", "cancel"),
    "/trace_table": ("trace", "table"),
    "/trace_comparison": ("before", "after"),
    "/trace_file": ("trace",),
    "/conditions": _MEMBER,
    "/samples": (*_MEMBER, *_RANGE, "format"),
}
"""Route to the names of its parameters; `http_api.md` is the description."""

AXES = ("step", "relative", "wall")
FORMATS = ("json", "csv")
TABLES = ("steps", "operators", "kernels", "waits")
INCLUDABLE = tuple(LEAVING_OUT)
MAX_PERCENTILES = 9
MAX_RUNS_PER_SIDE = 8
_SIDES = ("baseline", "candidate")
_REQUIRED = {
    "run": "give the name of a run, as /runs lists them",
    "trace": "give the identity of a trace, as /traces lists them",
    "before": "give the identity of a trace, as /traces lists them",
    "after": "give the identity of a trace, as /traces lists them",
    "table": f"give one of {', '.join(TABLES)}",
}
"""Parameters that every route which takes them needs, and what to give."""
_MIN_BOUND, _MAX_BOUND = -(2**63), 2**63

_INTEGER = re.compile(r"-?[0-9]{1,19}")
_FRACTION = re.compile(r"0?\.[0-9]{1,6}")
_NUMBER = re.compile(r"[0-9]{1,3}(\.[0-9]{1,12})?")
_TRACE = re.compile(r"[0-9a-f]{16}")
_TIME_COLUMNS = (STEP_TIME_MS, DEVICE_STEP_TIME_MS, GC_MS, EXCLUDED_MS)


@dataclasses.dataclass(frozen=True)
class Query:
    """What a request asks for; each field is the parameter of the same name in `http_api.md`.

    `start` and `end` are None where the run's own first and last row bound the range; `member` is None for the run's
    first member.
    """

    run: str = ""
    member: str | None = None
    axis: str = "step"
    start: int | None = None
    end: int | None = None
    bins: int = 600
    include: tuple[str, ...] = ()
    percentiles: tuple[float, ...] = (5, 25, 50, 75, 95, 99)
    column: str = STEP_TIME_MS
    clock: str = "host"
    format: str = "json"
    min_effect: float = 0.03
    min_tail_effect: float = 0.05
    baseline: tuple[str, ...] = ()
    candidate: tuple[str, ...] = ()
    overrule: str = "0"
    trace: str = ""
    cancel: str = "0"
    table: str = ""
    before: str = ""
    after: str = ""


def parse(route: str, arguments: MultiDict[str, str]) -> Query:
    """Parses the arguments of a request to `route`.

    Args:
        route: a key of `PARAMETERS`.
        arguments: decoded query arguments, repeated ones included.

    Raises:
        RequestError: an argument is unknown, repeated, empty, malformed or missing.
    """
    allowed = PARAMETERS[route]
    fields: dict[str, Any] = {}
    for name in arguments:
        if name not in allowed:
            takes = f"it takes {', '.join(allowed)}" if allowed else "it takes none"
            raise RequestError(f"{route} has no parameter {name!r}; {takes}", name)
        values = arguments.getlist(name)
        if len(values) > 1 and name not in _SIDES:
            raise RequestError(f"{name} is given {len(values)} times; give it once", name)
        if not all(values):
            raise RequestError(f"{name} is empty; give a value, or leave it out for the default", name)
        fields[name] = _side(name, values) if name in _SIDES else _PARSERS[name](name, values[0])
    for name in _SIDES:
        if name in allowed and name not in fields:
            raise RequestError(f"{name} is missing; give the name of a run, as /runs lists them", name)
    if both := set(fields.get("baseline", ())) & set(fields.get("candidate", ())):
        raise RequestError(f"{sorted(both)[0]!r} is on both sides; give each run to one of them", "candidate")
    for name, way_out in _REQUIRED.items():
        if name in allowed and name not in fields:
            raise RequestError(f"{name} is missing; {way_out}", name)
    query = Query(**fields)
    if query.start is not None and query.end is not None and query.start >= query.end:
        raise RequestError(
            f"start is '{query.start}' and end is '{query.end}'; the range is half-open, end must be above start", "end"
        )
    return query


def _text(name: str, value: str) -> str:
    return value


def _bound(name: str, value: str) -> int:
    number = int(value) if _INTEGER.fullmatch(value) else None
    if number is None or not _MIN_BOUND <= number <= _MAX_BOUND:
        raise RequestError(f"{name} is {value!r}; a decimal integer in [-2^63, 2^63] is allowed", name)
    return number


def _bins(name: str, value: str) -> int:
    number = int(value) if _INTEGER.fullmatch(value) else 0
    if not 1 <= number <= MAX_BINS:
        raise RequestError(f"{name} is {value!r}; an integer in [1, {MAX_BINS}] is allowed", name)
    return number


def _effect(name: str, value: str) -> float:
    number = float(value) if _FRACTION.fullmatch(value) else 0.0
    if number == 0:
        raise RequestError(f"{name} is {value!r}; a decimal in (0, 1) is allowed, such as 0.03 for 3 %", name)
    return number


def _side(name: str, values: Sequence[str]) -> tuple[str, ...]:
    if len(values) > MAX_RUNS_PER_SIDE:
        raise RequestError(f"{name} is given {len(values)} times; 1 to {MAX_RUNS_PER_SIDE} runs are allowed", name)
    if len(set(values)) < len(values):
        raise RequestError(f"{name} names a run twice; name each run once", name)
    return tuple(values)


def _one_of(*choices: str) -> Callable[[str, str], str]:
    def parse_choice(name: str, value: str) -> str:
        if value not in choices:
            raise RequestError(f"{name} is {value!r}; one of {', '.join(choices)} is allowed", name)
        return value

    return parse_choice


def _include(name: str, value: str) -> tuple[str, ...]:
    flags = value.split(",")
    for flag in flags:
        if flag not in INCLUDABLE:
            raise RequestError(f"{name} holds {flag!r}; {', '.join(INCLUDABLE)} are allowed, comma-separated", name)
    if len(set(flags)) < len(flags):
        raise RequestError(f"{name} is {value!r}; name each flag once", name)
    return tuple(flags)


def _percentiles(name: str, value: str) -> tuple[float, ...]:
    numbers = []
    for text in value.split(","):
        number = float(text) if _NUMBER.fullmatch(text) else -1.0
        if not 0 <= number <= 100:
            raise RequestError(f"{name} holds {text!r}; numbers in [0, 100] are allowed, comma-separated", name)
        numbers.append(int(number) if number == int(number) else number)
    if len(numbers) > MAX_PERCENTILES:
        raise RequestError(f"{name} holds {len(numbers)} numbers; at most {MAX_PERCENTILES} are allowed", name)
    if len(set(numbers)) < len(numbers):
        raise RequestError(f"{name} is {value!r}; name each percentile once", name)
    return tuple(numbers)


def _time_column(name: str, value: str) -> str:
    if value not in _TIME_COLUMNS and stage_name(value) is None and device_stage_name(value) is None:
        raise RequestError(
            f"{name} is {value!r}; {', '.join(_TIME_COLUMNS)}, stage/<name>_ms or device_stage/<name>_ms is allowed",
            name,
        )
    return value


def _trace(name: str, value: str) -> str:
    if not _TRACE.fullmatch(value):
        raise RequestError(f"{name} is {value!r}; 16 hexadecimal digits are allowed, as /traces lists them", name)
    return value


_PARSERS: Mapping[str, Callable[[str, str], Any]] = {
    "run": _text,
    "member": _text,
    "axis": _one_of(*AXES),
    "start": _bound,
    "end": _bound,
    "bins": _bins,
    "include": _include,
    "percentiles": _percentiles,
    "column": _time_column,
    "clock": _one_of(*CLOCKS),
    "format": _one_of(*FORMATS),
    "min_effect": _effect,
    "min_tail_effect": _effect,
    "overrule": _one_of("0", "1"),
    "trace": _trace,
    "cancel": _one_of("0", "1"),
    "table": _one_of(*TABLES),
    "before": _trace,
    "after": _trace,
}
