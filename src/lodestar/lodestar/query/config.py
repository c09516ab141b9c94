"""Configuration of query scoring and of reranking; the parameters of the predicates are in `table`."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar.grid.config import ViewpointConfig


@dataclass(frozen=True)
class QueryConfig:
    """Parameters of query scoring; scores are in [0, 1].

    FARM D.2 ranks with a relation weight of 0.5, so that a violated relation at most halves a score. Here a score
    also decides whether the robot may claim success: with 0.9 an entity with a violated or unknown relation or
    attribute falls below `accept`.
    """

    # score from which an entity may be claimed; chosen: above one violated or unknown predicate
    accept: float = 0.6
    # semantic score from which an entity that is not accepted, as its relations are violated or unknown, is worth a
    # closer look; chosen
    promising: float = 0.6
    relation_weight: float = 0.9  # w of FARM D.2 (there 0.5); chosen: see above
    # difference of two accepted scores below which they are ambiguous; chosen
    ambiguous: float = 0.05
    # share of the score that an unlikely parse can cost; chosen
    reading_share: float = 0.15
    uncertain: float = 0.75  # factor of entities with uncertain presence; chosen
    unknown_attribute: float = 0.5  # score of an attribute of which nothing is known; chosen
    # score if a contradicting attribute is known; chosen
    other_attribute: float = 0.1
    # factor of entities by another name where some have the very name that was said: an armchair for "chair"; fitted
    other_label: float = 0.75
    # category score below which an entity is not a candidate; chosen
    min_candidate: float = 0.05
    # entities up to which all candidates and anchors are scored; chosen
    whole_scene: int = 2_000
    # candidates and anchors by semantic score in larger scenes, ties included; chosen
    pool_size: int = 400
    # m between two things up to which a forbidden path may run between them; chosen: the width of a large room
    path_reach: float = 8.0
    explained: int = 32  # candidates with explanations; chosen: more than a person reads
    # nearest anchors scored before the bound is checked; chosen: speed only, results are exact
    anchors_first: int = 8
    # what a person said of two things counts where they are this near, metres in plan; else one of them was moved since
    stated_reach: float = 3.0  # as `correct` takes a statement at most
    stated: float = 0.95  # score of a relation that a person stated, 1 minus it where denied; chosen
    absent_anchor: float = 0.4  # score of a relation whose anchor is not in the scene; chosen: below `accept`
    # least score of the entity that "closest to" or a viewpoint names; chosen
    anchor_floor: float = 0.4
    unseen_side: float = 0.35  # score of LeftOf and the like without any view; chosen: below `default_view`
    # score factor of a side seen only from the default viewpoint; chosen
    default_view: float = 0.5
    # weight of the least predicate score in their mean; 0 = FARM D.2's geometric mean
    least_share: float = 0.9
    # largest reduction by channels other than words; chosen
    fusion_share: float = 0.05
    # candidates that images admit where no entity fits by words; needs a text encoder for the appearance; chosen
    admitted: int = 5
    unconfirmed: float = 0.8  # factor of the score of those: it stays below `accept`; chosen
    # factor of entities of another class (FARM D.2: 0.3); chosen
    class_factor: float = 1.0
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig, metadata={"shared": "viewpoints"})


@dataclass(frozen=True)
class RerankConfig:
    """Use of the reranking model."""

    rerank: bool = False  # ask a model
    reranked: int = 5  # candidates that the model sees (FARM D.2: 5)
    # difference of the model's scores that resolves an ambiguity; chosen
    settled: float = 0.2
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig, metadata={"shared": "viewpoints"})
