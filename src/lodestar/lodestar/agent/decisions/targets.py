"""Scores of the scene's entities for the current step, and the choice among those that are too close to call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol

import numpy as np

from lodestar.geometry.boxes import point_box_distance
from lodestar.language.directive import DEFAULT_KEEP_AWAY, Constraint, ConstraintKind, Step
from lodestar.language.query_graph import QueryGraph
from lodestar.models.phrases import MissingPhrases, PhraseBook
from lodestar.query.ambiguity import tell_apart
from lodestar.query.verdict import Candidate, PoolCache, QueryConfig, score_pool, score_query
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity


@dataclass(frozen=True)
class TargetView:
    """Candidates of the scene, best first; `accepted` are those that meet the query.

    neighbor: greatest score in [0, 1] of an entity for one of the step's neighbour phrases. unmeant: ids that fit what
    the step excludes; they are no candidates.
    """

    candidates: tuple[Candidate, ...] = ()
    accepted: tuple[Candidate, ...] = ()
    missing: tuple[str, ...] = ()
    neighbor: float = 0.0
    unmeant: frozenset[int] = frozenset()

    def score(self, entity_id: int) -> float:
        """Score of an entity in [0, 1]; 0 where it is no candidate."""
        return next((c.score for c in self.candidates if c.entity_id == entity_id), 0.0)

    def explanation(self, entity_id: int) -> str:
        """Return why the entity scores as it does, empty where it is no candidate."""
        return next((c.explanation for c in self.candidates if c.entity_id == entity_id), "")

    def is_accepted(self, entity_id: int) -> bool:
        """Whether the entity meets the query."""
        return any(c.entity_id == entity_id for c in self.accepted)


class Targets(Protocol):
    """Port that scores a step against the scene."""

    def look(self, mirror: SceneMirror, step: Step) -> TargetView:
        """Every candidate of the scene for the step."""
        ...

    def scores(self, mirror: SceneMirror, step: Step, entities: Mapping[int, Entity]) -> dict[int, float]:
        """Scores of further entities for the step, among those of the scene; by id."""
        ...

    def constraints(
        self, mirror: SceneMirror, constraints: Sequence[Constraint]
    ) -> tuple[tuple[Entity, float], ...]:
        """Entities that are kept away from, with the metres to each."""
        ...


class SceneTargets:
    """Scores steps with `query.verdict`, once per revision of the scene."""

    def __init__(
        self, phrases: PhraseBook, config: QueryConfig | None = None, keep_away: float = DEFAULT_KEEP_AWAY
    ) -> None:
        self._phrases, self._keep_away = phrases, keep_away
        self._config = config or QueryConfig()
        self._pools = PoolCache()
        self._cache: dict[tuple[int, int, str], tuple[Step, TargetView]] = {}

    def look(self, mirror: SceneMirror, step: Step) -> TargetView:
        """Every candidate of the scene; `missing` names phrases whose vectors are needed first."""
        key = (id(step), mirror.revision, mirror.session_id)
        cached = self._cache.get(key)
        if cached is not None and not cached[1].missing:
            return cached[1]
        view = self._score(step.graphs, mirror)
        beside = () if step.item is None else step.item.neighbor_graphs
        near = [self._score((graph,), mirror).candidates[:1] for graph in beside]
        view = self._without(view, step, mirror)
        view = replace(view, neighbor=max((best[0].semantic_score for best in near if best), default=0.0))
        self._cache = {key: (step, view)}  # holding the step keeps its id from being used again
        return view

    def _without(self, view: TargetView, step: Step, mirror: SceneMirror) -> TargetView:
        """The view without what the step's item excludes."""
        excluded = () if step.item is None else step.item.excluded
        others = [self._score((graph,), mirror) for graph in excluded]
        missing = tuple(phrase for other in others for phrase in other.missing)
        if missing:
            return TargetView(missing=missing)
        unmeant = frozenset(c.entity_id for other in others for c in other.accepted)
        if not unmeant:
            return view
        candidates = tuple(c for c in view.candidates if c.entity_id not in unmeant)
        accepted = tuple(c for c in view.accepted if c.entity_id not in unmeant)
        return replace(view, candidates=candidates, accepted=accepted, unmeant=unmeant)

    def scores(self, mirror: SceneMirror, step: Step, entities: Mapping[int, Entity]) -> dict[int, float]:
        """Scores of further entities for the step; none while a phrase has no vector."""
        everything = {**mirror.entities, **entities}
        try:
            found = score_query(step.graphs, everything, self._phrases, self._config, mirror.regions)
        except MissingPhrases:
            return {}
        return {c.entity_id: c.score for c in found if c.entity_id in entities}

    def constraints(
        self, mirror: SceneMirror, constraints: Sequence[Constraint]
    ) -> tuple[tuple[Entity, float], ...]:
        """Entities that are kept away from, with the metres to each; rooms and paths are zones of the grid."""
        found: dict[int, float] = {}
        for constraint in constraints:
            if constraint.kind is not ConstraintKind.KEEP_AWAY:
                continue
            graphs = tuple(graph for graph in constraint.item.graphs if not graph.path_ends)
            metres = self._keep_away if constraint.distance is None else constraint.distance
            for candidate in self._score(graphs, mirror).accepted:
                found[candidate.entity_id] = max(found.get(candidate.entity_id, 0.0), metres)
        return tuple((mirror.entities[i], metres) for i, metres in found.items())

    def _score(self, graphs: tuple[QueryGraph, ...], mirror: SceneMirror) -> TargetView:
        if not graphs:
            return TargetView()
        pool = self._pools.of(mirror.entities, self._phrases, self._config, mirror.regions)
        try:
            candidates = score_pool(graphs, pool)
        except MissingPhrases as missing:
            return TargetView(missing=tuple(missing.phrases))
        accepted = tuple(c for c in candidates if c.score >= self._config.accept)
        return TargetView(tuple(candidates), accepted)


CERTAIN = 0.9  # predicate scores from which on everything that was said is known to hold: then any will do


class NextMove(Enum):
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

    def confirmed(self, entity_id: int) -> NextMove:
        """The robot stands before this entity and has seen it again."""
        self._looked[entity_id] += 1
        if self._looked[entity_id] == 1:
            self._out_of_reach.clear()  # more of the map is known by now
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
        self._aside = {entity_id}  # one that was looked at before stands out now
        return NextMove.NEXT

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
