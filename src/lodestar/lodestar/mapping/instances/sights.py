"""Coarse depth images of past views, which show where space was ever seen empty."""

from __future__ import annotations

import numpy as np
from numba import njit

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.map_correction import MapCorrection

SIGHT_VIEWS = 192  # most views that are kept; the oldest is dropped; chosen
SIGHT_STEP = 8  # pixels of the image per pixel of the coarse image; chosen
SIGHT_MOVED = 0.3  # metres from the last kept view from which another is kept; chosen
SIGHT_TURNED = 0.3  # radians from the last kept view from which another is kept; chosen
SIGHT_MARGIN = 0.15  # metres by which depth must exceed a place's range to show it empty; chosen


class SightMemory:
    """Ring buffer of coarse depth images of past views.

    Each coarse pixel holds the least depth of its pixels, so that `empty` rather misses empty space than
    invents it.
    """

    def __init__(self) -> None:
        self._depth: np.ndarray | None = None  # (views, rows, columns) float32, metres, 0 = unknown
        self._camera = np.zeros((SIGHT_VIEWS, 4))  # fx, fy, cx, cy of the coarse image
        self._camera_from_voxels = np.zeros((SIGHT_VIEWS, 4, 4))
        self._nodes = np.zeros(SIGHT_VIEWS, np.int64)  # serial numbers of trajectory nodes
        self._count = 0

    def add(
        self, depth: np.ndarray, camera: PinholeCamera, camera_from_voxels: np.ndarray, node: int = 0
    ) -> None:
        """Store a view if the camera has moved enough since the last one. depth: (H, W) float32, metres."""
        if self._count:
            last = self._camera_from_voxels[(self._count - 1) % SIGHT_VIEWS]
            change = camera_from_voxels @ np.linalg.inv(last)
            turned = np.arccos(np.clip((np.trace(change[:3, :3]) - 1.0) / 2.0, -1.0, 1.0))
            if np.linalg.norm(change[:3, 3]) < SIGHT_MOVED and turned < SIGHT_TURNED:
                return
        coarse = _coarse(depth, SIGHT_STEP)
        if self._depth is None or self._depth.shape[1:] != coarse.shape:
            self._depth = np.zeros((SIGHT_VIEWS, *coarse.shape), np.float32)
            self._count = 0
        place = self._count % SIGHT_VIEWS
        self._depth[place] = coarse
        middle = (SIGHT_STEP - 1) / 2.0
        self._camera[place] = (
            camera.fx / SIGHT_STEP,
            camera.fy / SIGHT_STEP,
            (camera.cx - middle) / SIGHT_STEP,
            (camera.cy - middle) / SIGHT_STEP,
        )
        self._camera_from_voxels[place], self._nodes[place] = camera_from_voxels, node
        self._count += 1

    def move(self, correction: MapCorrection) -> None:
        """Apply a correction in the voxel frame to the stored poses."""
        moves = correction.of_serials(self._nodes)
        self._camera_from_voxels = self._camera_from_voxels @ np.linalg.inv(moves)

    def empty(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return two (N,) bool for points (N, 3), voxel frame: ever seen empty, and ever hidden."""
        known = min(self._count, SIGHT_VIEWS)
        if self._depth is None or not known or not len(points):
            return np.zeros(len(points), bool), np.zeros(len(points), bool)
        pose = self._camera_from_voxels[:known]
        local = points[None] @ pose[:, :3, :3].transpose(0, 2, 1) + pose[:, None, :3, 3]  # (V, N, 3)
        z = local[..., 2]
        fx, fy, cx, cy = self._camera[:known, :, None].transpose(1, 0, 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            column, row = local[..., 0] / z * fx + cx, local[..., 1] / z * fy + cy
        rows, columns = self._depth.shape[1:]
        inside = (z > 0.1) & (column > -0.5) & (row > -0.5) & (column < columns - 0.5) & (row < rows - 0.5)
        view, point = np.nonzero(inside)
        at = np.rint(row[inside]).astype(int), np.rint(column[inside]).astype(int)
        depth = self._depth[view, at[0], at[1]]
        seen = np.zeros(len(points), bool)
        hidden = np.zeros(len(points), bool)
        seen[point[depth > z[inside] + SIGHT_MARGIN]] = True
        hidden[point[(depth > 0.0) & (depth < z[inside])]] = True
        return seen, hidden


@njit(cache=True, nogil=True, error_model="numpy")
def _coarse(depth, step):
    """Return the least valid depth of each cell of step x step pixels; 0 if half or more are invalid."""
    rows, columns = depth.shape[0] // step, depth.shape[1] // step
    coarse = np.zeros((rows, columns), np.float32)
    endless = np.float32(np.inf)
    least = np.empty(columns * step, np.float32)
    valid = np.empty(columns * step, np.int32)
    for row in range(rows):
        least[:], valid[:] = endless, 0
        for y in range(row * step, (row + 1) * step):
            line = depth[y]
            for x in range(columns * step):  # column-wise and branch-free, so that it is vectorized
                value = line[x] if line[x] > 0.0 else endless  # false for NaN
                valid[x] += value < endless
                least[x] = value if value < least[x] else least[x]
        for column in range(columns):
            lowest, count = endless, 0
            for x in range(column * step, (column + 1) * step):
                lowest, count = min(lowest, least[x]), count + valid[x]
            if 2 * count > step * step:
                coarse[row, column] = lowest
    return coarse
