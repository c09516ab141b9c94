"""Which rows of a pool of entities a step looks at."""

from __future__ import annotations

import numpy as np

from lodestar.query.config import QueryConfig

GOOD = 0.5  # of the best score: those that count among the like
SURE = 0.9  # of the best score: those that a viewpoint or "closest to" means


def likeliest(scores: np.ndarray, least: float, config: QueryConfig) -> np.ndarray:
    """Rows of at least a score; in a large scene those that are among the likeliest, ties included."""
    rows = np.flatnonzero(scores >= least)
    if len(scores) <= config.whole_scene or len(rows) <= config.pool_size:
        return rows
    limit = np.partition(scores[rows], -config.pool_size)[-config.pool_size]
    return rows[scores[rows] >= limit]


def like(scores: np.ndarray) -> np.ndarray:
    """Rows whose score is near enough to the best to be compared with it."""
    if not len(scores) or scores.max() <= 0.0:
        return np.zeros(0, int)
    return np.flatnonzero(scores >= GOOD * scores.max())


def meant(scores: np.ndarray, config: QueryConfig) -> np.ndarray:
    """Rows that an anchor means where it is not bound to one: the best of those that are at all like it."""
    if not len(scores) or scores.max() < config.anchor_floor:
        return np.zeros(0, int)
    return np.flatnonzero(scores >= SURE * scores.max())
