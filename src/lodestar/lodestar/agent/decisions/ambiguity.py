"""Ambiguous targets: candidates with nearly equal scores are visited one by one, nearest first, before a choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum

import numpy as np

from lodestar.geometry.boxes import point_box_distance
from lodestar.query.ambiguity import tell_apart
from lodestar.query.config import QUERY_AMBIGUOUS
from lodestar.query.verdict import Candidate
from lodestar.scene.records import Entity

CERTAIN = 0.9  # predicate scores from which all predicates count as certain, so that any candidate will do


class NextMove(Enum):
    """Next step of the robot when it has confirmed one of several possible targets."""

    CLAIM = "it is the one, or as good as any"
    NEXT = "another is to be looked at first"
    TIED = "each was looked at, and none stands out"


class TargetAmbiguity:
    """Decides among several accepted entities with nearly equal scores, for one step: the robot visits them
    one by one.
    """

    def __init__(self, too_close: float = QUERY_AMBIGUOUS) -> None:
        self._too_close = too_close  # score difference below which two candidates are ambiguous
        self._accepted: tuple[Candidate, ...] = ()
        self._looked: Counter[int] = Counter()  # entity id -> number of looks from nearby
        self._out_of_reach: set[int] = set()
        self._aside: set[int] = set()  # looked at, not visited again while others are open

    @property
    def rivals(self) -> tuple[Candidate, ...]:
        """Return the ambiguous candidates, best first; () if one candidate stands out or any candidate will
        do.

        Any candidate will do if all predicates are certain, or if the query names only a category.
        """
        if not self._accepted:
            return ()
        best = self._accepted[0]
        if min(best.predicate_scores.values(), default=1.0) >= CERTAIN:
            return ()
        close = tuple(c for c in self._accepted if best.score - c.score < self._too_close)
        return close if len(close) > 1 else ()

    def wanted(self, accepted: tuple[Candidate, ...], resolve: Callable[[int], int]) -> tuple[Candidate, ...]:
        """Return the accepted candidates (best first) that may be visited now. resolve: returns the current
        id of an entity that may have been merged.
        """
        self._accepted = accepted
        self._looked = Counter({resolve(i): count for i, count in self._looked.items()})
        self._out_of_reach = {resolve(i) for i in self._out_of_reach}
        self._aside = {resolve(i) for i in self._aside}
        left = tuple(c for c in accepted if c.entity_id not in self._aside)
        if left and (self.rivals or accepted[0] in left):
            return left
        self._aside.clear()  # resolved: one stands out now, or the others are gone
        return accepted

    def put_off(self, entities: Mapping[int, Entity], position: np.ndarray) -> frozenset[int]:
        """Return the ids of ambiguous candidates not to be visited yet: all but the unvisited one nearest to
        the position (2+,) in a straight line.
        """
        rivals = [c.entity_id for c in self.rivals]
        near = self._nearest(entities, position)
        return frozenset(i for i in rivals if near and i != near)

    def give_way(self, entities: Mapping[int, Entity], position: np.ndarray) -> bool:
        """Mark the nearest unvisited candidate as out of reach, because no viewpoint of it is reachable.
        Return whether there was one.
        """
        near = self._nearest(entities, position)
        if near:
            self._out_of_reach.add(near)
            if not self._nearest(entities, position):
                self._aside.clear()
        return bool(near)

    def _nearest(self, entities: Mapping[int, Entity], position: np.ndarray) -> int:
        """Return the id of the nearest unvisited candidate, 0 if there is none."""
        away = {
            i: float(point_box_distance(position[:2], entities[i].box_min[:2], entities[i].box_max[:2]))
            for i in self._open()
            if i in entities
        }
        return min(away, key=lambda i: (away[i], i)) if away else 0

    def _open(self) -> list[int]:
        rivals = [c.entity_id for c in self.rivals]
        return [i for i in rivals if not self._looked[i] and i not in self._out_of_reach]

    def confirmed(self, entity_id: int) -> NextMove:
        """Count that the robot saw this entity from nearby, and return the next move."""
        self._looked[entity_id] += 1
        if self._looked[entity_id] == 1:
            self._out_of_reach.clear()  # the map has grown since
        rivals = [c.entity_id for c in self.rivals]
        if entity_id in rivals:
            if not self._open():
                return NextMove.TIED
            self._aside.add(entity_id)
            return NextMove.NEXT
        best = self._accepted[0].entity_id if self._accepted else entity_id
        turned = self._looked[best] == 1 and best != entity_id and self._looked[entity_id] == 1
        if not turned:
            return NextMove.CLAIM
        self._aside = {entity_id}  # another candidate, seen from nearby before, has the best score now
        return NextMove.NEXT

    def in_words(self, entities: Mapping[int, Entity]) -> str:
        """Return a sentence on the two best ambiguous candidates and how they differ, "" if there is no
        ambiguity.
        """
        rivals = self.rivals
        return tell_apart(rivals[0], rivals[1], entities) if rivals else ""

    def others(self, entity_id: int, entities: Mapping[int, Entity]) -> str:
        """Return a sentence that names other entities that match about as well as this one; "" if there are
        none.
        """
        mine = next((c.score for c in self._accepted if c.entity_id == entity_id), None)
        if mine is None:
            return ""
        near = [
            c for c in self._accepted if c.entity_id != entity_id and abs(c.score - mine) < self._too_close
        ]
        names = [
            f"#{c.entity_id} {entities[c.entity_id].caption}".strip() for c in near if c.entity_id in entities
        ]
        return f" As good a match: {', '.join(names[:3])}." if names else ""
