"""Places that the camera has looked at, and since when: only there can a thing appear."""

from __future__ import annotations

import math

import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.visibility import visible_mask
from lodestar.memory.config import EventConfig

_TILE = 64  # cells of a side


class LookedPlaces:
    """Per cell of the floor, the seconds in which it was looked at from near; sparse, in tiles.

    A look counts once a second. `since` is the time of the look that makes it enough, `looks` of `EventConfig`.
    """

    def __init__(self, config: EventConfig) -> None:
        self._config = config
        self._tiles: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}  # counts, since
        self._last = -math.inf

    def look(self, stamp: float, map_from_camera: np.ndarray, grid: OccupancyGrid2D) -> None:
        """Note a look of the camera, (4, 4) pose in map; later ones of the same second are not counted again."""
        if not (np.isfinite(map_from_camera).all() and math.isfinite(stamp)) or stamp < self._last + 1.0:
            return
        self._last = stamp
        axis = map_from_camera[:3, 2]  # optical
        heading = math.atan2(axis[1], axis[0])
        seen = visible_mask(
            grid, map_from_camera[:2, 3], self._config.look_range, self._config.look_fov, heading
        )
        places = grid.points_of(np.argwhere(seen))
        cells = np.unique(np.floor(places / self._config.cell).astype(np.int64), axis=0)
        tiles = cells // _TILE
        for tile in np.unique(tiles, axis=0):
            row, column = (cells[(tiles == tile).all(axis=1)] - tile * _TILE).T
            count, since = self._tile(int(tile[0]), int(tile[1]))
            count[row, column] = np.minimum(count[row, column] + 1, 255)
            enough = (count[row, column] >= self._config.looks) & np.isinf(since[row, column])
            since[row[enough], column[enough]] = stamp

    def _tile(self, x: int, y: int) -> tuple[np.ndarray, np.ndarray]:
        if (x, y) not in self._tiles:
            shape = (_TILE, _TILE)
            self._tiles[x, y] = np.zeros(shape, np.uint8), np.full(shape, np.inf)
        return self._tiles[x, y]

    def since(self, place: np.ndarray) -> float:
        """Return from when on the place (2+,) has been looked at well; infinite if it has not."""
        x, y = (math.floor(value / self._config.cell) for value in np.asarray(place, float)[:2])
        tile = self._tiles.get((x // _TILE, y // _TILE))
        return math.inf if tile is None else float(tile[1][x % _TILE, y % _TILE])

    def clear(self) -> None:
        """Forget everything: the map is another one or has moved."""
        self._tiles.clear()
        self._last = -math.inf
