"""What cannot be measured is said early, with the phase, the repetition and the way out."""

from __future__ import annotations

import asyncio
import functools
import pathlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from tb_stepperf import measure_step
from tb_stepperf.errors import ConfigError, MeasureError, StepPerfError
from tests.recorder.logs import read_directory, run_python


async def coroutine() -> None:
    await asyncio.sleep(0)


def generator() -> Iterator[int]:
    yield 1


async def async_generator() -> AsyncIterator[int]:
    yield 1


class GeneratorObject:
    def __call__(self) -> Iterator[int]:
        yield 1


def keyword(*, batch: int) -> None:
    """Needs what nobody gives."""


@pytest.mark.parametrize(
    ("step_fn", "said"),
    [
        (3, "step_fn is a int, which cannot be called; a function without arguments, or with one for the object"),
        (None, "step_fn is a NoneType, which cannot be called"),
        (lambda perf, batch: None, r"step_fn needs 2 arguments \(perf, batch\).*lambda perf: step_fn\(perf, batch\)"),
        (keyword, r"step_fn needs 1 arguments \(batch\)"),
        (coroutine, "step_fn is a coroutine function: calling it runs no step.*asyncio.run"),
        (generator, r"step_fn is a generator function.*lambda: next\(steps\)"),
        (functools.partial(generator), "step_fn is a generator function"),
        (GeneratorObject(), "step_fn is a generator function"),
        (async_generator, "step_fn is an asynchronous generator function"),
    ],
)
def test_a_step_function_of_the_wrong_kind_is_never_called(step_fn: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        measure_step(step_fn)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"warmup": -1}, "warmup is -1; an integer of at least 0 is allowed"),
        ({"repeats": 0}, "repeats is 0; an integer of at least 1 is allowed"),
        ({"repeats": 2.5}, "repeats is 2.5; an integer"),
        ({"repeats": True}, "repeats is True; an integer"),
        ({"profile_steps": "3"}, "profile_steps is '3'; an integer"),
        ({"num_samples": 0}, "num_samples is 0; a number above 0"),
        ({"num_tokens": float("nan")}, "num_tokens is nan; a number above 0"),
        ({"logdir": ""}, "logdir is ''; the path of a directory"),
        ({"logdir": 7}, "logdir is 7; the path of a directory"),
        ({"logdir": "runs", "warmup": 0}, "warmup is 0 and a logdir is given; at least 1 is allowed"),
        ({"device": "cuda:77"}, "device is 'cuda:77', which cannot be used here"),
        ({"device": "tpu"}, "device is 'tpu', which cannot be used here"),
        ({"device": "mps"}, "device is 'mps', which cannot be used here"),
    ],
)
def test_arguments_are_checked_before_the_first_step(options: dict[str, Any], said: str) -> None:
    calls: list[int] = []
    with pytest.raises(ConfigError, match=said):
        measure_step(lambda: calls.append(1), **options)
    assert calls == []


def failing_at(call: int, what: Callable[[], Any]) -> Callable[[], Any]:
    """A step function whose call of that number does something else."""
    calls = iter(range(1, 1000))
    return lambda: what() if next(calls) == call else None


def divide() -> None:
    raise ZeroDivisionError("float division by zero")


@pytest.mark.parametrize(
    ("call", "phase"),
    [
        (1, "warm-up step 1 of 3"),
        (2, "warm-up step 2 of 3"),
        (4, "measured step 1 of 5"),
        (8, "measured step 5 of 5"),
        (9, "the profiler's warm-up step"),
        (11, "profiled step 2 of 3"),
    ],
)
def test_a_step_that_raises_is_named_and_the_cause_kept(call: int, phase: str) -> None:
    import torch

    with pytest.raises(MeasureError) as raised:
        measure_step(failing_at(call, divide), repeats=5)
    assert str(raised.value) == f"step_fn raised in {phase}: ZeroDivisionError: float division by zero"
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    assert isinstance(raised.value, (StepPerfError, RuntimeError))
    assert not torch.autograd._profiler_enabled()


@pytest.mark.parametrize(
    ("result", "kind"), [(coroutine, "a coroutine"), (generator, "a generator"), (async_generator, "a async_generator")]
)
def test_work_that_is_only_promised_is_no_step(result: Callable[[], Any], kind: str) -> None:
    with pytest.raises(MeasureError, match=f"step_fn returned {kind} in warm-up step 2 of 3: the work .* was not done"):
        measure_step(failing_at(2, result))


