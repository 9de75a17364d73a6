"""The arguments of `measure_step`: checked before anything runs."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

from tb_stepperf.errors import ConfigError
from tb_stepperf.recorder.arguments import as_count, as_step

_ARGUMENTS_ALLOWED = "a function without arguments, or with one for the object that labels stages, is allowed"
_COLLECTING = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_LATER = (
    (inspect.iscoroutinefunction, "a coroutine function", "call it through asyncio.run inside a plain function"),
    (inspect.isasyncgenfunction, "an asynchronous generator function", "run one step inside a plain function"),
    (inspect.isgeneratorfunction, "a generator function", "pass lambda: next(steps) with steps = step_fn()"),
)


def check_options(
    warmup: Any, repeats: Any, profile_steps: Any, num_samples: Any, num_tokens: Any, logdir: Any
) -> None:
    """Checks the arguments of `measure_step` besides the function and the device.

    Raises:
        ConfigError: one cannot be used.
    """
    for name, value, least in (("warmup", warmup, 0), ("repeats", repeats, 1), ("profile_steps", profile_steps, 0)):
        number = as_step(value)
        if number is None or number < least:
            raise ConfigError(f"{name} is {value!r}; an integer of at least {least} is allowed")
    for name, value in (("num_samples", num_samples), ("num_tokens", num_tokens)):
        count = None if value is None else as_count(value)
        if value is not None and (count is None or not 0 < count < math.inf):
            raise ConfigError(f"{name} is {value!r}; a number above 0 is allowed: how many a step processes")
    if logdir is not None and not warmup:
        raise ConfigError(
            "warmup is 0 and a logdir is given; at least 1 is allowed then: the tab's statistics leave the first step "
            "of a run out, and that must not be a measured one"
        )


def takes_perf(step_fn: Any) -> bool:
    """Returns whether a step function wants the object that labels stages.

    It does if it has one positional parameter without a default, or one that is called `perf`. A function whose
    signature cannot be known is called without.

    Raises:
        ConfigError: it is not callable, needs other arguments, or would only return a coroutine or a generator.
    """
    if not callable(step_fn):
        raise ConfigError(f"step_fn is a {type(step_fn).__name__}, which cannot be called; {_ARGUMENTS_ALLOWED}")
    function = _underlying(step_fn)
    for is_kind, kind, way_out in _LATER:
        if is_kind(function):
            raise ConfigError(f"step_fn is {kind}: calling it runs no step. The way out: {way_out}")
    try:
        parameters = inspect.signature(step_fn).parameters.values()
    except (TypeError, ValueError):  # some functions of C have none
        return False
    needed = [one for one in parameters if one.default is one.empty and one.kind not in _COLLECTING]
    unusable = [one.name for one in needed if one.kind is one.KEYWORD_ONLY] or [one.name for one in needed[1:]]
    if unusable:
        names = ", ".join(one.name for one in needed)
        raise ConfigError(
            f"step_fn needs {len(needed)} arguments ({names}); {_ARGUMENTS_ALLOWED}. "
            "Bind the others, such as lambda perf: step_fn(perf, batch)"
        )
    positional = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return bool(needed) or (bool(positional) and positional[0].name == "perf")


def _underlying(step_fn: Any) -> Callable[..., Any]:
    """Returns the function whose code runs when an object is called."""
    while isinstance(step_fn, functools.partial):
        step_fn = step_fn.func
    return step_fn if inspect.isroutine(step_fn) else type(step_fn).__call__
