"""Ground truth for a map from images: the true box of each object's part that the camera saw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from lodestar_eval.tour import TourFrame

TRUTH_NEAR = 0.1  # metres of depth from which a pixel counts as seen (DESIGN section 4)
TRUTH_FAR = 5.0  # metres of depth up to which a pixel counts as seen (DESIGN section 4)
TRUTH_PIXELS = 200  # least pixels of an object in a frame that counts; chosen
TRUTH_FRAMES = 3  # least frames that count, from which an object was seen; chosen
TRUTH_SMALLEST = 0.2  # metres, longest side of the seen part below which an object is small; chosen


@dataclass(frozen=True)
class TrueInstances:
    """True boxes of N well seen objects. ids: (N,). low, high: (N, 3) metres, world. small: (N,) bool."""

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
    """Collects the box of each object's visible parts over frames."""

    def __init__(self, largest_id: int):
        self._low = np.full((largest_id + 1, 3), np.inf)
        self._high = np.full((largest_id + 1, 3), -np.inf)
        self._frames = np.zeros(largest_id + 1, np.int64)

    def __len__(self) -> int:
        """Return the number of object ids, including the unused id 0."""
        return len(self._frames)

    def add(self, frame: TourFrame) -> None:
        """Extend each object's true box by its surface that is visible in a frame of the tour."""
        camera, pose = frame.image.camera, frame.world_from_camera
        count = np.zeros(len(self._low), np.int64)
        _extend(
            frame.ids, frame.depth, (camera.fx, camera.fy, camera.cx, camera.cy),
            np.ascontiguousarray(pose[:3, :3]), np.ascontiguousarray(pose[:3, 3]), TRUTH_NEAR,
            TRUTH_FAR, self._low, self._high, count,
        )  # fmt: skip
        self._frames += count >= TRUTH_PIXELS

    def result(self) -> TrueInstances:
        """Return the objects that were seen well enough so far."""
        ids = np.flatnonzero(self._frames >= TRUTH_FRAMES)
        low, high = self._low[ids], self._high[ids]
        small = (high - low).max(axis=1, initial=0.0) < TRUTH_SMALLEST
        return TrueInstances(ids, low, high, small)
