"""Configuration of query scoring and of reranking; the parameters of the predicates are in `table`."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar.grid.config import ViewpointConfig

# difference of two accepted scores below which they are ambiguous; chosen
QUERY_AMBIGUOUS = 0.05
# greatest share of the score that an unlikely reading loses; chosen
QUERY_READING_SHARE = 0.15
QUERY_UNKNOWN_ATTRIBUTE = 0.5  # score of an attribute of which nothing is known; chosen
# category score below which an entity is not a candidate; chosen
QUERY_MIN_CANDIDATE = 0.05
# entities up to which all candidates and anchors are scored; chosen
QUERY_WHOLE_SCENE = 2_000
# candidates and anchors by semantic score in larger scenes, ties included; chosen
QUERY_POOL_SIZE = 400
# nearest anchors scored before the bound is checked; chosen: speed only, results are exact
QUERY_ANCHORS_FIRST = 8
# score factor of a side seen only from the default viewpoint; chosen
QUERY_DEFAULT_VIEW = 0.5


@dataclass(frozen=True)
class QueryConfig:
    """Parameters of query scoring; scores are in [0, 1].

    FARM D.2 ranks with a relation weight of 0.5, so that a violated relation at most halves a score. Here a score
    also decides whether the robot may claim success: with 0.9 an entity with a violated or unknown relation or
    attribute falls below `accept`.
    """

    # least score of an accepted entity; chosen: above the score with one violated or unknown predicate
    accept: float = 0.6
    # semantic score from which an entity that is not accepted, as its relations are violated or unknown, is worth a
    # closer look; chosen
    promising: float = 0.6
    relation_weight: float = 0.9  # w of FARM D.2 (there 0.5); chosen: see above
    explained: int = 32  # candidates with explanations; chosen: more than a person reads
    # weight of the least predicate score in their mean; 0 = FARM D.2's geometric mean
    least_share: float = 0.9
    # largest reduction by channels other than words; chosen
    fusion_share: float = 0.05
    # factor of entities of another class (FARM D.2: 0.3); chosen
    class_factor: float = 1.0
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig, metadata={"shared": "viewpoints"})


@dataclass(frozen=True)
class RerankConfig:
    """Use of the vision model that reranks the first candidates. viewpoints: gives the camera height for its
    drawings.
    """

    rerank: bool = False  # whether every query asks a model
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig, metadata={"shared": "viewpoints"})
