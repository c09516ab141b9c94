"""What a camera could know of the objects of a world: the part of each that it saw, without error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from lodestar_eval.tour import TourFrame


@dataclass(frozen=True)
class TruthConfig:
    """near, far: metres of depth within which a pixel counts as seen (DESIGN section 4).

    pixels, frames: an object counts where it showed with so many pixels in so many frames. smallest: metres,
    longest side of what was seen of it, below which an object is a small one.
    """

    near: float = 0.1
    far: float = 5.0
    pixels: int = 200
    frames: int = 3
    smallest: float = 0.2


@dataclass(frozen=True)
class TrueInstances:
    """Objects that were seen well enough, N of them. ids: (N,). low, high: (N, 3) metres, world. small: (N,) bool."""

    ids: np.ndarray
    low: np.ndarray
    high: np.ndarray
    small: np.ndarray


@njit(cache=True)
def _extend(ids, depth, camera, rotation, offset, near, far, low, high, count):
    fx, fy, cx, cy = camera
    rows, columns = ids.shape
    for row in range(rows):
        for column in range(columns):
            which = ids[row, column]
            z = depth[row, column]
            if which <= 0 or not (z >= near and z <= far):
                continue
            count[which] += 1
            x, y = (column - cx) / fx * z, (row - cy) / fy * z
            for a in range(3):
                value = rotation[a, 0] * x + rotation[a, 1] * y + rotation[a, 2] * z + offset[a]
                low[which, a] = min(low[which, a], value)
                high[which, a] = max(high[which, a], value)


class SeenParts:
    """Collects, frame by frame, the box of the part of each object that showed."""

    def __init__(self, largest_id: int, config: TruthConfig = TruthConfig()):
        self.config = config
        self._low = np.full((largest_id + 1, 3), np.inf)
        self._high = np.full((largest_id + 1, 3), -np.inf)
        self._frames = np.zeros(largest_id + 1, np.int64)

    def add(self, frame: TourFrame) -> None:
        """Take in one frame."""
        camera, pose = frame.image.camera, frame.world_from_camera
        count = np.zeros(len(self._low), np.int64)
        _extend(
            frame.ids, frame.depth, (camera.fx, camera.fy, camera.cx, camera.cy),
            np.ascontiguousarray(pose[:3, :3]), np.ascontiguousarray(pose[:3, 3]), self.config.near,
            self.config.far, self._low, self._high, count,
        )  # fmt: skip
        self._frames += count >= self.config.pixels

    def result(self) -> TrueInstances:
        """The objects that were seen well enough so far."""
        ids = np.flatnonzero(self._frames >= self.config.frames)
        low, high = self._low[ids], self._high[ids]
        small = (high - low).max(axis=1, initial=0.0) < self.config.smallest
        return TrueInstances(ids, low, high, small)
