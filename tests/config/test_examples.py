"""Tests of the documentation's examples: they compile, report missing packages, and call existing functions."""

from __future__ import annotations

import ast
import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import declared
import pytest

EXAMPLES = sorted((declared.ROOT / "docs" / "examples").glob("*.py"))
BASIC = declared.ROOT / "docs" / "examples" / "basic_navigator.py"
#: Methods of BasicNavigator available in Humble, Jazzy and Kilted, besides those of a node.
NAVIGATOR = {"waitUntilNav2Active", "getPath", "clearAllCostmaps"}
NODE = {"get_clock", "destroy_node"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_compiles(path: Path) -> None:
    compile(path.read_text(), str(path), "exec")


def test_only_known_methods_of_the_navigator_are_called_and_none_that_drives() -> None:
    called = {
        node.func.attr
        for node in ast.walk(ast.parse(BASIC.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and getattr(node.func.value, "id", "") == "navigator"
    }
    assert called == NAVIGATOR | NODE


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("basic_navigator_example", BASIC)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_without_the_package_it_says_how_to_get_it(monkeypatch, capsys) -> None:
    pytest.importorskip("lodestar_interfaces")
    monkeypatch.setitem(sys.modules, "nav2_simple_commander", None)
    assert loaded().main(["1", "2"]) == 2
    assert "apt-get install" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("points", "length"), [(None, math.inf), ([], math.inf), ([(0, 0), (3, 4), (3, 5)], 6.0)]
)
def test_the_length_of_the_way(points, length) -> None:
    pytest.importorskip("lodestar_interfaces")
    from builtin_interfaces.msg import Time

    poses = [
        SimpleNamespace(pose=SimpleNamespace(position=SimpleNamespace(x=x, y=y))) for x, y in points or ()
    ]
    path = None if points is None else SimpleNamespace(poses=poses)
    now = SimpleNamespace(now=lambda: SimpleNamespace(to_msg=Time))
    navigator = SimpleNamespace(get_clock=lambda: now, getPath=lambda start, goal, use_start: path)
    assert loaded().way_length(navigator, 3.0, 5.0) == length
