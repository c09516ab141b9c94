"""Priors per category of objects: size, support, and how often they move.

A table is combined with counts of observed changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated

import msgspec
import yaml
from msgspec import Meta, Struct

from lodestar.models.kinship import kind_of
from lodestar.models.lexicon import load_lexicon
from lodestar.storage.files import write_file
from lodestar.storage.records import encode

UNKNOWN = "unknown"
SUPPORTS = ("floor", "surface", "wall", "ceiling")
LIVING = "living"
KIND, VERSION = "category-priors", 1
_UNITS = {"minutes": 60.0, "hours": 3600.0, "days": 86400.0}
_STRENGTH = 2.0  # moves; weight of the table's half-life against observed moves; chosen
_SIZE_STRENGTH = 3.0  # objects; weight of the table's size against observed sizes; chosen
LARGEST = (
    2.2  # times its kind's typical longest side that an object can be long; chosen: above all simulated ones
)
LARGEST_MARGIN = 0.3  # m added for errors of depth; chosen
_MAX_KINDS = 10_000  # most kinds in a file of counts

_Count = Annotated[int, Meta(ge=0)]
_Sum = Annotated[float, Meta(ge=0.0)]


class BadPriors(ValueError):
    """Error: a file of counts cannot be used. The message says why."""


@dataclass(frozen=True)
class CategoryPrior:
    """Prior knowledge of a kind of object.

    half_life: seconds after which half of its objects have left their places. habit: class in
    `category_priors.yaml`. support: one of SUPPORTS. size: longest side in metres; nan = unknown. watched:
    number of objects whose staying or moving was observed. is_endless: its objects may be as long as a wall.
    """

    kind: str
    habit: str
    half_life: float
    support: str
    size: float = float("nan")
    watched: int = 0
    is_endless: bool = False

    @property
    def moves_by_itself(self) -> bool:
        """Return whether objects of the kind move by themselves, as people and animals do."""
        return self.habit == LIVING

    def chance_to_stay(self, seconds: float) -> float:
        """Return the probability, (0, 1], that an object has not moved for `seconds`; 1 for 0 or less."""
        return float(0.5 ** (max(seconds, 0.0) / self.half_life))


@dataclass(frozen=True)
class Watched:
    """Counts of observations of one kind of object.

    things: number of observed objects. moves: expected number of moves. exposure: seconds observed; moves /
    exposure is the rate of moving. sizes: sum of ln(metres) over the `sized` objects whose size is known.
    """

    things: _Count
    moves: _Sum
    exposure: _Sum
    sizes: float
    sized: _Count


class _Counts(Struct):
    """Content of a file of observation counts by kind of object, with its format and version."""

    kind: str
    version: int
    kinds: Annotated[dict[str, Watched], Meta(max_length=_MAX_KINDS)]


@dataclass(frozen=True)
class Watching:
    """Observation of one object in two sessions.

    elapsed: seconds between the sessions. moved: probability that it moved. size: longest side in metres, nan
    = unknown.
    """

    label: str
    elapsed: float
    moved: float
    size: float = float("nan")


@dataclass(frozen=True)
class CategoryPriors:
    """Priors of all kinds of objects.

    The table is the Gamma prior of a Poisson rate of moves, which is updated by the observed counts.
    """

    counts: Mapping[str, Watched] = field(default_factory=dict)

    def of(self, label: str) -> CategoryPrior:
        """Return the prior of a label's kind, else of its nearest wider noun, else of unknown objects."""
        kind = kind_of(label)
        base = _table_entry(kind)
        counted = self.counts.get(kind)
        if counted is None:
            return base
        rate = math.log(2.0) / base.half_life
        rate = (_STRENGTH + counted.moves) / (_STRENGTH / rate + counted.exposure)
        size = base.size
        if counted.sized:
            weight, known = (0.0, 0.0) if math.isnan(size) else (_SIZE_STRENGTH, math.log(size))
            size = math.exp((weight * known + counted.sizes) / (weight + counted.sized))
        return replace(base, half_life=math.log(2.0) / rate, size=size, watched=counted.things)

    def learned(self, watchings: Iterable[Watching]) -> CategoryPriors:
        """Return the priors with further observations added.

        An object that has moved may have moved several times: the expected number of moves at the kind's
        present rate is added. Observations without elapsed time, or without a kind, are left out.
        """
        counts = dict(self.counts)
        for one in watchings:
            kind = kind_of(one.label)
            if not kind or not (math.isfinite(one.elapsed) and one.elapsed > 0.0 and 0.0 <= one.moved <= 1.0):
                continue
            due = math.log(2.0) * one.elapsed / self.of(one.label).half_life
            at_least_one = due / -math.expm1(-due)
            before = counts.get(kind, Watched(0, 0.0, 0.0, 0.0, 0))
            sized = math.isfinite(one.size) and one.size > 0.0
            counts[kind] = Watched(
                before.things + 1,
                before.moves + one.moved * at_least_one,
                before.exposure + one.elapsed,
                before.sizes + (math.log(one.size) if sized else 0.0),
                before.sized + sized,
            )
        return CategoryPriors(counts)

    def save(self, path: Path) -> None:
        """Write the counts to a file atomically. Raises OSError."""
        content = encode(_Counts(KIND, VERSION, dict(sorted(self.counts.items()))))
        write_file(path, [msgspec.json.format(content, indent=1) + b"\n"])

    @staticmethod
    def load(path: Path) -> CategoryPriors:
        """Return the table combined with the counts of a file.

        Raises BadPriors if the file is missing or invalid.
        """
        try:
            found = msgspec.json.decode(path.read_bytes(), type=_Counts, strict=False)  # 2.0 counts as 2
            if (found.kind, found.version) != (KIND, VERSION):
                raise ValueError(
                    f"it is {found.kind!r} of version {found.version}, not {KIND!r} of {VERSION}"
                )
            return CategoryPriors(found.kinds)
        except FileNotFoundError:
            raise BadPriors(
                f"there is no file of counts {path}: `python -m lodestar_ros.changes BEFORE AFTER --learn --priors "
                f"{path}` begins one; without shared.priors_file the built-in table holds"
            ) from None
        except OSError as error:
            raise BadPriors(f"the file of counts cannot be read: {error}") from error
        except (ValueError, RecursionError) as error:
            raise BadPriors(f"{path} is not a file of counts ({error}); move it away to begin anew") from None