def test_a_stage_needs_a_text_as_its_name() -> None:
    with pytest.raises(MeasureError, match="warm-up step 1 of 3: ArgumentError: the name of a stage is 7; a text is"):
        measure_step(lambda perf: perf.stage(7))


def test_what_was_measured_before_a_failure_is_in_the_run(tmp_path: pathlib.Path) -> None:
    with pytest.raises(MeasureError, match="profiled step 1 of 3"):
        measure_step(failing_at(8, divide), warmup=2, repeats=4, logdir=tmp_path)
    (attempt,) = read_directory(tmp_path)
    assert attempt.steps[:6] == list(range(6))
    assert attempt.end == "exception"


def test_control_c_comes_through_and_leaves_no_profiler_running() -> None:
    import torch

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure_step(failing_at(10, interrupt), repeats=5)
    assert not torch.autograd._profiler_enabled()
    assert measure_step(lambda: None, repeats=2).profiled_ratio is not None


def test_a_profiler_that_cannot_start_leaves_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    def broken(**options: Any) -> None:
        raise RuntimeError("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES")

    monkeypatch.setattr(torch.profiler, "profile", broken)
    evidence = measure_step(lambda: None, repeats=5)
    assert len(evidence.step_times_ms) == 5
    assert evidence.profiled_ratio is None
    assert evidence.operators == ()
    assert "the profiler failed: RuntimeError: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" in evidence.notes


def test_a_profiler_that_fails_while_it_stops_does_not_hide_the_step_that_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch

    class Broken(torch.profiler.profile):
        def stop(self) -> None:
            super().stop()
            raise RuntimeError("no space left")

    monkeypatch.setattr(torch.profiler, "profile", Broken)
    with pytest.raises(MeasureError, match="profiled step 1 of 3: ZeroDivisionError"):
        measure_step(failing_at(10, divide), repeats=5)
    evidence = measure_step(lambda: None, repeats=5)
    assert "the profiler failed: RuntimeError: no space left" in evidence.notes
    assert not torch.autograd._profiler_enabled()


def test_a_profiler_of_somebody_else_is_left_alone_and_said() -> None:
    import torch

    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as theirs:
        evidence = measure_step(lambda: torch.ones(2), repeats=5)
        assert torch.autograd._profiler_enabled()
    assert "a profiler was recording while the steps were measured: they are slower for it" in evidence.notes
    assert any(note.startswith("not profiled: another profiler is recording") for note in evidence.notes)
    assert evidence.profiled_ratio is None
    assert any(one.key == "aten::ones" for one in theirs.key_averages())


def test_ranks_run_as_many_steps_also_where_the_profiler_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    class Broken(torch.profiler.profile):
        def step(self) -> None:
            raise RuntimeError("no space left")

    monkeypatch.setattr(torch.profiler, "profile", Broken)
    calls: list[int] = []
    measure_step(lambda: calls.append(1), warmup=0, repeats=1)
    assert len(calls) == 1 + 1
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    calls.clear()
    evidence = measure_step(lambda: calls.append(1), warmup=0, repeats=1)
    assert len(calls) == 1 + 1 + 3
    assert evidence.environment["world_size"] == 2
    assert evidence.profiled_times_ms == ()


@pytest.mark.parametrize("with_log", [True, False])
def test_a_step_that_runs_a_profiler_of_its_own_is_not_profiled(tmp_path: pathlib.Path, with_log: bool) -> None:
    """In a process of its own, which two profilers at a time would end."""
    result = run_python(
        """
import itertools, sys, torch
from tb_stepperf import measure_step
logdir = sys.argv[1] if len(sys.argv) > 1 else None
calls = itertools.count()
def always():
    with torch.profiler.profile() as profiler:
        torch.ones(1) + 1
    assert any(one.key == "aten::add" for one in profiler.key_averages())
def late():
    if next(calls) == 6:  # the second that is profiled
        always()
evidence = measure_step(always, repeats=3, logdir=logdir)
print(*evidence.notes, evidence.profiled_ratio, sep="|")
try:
    print(*measure_step(late, warmup=1, repeats=3, logdir=logdir).notes, sep="|")
except Exception as error:
    print(error)
""",
        *([tmp_path] if with_log else []),
    )
    assert result.returncode == 0, result.stderr
    always, late = result.stdout.splitlines()
    assert "not profiled: a step begins a profiler of its own, and two at a time are not possible|None" in always
    assert ("the profiler recorded nothing" if with_log else "a profiler began in a step that measure_step") in late
