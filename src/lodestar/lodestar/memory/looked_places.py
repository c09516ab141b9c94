"""Places that the camera has looked at, and since when: only there can a thing appear."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lodestar.grid.looks import Looks
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.memory.config import EventConfig
from lodestar.timing.stamps import Periodic


class LookedPlaces:
    """The seconds in which a place was looked at from near.

    A look counts once a second. `since` is the time of the look that makes it enough, `looks` of `EventConfig`.
    """

    def __init__(self, config: EventConfig) -> None:
        self._config = config
        limits = config.look_limits
        near = replace(limits, range=limits.near, fov=limits.near_fov)
        self._looks = Looks(near, enough=config.looks)
        self._second = Periodic(1.0)

    def look(self, stamp: float, map_from_camera: np.ndarray, grid: OccupancyGrid2D) -> None:
        """Note a look of the camera, (4, 4) pose in map; later ones of the same second are not counted again."""
        finite = np.isfinite(map_from_camera).all() and math.isfinite(stamp)
        if not finite or not self._second.due(stamp):
            return
        axis = map_from_camera[:3, 2]  # optical
        self._looks.set_grid(grid)
        self._looks.look(map_from_camera[:2, 3], math.atan2(axis[1], axis[0]), stamp)

    def since(self, place: np.ndarray) -> float:
        """Return from when on the place (2+,) has been looked at well; infinite if it has not."""
        grid = self._looks.grid
        if grid is None or not np.isfinite(np.asarray(place, float)[:2]).all():
            return math.inf
        row, column = (int(v) for v in grid.cells_of(np.asarray(place, float)[None, :2])[0])
        reach = max(round(self._config.around / grid.resolution), 1)
        rows, columns = (
            slice(max(row - reach, 0), max(row + reach + 1, 0)),
            slice(max(column - reach, 0), max(column + reach + 1, 0)),
        )
        return float(self._looks.since[rows, columns].min(initial=math.inf))

    def clear(self) -> None:
        """Forget everything: the map is another one or has moved."""
        self._looks.clear()
        self._second.reset()
