"""Geometry of instances from their voxels (RoboAtlas eq. 6), all instances of a batch at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from lodestar.mapping.voxel_store import VoxelStore

_BINS = 4096


@dataclass(frozen=True)
class Geometry:
    """Of the voxels of M instances, metres: count (M,), centroid (M, 3), covariance (M, 3, 3),

    box_min, box_max (M, 3) with `trim` of the voxels cut off at either end, occupancy (M,) in [0, 1].
    """

    count: np.ndarray
    centroid: np.ndarray
    covariance: np.ndarray
    box_min: np.ndarray
    box_max: np.ndarray
    occupancy: np.ndarray


@njit(cache=True)
def _gather(coords, weights, occupancy, places, start, solid_weight, size, rotation, offset):
    """Centres of the voxels at these places, in the target frame, by row; weakly voted ones last in each."""
    rows = len(start) - 1
    solid = np.zeros(rows, np.int64)
    filled = np.zeros(rows, np.float64)
    points = np.empty((len(places), 3), np.float64)
    for row in range(rows):
        head, tail = start[row], start[row + 1]
        for n in range(start[row], start[row + 1]):
            i = places[n]
            filled[row] += 1.0 / (1.0 + math.exp(-0.2 * (occupancy[i] + 1)))
            if weights[i].max() >= solid_weight:
                place = head
                head += 1
            else:
                tail -= 1
                place = tail
            x, y, z = (coords[i, 0] + 0.5) * size, (coords[i, 1] + 0.5) * size, (coords[i, 2] + 0.5) * size
            for a in range(3):
                points[place, a] = rotation[a, 0] * x + rotation[a, 1] * y + rotation[a, 2] * z + offset[a]
        solid[row] = head - start[row]
    return points, solid, filled


@njit(cache=True)
def _bounds(values, trim, step):
    """Bounds of values (N,) with a share `trim` of them cut off at either end, to within `step`."""
    low, high = values.min(), values.max()
    cut = int(trim * len(values))
    bins = int((high - low) / step) + 1
    if cut == 0 or bins > _BINS:
        return low, high
    counts = np.zeros(bins, np.int64)
    for value in values:
        counts[int((value - low) / step)] += 1
    first, last = 0, bins - 1
    passed = counts[0]
    while passed <= cut:
        first += 1
        passed += counts[first]
    passed = counts[last]
    while passed <= cut:
        last -= 1
        passed += counts[last]
    inner_low, inner_high = high, low
    for value in values:
        place = int((value - low) / step)
        if first <= place <= last:
            inner_low, inner_high = min(inner_low, value), max(inner_high, value)
    return inner_low, inner_high


@njit(cache=True)
def _measure(points, start, solid, trim, size):
    rows = len(start) - 1
    centroid = np.zeros((rows, 3))
    covariance = np.zeros((rows, 3, 3))
    box = np.zeros((rows, 2, 3))
    for row in range(rows):
        n = start[row + 1] - start[row]
        if n == 0:
            continue
        if 2 * solid[row] >= n:  # enough voxels were voted for often: trust only them
            n = solid[row]
        own = points[start[row] : start[row] + n]
        for a in range(3):
            centroid[row, a] = own[:, a].mean()
            low, high = _bounds(np.ascontiguousarray(own[:, a]), trim, size / 2.0)
            box[row, 0, a], box[row, 1, a] = low - size / 2.0, high + size / 2.0
        for a in range(3):
            for b in range(a, 3):
                value = 0.0
                for i in range(n):
                    value += (own[i, a] - centroid[row, a]) * (own[i, b] - centroid[row, b])
                value = value / n + (size**2 / 12.0 if a == b else 0.0)
                covariance[row, a, b] = covariance[row, b, a] = value
    return centroid, covariance, box


def extract(
    store: VoxelStore, ids: np.ndarray, frame_from_voxels: np.ndarray, trim: float, solid_weight: int
) -> Geometry:
    """Geometry of instances `ids` (M,), in the frame that `frame_from_voxels` (4, 4) leads to.

    Takes time by the voxels of these instances, not by those of the map.
    `trim`: share of voxels cut off at either end of a box.
    `solid_weight`: votes from which a voxel counts, where at least half of the instance's voxels have them.
    """
    places, start = store.members(ids)
    points, solid, filled = _gather(
        store.coords, store.weights, store.occupancy, places, start, solid_weight, store.size,
        np.ascontiguousarray(frame_from_voxels[:3, :3]), np.ascontiguousarray(frame_from_voxels[:3, 3]),
    )  # fmt: skip
    centroid, covariance, box = _measure(points, start, solid, trim, store.size)
    count = np.diff(start)
    return Geometry(count, centroid, covariance, box[:, 0], box[:, 1], filled / np.maximum(count, 1))
