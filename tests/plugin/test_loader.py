"""The door that TensorBoard opens cannot fail, whatever is broken behind it."""

from __future__ import annotations

import argparse
import importlib
import logging
import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest
from tensorboard.backend import application
from tensorboard.plugins.base_plugin import TBContext
from tensorboard.plugins.core.core_plugin import CorePluginLoader
from werkzeug.test import Client

from tb_stepperf import blocks
from tb_stepperf.plugin import loader
from tb_stepperf.plugin.loader import StepPerfLoader
from tb_stepperf.plugin.traces import traces_of
from tb_stepperf.traces.process import Limits


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    StepPerfLoader().define_flags(parser)
    return parser


def test_the_name_is_that_of_the_format() -> None:
    assert loader.PLUGIN_NAME == blocks.PLUGIN_NAME


def test_the_cache_flag() -> None:
    assert _parser().parse_args([]).stepperf_cache_mb == 1024
    assert _parser().parse_args(["--stepperf_cache_mb", "64"]).stepperf_cache_mb == 64
    assert "Most memory, in MiB" in _parser().format_help()


@pytest.mark.parametrize("value", ["63", "0", "-1", "a", "1e3", "٣٣٣", "100.5"])
def test_a_cache_that_is_too_small_or_no_number_is_refused(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        _parser().parse_args([f"--stepperf_cache_mb={value}"])
    assert f"'{value}'; an integer of at least 64 is allowed" in capsys.readouterr().err


def test_flags_of_traces() -> None:
    flags = _parser().parse_args([])
    assert (flags.stepperf_trace_memory_mb, flags.stepperf_trace_timeout_s) == (1024, 300)
    assert flags.stepperf_perfetto_url == "https://ui.perfetto.dev"
    address = "http://perfetto.local:8080/ui/"
    given = ["--stepperf_trace_memory_mb=256", "--stepperf_trace_timeout_s=1", f"--stepperf_perfetto_url={address}"]
    flags = _parser().parse_args(given)
    flags.logdir_spec = "a:/x"
    traces = traces_of(flags, None)
    assert traces.readings.limits == Limits(memory_mb=256, timeout_s=1)
    assert traces.perfetto_url == address
    assert traces_of(None, "").readings.limits == Limits()  # where TensorBoard is embedded, without flags


@pytest.mark.parametrize(
    ("flag", "value", "says"),
    [
        ("trace_memory_mb", "255", "an integer of at least 256 is allowed"),
        ("trace_memory_mb", "9" * 20, "an integer of at least 256 is allowed"),
        ("trace_timeout_s", "0", "an integer of at least 1 is allowed"),
        ("trace_timeout_s", "1.5", "an integer of at least 1 is allowed"),
        ("perfetto_url", "javascript:alert(1)", "begins with https:// or http://"),
        ("perfetto_url", "https://", "begins with https:// or http://"),
        ("perfetto_url", "https:ui.perfetto.dev", "begins with https:// or http://"),
        ("perfetto_url", "https://user@evil", "begins with https:// or http://"),
        ("perfetto_url", "https://a b", "begins with https:// or http://"),
        ("perfetto_url", "//ui.perfetto.dev", "begins with https:// or http://"),
    ],
)
def test_values_of_them_that_are_refused(flag: str, value: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        _parser().parse_args([f"--stepperf_{flag}={value}"])
    assert f"'{value}'; " in (err := capsys.readouterr().err)
    assert says in err


def test_a_flag_that_is_defined_twice_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    StepPerfLoader().define_flags(_parser())  # a fresh one is fine
    parser = _parser()
    StepPerfLoader().define_flags(parser)
    assert "perhaps tb_stepperf is installed twice" in caplog.text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"stepperf": 0}),
        ({"scalars": 5}, {"scalars": 5, "stepperf": 0}),
        ({"stepperf": 7}, {"stepperf": 7}),
        (None, {"stepperf": 0}),
        ("", {"stepperf": 0}),
    ],
)
def test_all_blocks_are_kept_unless_a_user_says_otherwise(before: Any, after: dict[str, int]) -> None:
    flags = argparse.Namespace(samples_per_plugin=before)
    StepPerfLoader().fix_flags(flags)
    assert flags.samples_per_plugin == after


