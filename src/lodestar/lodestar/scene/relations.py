"""Relations between objects that an operator or expert stated, stored beside the entities (VLM-DEWM 3.2.3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from lodestar.scene.records import Stated

MAX_RELATIONS = 1000  # most relations of one scene; the oldest is dropped first


@dataclass(frozen=True)
class Relation:
    """A stated relation.

    arguments: names as the author gave them. entities: ids of those arguments that are entities, in order.
    """

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
    """The latest statement for each predicate with its arguments."""

    def __init__(self, relations: Iterable[Relation] = ()) -> None:
        self._relations: dict[tuple[str, tuple[str, ...]], Relation] = {}
        self._changes = 0
        self._by_entity: tuple[object, dict[int, tuple[Stated, ...]]] = (None, {})
        for relation in relations:
            self.put(relation)

    def __iter__(self) -> Iterator[Relation]:
        return iter(self._relations.values())

    def put(self, relation: Relation) -> Relation | None:
        """Store a relation; return the earlier statement that it replaces, or None."""
        self._changes += 1
        before = self._relations.pop((relation.predicate, relation.arguments), None)
        self._relations[relation.predicate, relation.arguments] = relation
        while len(self._relations) > MAX_RELATIONS:
            del self._relations[next(iter(self._relations))]
        return before

    def stated_of(
        self, identity: int, author: str, resolve: Callable[[int], int], merges: int
    ) -> tuple[Stated, ...]:
        """Return an author's statements about an entity and another entity, as far as they are the latest.

        A later statement of another author on the same predicate and arguments replaces them. merges: number
        of merges so far; the result of `resolve` changes only with it.
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
        """Return the relations as plain data for a saved map."""
        return [
            [r.predicate, list(r.arguments), list(r.entities), r.negated, r.author, r.reason] for r in self
        ]

    @staticmethod
    def of_meta(rows: Iterable[Any]) -> RelationTable:
        """Return the table from the data of `to_meta`. Raises ValueError, TypeError for invalid data."""
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
