"""Scores of detections for a task, by the query that scores the map."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lodestar.experts.config import DetectionScoreConfig
from lodestar.experts.lifted_detections import LiftedDetection
from lodestar.experts.protocol import ProposalRequest
from lodestar.models.phrases import PhraseBook
from lodestar.query.verdict import score_query
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity


class DetectionScorer:
    """Score entities and detections for a request."""

    def __init__(self, config: DetectionScoreConfig, phrases: PhraseBook) -> None:
        self.config = config
        self.phrases = phrases

    def of(
        self, request: ProposalRequest, entities: Mapping[int, Entity], mirror: SceneMirror | None
    ) -> dict[int, float]:
        """Return scores in [0, 1] by id; ids that the query does not score are missing. Raises MissingPhrases."""
        if not entities:
            return {}
        worth, config, graphs = {}, self.config, request.step.graphs
        described = all(
            any(p.name == "HasAttribute" and p.arguments == (0,) for p in g.predicates) for g in graphs
        )
        hope = config.described_confidence if described else config.promising_confidence
        regions = None if mirror is None else mirror.regions
        for candidate in score_query(graphs, entities, self.phrases, config.query, regions):
            score = float(candidate.score)
            if score < config.query.accept:
                promising = candidate.semantic_score >= config.query.promising
                score = hope * float(candidate.semantic_score) if promising else 0.0
            worth[candidate.entity_id] = min(max(score, 0.0), 1.0)
        item = request.step.item
        for graph in () if item is None else item.excluded:
            for candidate in score_query((graph,), entities, self.phrases, config.query, regions):
                if candidate.score >= config.query.accept:
                    worth.pop(candidate.entity_id, None)
        return worth


def as_entity(identity: int, thing: LiftedDetection, stamp: float, mirror: SceneMirror | None) -> Entity:
    """Return a detection as an entity for the query; the identity holds for this view only."""
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
