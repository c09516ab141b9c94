"""Scores of detections for a task, computed by the same query as those of the map's entities."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lodestar.experts.lifted_detections import LiftedDetection
from lodestar.experts.protocol import ProposalRequest
from lodestar.models.phrases import PhraseBook
from lodestar.query.config import QueryConfig
from lodestar.query.verdict import score_query
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity

DETECTION_SCORE_PROMISING_CONFIDENCE = 0.5  # factor of a promising semantic score in its confidence; chosen
# factor of a promising semantic score if the task describes the object's look; chosen: an object of that kind and look
# is mostly the target
DETECTION_SCORE_DESCRIBED_CONFIDENCE = 0.65


class DetectionScorer:
    """Score entities and detections for a request."""

    def __init__(self, query: QueryConfig, phrases: PhraseBook) -> None:
        self._query, self.phrases = query, phrases

    def of(
        self, request: ProposalRequest, entities: Mapping[int, Entity], mirror: SceneMirror | None
    ) -> dict[int, float]:
        """Return scores in [0, 1] by id; ids that the query does not score are missing. Raises MissingPhrases."""
        if not entities:
            return {}
        worth, query, graphs = {}, self._query, request.step.graphs
        described = all(
            any(p.name == "HasAttribute" and p.arguments == (0,) for p in g.predicates) for g in graphs
        )
        hope = DETECTION_SCORE_DESCRIBED_CONFIDENCE if described else DETECTION_SCORE_PROMISING_CONFIDENCE
        regions = None if mirror is None else mirror.regions
        for candidate in score_query(graphs, entities, self.phrases, query, regions):
            score = float(candidate.score)
            if score < query.accept:
                promising = candidate.semantic_score >= query.promising
                score = hope * float(candidate.semantic_score) if promising else 0.0
            worth[candidate.entity_id] = min(max(score, 0.0), 1.0)
        item = request.step.item
        for graph in () if item is None else item.excluded:
            for candidate in score_query((graph,), entities, self.phrases, query, regions):
                if candidate.score >= query.accept:
                    worth.pop(candidate.entity_id, None)
        return worth


def as_entity(identity: int, thing: LiftedDetection, stamp: float, mirror: SceneMirror | None) -> Entity:
    """Return a detection as an entity for the query; the id is valid for this view only."""
    half = (thing.box_max - thing.box_min) / 2.0
    middle = (thing.box_min + thing.box_max) / 2.0
    return Entity(
        id=identity,
        label=thing.detection.label,
        caption=thing.detection.caption,
        mean=middle,
        covariance=np.diag(np.maximum(half, 0.02) ** 2 / 3.0),
        box_min=thing.box_min,
        box_max=thing.box_max,
        region_id=0 if mirror is None else mirror.region_at(middle),
        confidence=thing.detection.score,
        observation_count=1,
        first_seen=stamp,
        last_seen=stamp,
    )


def name_of(thing: LiftedDetection) -> str:
    """Return a detection's name in the detector's words."""
    return thing.detection.caption or thing.detection.label
