"""Access to the modules of isaac/, which run under Isaac Sim's Python and belong to no package."""

from __future__ import annotations

import ast
import importlib
import sys
from types import ModuleType

import declared

FOLDER = declared.ROOT / "isaac"


def module(name: str) -> ModuleType:
    """Return a module of isaac/ by its file name."""
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    return importlib.import_module(name)


def declared_types() -> dict[str, set[str]]:
    """Return topic -> names of the message types that our nodes use for it."""
    found: dict[str, set[str]] = {}
    for package in ("lodestar_ros", "lodestar_go2"):
        for path in (declared.ROOT / "src" / package / package).rglob("*.py"):
            for call in (n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)):
                name = getattr(call.func, "attr", "")
                if name in ("listen", "create_publisher", "create_subscription") and len(call.args) > 2:
                    kind, topic = call.args[:2]
                    kinds = (kind.body, kind.orelse) if isinstance(kind, ast.IfExp) else (kind,)
                    for one in kinds:
                        if isinstance(topic, ast.Constant) and isinstance(one, ast.Name):
                            found.setdefault(topic.value, set()).add(one.id)
    return found
