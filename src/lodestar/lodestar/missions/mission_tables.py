"""Tables of a hand-written YAML file. Problems are collected with their place, and reading continues."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import yaml

T = TypeVar("T")
_WORDS = {str: "a text", bool: "true or false", int: "a whole number", float: "a number", list: "a list"}
MAX_TEXT = 2000  # characters; chosen


class _Loader(yaml.SafeLoader):
    """Reads 22:00 as text, as YAML 1.2 does, and reports duplicate keys in a table."""

    problems: list[str]

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the table, and report duplicate keys."""
        seen = set()
        for key, _ in node.value:
            if key.value in seen and isinstance(key, yaml.ScalarNode):
                self.problems.append(f"line {key.start_mark.line + 1}: {key.value} stands twice in one table")
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else id(key))
        return super().construct_mapping(node, deep)


def _number(plain: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda loader, node: node.value if ":" in node.value else plain(loader, node)


_Loader.add_constructor("tag:yaml.org,2002:int", _number(yaml.SafeLoader.construct_yaml_int))
_Loader.add_constructor("tag:yaml.org,2002:float", _number(yaml.SafeLoader.construct_yaml_float))


def yaml_of(text: str, problems: list[str]) -> Any:
    """Return the content of a YAML text; duplicate keys are added to `problems`. Raises yaml.YAMLError."""
    loader = _Loader(text)
    loader.problems = problems
    try:
        return loader.get_single_data()
    except (ValueError, TypeError, RecursionError) as error:  # a date such as 2026-13-45, or a table as a key
        raise yaml.YAMLError(str(error)) from error
    finally:
        loader.dispose()


@dataclass(frozen=True)
class Where:
    """A place in the file, and the list of problems found."""

    place: str
    problems: list[str]

    def say(self, what: str) -> None:
        """Add a problem at this place."""
        self.problems.append(f"{self.place}: {what}" if self.place else what)

    def inside(self, name: str) -> Where:
        """Return a place within this one, with the same list."""
        return Where(f"{self.place}: {name}" if self.place else name, self.problems)


class Table:
    """A table with its allowed keys. Other keys are reported with the closest allowed one."""

    def __init__(self, content: dict[Any, Any], where: Where, known: Sequence[str]) -> None:
        self._content, self.where = content, where
        for key in content:
            if key not in known:
                near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.5)
                advice = f"did you mean {near[0]}?" if near else f"it may have {', '.join(known)}"
                where.say(f"{key} is no key here; {advice}")

    def has(self, key: str) -> bool:
        """Return whether the key is present."""
        return key in self._content

    def value(self, key: str) -> Any:
        """Return the raw value, None if the key is missing."""
        return self._content.get(key)

    def get(self, key: str, kind: type[T], default: T) -> T:
        """Return the value if it has the type; the default if it is missing or, with a problem, of another type."""
        value = self._content.get(key, default)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.where.say(f"{key}: needs {_WORDS[kind]}, not {value!r}")
            return default
        return value

    def text(self, key: str) -> str:
        """Return a text that is not empty, else "" with a problem."""
        text = " ".join(self.get(key, str, "").split())
        if not text and (not self.has(key) or isinstance(self.value(key), str)):
            self.where.say(f"{key}: needs a text")
        if len(text) > MAX_TEXT or not text.isprintable():
            self.where.say(f"{key}: has control characters, or more than {MAX_TEXT} characters")
        return text

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; a single text counts as a list of one."""
        value = self._content.get(key, [])
        said = [value] if isinstance(value, str) else value
        if not isinstance(said, list) or not all(isinstance(one, str) and one.strip() for one in said):
            self.where.say(f"{key}: needs a list of texts, not {value!r}")
            return ()
        return tuple(" ".join(one.split()) for one in said)

    def whole(self, key: str, default: int, least: int, most: int) -> int:
        """Return an integer within bounds, else the default with a problem."""
        value = self.get(key, int, default)
        if not least <= value <= most:
            self.where.say(f"{key}: {value} does not lie between {least} and {most}")
            return default
        return value

    def number(self, key: str, least: float, most: float) -> float:
        """Return a number within bounds; else record a problem and return 0."""
        value = self._content.get(key)
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        number = float(value) if plain and value is not None else math.nan
        if not least <= number <= most:
            self.where.say(f"{key}: needs a number between {least:g} and {most:g}, not {value!r}")
            return 0.0
        return number

    def one_of(self, key: str, choices: Sequence[str], default: str) -> str:
        """Return one of the choices, else the default with a problem."""
        value = self._content.get(key, default)
        if value not in choices:
            near = difflib.get_close_matches(str(value), choices, n=1, cutoff=0.5)
            advice = f"did you mean {near[0]}?" if near else f"it is one of {', '.join(choices)}"
            self.where.say(f"{key}: {value!r} is no choice; {advice}")
            return default
        return value

    def read(self, key: str, reader: Callable[[Any], T], default: T) -> T:
        """Return `reader(value)`; the default if the key is missing or, with a problem, if the reader raises
        ValueError.
        """
        if key not in self._content:
            return default
        try:
            return reader(self._content[key])
        except ValueError as error:
            self.where.say(f"{key}: {error}")
            return default

    def table(self, key: str, known: Sequence[str]) -> Table | None:
        """Return the table under a key, else None with a problem."""
        value = self._content.get(key)
        if not isinstance(value, dict):
            self.where.say(f"{key}: needs a table with {', '.join(known)}, not {value!r}")
            return None
        return Table(value, self.where.inside(key), known)
