"""Scores of the scene's entities for a step of a directive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from lodestar.language.directive import DEFAULT_KEEP_AWAY, Constraint, ConstraintKind, Step
from lodestar.language.query_graph import QueryGraph
from lodestar.models.phrases import MissingPhrases, PhraseBook
from lodestar.query.verdict import Candidate, PoolCache, QueryConfig, score_pool, score_query
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity


@dataclass(frozen=True)
class TargetView:
    """Result of scoring a step: candidates of the scene, best first.

    accepted: candidates that meet the query. missing: phrases whose vectors must be fetched first. neighbor:
    greatest score in [0, 1] of an entity for one of the step's neighbour phrases. unmeant: ids of entities
    that match the step's exclusions and so are no candidates. presumed: entity that was accepted although a neighbour
    that the step names was not seen; 0 = none.
    """

    candidates: tuple[Candidate, ...] = ()
    accepted: tuple[Candidate, ...] = ()
    missing: tuple[str, ...] = ()
    neighbor: float = 0.0
    unmeant: frozenset[int] = frozenset()
    presumed: int = 0

    def score(self, entity_id: int) -> float:
        """Return the score of an entity in [0, 1]; 0 if it is no candidate."""
        return next((c.score for c in self.candidates if c.entity_id == entity_id), 0.0)

    def explanation(self, entity_id: int) -> str:
        """Return the explanation of the entity's score, empty if it is no candidate."""
        return next((c.explanation for c in self.candidates if c.entity_id == entity_id), "")

    def is_accepted(self, entity_id: int) -> bool:
        """Return whether the entity meets the query."""
        return any(c.entity_id == entity_id for c in self.accepted)


class Targets(Protocol):
    """Interface that scores a step against the scene."""

    def look(self, mirror: SceneMirror, step: Step) -> TargetView:
        """Return every candidate of the scene for the step."""

    def scores(self, mirror: SceneMirror, step: Step, entities: Mapping[int, Entity]) -> dict[int, float]:
        """Return the step's scores of `entities`, by id, as compared with the mirror's entities."""

    def constraints(
        self, mirror: SceneMirror, constraints: Sequence[Constraint]
    ) -> tuple[tuple[Entity, float], ...]:
        """Return the entities to keep away from, with the distance to each in metres."""


class SceneTargets:
    """Scorer of steps that uses `query.verdict`, once per revision of the scene."""

    def __init__(
        self, phrases: PhraseBook, config: QueryConfig | None = None, keep_away: float = DEFAULT_KEEP_AWAY
    ) -> None:
        self._phrases, self._keep_away = phrases, keep_away
        self._config = config or QueryConfig()
        self._pools = PoolCache()
        self._cache: dict[tuple[int, int, str], tuple[Step, TargetView]] = {}

    def look(self, mirror: SceneMirror, step: Step) -> TargetView:
        """Return every candidate of the scene; `missing` names phrases whose vectors must be fetched first."""
        key = (id(step), mirror.revision, mirror.session_id)
        cached = self._cache.get(key)
        if cached is not None and not cached[1].missing:
            return cached[1]
        view = self._score(step.graphs, mirror)
        beside = () if step.item is None else step.item.neighbor_graphs
        near = [self._score((graph,), mirror).candidates[:1] for graph in beside]
        view = self._without(view, step, mirror)
        view = replace(view, neighbor=max((best[0].semantic_score for best in near if best), default=0.0))
        self._cache = {key: (step, view)}  # holding the step prevents the reuse of its id()
        return view

    def _without(self, view: TargetView, step: Step, mirror: SceneMirror) -> TargetView:
        """Return the view without the entities that the step's item excludes."""
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
        """Return scores of further entities for the step, by id; empty while a phrase has no vector."""
        everything = {**mirror.entities, **entities}
        try:
            found = score_query(
                step.graphs, everything, self._phrases, self._config, mirror.regions, rooms=mirror.rooms
            )
        except MissingPhrases:
            return {}
        return {c.entity_id: c.score for c in found if c.entity_id in entities}

    def constraints(
        self, mirror: SceneMirror, constraints: Sequence[Constraint]
    ) -> tuple[tuple[Entity, float], ...]:
        """Return the entities to keep away from, with metres to each; rooms and paths are handled as zones of
        the grid.
        """
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
        pool = self._pools.of(mirror.entities, self._phrases, self._config, mirror.regions, mirror.rooms)
        try:
            candidates = score_pool(graphs, pool)
        except MissingPhrases as missing:
            return TargetView(missing=tuple(missing.phrases))
        accepted = tuple(c for c in candidates if c.score >= self._config.accept)
        return TargetView(tuple(candidates), accepted)
