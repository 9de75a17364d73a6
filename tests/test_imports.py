"""The import table of docs/architecture.md, enforced: flow through the house stays one-way."""

from __future__ import annotations

import ast
import json
import pathlib
import subprocess
import sys

import pytest

PACKAGE = pathlib.Path(__file__).parent.parent / "tb_stepperf"
STDLIB = sys.stdlib_module_names

ROOMS: dict[str, tuple[set[str], set[str]]] = {
    # room: (what it may import of tb_stepperf, what it may import from outside the standard library)
    "__init__": ({"_version", "recorder", "measure"}, set()),
    "_version": (set(), set()),
    "errors": (set(), set()),
    "blocks": ({"errors"}, {"numpy", "tensorboard"}),
    "recorder": (
        {"blocks", "statistics", "errors", "_version"},
        {"numpy", "google_crc32c", "tensorboard", "tensorboardX", "torch"},
    ),
    "store": ({"blocks", "errors"}, {"numpy", "tensorboard"}),
    "statistics": ({"errors"}, {"numpy"}),
    "analysis": ({"store", "statistics", "blocks", "errors"}, {"numpy"}),
    "plugin": (
        {"analysis", "store", "statistics", "traces", "blocks", "errors", "_version"},
        {"numpy", "tensorboard", "werkzeug"},
    ),
    "traces": ({"errors"}, {"numpy", "tensorboard", "msgspec"}),
    "measure": ({"recorder", "statistics", "errors", "_version"}, {"numpy", "torch"}),
    "cli": ({"analysis", "store", "statistics", "traces", "errors", "_version"}, {"click", "rich"}),
}


def _room(path: pathlib.Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else path.stem


def _imports(path: pathlib.Path) -> list[tuple[str, bool, int]]:
    """Every import of a file: dotted name, whether it runs at import time, line."""
    found = []

    def visit(node: ast.AST, at_import: bool) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.body:
                visit(child, False)
            for child in node.orelse:
                visit(child, at_import)
            return
        if isinstance(node, ast.Import):
            found.extend((alias.name, at_import, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}:{node.lineno} relative import; write tb_stepperf.… in full"
            if node.module == "tb_stepperf":
                found.extend((f"tb_stepperf.{alias.name}", at_import, node.lineno) for alias in node.names)
            else:
                found.append((node.module or "", at_import, node.lineno))
        inner = at_import and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for child in ast.iter_child_nodes(node):
            visit(child, inner)

    visit(ast.parse(path.read_text(encoding="utf-8")), True)
    return found


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_imports_only_what_its_room_may(path: pathlib.Path) -> None:
    room = _room(path)
    ours, outside = ROOMS[room]
    for name, _, line in _imports(path):
        top, *rest = name.split(".")
        if top in STDLIB:
            continue
        if top == "tb_stepperf":
            assert rest, f"{path}:{line} imports the package as a whole"
            assert rest[0] == room or rest[0] in ours, f"{path}:{line}: {room}/ may not import {name}"
        else:
            assert (name if name.startswith("google") else top) in outside, (
                f"{path}:{line}: {room}/ may not import {name}"
            )


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_torch_is_never_imported_at_module_level(path: pathlib.Path) -> None:
    assert [name for name, at_import, _ in _imports(path) if at_import and name.split(".")[0] == "torch"] == []


def test_only_one_file_calls_the_data_provider() -> None:
    importers = [
        str(path.relative_to(PACKAGE))
        for path in FILES
        if any(name.startswith("tensorboard.data") for name, _, _ in _imports(path))
    ]
    assert importers == ["store/provider.py"]


def test_the_module_that_tensorboard_loads_cannot_fail_at_import() -> None:
    at_import = {name for name, runs, _ in _imports(PACKAGE / "plugin" / "loader.py") if runs}
    outside = {name for name in at_import if name.split(".")[0] not in STDLIB}
    assert outside == {"tensorboard.plugins"} or outside == {"tensorboard.plugins.base_plugin"}
    assert (PACKAGE / "plugin" / "__init__.py").read_text(encoding="utf-8").strip().count("import") == 0


def _modules_after(code: str) -> set[str]:
    script = f"{code}\nimport sys, json\nprint(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_the_package_loads_none_of_the_heavy_ones() -> None:
    assert _modules_after("import tb_stepperf") & {"torch", "tensorboard", "werkzeug", "numpy"} == set()


def test_the_writer_loads_neither_torch_nor_werkzeug() -> None:
    assert _modules_after("from tb_stepperf import StepPerfWriter") & {"torch", "werkzeug"} == set()


def test_the_plugin_loads_without_torch() -> None:
    modules = _modules_after("import tb_stepperf.plugin.plugin, tb_stepperf.store, tb_stepperf.statistics")
    assert "torch" not in modules
    assert "tb_stepperf" in modules


def test_importing_the_loader_loads_nothing_of_ours_that_could_fail() -> None:
    modules = _modules_after(
        "import tb_stepperf.plugin.loader, sys\n"
        "ours = [m for m in sys.modules if m.startswith('tb_stepperf.')]\n"
        "assert set(ours) <= {'tb_stepperf._version', 'tb_stepperf.plugin', 'tb_stepperf.plugin.loader'}, ours"
    )
    assert "numpy" not in modules or "tensorboard" in modules
