"""Selection of the rows of a pool that a scoring step uses."""

from __future__ import annotations

import numpy as np

from lodestar.query.config import QUERY_POOL_SIZE, QUERY_WHOLE_SCENE

# least score of the entity that "closest to" or a viewpoint names; chosen
QUERY_ANCHOR_FLOOR = 0.4

GOOD = 0.5  # share of the best score: entities compared by superlatives
SURE = 0.9  # share of the best score: entities that a viewpoint or "closest to" refers to


def likeliest(scores: np.ndarray, least: float) -> np.ndarray:
    """Return the indices of scores of at least `least`; in a large scene only the best QUERY_POOL_SIZE, ties
    included.
    """
    rows = np.flatnonzero(scores >= least)
    if len(scores) <= QUERY_WHOLE_SCENE or len(rows) <= QUERY_POOL_SIZE:
        return rows
    limit = np.partition(scores[rows], -QUERY_POOL_SIZE)[-QUERY_POOL_SIZE]
    return rows[scores[rows] >= limit]


def like(scores: np.ndarray) -> np.ndarray:
    """Return the indices of entities that a superlative compares: those with half the best score or more."""
    if not len(scores) or scores.max() <= 0.0:
        return np.zeros(0, int)
    return np.flatnonzero(scores >= GOOD * scores.max())


def meant(scores: np.ndarray) -> np.ndarray:
    """Return the indices of entities that "closest to X" or a viewpoint refers to as X: those near the best
    score.

    Empty if the best score is below QUERY_ANCHOR_FLOOR.
    """
    if not len(scores) or scores.max() < QUERY_ANCHOR_FLOOR:
        return np.zeros(0, int)
    return np.flatnonzero(scores >= SURE * scores.max())
