"""Record of the places that the camera has viewed, and since when. Only there can an object newly appear."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lodestar.grid.looks import Looks
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.memory.config import EventConfig
from lodestar.timing.stamps import Periodic

EVENT_LOOKS = 3  # views (one per second) of a place before something can newly appear there; chosen
EVENT_AROUND = 0.25  # metres around a place within which a view counts for the place; chosen


class LookedPlaces:
    """Records since when places have been viewed by the camera from near, at least EVENT_LOOKS times.

    At most one view per second counts.
    """

    def __init__(self, config: EventConfig) -> None:
        limits = config.look_limits
        near = replace(limits, range=limits.near, fov=limits.near_fov)
        self._looks = Looks(near, enough=EVENT_LOOKS)
        self._second = Periodic(1.0)

    def look(self, stamp: float, map_from_camera: np.ndarray, grid: OccupancyGrid2D) -> None:
        """Record the places in view of a camera. map_from_camera: (4, 4). One view per second counts."""
        finite = np.isfinite(map_from_camera).all() and math.isfinite(stamp)
        if not finite or not self._second.due(stamp):
            return
        axis = map_from_camera[:3, 2]  # optical axis
        self._looks.set_grid(grid)
        self._looks.look(map_from_camera[:2, 3], math.atan2(axis[1], axis[0]), stamp)

    def since(self, place: np.ndarray) -> float:
        """Return the stamp of the view number EVENT_LOOKS of the place (2+,); infinite if there is none."""
        grid = self._looks.grid
        if grid is None or not np.isfinite(np.asarray(place, float)[:2]).all():
            return math.inf
        row, column = (int(v) for v in grid.cells_of(np.asarray(place, float)[None, :2])[0])
        reach = max(round(EVENT_AROUND / grid.resolution), 1)
        rows, columns = (
            slice(max(row - reach, 0), max(row + reach + 1, 0)),
            slice(max(column - reach, 0), max(column + reach + 1, 0)),
        )
        return float(self._looks.since[rows, columns].min(initial=math.inf))

    def clear(self) -> None:
        """Forget all views, as after a change or a correction of the map."""
        self._looks.clear()
        self._second.reset()
