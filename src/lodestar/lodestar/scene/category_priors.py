"""Priors per category: size, support, and how often it moves; a table joined with counts of observed changes."""

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
from lodestar.storage.records import BadRecord, decode, encode

UNKNOWN = "unknown"
SUPPORTS = ("floor", "surface", "wall", "ceiling")
LIVING = "living"
KIND, VERSION = "category-priors", 1
_UNITS = {"minutes": 60.0, "hours": 3600.0, "days": 86400.0}
_STRENGTH = 2.0  # moves that the table's half-life counts for against observed ones; chosen
_SIZE_STRENGTH = 3.0  # things that the table's size counts for; chosen
_MAX_KINDS = 10_000  # of a file of counts

_Count = Annotated[int, Meta(ge=0)]
_Sum = Annotated[float, Meta(ge=0.0)]


class BadPriors(ValueError):
    """A file of counts that cannot be used; the message says why."""


@dataclass(frozen=True)
class CategoryPrior:
    """Prior knowledge of a kind of thing. half_life: seconds after which half of its things have left their places.

    habit: class in `category_priors.yaml`. support: one of SUPPORTS. size: longest side in metres; nan = unknown.
    moves_by_itself: people and animals. watched: things whose staying or moving was observed.
    """

    kind: str
    habit: str
    half_life: float
    support: str
    size: float = float("nan")
    watched: int = 0

    @property
    def moves_by_itself(self) -> bool:
        """Return whether it goes where it likes."""
        return self.habit == LIVING

    def chance_to_stay(self, seconds: float) -> float:
        """Return the chance, (0, 1], that a thing has not moved for so long; 1 for no time or a negative one."""
        return float(0.5 ** (max(seconds, 0.0) / self.half_life))


@dataclass(frozen=True)
class Watched:
    """Counts of one kind: moves and exposure in seconds give its rate; sizes is the sum of ln(metres) over `sized`."""

    things: _Count
    moves: _Sum
    exposure: _Sum
    sizes: float
    sized: _Count


class _Counts(Struct):
    """A file of counts."""

    kind: str
    version: int
    kinds: Annotated[dict[str, Watched], Meta(max_length=_MAX_KINDS)]


@dataclass(frozen=True)
class Watching:
    """One thing that two sessions tell of. elapsed: seconds between them. moved: probability. size: metres or nan."""

    label: str
    elapsed: float
    moved: float
    size: float = float("nan")


@dataclass(frozen=True)
class CategoryPriors:
    """The one read view of the priors. Counts weigh against the table as a Gamma prior does against a Poisson rate."""

    counts: Mapping[str, Watched] = field(default_factory=dict)

    def of(self, label: str) -> CategoryPrior:
        """Return the prior of a label's kind, else of its nearest wider noun, else that of unknown things."""
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
        """Return the priors with further observations.

        Of a thing that has moved it is not known how often: the expected number at the kind's present rate counts.
        Observations without a time between them, or without a kind, are left out.
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
        """Write the counts to a file, which replaces an older one in one step. Raises OSError."""
        content = encode(_Counts(KIND, VERSION, dict(sorted(self.counts.items()))))
        write_file(path, [msgspec.json.format(content, indent=1) + b"\n"])

    @staticmethod
    def load(path: Path) -> CategoryPriors:
        """Return the table joined with the counts of a file. Raises BadPriors for one that is not there or not good."""
        try:
            found = decode(path.read_bytes(), _Counts)
            if (found.kind, found.version) != (KIND, VERSION):
                raise BadRecord(f"it is {found.kind!r} of version {found.version}, not {KIND!r} of {VERSION}")
            return CategoryPriors(found.kinds)
        except FileNotFoundError:
            raise BadPriors(
                f"there is no file of counts {path}: `python -m lodestar_ros.changes BEFORE AFTER --learn --priors "
                f"{path}` begins one; without shared.priors_file the built-in table holds"
            ) from None
        except OSError as error:
            raise BadPriors(f"the file of counts cannot be read: {error}") from error
        except BadRecord as error:
            raise BadPriors(f"{path} is not a file of counts ({error}); move it away to begin anew") from None


@lru_cache(maxsize=1)
def prior_table() -> dict[str, CategoryPrior]:
    """Return the prior of each kind in `category_priors.yaml`; "unknown" is for the others.

    Raises ValueError for a half-life that is not a positive number and a unit, a size that is not positive, an unknown
    support, or a kind that is named twice.
    """
    text = resources.files("lodestar.scene").joinpath("category_priors.yaml").read_text(encoding="utf-8")
    classes = yaml.safe_load(text)
    exceptions = {kind: support for support, kinds in classes.pop("supports").items() for kind in kinds}
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
            table[kind] = CategoryPrior(kind, name, life, support, float(size))
    if exceptions:
        raise ValueError(f"supports name {sorted(exceptions)}, which are in no class")
    return table


def _seconds(name: str, text: str) -> float:
    number, _, unit = text.partition(" ")
    if unit not in _UNITS or not float(number) > 0.0:
        raise ValueError(f"half_life of {name} is {text!r}; write a number and {', '.join(_UNITS)}")
    return float(number) * _UNITS[unit]


@lru_cache(maxsize=8192)
def _table_entry(kind: str) -> CategoryPrior:
    """Return the table's prior of a kind, else of its nearest wider noun, under the kind's own name."""
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
