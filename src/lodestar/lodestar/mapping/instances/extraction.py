"""Geometry of instances from the points in their voxels (RoboAtlas eq. 6), all instances of a batch at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from lodestar.mapping.config import VOXEL_VOTE
from lodestar.mapping.voxels.blocks import reserve
from lodestar.mapping.voxels.voxel_store import VoxelStore

EXTRACTION_TRIM = 0.01  # share of the mass cut off at either end of the box, along each axis; chosen
# largest mass of a voxel; chosen: a part that was seen often must not outweigh the rest
EXTRACTION_MOST = 0.3
EXTRACTION_SOLID = 3  # frames whose votes give a voxel full weight; DESIGN section 4
# A voxel with fewer votes is weighted by (votes / full votes) ^ EXTRACTION_FAITH, because false points of
# single masks differ between views. This applies if at least a share EXTRACTION_ENOUGH of the instance's
# voxels has full votes.
EXTRACTION_FAITH = 4.0  # exponent; chosen
# share, 0..1; chosen: an instance that was seen only once or twice keeps all its voxels
EXTRACTION_ENOUGH = 0.2

_BINS = 4096


class SurfacePoints:
    """Mean point and mass (sum of sample weights) in each voxel of a store's pool.

    Memory is committed as the pool fills.
    """

    def __init__(self, capacity: int):
        self.mean = reserve((capacity, 3), np.float32)  # metres, voxel frame
        self.mass = reserve((capacity,), np.float32)  # sum of sample weights, 0 = no sample

    def add(self, store: VoxelStore, places: np.ndarray, points: np.ndarray, depth: np.ndarray) -> None:
        """Add samples to the mean points of voxels that were just voted for.

        places: (N,) pool indices of the voxels. points: (N, 3) metres, voxel frame. depth: (N,) metres.
        """
        _add(self.mean, self.mass, places, points, depth, store.coords, np.float32(store.size))

    def move(self, places: np.ndarray, moves: np.ndarray, coords: np.ndarray, size: float) -> None:
        """Move the mean points at pool indices `places` (N,) by `moves` (N, 4, 4).

        The results are clipped to the new voxels `coords` (N, 3). size: edge of a voxel, metres.
        """
        mean = (
            np.einsum("nij,nj->ni", moves[:, :3, :3], self.mean[places].astype(np.float64)) + moves[:, :3, 3]
        )
        self.mean[places] = np.clip(mean, coords * size, (coords + 1) * size)


@njit(cache=True, nogil=True, inline="always")
def _inside(point, voxel, size):
    """Return whether a mean point lies in a voxel.

    If not, it belongs to a released voxel that had the same pool index.
    """
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
    """Geometry of M instances in metres.

    count: (M,) voxels. centroid: (M, 3). covariance: (M, 3, 3). box_min, box_max: (M, 3) bounds of their
    points. occupancy: (M,) mean occupancy in [0, 1].
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
    """Return the points (N, 3) of instances in the target frame, their masses (N,), and summed occupancies.

    There is one point per voxel; the occupancies are summed per instance. places: pool indices of the voxels.
    start: index in `places` of each instance's first voxel. A voxel with at least `solid` votes has full
    weight. If at least the share `enough` of an instance's voxels has so many votes, its other voxels weigh
    less, by the exponent `faith`.
    """
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
    """Return the least and largest of values (N,) without the share `trim` of the mass at either end.

    The cut is made in bins of width `step`.
    """
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
    store: VoxelStore, surface: SurfacePoints, ids: np.ndarray, frame_from_voxels: np.ndarray
) -> Geometry:
    """Return the geometry of instances `ids` (M,), in the frame of `frame_from_voxels` (4, 4).

    Each sample weighs 1 / range^2 (from 1 m on), as the depth's error grows with the square of the range. The run time
    depends on the voxels of these instances, not on the size of the map.
    """
    places, start = store.members(ids)
    points, masses, filled = _gather(
        store.coords, store.weights, store.occupancy, surface.mean, surface.mass, places, start,
        float(EXTRACTION_SOLID * VOXEL_VOTE), EXTRACTION_ENOUGH, EXTRACTION_FAITH, EXTRACTION_MOST, store.size,
        np.ascontiguousarray(frame_from_voxels[:3, :3]), np.ascontiguousarray(frame_from_voxels[:3, 3]),
    )  # fmt: skip
    centroid, covariance, box = _measure(points, masses, start, EXTRACTION_TRIM, store.size)
    count = np.diff(start)
    return Geometry(count, centroid, covariance, box[:, 0], box[:, 1], filled / np.maximum(count, 1))
