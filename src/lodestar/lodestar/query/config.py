"""Defaults of query scoring."""

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
    next_to: float = 1.5  # gap at which NextTo is half true, for things of furniture size
    near: float = 2.5  # likewise Near
    steepness: float = 6.0  # of the fall over the gap: 1 / (1 + exp(steepness * (gap / half - 1)))
    min_scale: float = 0.4  # of the gaps above, for the smallest things
    full_size: float = 0.8  # extent of the larger of the two from which the gaps are not scaled
    min_candidate: float = 0.05  # category score below which an entity is no candidate
    explained: int = 64  # candidates that come with their reasons
    max_anchors: int = 12  # entities tried per anchor and candidate, the nearest where there are more
    unseen_side: float = 0.35  # for LeftOf and the like, where no view tells
