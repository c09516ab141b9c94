"""Select the rows of a pool that a scoring step uses."""

from __future__ import annotations

import numpy as np

from lodestar.query.config import QueryConfig

GOOD = 0.5  # share of the best score: entities compared by superlatives
SURE = 0.9  # share of the best score: entities that a viewpoint or "closest to" refers to


def likeliest(scores: np.ndarray, least: float, config: QueryConfig) -> np.ndarray:
    """Return the rows with at least a score; in a large scene only the best `pool_size`, ties included."""
    rows = np.flatnonzero(scores >= least)
    if len(scores) <= config.whole_scene or len(rows) <= config.pool_size:
        return rows
    limit = np.partition(scores[rows], -config.pool_size)[-config.pool_size]
    return rows[scores[rows] >= limit]


def like(scores: np.ndarray) -> np.ndarray:
    """Return the rows whose score is close enough to the best for a comparison."""
    if not len(scores) or scores.max() <= 0.0:
        return np.zeros(0, int)
    return np.flatnonzero(scores >= GOOD * scores.max())


def meant(scores: np.ndarray, config: QueryConfig) -> np.ndarray:
    """Return the rows that an unbound anchor refers to: the best of those above `anchor_floor`."""
    if not len(scores) or scores.max() < config.anchor_floor:
        return np.zeros(0, int)
    return np.flatnonzero(scores >= SURE * scores.max())