def test_a_missing_or_strange_sampling_flag_does_no_harm(caplog: pytest.LogCaptureFixture) -> None:
    flags = argparse.Namespace()
    StepPerfLoader().fix_flags(flags)
    assert flags.samples_per_plugin == {"stepperf": 0}
    strange = argparse.Namespace(samples_per_plugin="a=1")
    StepPerfLoader().fix_flags(strange)
    assert strange.samples_per_plugin == "a=1"
    assert "blocks may be thinned" in caplog.text


class _Provider:
    """A data provider without anything in it."""

    def list_plugins(self, ctx: Any, *, experiment_id: str) -> set[str]:
        return set()

    def list_tensors(self, ctx: Any, *, experiment_id: str, plugin_name: str) -> dict[str, Any]:
        return {}

    def list_runs(self, ctx: Any, *, experiment_id: str) -> list[Any]:
        return []


def _flags(**fields: Any) -> argparse.Namespace:
    defaults = {"logdir": "runs", "logdir_spec": "", "path_prefix": "", "window_title": "", "samples_per_plugin": {}}
    return argparse.Namespace(**{**defaults, "reload_interval": 5, **fields})


def _application(**flags: Any) -> Any:
    return application.TensorBoardWSGIApp(
        _flags(**flags), [CorePluginLoader(), StepPerfLoader()], data_provider=_Provider()
    )


def _listing(app: Any) -> dict[str, Any]:
    return Client(app).get("/data/plugins_listing").json


def test_the_plugin_is_loaded_with_its_tab(monkeypatch: pytest.MonkeyPatch) -> None:
    listing = _listing(_application())
    assert listing["stepperf"]["tab_name"] == "Step Performance"
    assert listing["stepperf"]["enabled"] is False
    assert listing["stepperf"]["loading_mechanism"] == {
        "type": "IFRAME",
        "module_path": "/data/plugin/stepperf/index.js",
    }


def test_without_a_data_provider_there_is_no_tab(caplog: pytest.LogCaptureFixture) -> None:
    assert StepPerfLoader().load(TBContext(data_provider=None)) is None
    assert "without a data provider" in caplog.text


@pytest.fixture
def without_our_modules() -> Iterator[None]:
    """Forgets our modules for the time of a test, so that they are imported anew."""
    ours = {name: module for name, module in sys.modules.items() if name.startswith("tb_stepperf.")}
    kept = {"tb_stepperf.plugin", "tb_stepperf.plugin.loader"}
    for name in ours.keys() - kept:
        del sys.modules[name]
    yield
    for name in [name for name in sys.modules if name.startswith("tb_stepperf.")]:
        del sys.modules[name]
    sys.modules.update(ours)
    # `from tb_stepperf import x` reads attributes of the parents, which the import of a fresh copy has set
    for name, module in ours.items():
        parent, _, child = name.rpartition(".")
        setattr(sys.modules[parent], child, module)


class _Refusing:
    """An import hook that fails one module."""

    def __init__(self, name: str, error: Exception) -> None:
        self.name, self.error = name, error

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == self.name:
            raise self.error


@pytest.mark.parametrize(
    ("module", "error"),
    [
        ("tb_stepperf.plugin.plugin", ImportError("planted")),
        ("tb_stepperf.store", SyntaxError("planted")),
        ("tb_stepperf.statistics.quantiles", AttributeError("planted")),
        ("tb_stepperf.blocks", RuntimeError("planted")),
    ],
)
@pytest.mark.usefixtures("without_our_modules")
def test_tensorboard_starts_unharmed_when_our_package_is_broken(
    module: str, error: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sys, "meta_path", [_Refusing(module, error), *sys.meta_path])
    with caplog.at_level(logging.WARNING, "tensorboard"):
        app = _application()
    assert "stepperf" not in _listing(app)
    assert Client(app).get("/data/window_properties").status_code == 200
    assert "could not be loaded; TensorBoard goes on without it" in caplog.text
    assert "planted" in caplog.text


@pytest.mark.usefixtures("without_our_modules")
def test_tensorboard_starts_unharmed_when_the_constructor_fails(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = types.ModuleType("tb_stepperf.plugin.plugin")

    def fail(context: TBContext) -> None:
        raise ValueError("planted")

    broken.StepPerfPlugin = fail  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tb_stepperf.plugin.plugin", broken)
    assert "stepperf" not in _listing(_application())
    assert "planted" in caplog.text


def test_importing_the_loader_anew_needs_nothing_of_ours() -> None:
    assert importlib.reload(loader).StepPerfLoader().define_flags
