"""Estimation of the speaker's position and direction from the objects that the sentence names."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lodestar.language.query_graph import Side
from lodestar.query.frames import Viewer, viewer
from lodestar.query.pool import Pool
from lodestar.query.rows import meant

AGREE = 0.7  # length of the mean of unit fronts above which they have a common direction
STAND_OFF = 3.0  # metres in front of an object


def viewer_of(side: Side, scored: Mapping[int, np.ndarray], pool: Pool) -> Viewer | None:
    """Return the viewer stated by a predicate; None if it states none or the scene does not determine it.

    scored: (N,) scores of each variable that the side may refer to.
    """
    towards, at = _place(side.towards, scored, pool), _place(side.at, scored, pool)
    if towards is None and at is None:
        return None
    if towards is None:
        middle = pool.middles[meant(scored[side.at])].mean(axis=0)
        return None if at is None else viewer(at, middle)
    anchors = meant(scored[side.towards])
    return viewer(before(anchors, pool) if at is None else at, towards)


def before(anchors: np.ndarray, pool: Pool) -> np.ndarray:
    """Return the position (2,) of a speaker who faces the anchors: in front of their common front, or else
    mid-room.

    anchors: entity indices in the pool.
    """
    fronts = pool.fronts[anchors, :2]
    known = fronts[~np.isnan(fronts[:, 0])]
    if len(known) and np.linalg.norm(known.mean(axis=0)) > AGREE:
        front = known.mean(axis=0)
        return pool.boxes.center[anchors, :2].mean(axis=0) + STAND_OFF * front / np.linalg.norm(front)
    return pool.middles[anchors].mean(axis=0)


def _place(variable: int, scored: Mapping[int, np.ndarray], pool: Pool) -> np.ndarray | None:
    """Return the position (2,) of the entity that a viewpoint names, or None if the scene has none."""
    if variable < 0 or variable not in scored:
        return None
    rows = meant(scored[variable])
    return pool.boxes.center[rows, :2].mean(axis=0) if len(rows) else None
