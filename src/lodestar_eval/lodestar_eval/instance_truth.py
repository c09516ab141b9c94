"""Ground truth for a camera's map: the part of each object that the camera saw, without error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from lodestar_eval.tour import TourFrame


@dataclass(frozen=True)
class TruthConfig:
    """Rules for objects that count as seen."""

    near: float = 0.1  # metres of depth from which a pixel counts as seen (DESIGN section 4)
    far: float = 5.0  # metres of depth up to which a pixel counts as seen (DESIGN section 4)
    pixels: int = 200  # of an object in a frame that counts; chosen
    frames: int = 3  # that count, from which an object was seen; chosen
    smallest: float = 0.2  # metres, longest side of the seen part below which an object is small; chosen


@dataclass(frozen=True)
class TrueInstances:
    """N objects that were seen well enough. ids: (N,). low, high: (N, 3) metres, world. small: (N,) bool."""

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
    """Collect the box of each object's visible parts over frames."""

    def __init__(self, largest_id: int, config: TruthConfig = TruthConfig()):
        self.config = config
        self._low = np.full((largest_id + 1, 3), np.inf)
        self._high = np.full((largest_id + 1, 3), -np.inf)
        self._frames = np.zeros(largest_id + 1, np.int64)

    def __len__(self) -> int:
        """Return the number of ids, 0 included."""
        return len(self._frames)

    def add(self, frame: TourFrame) -> None:
        """Add one frame."""
        camera, pose = frame.image.camera, frame.world_from_camera
        count = np.zeros(len(self._low), np.int64)
        _extend(
            frame.ids, frame.depth, (camera.fx, camera.fy, camera.cx, camera.cy),
            np.ascontiguousarray(pose[:3, :3]), np.ascontiguousarray(pose[:3, 3]), self.config.near,
            self.config.far, self._low, self._high, count,
        )  # fmt: skip
        self._frames += count >= self.config.pixels

    def result(self) -> TrueInstances:
        """Return the objects that were seen well enough so far."""
        ids = np.flatnonzero(self._frames >= self.config.frames)
        low, high = self._low[ids], self._high[ids]
        small = (high - low).max(axis=1, initial=0.0) < self.config.smallest
        return TrueInstances(ids, low, high, small)
