"""Geometry of instances from the points in their voxels (RoboAtlas eq. 6), all instances of a batch at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from lodestar.mapping.blocks import reserve
from lodestar.mapping.config import ExtractionConfig
from lodestar.mapping.voxel_store import VoxelStore

_BINS = 4096


class SurfacePoints:
    """Mean point and mass of the samples in each voxel of a store's pool; memory is committed as the pool fills."""

    def __init__(self, capacity: int):
        self.mean = reserve((capacity, 3), np.float32)  # metres, voxel frame
        self.mass = reserve((capacity,), np.float32)  # 0 = none

    def add(self, store: VoxelStore, places: np.ndarray, points: np.ndarray, depth: np.ndarray) -> None:
        """Add samples whose voxels, at these places (N,) of the store's pool, have just been voted for."""
        _add(self.mean, self.mass, places, points, depth, store.coords, np.float32(store.size))

    def move(self, places: np.ndarray, moves: np.ndarray, coords: np.ndarray, size: float) -> None:
        """Move the points at these places (N,) of the pool by (N, 4, 4), into their voxels at coords (N, 3)."""
        mean = (
            np.einsum("nij,nj->ni", moves[:, :3, :3], self.mean[places].astype(np.float64)) + moves[:, :3, 3]
        )
        self.mean[places] = np.clip(mean, coords * size, (coords + 1) * size)


@njit(cache=True, nogil=True, inline="always")
def _inside(point, voxel, size):
    """Return whether a mean is of this voxel and not of an earlier voxel at the same place in the pool."""
    margin = 1e-3 * size
    x, y, z = point[0] - voxel[0] * size, point[1] - voxel[1] * size, point[2] - voxel[2] * size
    return min(x, y, z) >= -margin and max(x, y, z) <= size + margin


@njit(cache=True, nogil=True)
def _add(mean, mass, places, points, depth, coords, size):
    for n in range(len(places)):
        i = places[n]
        if i < 0:
            continue
        if mass[i] > 0.0 and not _inside(mean[i], coords[i], size):
            mass[i] = 0.0
        weight = 1.0 / max(depth[n], 1.0) ** 2
        total = mass[i] + weight
        for a in range(3):
            mean[i, a] += (
                (points[n, a] - mean[i, a]) * weight / total if mass[i] > 0.0 else points[n, a] - mean[i, a]
            )
        mass[i] = min(total, 1e4)


@dataclass(frozen=True)
class Geometry:
    """Of M instances, metres: count (M,) of voxels, centroid (M, 3), covariance (M, 3, 3),

    box_min, box_max (M, 3) of their points, occupancy (M,) in [0, 1].
    """

    count: np.ndarray
    centroid: np.ndarray
    covariance: np.ndarray
    box_min: np.ndarray
    box_max: np.ndarray
    occupancy: np.ndarray


@njit(cache=True, nogil=True)
def _gather(coords, weights, occupancy, mean, mass, places, start, solid, enough, faith, most, size, rotation,
            offset):  # fmt: skip
    """Return points, one per voxel, in the target frame, their masses, and the summed occupancy of each row."""
    rows = len(start) - 1
    share = np.minimum(np.arange(256) / solid, 1.0)
    powers = share**faith, np.ones(256)
    probability = 1.0 / (1.0 + np.exp(-0.2 * (np.arange(-128, 128) + 1)))
    votes = np.empty(len(places), np.int64)
    filled = np.zeros(rows, np.float64)
    points = np.empty((len(places), 3), np.float64)
    masses = np.empty(len(places), np.float64)
    here = np.empty(3, np.float64)
    for row in range(rows):
        firm = 0
        for n in range(start[row], start[row + 1]):
            i = places[n]
            votes[n] = max(max(weights[i, 0], weights[i, 1]), max(weights[i, 2], weights[i, 3]))
            firm += votes[n] >= solid
        trust = powers[0] if firm >= enough * (start[row + 1] - start[row]) else powers[1]
        for n in range(start[row], start[row + 1]):
            i = places[n]
            filled[row] += probability[occupancy[i] + 128]
            known = mass[i] > 0.0 and _inside(mean[i], coords[i], size)
            masses[n] = trust[votes[n]] * (min(np.float64(mass[i]), most) if known else 1e-3)
            for a in range(3):
                here[a] = mean[i, a] if known else (coords[i, a] + 0.5) * size
            for a in range(3):
                points[n, a] = (
                    rotation[a, 0] * here[0] + rotation[a, 1] * here[1] + rotation[a, 2] * here[2] + offset[a]
                )
    return points, masses, filled


@njit(cache=True, nogil=True)
def _bounds(values, masses, trim, step):
    """Return the bounds of values (N,) with a share `trim` of their mass cut off at either end, to within `step`."""
    low, high = values.min(), values.max()
    cut = trim * masses.sum()
    bins = int((high - low) / step) + 1
    if cut <= 0.0 or bins > _BINS:
        return low, high
    held = np.zeros(bins, np.float64)
    for i in range(len(values)):
        held[int((values[i] - low) / step)] += masses[i]
    first, last = 0, bins - 1
    passed = held[0]
    while passed <= cut and first < bins - 1:
        first += 1
        passed += held[first]
    passed = held[last]
    while passed <= cut and last > first:
        last -= 1
        passed += held[last]
    inner_low, inner_high = high, low
    for value in values:
        place = int((value - low) / step)
        if first <= place <= last:
            inner_low, inner_high = min(inner_low, value), max(inner_high, value)
    return inner_low, inner_high


@njit(cache=True, nogil=True)
def _measure(points, masses, start, trim, size):
    rows = len(start) - 1
    centroid = np.zeros((rows, 3))
    covariance = np.zeros((rows, 3, 3))
    box = np.zeros((rows, 2, 3))
    for row in range(rows):
        first, last = start[row], start[row + 1]
        if first == last:
            continue
        own, weight = points[first:last], masses[first:last]
        total = weight.sum()
        for a in range(3):
            column = np.ascontiguousarray(own[:, a])
            centroid[row, a] = (column * weight).sum() / total
            box[row, 0, a], box[row, 1, a] = _bounds(column, weight, trim, size / 10.0)
        for a in range(3):
            for b in range(a, 3):
                value = 0.0
                for i in range(last - first):
                    value += weight[i] * (own[i, a] - centroid[row, a]) * (own[i, b] - centroid[row, b])
                value = value / total + (size**2 / 12.0 if a == b else 0.0)
                covariance[row, a, b] = covariance[row, b, a] = value
    return centroid, covariance, box


def extract(
    store: VoxelStore, surface: SurfacePoints, ids: np.ndarray, frame_from_voxels: np.ndarray,
    solid: float, config: ExtractionConfig,
) -> Geometry:  # fmt: skip
    """Return the geometry of instances `ids` (M,), in the frame of `frame_from_voxels` (4, 4).

    solid: votes from which a voxel has full weight. The run time depends on the voxels of these instances, not on
    the size of the map.
    """
    places, start = store.members(ids)
    points, masses, filled = _gather(
        store.coords, store.weights, store.occupancy, surface.mean, surface.mass, places, start, solid,
        config.enough, config.faith, config.most, store.size,
        np.ascontiguousarray(frame_from_voxels[:3, :3]), np.ascontiguousarray(frame_from_voxels[:3, 3]),
    )  # fmt: skip
    centroid, covariance, box = _measure(points, masses, start, config.trim, store.size)
    count = np.diff(start)
    return Geometry(count, centroid, covariance, box[:, 0], box[:, 1], filled / np.maximum(count, 1))
