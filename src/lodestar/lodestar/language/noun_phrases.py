"""Noun phrases with attributes and relations, and the query graphs they compile to (FARM 2.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lodestar.language.directive import NotUnderstood
from lodestar.language.query_graph import VIEWED, Predicate, QueryGraph, QueryVariable, Side
from lodestar.models.lexicon import load_lexicon

GENERIC = "object"
MAX_VARIABLES = 16
TOO_MANY = f"more than {MAX_VARIABLES} things are related in one phrase; say it in parts"
RANKED_SIDES = ("LeftOf", "RightOf", "Above", "Below")
#: Share of "the mug on the table next to the window" read as mug on table and mug next to window.
FLAT_READING_WEIGHT = 0.4


@dataclass(frozen=True)
class Relation:
    """`name` of a phrase to its anchors; inverse: the anchor is constrained; value: a region's label."""

    name: str
    anchors: tuple[NounPhrase, ...] = ()
    negated: bool = False
    inverse: bool = False
    value: str = ""


@dataclass(frozen=True)
class NounPhrase:
    """What a noun phrase says. `attributes`: canonical word and whether it is denied."""

    phrase: str
    category: str
    attributes: tuple[tuple[str, bool], ...] = ()
    relations: tuple[Relation, ...] = ()
    count: int = 1
    determiner: str = ""
    was_in_place: bool = False
    ordinal: int = 0  # "second" of "the second chair from the left"

    @staticmethod
    def anything() -> NounPhrase:
        """A phrase that any entity fits."""
        return NounPhrase(GENERIC, GENERIC)

    @property
    def is_anything(self) -> bool:
        """Whether it names no kind of thing and no attribute."""
        return not self.attributes and load_lexicon().is_generic(self.category)

    @property
    def is_known(self) -> bool:
        """Whether the lexicon has its noun."""
        lexicon = load_lexicon()
        return lexicon.known_suffix(self.category.split()) > 0 or (
            lexicon.is_generic(self.category) and bool(self.relations)
        )

    @property
    def room(self) -> str | None:
        """Canonical room, where the phrase names one."""
        return load_lexicon().room(self.category)

    def is_place(self, places: frozenset[str]) -> bool:
        """Whether it means the whole of where the robot is."""
        if self.category not in places:
            return False
        return self.room is None or self.determiner in ("this", "")

    def singled_out(self, name: str, value: str) -> NounPhrase:
        """The phrase with what tells it from its like: "LeftOf 2" is the second from the left."""
        if name == "HasAttribute":
            return replace(
                self, phrase=f"{value} {self.phrase}", attributes=(*self.attributes, (value, False))
            )
        if name == "Near":
            return replace(self, relations=(*self.relations, Relation(name, (NounPhrase(value, value),))))
        if name in RANKED_SIDES:
            value = str(Side(self.ordinal or 1))
        kept = tuple(r for r in self.relations if r.anchors or r.name != name)
        return replace(self, relations=(*kept, Relation(name, value=value)))

    def related(self, name: str, value: str) -> NounPhrase:
        """The phrase with one more predicate without anchors."""
        return replace(self, relations=(*self.relations, Relation(name, value=value)))


@dataclass(frozen=True)
class Viewpoint:
    """What the speaker faces and where he stands, as far as he says so."""

    towards: NounPhrase | None = None
    at: NounPhrase | None = None


def to_graphs(phrase: NounPhrase, viewpoint: Viewpoint | None = None) -> tuple[QueryGraph, ...]:
    """Readings of a phrase as query graphs, best first; variable 0 is the phrase itself.

    A chain of two relations may also be read flat, both of the target. Sides of the target are seen from the
    viewpoint. Raises NotUnderstood past MAX_VARIABLES.
    """
    nested = _graph(phrase, viewpoint)
    flat = _flattened(phrase)
    if flat is None:
        return (nested,)
    return (
        replace(nested, weight=1.0 - FLAT_READING_WEIGHT),
        replace(_graph(flat, viewpoint), weight=FLAT_READING_WEIGHT),
    )


def _flattened(phrase: NounPhrase) -> NounPhrase | None:
    anchored = [r for r in phrase.relations if r.anchors]
    if len(anchored) != 1 or len(anchored[0].anchors) != 1:
        return None
    anchor = anchored[0].anchors[0]
    moved = tuple(r for r in anchor.relations if r.anchors or r.name in RANKED_SIDES)
    if not moved:
        return None
    kept = tuple(r for r in anchor.relations if r not in moved)
    first = replace(anchored[0], anchors=(replace(anchor, relations=kept),))
    others = tuple(r for r in phrase.relations if not r.anchors)
    return replace(phrase, relations=(*others, first, *moved))


def _graph(phrase: NounPhrase, viewpoint: Viewpoint | None) -> QueryGraph:
    variables: list[QueryVariable] = []
    predicates: list[Predicate] = []

    def add(current: NounPhrase) -> int:
        index = len(variables)
        if index >= MAX_VARIABLES:
            raise NotUnderstood(TOO_MANY)
        variables.append(QueryVariable(current.phrase, current.category))
        predicates.append(Predicate("IsCategory", (index,), current.category))
        for attribute, denied in current.attributes:
            predicates.append(Predicate("HasAttribute", (index,), attribute, denied))
        for relation in current.relations:
            others = tuple(add(anchor) for anchor in relation.anchors)
            arguments = (*others, index) if relation.inverse else (index, *others)
            predicates.append(Predicate(relation.name, arguments, relation.value, relation.negated))
        return index

    add(phrase)
    if viewpoint is not None:
        towards = -1 if viewpoint.towards is None else add(viewpoint.towards)
        at = -1 if viewpoint.at is None else add(viewpoint.at)
        predicates = [_seen(p, towards, at) for p in predicates]
    return QueryGraph(tuple(variables), tuple(predicates))


def _seen(predicate: Predicate, towards: int, at: int) -> Predicate:
    """The predicate of the target with its viewpoint."""
    if predicate.name not in VIEWED or predicate.arguments[0] != 0:
        return predicate
    return replace(predicate, value=str(Side(predicate.side.rank, towards, at)))
