"""Defaults of query scoring; the parameters of the predicates themselves are in `table`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class QueryConfig:
    """Scores are in [0, 1], distances in metres.

    FARM D.2 ranks with a relation weight of 0.5, so that a violated relation halves a score at most. Here a score
    also decides whether the robot may say "this is it": with 0.9 a violated relation or attribute, or one that
    nothing is known of, falls below `accept`.
    """

    accept: float = 0.6
    relation_weight: float = 0.9
    ambiguous: float = 0.05  # two accepted scores nearer than this are too close to call
    reading_share: float = 0.15  # what the weight of a reading among alternatives may cost
    uncertain: float = 0.75  # factor of entities whose presence is in doubt
    unknown_attribute: float = 0.5  # nothing says whether it is red
    other_attribute: float = 0.1  # it is known to be blue
    min_candidate: float = 0.05  # category score below which an entity is no candidate
    whole_scene: int = 2_000  # entities up to which every candidate and anchor above that is bound exactly
    pool_size: int = 400  # in larger scenes: candidates and anchors by semantic score, ties included
    explained: int = 32  # candidates that come with their reasons
    anchors_first: int = 8  # nearest anchors tried before the bound says whether more can be better
    absent_anchor: float = 0.4  # what a relation is worth whose anchor the scene does not hold
    anchor_floor: float = 0.4  # score below which nothing is what "closest to" or a viewpoint names
    unseen_side: float = 0.35  # for LeftOf and the like, where neither a view nor anything else tells
    default_view: float = 0.5  # what a side is worth that is seen only from where one would stand by default
    least_share: float = 0.9  # of the least predicate score in their mean; 0 = FARM's geometric mean
    fusion_share: float = 0.05  # how far other channels than words draw a score down (reciprocal ranks)
    class_factor: float = (
        1.0  # of the score of what is not of the class (FARM D.2: 0.3); here category scores tell
    )