@lru_cache(maxsize=1)
def prior_table() -> dict[str, CategoryPrior]:
    """Return the prior of each kind in `category_priors.yaml`; "unknown" is used for all other kinds.

    Raises ValueError for a half-life that is not a positive number and a unit, a size that is not positive,
    an unknown support, or a kind that is named twice.
    """
    text = resources.files("lodestar.models").joinpath("category_priors.yaml").read_text(encoding="utf-8")
    classes = yaml.safe_load(text)
    exceptions = {kind: support for support, kinds in classes.pop("supports").items() for kind in kinds}
    endless = set(classes.pop("endless"))
    table: dict[str, CategoryPrior] = {}
    for name, entry in classes.items():
        life = _seconds(name, str(entry["half_life"]))
        sizes = {UNKNOWN: float("nan")} if name == UNKNOWN else entry["kinds"]
        for kind, size in sizes.items():
            if kind in table:
                raise ValueError(f"{kind} is in two classes, {table[kind].habit} and {name}; name it once")
            support = exceptions.pop(kind, entry["support"])
            if support not in SUPPORTS or size <= 0.0:
                raise ValueError(
                    f"{kind} has support {support!r} and size {size}; write one of {SUPPORTS}, metres"
                )
            table[kind] = CategoryPrior(kind, name, life, support, float(size), is_endless=kind in endless)
    if exceptions or not endless <= table.keys():
        odd = sorted({*exceptions, *(endless - table.keys())})
        raise ValueError(f"supports or endless name {odd}, which are in no class")
    return table


def _seconds(name: str, text: str) -> float:
    number, _, unit = text.partition(" ")
    if unit not in _UNITS or not float(number) > 0.0:
        raise ValueError(f"half_life of {name} is {text!r}; write a number and {', '.join(_UNITS)}")
    return float(number) * _UNITS[unit]


def prior_of(label: str) -> CategoryPrior:
    """Return the table's prior of a label."""
    return _table_entry(kind_of(label))


@lru_cache(maxsize=8192)
def largest(label: str) -> float:
    """Return the longest side, metres, that an object of this label can have as measured; inf = no bound is known."""
    prior = prior_of(label)
    return math.inf if prior.is_endless or math.isnan(prior.size) else LARGEST * prior.size + LARGEST_MARGIN


@lru_cache(maxsize=8192)
def _table_entry(kind: str) -> CategoryPrior:
    """Return the table's prior of a kind, else of its nearest wider noun, with `kind` as its name."""
    table, nouns = prior_table(), load_lexicon().nouns
    waiting, seen = [kind], set[str]()
    while waiting:
        one = waiting.pop(0)
        if one in table and one != UNKNOWN:
            return replace(table[one], kind=kind)
        seen.add(one)
        parents = nouns[one].is_a or () if one in nouns else ()
        waiting += [parent for parent in parents if parent not in seen]
    return replace(table[UNKNOWN], kind=kind)
