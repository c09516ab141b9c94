"""Classification of prims by their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).with_name("semantics.yaml")
_SHAPELESS = ("Material", "Shader", "NodeGraph")
_HOLDERS = ("", "Xform", "Scope")  # types of prims that hold a whole object


class ClassRules:
    """Rules that map a prim's name to its class. Raises ValueError for a file that is not a list of [pattern,
    class].
    """

    def __init__(self, path: Path = FILE) -> None:
        content = yaml.safe_load(path.read_text())
        try:
            self._rules = [
                (re.compile(pattern, re.IGNORECASE), str(name).strip()) for pattern, name in content
            ]
        except (TypeError, ValueError, re.error) as error:
            raise ValueError(f"{path}: write a list of [pattern, class] ({error})") from error

    def class_of(self, prim_name: str) -> str | None:
        """Return the class of a prim with this name; None if no rule matches."""
        return next((name for pattern, name in self._rules if pattern.search(prim_name)), None)


def objects(
    prim: Any, rules: ClassRules, own_class: Callable[[Any], str | None]
) -> Iterator[tuple[Any, str]]:
    """Yield (prim, class) of every object below a USD prim: the outermost prims that have a class or a known name.

    A prim with a known name that holds two or more such objects, as "Racks" does, is a group and not an object.
    own_class: returns the class that a prim has already, or None.
    """
    for child in prim.GetChildren():
        if child.GetTypeName() in _SHAPELESS:
            continue
        name = own_class(child) or rules.class_of(child.GetName())
        if name is None or (not own_class(child) and _is_group(child, name, rules)):
            yield from objects(child, rules, own_class)
        else:
            yield child, name


def _is_group(prim: Any, name: str, rules: ClassRules) -> bool:
    inner = [child for child in prim.GetChildren() if child.GetTypeName() in _HOLDERS]
    return sum(rules.class_of(child.GetName()) == name for child in inner) >= 2
