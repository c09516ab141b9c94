"""Early loading of data that nodes load late: modules of components, compiled numba functions, C type
supports of messages, and tables.
"""

from __future__ import annotations

import dis
import importlib
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

OURS = "lodestar"  # first letters of our packages' names
# Modules that cache tables at their first use -> name of the function that loads the tables.
_TABLES = {"lodestar.language.grammar": "load_grammar"}

_MAKERS = ("lodestar.assembly.parts",)  # modules whose functions import the parts that they create


def load_parts(modules: Iterable[ModuleType]) -> set[str]:
    """Import the modules that these modules' factory functions would import when called.

    Returns the names of the factory functions.

    A module uses a factory by an attribute such as `parts.scene_dictionary`, or by importing it. Factories
    called by a used factory count as used.
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
    """Yield the code objects of a module or function, including those of its functions and classes."""
    if isinstance(one, FunctionType):
        waiting = [one.__code__]
    else:
        waiting = [one.__spec__.loader.get_code(one.__name__)]  # type: ignore[union-attr]
    while waiting:
        code = waiting.pop()
        yield code
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def load_kernels(modules: Iterable[ModuleType]) -> int:
    """Load the compiled numba functions of these modules from numba's cache, for all cached argument types;
    return their number.

    Nothing is compiled. Entries for another processor, an older source or another numba are ignored. A
    function that is called later with types that are not in the cache is compiled then, as usual.
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
    """Return the argument types for which the cache has a numba function (`kernel`) valid on this machine.

    numba has no public function for it; if a version of numba stores its index differently, nothing is loaded.
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
    """Load the C type support of every message, service and action defined in these modules; return their number."""
    loaded = 0
    for module in modules:
        for value in list(vars(module).values()):
            load = getattr(type(value), "__import_type_support__", None) if isinstance(value, type) else None
            if load is not None and value.__module__ == module.__name__:
                value.__import_type_support__()  # type: ignore[attr-defined]
                loaded += 1
    return loaded


def load_tables(modules: Iterable[ModuleType]) -> int:
    """Load the data tables (word lists, grammar) of those modules that have them; return the modules'
    number.
    """
    names = {module.__name__ for module in modules} & set(_TABLES)
    for name in sorted(names):
        getattr(sys.modules[name], _TABLES[name])()
    return len(names)
