"""Similarity layers of a directive over the plan (RoboAtlas eq. 12, 13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from lodestar.language.directive import Directive, DirectiveError
from lodestar.language.grammar import parse_query
from lodestar.mapping.pillars import PillarMap
from lodestar.models.phrases import PhraseBook
from lodestar.query.scoring import QueryConfig, score_query
from lodestar.scene.records import Entity
from lodestar.scene.similarity import best_of, similarity_field

LAYERS = ("target", "neighbor", "constraint")


def phrases_of(directive: Directive) -> dict[str, tuple[str, ...]]:
    """Per layer the phrases of all subtasks, each once."""
    found: dict[str, dict[str, None]] = {layer: {} for layer in LAYERS}
    for subtask in directive.subtasks:
        targets = [graph.target.phrase for graph in subtask.graphs[:1]] or [subtask.target]
        for layer, phrases in zip(LAYERS, (targets, subtask.neighbors, subtask.constraints)):
            found[layer].update(dict.fromkeys(phrase for phrase in phrases if phrase))
    return {layer: tuple(phrases) for layer, phrases in found.items()}


def scores_of(
    phrase: str, entities: Mapping[int, Entity], phrases: PhraseBook, config: QueryConfig
) -> dict[int, float]:
    """Semantic score of every entity for a phrase. Raises MissingPhrases."""
    try:
        graphs = parse_query(phrase)
    except DirectiveError:
        return {}
    return {c.entity_id: c.semantic_score for c in score_query(graphs, entities, phrases, config)}


def similarity_layers(
    directive: Directive,
    pillars: PillarMap,
    entities: Mapping[int, Entity],
    phrases: PhraseBook,
    config: QueryConfig,
) -> Iterable[tuple[str, np.ndarray]]:
    """(layer, field (rows, columns) float32 in [0, 1]) for each layer. Raises MissingPhrases."""
    for layer, wanted in phrases_of(directive).items():
        scores = best_of(scores_of(phrase, entities, phrases, config) for phrase in wanted)
        yield layer, similarity_field(pillars, scores)
