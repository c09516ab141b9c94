"""Mask of the grid cells in which a step takes place."""

from __future__ import annotations

import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Scope
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.regions import is_called


def rooms_mask(scope: Scope, grid: OccupancyGrid2D, mirror: SceneMirror | None) -> np.ndarray | None:
    """Return (rows, columns) bool, the cells of the scope's rooms; None if the scope names no room. An
    unknown room has no cells.
    """
    if not scope.rooms:
        return None
    mask = np.zeros(grid.cells.shape, bool)
    if mirror is None or mirror.rooms is None:
        return mask
    meant = [region.id for region in mirror.regions.values() if is_called(region, scope.labels)]
    points = grid.points_of(np.argwhere(~mask))
    return np.isin(mirror.rooms.at(points), meant).reshape(mask.shape)
