"""Load what nodes load when they first need it: parts of the robot, compiled loops, and the C side of messages."""

from __future__ import annotations

import dis
import importlib
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

OURS = "lodestar"  # the first letters of the names of our packages
# Modules that read tables when they are first asked, and keep them unchanged: the function that has all of them read.
_TABLES = {"lodestar.language.grammar": "load_grammar"}

_MAKERS = ("lodestar.assembly.parts",)  # functions that import what they make


def load_parts(modules: Iterable[ModuleType]) -> set[str]:
    """Import what the makers of parts that these modules name would import when called; return the makers' names.

    A module names a maker as `parts.scene_dictionary` or imports it. Makers that a maker calls count as named.
    """
    homes = [sys.modules[name] for name in _MAKERS if name in sys.modules]
    makers = {name: value for home in homes for name, value in vars(home).items() if _is_maker(value)}
    users = (module for module in modules if module not in homes and _uses(module, homes))
    waiting = {name for module in users for code in _codes(module) for name in code.co_names} & set(makers)
    named: set[str] = set()
    while waiting:
        name = waiting.pop()
        named.add(name)
        for code in _codes(makers[name]):
            waiting |= set(code.co_names) & set(makers) - named
            for step in dis.get_instructions(code):
                if step.opname == "IMPORT_NAME":
                    importlib.import_module(step.argval)
    return named


def _is_maker(value: object) -> bool:
    return isinstance(value, FunctionType) and value.__module__ in _MAKERS


def _uses(module: ModuleType, homes: list[ModuleType]) -> bool:
    return any(
        value in homes if isinstance(value, ModuleType) else _is_maker(value)
        for value in vars(module).values()
    )


def _codes(one: ModuleType | FunctionType) -> Iterator[CodeType]:
    """Yield the code of a module or a function, and that of the functions and classes in it."""
    if isinstance(one, FunctionType):
        waiting = [one.__code__]
    else:
        waiting = [one.__spec__.loader.get_code(one.__name__)]  # type: ignore[union-attr]
    while waiting:
        code = waiting.pop()
        yield code
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def load_kernels(modules: Iterable[ModuleType]) -> int:
    """Load every version of the loops of these modules that numba's cache holds; return how many.

    Nothing is compiled. A version for another processor, of an older source or of another numba stays where it is. A
    loop that is called later with types that are not in the cache is compiled then, as ever.
    """
    if "numba" not in sys.modules:
        return 0
    from numba.core.dispatcher import Dispatcher

    loaded = 0
    for module in modules:
        for value in list(vars(module).values()):
            if isinstance(value, Dispatcher) and value.py_func.__module__ == module.__name__:
                loaded += sum(value.compile(types) is not None for types in _cached(value))
    return loaded


def _cached(kernel: Any) -> list[tuple[Any, ...]]:
    """Return the types of the arguments for which the cache holds a loop as it would be compiled here and now.

    numba has no public function for it; where another version keeps its index elsewhere, nothing is loaded.
    """
    try:
        cache = kernel._cache
        index = cache._cache_file._load_index()
        kernel.targetctx.refresh()
        here = kernel.targetctx.codegen()
        return [key[0] for key in index if cache._index_key(key[0], here) == key]
    except (AttributeError, OSError, TypeError, ValueError):
        return []


def load_type_supports(modules: Iterable[ModuleType]) -> int:
    """Load the C side of every message, service and action that these modules define; return how many there are."""
    loaded = 0
    for module in modules:
        for value in list(vars(module).values()):
            load = getattr(type(value), "__import_type_support__", None) if isinstance(value, type) else None
            if load is not None and value.__module__ == module.__name__:
                value.__import_type_support__()  # type: ignore[attr-defined]
                loaded += 1
    return loaded


def load_tables(modules: Iterable[ModuleType]) -> int:
    """Have those of these modules that keep tables read them; return how many there are."""
    names = {module.__name__ for module in modules} & set(_TABLES)
    for name in sorted(names):
        getattr(sys.modules[name], _TABLES[name])()
    return len(names)
