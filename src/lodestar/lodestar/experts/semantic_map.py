"""Which remembered thing is it, and from where can it be faced (RoboAtlas IV-E)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lodestar.experts.protocol import Proposal, ProposalRequest, Rejection, RejectionReason
from lodestar.experts.reach import Reach, ReachConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.viewpoints import NoViewpoint, Viewpoint, ViewpointConfig
from lodestar.language.query_graph import QueryGraph
from lodestar.language.reasoner import OfflineReasoner, Reasoner
from lodestar.models.phrases import MissingPhrases, PhraseBook
from lodestar.query.scoring import Candidate, QueryConfig, score_query
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState


@dataclass(frozen=True)
class SemanticMapConfig:
    """top_n: candidates that are tried, best first (RoboAtlas eq. 20). distance_weight: score per metre of
    path, which lets the nearer of two equal matches win. promising: semantic score from which a thing whose
    relations do not hold (yet) is worth a closer look, while `unknown_share` of the square of half side
    `surroundings` metres around it is unknown; confidence of such a proposal is scaled by
    `promising_confidence`. prefilter_from: entities from which on eq. 18 thins them out. target_similarity,
    neighbor_similarity: its deltas, cosines.
    """

    top_n: int = 5
    distance_weight: float = 0.01
    promising: float = 0.6
    promising_confidence: float = 0.55
    surroundings: float = 1.5
    unknown_share: float = 0.08
    prefilter_from: int = 400
    target_similarity: float = 0.3
    neighbor_similarity: float = 0.3
    reach: ReachConfig = field(default_factory=ReachConfig)
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig)
    query: QueryConfig = field(default_factory=QueryConfig)


class SemanticMapExpert:
    """Proposes a viewpoint of the remembered entity that fits the subtask best."""

    name = "semantic_map"

    def __init__(
        self, config: SemanticMapConfig, phrases: PhraseBook, reasoner: Reasoner | None = None
    ) -> None:
        self.config = config
        self._phrases = phrases
        self._reasoner = reasoner or OfflineReasoner()
        self._grid: OccupancyGrid2D | None = None
        self._mirror: SceneMirror | None = None

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        """Plan on this grid."""
        self._grid = grid

    def set_scene(self, mirror: SceneMirror) -> None:
        """Look among the entities of this copy, which may change in place."""
        self._mirror = mirror

    def propose(self, request: ProposalRequest) -> Proposal | Rejection:
        """The best viewpoint of the best entity, NO_VIEWPOINT where an accepted one cannot be faced."""
        if self._grid is None or self._mirror is None:
            what = "grid" if self._grid is None else "scene"
            return self._reject(request, RejectionReason.NO_DATA, f"no {what} yet")
        graphs = request.subtask.graphs if request.directive.subtasks else ()
        if not graphs:
            return self._reject(request, RejectionReason.NO_PROPOSAL, "nothing particular is looked for")
        entities = {i: e for i, e in self._mirror.entities.items() if e.state is not EntityState.ARCHIVED}
        try:
            candidates = self._ranked(request, self._prefilter(graphs, entities))
        except MissingPhrases as missing:
            return self._reject(request, RejectionReason.NO_DATA, str(missing))
        candidates = [c for c in candidates if c.entity_id not in request.excluded_entities]
        return self._best(request, candidates, entities)

    def _ranked(self, request: ProposalRequest, entities: Mapping[int, Entity]) -> list[Candidate]:
        """Candidates in the reasoner's order (eq. 19); without one, in that of the query."""
        assert self._mirror is not None
        graphs = request.subtask.graphs
        scored = score_query(graphs, entities, self._phrases, self.config.query, self._mirror.regions)
        by_id = {candidate.entity_id: candidate for candidate in scored}
        judged = self._reasoner.rank(scored, request.subtask, entities)
        return [by_id[j.entity_id] for j in judged if j.entity_id in by_id]

    def _best(
        self, request: ProposalRequest, candidates: Sequence[Candidate], entities: Mapping[int, Entity]
    ) -> Proposal | Rejection:
        assert self._grid is not None
        accepted = [c for c in candidates if c.score >= self.config.query.accept]
        promising = [c for c in candidates if c not in accepted and self._is_promising(c, entities)]
        if not accepted and not promising:
            return self._reject(request, RejectionReason.NO_PROPOSAL, self._nearest(candidates, entities))
        reach = Reach(self._grid, request.robot_pose, self.config.reach)
        failures = []
        for group in (accepted, promising):
            options: list[tuple[float, Candidate, Viewpoint]] = []
            for candidate in group[: self.config.top_n]:
                try:
                    viewpoint = self._viewpoint(request, reach, entities[candidate.entity_id])
                except NoViewpoint as none:
                    failures.append(f"entity {candidate.entity_id}: {none}")
                    continue
                worth = candidate.score - self.config.distance_weight * viewpoint.path_length
                options.append((worth, candidate, viewpoint))
            if options:
                _, candidate, viewpoint = max(options, key=lambda option: option[0])
                return self._proposal(request, candidate, viewpoint, entities, group is accepted)
        reason = RejectionReason.NO_VIEWPOINT if accepted else RejectionReason.NO_PROPOSAL
        return self._reject(request, reason, "; ".join(failures))

    def _viewpoint(self, request: ProposalRequest, reach: Reach, entity: Entity) -> Viewpoint:
        views = [view.map_from_camera for view in entity.views]
        return reach.viewpoint(
            entity.box_min, entity.box_max, views, request.excluded_goals, self.config.viewpoints
        )

    def _is_promising(self, candidate: Candidate, entities: Mapping[int, Entity]) -> bool:
        """Whether a closer look may still make it fit: the thing is right, what stands around it is not
        known.
        """
        assert self._grid is not None
        if candidate.semantic_score < self.config.promising:
            return False
        entity = entities[candidate.entity_id]
        reach = self.config.surroundings
        low = self._grid.cells_of(np.array([entity.box_min[:2] - reach]))[0]
        high = self._grid.cells_of(np.array([entity.box_max[:2] + reach]))[0] + 1
        area = int(np.prod(high - low))
        top, left = np.maximum(low, 0)
        window = self._grid.cells[top : max(int(high[0]), 0), left : max(int(high[1]), 0)]
        known = int((window >= 0).sum())
        return 1.0 - known / max(area, 1) >= self.config.unknown_share

    def _prefilter(self, graphs: Sequence[QueryGraph], entities: Mapping[int, Entity]) -> dict[int, Entity]:
        """Entities near the target or a neighbour phrase in the embedding (eq. 18), or that share a word
        with one.
        """
        if len(entities) < self.config.prefilter_from:
            return dict(entities)
        phrases = [(v.phrase, i == 0) for graph in graphs for i, v in enumerate(graph.variables)]
        words = {word for phrase, _ in phrases for word in phrase.casefold().split()}
        vectors = self._phrases.vectors([phrase for phrase, _ in phrases])
        limits = np.array(
            [
                self.config.target_similarity if target else self.config.neighbor_similarity
                for _, target in phrases
            ]
        )
        captions = [entity.caption or entity.label for entity in entities.values()]
        near = (self._phrases.vectors(captions) @ vectors.T > limits).any(axis=1)
        return {
            entity.id: entity
            for entity, close in zip(entities.values(), near)
            if close or words & set(f"{entity.label} {entity.caption}".casefold().split())
        }

    def _proposal(
        self,
        request: ProposalRequest,
        candidate: Candidate,
        viewpoint: Viewpoint,
        entities: Mapping[int, Entity],
        accepted: bool,
    ) -> Proposal:
        entity = entities[candidate.entity_id]
        name = entity.caption or entity.label
        score = candidate.score if accepted else self.config.promising_confidence * candidate.semantic_score
        what = "fits" if accepted else "may fit, seen from nearer"
        why = f" ({candidate.explanation})" if candidate.explanation else ""
        others = tuple(i for i in _bound(candidate) if i != entity.id)
        return Proposal(
            expert=self.name,
            epoch=request.epoch,
            goal=np.asarray(viewpoint.pose, np.float64),
            confidence=float(min(max(score, 0.0), 1.0)),
            rationale=f"{name} {what}{why}, {viewpoint.path_length:.1f} m away",
            entity_id=entity.id,
            evidence_entities=(entity.id, *others),
            evidence_keyframes=tuple(view.keyframe_id for view in entity.views if view.keyframe_id)[:3],
            stamp=entity.last_seen,
        )

    def _nearest(self, candidates: Sequence[Candidate], entities: Mapping[int, Entity]) -> str:
        if not candidates:
            return "nothing like it is in the scene"
        best = candidates[0]
        name = entities[best.entity_id].caption or entities[best.entity_id].label
        return f"the nearest is entity {best.entity_id}, {name} ({best.score:.2f})"

    def _reject(self, request: ProposalRequest, reason: RejectionReason, message: str) -> Rejection:
        return Rejection(self.name, request.epoch, reason, message)


def _bound(candidate: Candidate) -> list[int]:
    """Ids of the entities that the anchors were bound to."""
    bindings = candidate.bindings
    values = bindings.values() if isinstance(bindings, Mapping) else bindings
    return [int(v) for v in values if v is not None and not math.isnan(float(v)) and int(v) > 0]
