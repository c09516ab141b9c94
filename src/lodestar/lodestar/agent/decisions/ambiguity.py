"""Targets that score too close to call: visit each, nearest first, and decide again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum

import numpy as np

from lodestar.geometry.boxes import point_box_distance
from lodestar.query.ambiguity import tell_apart
from lodestar.query.verdict import Candidate, QueryConfig
from lodestar.scene.records import Entity

CERTAIN = 0.9  # predicate scores from which on everything that was said is known to hold: then any will do


class Step(Enum):
    """Next move before a confirmed thing."""

    CLAIM = "it is the one, or as good as any"
    NEXT = "another is to be looked at first"
    TIED = "each was looked at, and none stands out"


class TargetAmbiguity:
    """Choice among several accepted things, for one step."""

    def __init__(self, too_close: float = QueryConfig.ambiguous) -> None:
        self._too_close = too_close  # scores that differ by less do not tell two apart
        self._accepted: tuple[Candidate, ...] = ()
        self._looked: Counter[int] = Counter()  # how often each was seen from close by
        self._out_of_reach: set[int] = set()
        self._aside: set[int] = set()  # looked at, and not to be gone to while others are open

    @property
    def rivals(self) -> tuple[Candidate, ...]:
        """Those that are too close to call, best first; none where one stands out or where any will do.

        Any will do where all that was said surely holds, or where nothing was said but what kind of thing it is.
        """
        if not self._accepted:
            return ()
        best = self._accepted[0]
        if min(best.predicate_scores.values(), default=1.0) >= CERTAIN:
            return ()
        close = tuple(c for c in self._accepted if best.score - c.score < self._too_close)
        return close if len(close) > 1 else ()

    def wanted(self, accepted: tuple[Candidate, ...], resolve: Callable[[int], int]) -> tuple[Candidate, ...]:
        """Those of the accepted (best first) that are to be gone to. resolve: ids of merged entities."""
        self._accepted = accepted
        self._looked = Counter({resolve(i): count for i, count in self._looked.items()})
        self._out_of_reach = {resolve(i) for i in self._out_of_reach}
        self._aside = {resolve(i) for i in self._aside}
        left = tuple(c for c in accepted if c.entity_id not in self._aside)
        if left and (self.rivals or accepted[0] in left):
            return left
        self._aside.clear()  # the doubt is over: one stands out by now, or the others are gone
        return accepted

    def put_off(self, entities: Mapping[int, Entity], position: np.ndarray) -> frozenset[int]:
        """Rivals that are not to be gone to yet: all but the nearest open one, from (2+,) x, y, as the crow flies."""
        rivals = [c.entity_id for c in self.rivals]
        near = self._nearest(entities, position)
        return frozenset(i for i in rivals if near and i != near)

    def give_way(self, entities: Mapping[int, Entity], position: np.ndarray) -> bool:
        """The rival that was to be gone to has no viewpoint that can be reached; whether there was one."""
        near = self._nearest(entities, position)
        if near:
            self._out_of_reach.add(near)
            if not self._nearest(entities, position):
                self._aside.clear()
        return bool(near)

    def _nearest(self, entities: Mapping[int, Entity], position: np.ndarray) -> int:
        """The open rival that is nearest, 0 where there is none."""
        away = {
            i: float(point_box_distance(position[:2], entities[i].box_min[:2], entities[i].box_max[:2]))
            for i in self._open()
            if i in entities
        }
        return min(away, key=lambda i: (away[i], i)) if away else 0

    def _open(self) -> list[int]:
        rivals = [c.entity_id for c in self.rivals]
        return [i for i in rivals if not self._looked[i] and i not in self._out_of_reach]

    def confirmed(self, entity_id: int) -> Step:
        """The robot stands before this entity and has seen it again."""
        self._looked[entity_id] += 1
        if self._looked[entity_id] == 1:
            self._out_of_reach.clear()  # more of the map is known by now
        rivals = [c.entity_id for c in self.rivals]
        if entity_id in rivals:
            if not self._open():
                return Step.TIED
            self._aside.add(entity_id)
            return Step.NEXT
        best = self._accepted[0].entity_id if self._accepted else entity_id
        turned = self._looked[best] == 1 and best != entity_id and self._looked[entity_id] == 1
        if not turned:
            return Step.CLAIM
        self._aside = {entity_id}  # one that was looked at before stands out now
        return Step.NEXT

    def in_words(self, entities: Mapping[int, Entity]) -> str:
        """The first two rivals and what would tell them apart; empty where there is no doubt."""
        rivals = self.rivals
        return tell_apart(rivals[0], rivals[1], entities) if rivals else ""

    def others(self, entity_id: int, entities: Mapping[int, Entity]) -> str:
        """Return the others that fit as well as this one, which the claim must name; empty where none does."""
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
