"""Bands of height, the distances at which a camera shows them, and the known furniture tops on which objects
may stand.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numba import njit

from lodestar.geometry.camera import PinholeCamera
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.scene.floor_height import floor_of
from lodestar.scene.records import Entity, EntityState

SURFACE_LOWEST = 0.3  # metres above the floor of a top; chosen: the floor's band covers lower ones
SURFACE_HIGHEST = 2.0  # metres above the floor of a top, at most; chosen
SURFACE_LEAST_SIDE = 0.25  # metres in plan of the shorter side of a top; chosen

#: Heights above the floor, metres, at which a look is recorded: objects on the floor, a seat, a table, shelves and a
#: wardrobe.
BANDS = np.array([0.1, 0.5, 0.9, 1.3, 1.7, 2.1])
_LEAST_TANGENT = 1e-3


@dataclass(frozen=True)
class Lens:
    """Elevations shown by a camera without roll. height: metres above the floor. fov: radians, horizontal.

    low, high: tangents of the lowest and highest elevation in the image, in the vertical plane of the optical
    axis.
    """

    height: float
    low: float
    high: float
    fov: float

    @staticmethod
    def of(map_from_camera: np.ndarray, camera: PinholeCamera, floor: float = 0.0) -> Lens:
        """Return the lens of a camera at a (4, 4) pose of its optical frame. floor: height of the floor in
        map, metres.
        """
        pitch = math.asin(float(np.clip(map_from_camera[2, 2], -1.0, 1.0)))
        down = pitch - math.atan((camera.height - camera.cy) / camera.fy)
        up = pitch + math.atan(camera.cy / camera.fy)
        most = math.pi / 2.0 - 1e-3
        low, high = (math.tan(min(max(angle, -most), most)) for angle in (down, up))
        fov = 2.0 * math.atan(camera.width / (2.0 * camera.fx))
        return Lens(float(map_from_camera[2, 3]) - floor, low, high, fov)

    def reach(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and greatest distance at which each band is in the image, (bands,) metres along
        the optical axis.

        The least distance is inf for a band that is never in the image.
        """
        rise = BANDS - self.height
        near = np.zeros(len(BANDS))
        far = np.full(len(BANDS), np.inf)
        for tangent, side in ((self.high, 1.0), (self.low, -1.0)):
            # side * rise <= side * tangent * distance
            slope, above = side * tangent, side * rise
            if slope > _LEAST_TANGENT:
                near = np.maximum(near, above / slope)
            elif slope < -_LEAST_TANGENT:
                far = np.minimum(far, above / slope)
            else:
                near = np.where(above > 0.0, np.inf, near)
        far = np.where(far < 0.0, -np.inf, far)
        return np.where(far < near, np.inf, near), far


@dataclass(frozen=True)
class SurfaceMap:
    """Known tops of furniture over the cells of a grid.

    owner: (rows, columns) int32, index of the highest top over a cell, -1 = none. tops: (K,) metres above the floor.
    inside: (rows, columns) float32, metres from a cell to the nearest edge of its top.
    """

    owner: np.ndarray
    tops: np.ndarray
    inside: np.ndarray

    @staticmethod
    def over(
        grid: OccupancyGrid2D, entities: Iterable[Entity], camera_height: float, floor: float = 0.0
    ) -> SurfaceMap:
        """Return the map of the top surfaces of all entities that are not archived. The run time grows with
        their number and area.

        camera_height: metres above the floor. floor: height of the floor in map, metres, for entities without
        a saved view.
        """
        there = [e for e in entities if e.state is not EntityState.ARCHIVED]
        low = np.array([e.box_min for e in there], np.float64).reshape(-1, 3)
        high = np.array([e.box_max for e in there], np.float64).reshape(-1, 3)
        tops = high[:, 2] - np.array([floor_of(e, camera_height, floor) for e in there], np.float64)
        fits = (tops >= SURFACE_LOWEST) & (tops <= SURFACE_HIGHEST)
        fits &= (high[:, :2] - low[:, :2]).min(axis=1, initial=np.inf) >= SURFACE_LEAST_SIDE
        fits &= np.isfinite(low).all(axis=1) & np.isfinite(high).all(axis=1)
        order = np.flatnonzero(fits)[np.argsort(tops[fits], kind="stable")]
        owner = np.full(grid.cells.shape, -1, np.int32)
        inside = np.zeros(grid.cells.shape, np.float32)
        _cover(owner, inside, low[order], high[order], np.array(grid.origin, np.float64), grid.resolution)
        return SurfaceMap(owner, tops[order], inside)

    @staticmethod
    def none(grid: OccupancyGrid2D) -> SurfaceMap:
        """Return a map without furniture tops."""
        return SurfaceMap.over(grid, (), 0.0)


@njit(cache=True)
def _cover(owner, inside, low, high, origin, resolution):
    """Assign to each cell the last of the boxes (K, 3) that contains its centre."""
    rows, columns = owner.shape
    for k in range(len(low)):
        first, last = np.empty(2, np.int64), np.empty(2, np.int64)
        for a in range(2):
            first[a] = max(math.ceil((low[k, a] - origin[a]) / resolution - 0.5), 0)
            last[a] = min(math.floor((high[k, a] - origin[a]) / resolution - 0.5), (columns, rows)[a] - 1)
        for row in range(first[1], last[1] + 1):
            y = origin[1] + (row + 0.5) * resolution
            for column in range(first[0], last[0] + 1):
                x = origin[0] + (column + 0.5) * resolution
                owner[row, column] = k
                inside[row, column] = min(x - low[k, 0], high[k, 0] - x, y - low[k, 1], high[k, 1] - y)


def view_heading(map_from_camera: np.ndarray) -> float | None:
    """Return the horizontal heading, radians, of a (4, 4) camera pose; None if it looks at the floor or
    ceiling, or is not finite.
    """
    x, y = map_from_camera[:2, 2]
    return math.atan2(y, x) if np.isfinite(map_from_camera).all() and math.hypot(x, y) >= 0.2 else None
