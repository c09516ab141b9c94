"""Query graphs, the compiled form of referring expressions: typed predicates between a target and anchors
(FARM 2.3, D.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

PREDICATES = (
    "Near", "On", "Above", "Below", "NextTo", "Between", "Inside", "InRegion",
    "LeftOf", "RightOf", "InFrontOf", "Behind", "Opposite", "Closest", "Farthest", "HasAttribute", "IsCategory",
)  # fmt: skip
PATH = "path"  # category of the free space between two objects
#: Categories of a place defined only by its relations: "in front of the sofa".
SPOTS = frozenset({"spot", "place", "point", "position"})
VIEWED = ("LeftOf", "RightOf", "InFrontOf", "Behind")
_NUMBERED = re.compile(r"(rank|towards|at)=(\d{1,4})$")


@dataclass(frozen=True)
class QueryVariable:
    """A variable to be bound to an entity: phrase "red chair" of category "chair"."""

    phrase: str
    category: str


@dataclass(frozen=True)
class Side:
    """Rank and viewpoint of a side such as "left". `towards` and `at` index the graph's variables, -1 = none.

    rank: counted from that side among objects of the same kind, 2 = the second from the left. towards: the
    object that the viewer faces. at: where the viewer stands.
    """

    rank: int = 1
    towards: int = -1
    at: int = -1

    def __str__(self) -> str:
        parts = [f"rank={self.rank}"] if self.rank != 1 else []
        parts += [f"towards={self.towards}"] if self.towards >= 0 else []
        parts += [f"at={self.at}"] if self.at >= 0 else []
        return " ".join(parts)

    @staticmethod
    def of(text: str) -> Side:
        """Return the rank and viewpoint that a predicate's value encodes; other words are ignored."""
        found = [match.groups() for word in text.split() if (match := _NUMBERED.match(word))]
        values = {key: int(number) for key, number in found}
        return Side(max(1, values.get("rank", 1)), values.get("towards", -1), values.get("at", -1))


@dataclass(frozen=True)
class Predicate:
    """A relation; `arguments` index the variables, the first is the constrained one.

    value: the attribute, category or region; for a side or a rank without an anchor, a `Side` as text.
    """

    name: str
    arguments: tuple[int, ...]
    value: str = ""
    negated: bool = False
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.name not in PREDICATES:
            raise ValueError(f"unknown predicate {self.name!r}; known: {', '.join(PREDICATES)}")

    @property
    def is_literal(self) -> bool:
        """Return whether `value` is a word rather than a `Side`."""
        return self.name in ("HasAttribute", "IsCategory", "InRegion")

    @property
    def side(self) -> Side:
        """Return the rank and viewpoint of a predicate that has them."""
        return Side() if self.is_literal else Side.of(self.value)

    @property
    def mentioned(self) -> tuple[int, ...]:
        """Return every variable of the predicate, including those of its viewpoint."""
        side = self.side
        return (*self.arguments, *(v for v in (side.towards, side.at) if v >= 0))

    def renumbered(self, number: Mapping[int, int]) -> Predicate:
        """Return the predicate with its variables renumbered."""
        side = self.side
        value = self.value
        if side.towards >= 0 or side.at >= 0:
            value = str(replace(side, towards=number.get(side.towards, -1), at=number.get(side.at, -1)))
        return replace(self, arguments=tuple(number[v] for v in self.arguments), value=value)


@dataclass(frozen=True)
class QueryGraph:
    """A graph of variables and predicates. Variable 0 is the target, the others are anchors. `weight` is its
    share among alternative readings.
    """

    variables: tuple[QueryVariable, ...]
    predicates: tuple[Predicate, ...] = ()
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not self.variables:
            raise ValueError("a query graph needs at least its target variable")
        for predicate in self.predicates:
            if not predicate.arguments:
                raise ValueError(f"{predicate.name} is of no variable")
            if any(not 0 <= a < len(self.variables) for a in predicate.mentioned):
                raise ValueError(
                    f"{predicate.name} names a variable that is not there: {predicate.mentioned}"
                )

    @property
    def target(self) -> QueryVariable:
        """Return the variable that is searched for."""
        return self.variables[0]

    def of_variable(self, index: int) -> QueryGraph:
        """Return the query for one variable alone: kind, attributes and room, without its relations to
        others.
        """
        own = (p for p in self.predicates if p.arguments == (index,) and p.is_literal)
        return QueryGraph((self.variables[index],), tuple(replace(p, arguments=(0,)) for p in own))

    def arranged(self, order: Iterable[int]) -> QueryGraph:
        """Return the graph of these variables in this order, with the predicates that mention no other
        variable.
        """
        number = {old: new for new, old in enumerate(order)}
        kept = tuple(p.renumbered(number) for p in self.predicates if number.keys() >= set(p.mentioned))
        return QueryGraph(tuple(self.variables[k] for k in number), kept, self.weight)

    @property
    def path_ends(self) -> tuple[int, ...]:
        """Return the variables between which a path target runs; one if both ends are of a kind ("between the
        two tables"). Empty if the target is no path or its ends are not named.
        """
        if self.target.category != PATH:
            return ()
        ends = (p.arguments[1:] for p in self.predicates if p.name == "Between" and p.arguments[0] == 0)
        return next((found for found in ends if found), ())

    @property
    def depth(self) -> int:
        """Return the length of the longest chain of relations from the target, 0 without anchors."""
        reached = {0: 0}
        for index in range(len(self.variables)):
            for predicate in self.predicates:
                own, *others = sorted(set(predicate.arguments))
                for other in others if own == index else ():
                    reached[other] = max(reached.get(other, 0), reached.get(own, 0) + 1)
        return max(reached.values())

    def __str__(self) -> str:
        """Return a readable form: "lamp x0: On(x0, x1) & not HasAttribute(x0, red); desk x1"."""
        names = "; ".join(f"x{i} {v.phrase!r}" for i, v in enumerate(self.variables))
        said = [p for p in self.predicates if p.name != "IsCategory"]
        terms = []
        for predicate in said:
            inner = [f"x{a}" for a in predicate.arguments] + ([predicate.value] if predicate.value else [])
            terms.append(f"{'not ' if predicate.negated else ''}{predicate.name}({', '.join(inner)})")
        return f"{names}: {' & '.join(terms)}" if terms else names

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> QueryGraph:
        """Return the graph of a parsed JSON object. Raises ValueError that says which part is wrong."""
        try:
            variables = tuple(QueryVariable(str(v["phrase"]), str(v["category"])) for v in data["variables"])
            predicates = tuple(
                Predicate(
                    str(p["name"]),
                    tuple(int(a) for a in p["arguments"]),
                    str(p.get("value", "")),
                    bool(p.get("negated", False)),
                    float(p.get("weight", 1.0)),
                )
                for p in data.get("predicates", ())
            )
            return QueryGraph(variables, predicates, float(data.get("weight", 1.0)))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"this is no query graph: {error.__class__.__name__}: {error}") from error
