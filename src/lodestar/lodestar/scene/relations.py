"""Relations between things that somebody states, as kept beside the entities (VLM-DEWM 3.2.3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from lodestar.scene.records import Stated

MAX_RELATIONS = 1000  # of one scene; the oldest is dropped first


@dataclass(frozen=True)
class Relation:
    """A stated relation. arguments: names as the author gives them; entities: ids among them, in their order."""

    predicate: str
    arguments: tuple[str, ...]
    entities: tuple[int, ...] = ()
    negated: bool = False
    author: str = ""
    reason: str = ""

    @property
    def opposite(self) -> Relation:
        """Return the relation negated."""
        return replace(self, negated=not self.negated)


class RelationTable:
    """The newest statement about each predicate and its arguments."""

    def __init__(self, relations: Iterable[Relation] = ()) -> None:
        self._relations: dict[tuple[str, tuple[str, ...]], Relation] = {}
        self._changes = 0
        self._by_entity: tuple[object, dict[int, tuple[Stated, ...]]] = (None, {})
        for relation in relations:
            self.put(relation)

    def __iter__(self) -> Iterator[Relation]:
        return iter(self._relations.values())

    def put(self, relation: Relation) -> Relation | None:
        """State a relation; return what was stated before."""
        self._changes += 1
        before = self._relations.pop((relation.predicate, relation.arguments), None)
        self._relations[relation.predicate, relation.arguments] = relation
        while len(self._relations) > MAX_RELATIONS:
            del self._relations[next(iter(self._relations))]
        return before

    def stated_of(
        self, identity: int, author: str, resolve: Callable[[int], int], merges: int
    ) -> tuple[Stated, ...]:
        """Return the relations of an entity to others that an author stated, and nobody since. merges: their number so
        far; what `resolve` returns changes with it alone.
        """
        if self._by_entity[0] != (self._changes, merges, author):
            found = defaultdict[int, list[Stated]](list)
            for one in self:
                if one.author == author and len(one.entities) == len(one.arguments) == 2:
                    thing, other = (resolve(i) for i in one.entities)
                    found[thing].append(Stated(one.predicate, other, one.negated))
            stated = {thing: tuple(own) for thing, own in found.items()}
            self._by_entity = (self._changes, merges, author), stated
        return self._by_entity[1].get(identity, ())

    def to_meta(self) -> list[list[Any]]:
        """Return plain data for a saved map."""
        return [
            [r.predicate, list(r.arguments), list(r.entities), r.negated, r.author, r.reason] for r in self
        ]

    @staticmethod
    def of_meta(rows: Iterable[Any]) -> RelationTable:
        """Return the table of `to_meta`. Raises ValueError, TypeError for what is none."""
        return RelationTable(
            Relation(
                str(predicate),
                tuple(map(str, names)),
                tuple(map(int, ids)),
                bool(negated),
                str(author),
                str(why),
            )
            for predicate, names, ids, negated, author, why in rows
        )
