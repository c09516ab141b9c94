"""The modules of isaac/, which run under Isaac Sim's Python and lie in no package."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import declared

FOLDER = declared.ROOT / "isaac"


def module(name: str) -> ModuleType:
    """Return a module of isaac/ by its name there."""
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    return importlib.import_module(name)
