"""Instances ranked per column of voxels above a 2-D grid cell, called a pillar (RoboAtlas IV-C1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

RANKS = 4  # K of RoboAtlas eq. 11


@dataclass(frozen=True)
class PillarMap:
    """Up to K instances with the most voxels above each cell of a 2-D grid, strongest first.

    ids: (K, rows, columns) int32, 0 = none. counts: (K, rows, columns) uint16, voxels. resolution: metres.
    origin: (x, y) of the outer corner of cell (0, 0), map frame, metres; row 0 has the lowest y.
    """

    ids: np.ndarray
    counts: np.ndarray
    resolution: float
    origin: tuple[float, float]
    revision: int = 0


def build_pillars(points: np.ndarray, ids: np.ndarray, resolution: float, revision: int = 0) -> PillarMap:
    """Return the pillars of voxels at points (N, 3) in map; ids: (N,) > 0, their instances."""
    if len(points) == 0:
        empty = np.zeros((RANKS, 0, 0))
        return PillarMap(empty.astype(np.int32), empty.astype(np.uint16), resolution, (0.0, 0.0), revision)
    cells = np.floor(np.asarray(points[:, :2], np.float64) / resolution).astype(np.int64)
    low = cells.min(0)
    columns, rows = cells.max(0) - low + 1
    cell = (cells[:, 1] - low[1]) * columns + (cells[:, 0] - low[0])
    span = int(ids.max()) + 1
    # encode cell and instance in one number: sorting rows of two takes ten times as long
    pairs, count = np.unique(cell * span + ids.astype(np.int64), return_counts=True)
    cell, identity = np.divmod(pairs, span)
    order = np.lexsort((identity, -count, cell))
    cell, identity, count = cell[order], identity[order], count[order]
    first = np.flatnonzero(np.diff(cell, prepend=-1))
    rank = np.arange(len(cell)) - np.repeat(first, np.diff(np.append(first, len(cell))))
    kept = rank < RANKS
    ranked_ids = np.zeros((RANKS, rows * columns), np.int32)
    ranked_counts = np.zeros((RANKS, rows * columns), np.uint16)
    ranked_ids[rank[kept], cell[kept]] = identity[kept]
    ranked_counts[rank[kept], cell[kept]] = np.minimum(count[kept], 65535)
    shape = (RANKS, int(rows), int(columns))
    origin = (float(low[0] * resolution), float(low[1] * resolution))
    return PillarMap(ranked_ids.reshape(shape), ranked_counts.reshape(shape), resolution, origin, revision)
