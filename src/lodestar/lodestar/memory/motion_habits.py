"""Habits of things to move: how long a kind of thing stays where it was last seen."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

import yaml

from lodestar.models.kinship import kind_of
from lodestar.models.lexicon import load_lexicon

_UNITS = {"minutes": 60.0, "hours": 3600.0, "days": 86400.0}
_UNKNOWN = "unknown"


@lru_cache(maxsize=1)
def habit_table() -> dict[str, tuple[str, float]]:
    """Return the class and the half-life in seconds of each kind in `motion_habits.yaml`; "unknown" is for the others.

    Raises ValueError for a half-life that is not a positive number and a unit, or for a kind in two classes.
    """
    text = resources.files("lodestar.memory").joinpath("motion_habits.yaml").read_text(encoding="utf-8")
    table: dict[str, tuple[str, float]] = {}
    for name, entry in yaml.safe_load(text).items():
        number, _, unit = str(entry["half_life"]).partition(" ")
        if unit not in _UNITS or not float(number) > 0.0:
            raise ValueError(
                f"half_life of {name} is {entry['half_life']!r}; write a number and {', '.join(_UNITS)}"
            )
        for kind in (name,) if name == _UNKNOWN else entry["kinds"]:
            if kind in table:
                raise ValueError(f"{kind} is in two classes, {table[kind][0]} and {name}; name it once")
            table[kind] = name, float(number) * _UNITS[unit]
    return table


@lru_cache(maxsize=8192)
def habit_of(label: str) -> tuple[str, float]:
    """Return the class and the half-life, seconds, of a label's kind, else of its nearest wider noun in the table."""
    table, nouns = habit_table(), load_lexicon().nouns
    waiting, seen = [kind_of(label)], set[str]()
    while waiting:
        kind = waiting.pop(0)
        if kind in table and kind != _UNKNOWN:
            return table[kind]
        seen.add(kind)
        parents = nouns[kind].is_a or () if kind in nouns else ()
        waiting += [parent for parent in parents if parent not in seen]
    return table[_UNKNOWN]


def half_life(label: str) -> float:
    """Return the seconds after which a thing of this kind is still in its place in half of the cases."""
    return habit_of(label)[1]


def chance_to_stay(label: str, seconds: float) -> float:
    """Return the chance, (0, 1], that a thing has not moved for so long; 1 for no time or a negative one."""
    return float(0.5 ** (max(seconds, 0.0) / half_life(label)))
