"""`http_api.md` names every route and every parameter, and nothing else."""

from __future__ import annotations

import pathlib
import re

import pytest

from tb_stepperf.plugin import params
from tb_stepperf.plugin.payloads.marks import MAX_MARKS_PER_KIND
from tb_stepperf.plugin.payloads.samples import MAX_SAMPLES
from tb_stepperf.plugin.payloads.stages import MAX_STAGES
from tb_stepperf.plugin.static import CONTENT_TYPES
from tests.plugin.fakes import plugin

TEXT = (pathlib.Path(params.__file__).parent / "http_api.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (`/[^\n]*)\n(.*?)(?=^### |\Z)", TEXT, flags=re.MULTILINE | re.DOTALL))
_SHARED_TABLE = TEXT.split("## Parameters that several routes share")[1].split("\n## ")[0]
SHARED = {name for cell in re.findall(r"^\| (`[^|]*) \|", _SHARED_TABLE, re.M) for name in re.findall(r"`(\w+)`", cell)}


def _documented_parameters(section: str) -> set[str]:
    sentence = re.search(r"Parameters: (.*?)(?:\.\s|\.$|\n\n)", section, re.DOTALL)
    assert sentence, section[:200]
    text = " ".join(sentence[1].split())
    named = set(
        re.findall(r"`(\w+)`", re.sub(r"\(.*?\)|: .*", "", text.replace("all shared ones but `percentiles`", "")))
    )
    if "all shared ones but `percentiles`" in text:
        return named | SHARED - {"percentiles"}
    return named | SHARED if "all shared ones" in text else named


def test_every_route_is_documented_and_every_documented_route_is_there() -> None:
    documented = {route for heading in SECTIONS for route in re.findall(r"`(/[\w.]+)`", heading)}
    assert documented == set(plugin().get_plugin_apps())
    assert documented == set(params.PARAMETERS) | set(CONTENT_TYPES)


@pytest.mark.parametrize("route", sorted(params.PARAMETERS))
def test_every_parameter_is_documented(route: str) -> None:
    assert _documented_parameters(SECTIONS[f"`{route}`"]) == set(params.PARAMETERS[route])


def test_defaults_and_limits_are_those_of_the_code() -> None:
    defaults = params.Query()
    assert f"| `bins` | integer in [1, 2000] | {defaults.bins} |" in TEXT
    assert f"`{','.join(map(str, defaults.percentiles))}` |" in TEXT
    assert f"at most {params.MAX_PERCENTILES} |" in TEXT
    assert f"At most {MAX_STAGES} stages" in TEXT
    assert f"At most {MAX_MARKS_PER_KIND} marks a kind" in TEXT
    assert f"{MAX_SAMPLES:,} rows" in TEXT
    for flag in params.INCLUDABLE:
        assert f"`{flag}`" in TEXT
