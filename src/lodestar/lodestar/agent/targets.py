"""Scores of the scene's entities for the current step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from lodestar.language.directive import Subtask
from lodestar.language.query_graph import QueryGraph
from lodestar.models.phrases import MissingPhrases, PhraseBook
from lodestar.query.fields import graphs_of
from lodestar.query.keep_out import room_of
from lodestar.query.verdict import Candidate, QueryConfig, score_query
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState


@dataclass(frozen=True)
class TargetView:
    """Candidates of the scene, best first; `accepted` are those that meet the query.

    neighbor: greatest score in [0, 1] of an entity for one of the subtask's neighbour phrases.
    """

    candidates: tuple[Candidate, ...] = ()
    accepted: tuple[Candidate, ...] = ()
    missing: tuple[str, ...] = ()
    neighbor: float = 0.0

    def score(self, entity_id: int) -> float:
        """Score of an entity in [0, 1]; 0 where it is no candidate."""
        return next((c.score for c in self.candidates if c.entity_id == entity_id), 0.0)

    def explanation(self, entity_id: int) -> str:
        """Why the entity scores as it does; empty where it is no candidate."""
        return next((c.explanation for c in self.candidates if c.entity_id == entity_id), "")

    def is_accepted(self, entity_id: int) -> bool:
        """Whether the entity meets the query."""
        return any(c.entity_id == entity_id for c in self.accepted)


class Targets(Protocol):
    """Port that scores a subtask against the scene."""

    def look(self, mirror: SceneMirror, subtask: Subtask) -> TargetView:
        """Every candidate of the scene for the subtask."""
        ...

    def constraints(self, mirror: SceneMirror, subtask: Subtask) -> tuple[Entity, ...]:
        """Entities that the subtask says to keep away from."""
        ...


class SceneTargets:
    """Scores subtasks with `query.scoring`, once per revision of the scene."""

    def __init__(self, phrases: PhraseBook, config: QueryConfig | None = None) -> None:
        self._phrases = phrases
        self._config = config or QueryConfig()
        self._cache: dict[tuple[int, int, str], tuple[Subtask, TargetView]] = {}

    def look(self, mirror: SceneMirror, subtask: Subtask) -> TargetView:
        """Every candidate of the scene; `missing` names phrases whose vectors are needed first."""
        key = (id(subtask), mirror.revision, mirror.session_id)
        cached = self._cache.get(key)
        if cached is not None and not cached[1].missing:
            return cached[1]
        view = self._score(subtask.graphs, mirror)
        near = [self._score(graphs_of(phrase), mirror).candidates[:1] for phrase in subtask.neighbors]
        view = replace(view, neighbor=max((best[0].semantic_score for best in near if best), default=0.0))
        self._cache = {key: (subtask, view)}  # holding the subtask keeps its id from being used again
        return view

    def constraints(self, mirror: SceneMirror, subtask: Subtask) -> tuple[Entity, ...]:
        """Entities that match any constraint phrase; a room is no thing, and barred as a zone of its own."""
        found: dict[int, Entity] = {}
        for phrase in (text for text in subtask.constraints if not room_of(text)):
            for candidate in self._score(graphs_of(phrase), mirror).accepted:
                found[candidate.entity_id] = mirror.entities[candidate.entity_id]
        return tuple(found.values())

    def _score(self, graphs: tuple[QueryGraph, ...], mirror: SceneMirror) -> TargetView:
        present = {i: e for i, e in mirror.entities.items() if e.state is not EntityState.ARCHIVED}
        if not graphs or not present:
            return TargetView()
        try:
            candidates = score_query(graphs, present, self._phrases, self._config, mirror.regions)
        except MissingPhrases as missing:
            return TargetView(missing=tuple(missing.phrases))
        accepted = tuple(c for c in candidates if c.score >= self._config.accept)
        return TargetView(tuple(candidates), accepted)
