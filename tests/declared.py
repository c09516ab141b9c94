"""Declarations of nodes, packages and documentation, parsed from their sources without ROS."""

from __future__ import annotations

import ast
import importlib
import re
import runpy
import typing
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest import mock

from lodestar.assembly.shared import SharedConfig, is_shared

ROOT = Path(__file__).resolve().parents[1]

PARAMETERS = "lodestar_ros.parameters"  # module of `declare_config` and `declare`

#: Parameters that ROS itself gives every node.
ROS_PARAMETERS = {"use_sim_time": False}


@lru_cache
def setup_arguments(package: str) -> dict[str, Any]:
    """Return the arguments of `setup` in the package's setup.py."""
    with mock.patch("setuptools.setup") as setup:
        runpy.run_path(str(ROOT / "src" / package / "setup.py"))
    arguments: dict[str, Any] = setup.call_args.kwargs
    return arguments


@lru_cache
def executables(package: str) -> dict[str, str]:
    """Return executable -> "module:function" from the package's setup.py."""
    scripts = setup_arguments(package).get("entry_points", {}).get("console_scripts", [])
    return dict(tuple(part.strip() for part in line.split("=", 1)) for line in scripts)


def node_source(package: str, executable: str) -> Path:
    """Return the source file of a node's entry point."""
    module, _ = executables(package)[executable].split(":")
    return ROOT / "src" / package / Path(*module.split(".")).with_suffix(".py")


@lru_cache
def parameters(package: str, executable: str) -> dict[str, object]:
    """Return parameter name -> default of all parameters that a node declares.

    Recognised: `declare_part(self, Config)`, `declare_config(self, Config[, prefix])`,
    `declare(self, name, type, default)` or rclpy's `declare_parameter(name, default)`, called in the node or
    in a function of its package that receives the node.
    """
    path = node_source(package, executable)
    tree = ast.parse(path.read_text(), str(path))
    found = {**ROS_PARAMETERS, **shared(), **_declared(tree, path, _imported(tree))}
    for name, module in _imported(tree).items():
        if module.split(".")[0] == package and module != PARAMETERS and _is_given(tree, name):
            helper = ROOT / "src" / package / Path(*module.split(".")).with_suffix(".py")
            whole = ast.parse(helper.read_text(), str(helper))
            for function in (n for n in whole.body if isinstance(n, ast.FunctionDef) and n.name == name):
                found.update(_declared(function, helper, _imported(whole)))
    return found


@lru_cache
def shared() -> dict[str, object]:
    """Return parameter name -> default of the parameters that all nodes declare."""
    return _flatten(SharedConfig, "shared.")


def _is_given(tree: ast.Module, name: str) -> bool:
    """Return whether a function of this name is called with `self` as first argument."""
    return any(
        getattr(call.func, "id", "") == name and call.args and getattr(call.args[0], "id", "") == "self"
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
    )


def _declared(tree: ast.AST, path: Path, origins: dict[str, str]) -> dict[str, object]:
    """Return parameter name -> default declared by the calls in a syntax tree."""
    found: dict[str, object] = {}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name in ("declare_config", "declare_part") and len(call.args) > 1:
            config = call.args[1]
            assert isinstance(config, ast.Name), f"{path.name}:{call.lineno}: name the dataclass itself"
            prefix = ast.literal_eval(call.args[2]) if len(call.args) > 2 else ""
            module = importlib.import_module(origins.get(config.id, _module_of(path)))
            found.update(_flatten(getattr(module, config.id), prefix))
        elif name in ("declare", "declare_parameter"):
            parameter, *rest = call.args[1:] if name == "declare" else call.args
            assert _is_text(parameter), f"{path.name}:{call.lineno}: name the parameter itself"
            found[ast.literal_eval(parameter)] = _literal(rest[-1])
    return found


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None  # named constant: type unknown


def _module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "src").with_suffix("").parts[1:])


def _imported(tree: ast.Module) -> dict[str, str]:
    return {
        alias.asname or alias.name: node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _flatten(config: type, prefix: str) -> dict[str, object]:
    assert is_dataclass(config), f"{config} is no dataclass"
    hints = typing.get_type_hints(config)
    found: dict[str, object] = {}
    for item in fields(config):
        if is_shared(item):
            continue
        name = f"{prefix}{item.name}"
        if is_dataclass(hints[item.name]):
            below = f"{prefix}{item.metadata['prefix']}" if "prefix" in item.metadata else f"{name}."
            found.update(_flatten(hints[item.name], below))
        elif item.default is not MISSING:
            found[name] = item.default
        elif item.default_factory is not MISSING:
            found[name] = item.default_factory()
        else:
            found[name] = None
    return found


def names_in(path: Path) -> set[str]:
    """Return every string literal of a source file."""
    return {
        node.value
        for node in ast.walk(ast.parse(path.read_text(), str(path)))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


@lru_cache
def documented_names() -> frozenset[str]:
    """Return every topic, service and action in the tables of docs/interfaces.md."""
    text = (ROOT / "docs" / "interfaces.md").read_text()
    section = text.split("## Topics, services and actions", 1)[1].split("\n## ", 1)[0]
    return frozenset(re.findall(r"^\| (\S+) \| \S+/(?:msg|srv|action)/\S+ \|", section, re.MULTILINE))
