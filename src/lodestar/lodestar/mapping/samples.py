"""Pixels of masks as points: which to take, and which of them are not of the thing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit


@dataclass(frozen=True)
class Samples:
    """Points of D masks, sorted by mask. start: (D + 1,) offsets. depth: (N,) float32, metres.

    points: (N, 3) float32, metres, voxel frame. voxels: (N, 3) int32. trusted: (N,) bool, not an outlier.
    background: (B, 3) int32, voxels of pixels that belong to no mask.
    """

    start: np.ndarray
    depth: np.ndarray
    points: np.ndarray
    voxels: np.ndarray
    trusted: np.ndarray
    background: np.ndarray

    def of(self, mask: int) -> slice:
        """Where the points of one mask lie."""
        return slice(int(self.start[mask]), int(self.start[mask + 1]))


@njit(cache=True)
def _multiples(count):
    """(count,) int64: bit s is set where a number is a multiple of s."""
    fits = np.zeros(count, np.int64)
    for step in range(1, 63):
        fits[::step] |= 1 << step
    return fits


@njit(cache=True)
def _take(depth, labels, lookup, steps, background_step, camera, rotation, offset, near, far, size):
    """Pixels as (mask or -1, depth, point); a step adapts to range so that each voxel is hit about twice."""
    fx, fy, cx, cy = camera
    rows, columns = depth.shape
    mask_of = np.empty(rows * columns, np.int32)
    depth_of = np.empty(rows * columns, np.float32)
    points = np.empty((rows * columns, 3), np.float32)
    n = 0
    row_fits, column_fits = _multiples(rows), _multiples(columns)
    dense = 0.6 * size * fx
    for row in range(rows):
        row_fit = row_fits[row]
        for column in range(columns):
            z = depth[row, column]
            if not (z >= near and z <= far):  # also refuses NaN
                continue
            mask = lookup[labels[row, column]]
            step = background_step if mask < 0 else steps[mask]
            if mask >= 0 and step * z > dense:
                step = max(1, int(dense / z))
            if not row_fit >> step & column_fits[column] >> step & 1:
                continue
            x, y = (column - cx) / fx * z, (row - cy) / fy * z
            mask_of[n] = mask
            depth_of[n] = z
            for a in range(3):
                points[n, a] = rotation[a, 0] * x + rotation[a, 1] * y + rotation[a, 2] * z + offset[a]
            n += 1
    return mask_of[:n], depth_of[:n], points[:n]


@njit(cache=True)
def _sort(mask_of, depth_of, points, masks, size):
    count = np.zeros(masks + 2, np.int64)
    for mask in mask_of:
        count[mask + 2] += 1
    start = np.cumsum(count)  # the background's points come first
    place = start[:-1].copy()
    n = len(mask_of)
    depth = np.empty(n, np.float32)
    sorted_points = np.empty((n, 3), np.float32)
    voxels = np.empty((n, 3), np.int32)
    for i in range(n):
        k = place[mask_of[i] + 1]
        place[mask_of[i] + 1] += 1
        depth[k] = depth_of[i]
        for a in range(3):
            sorted_points[k, a] = points[i, a]
            voxels[k, a] = math.floor(points[i, a] / size)
    return start, depth, sorted_points, voxels


@njit(cache=True)
def _trust(start, depth, gap, gap_per_metre, keep_share, keep_reach):
    """Which points lie in a mask's main layers of depth; one that spills over an edge has more behind."""
    trusted = np.zeros(len(depth), np.bool_)
    for mask in range(len(start) - 1):
        begin, end = start[mask], start[mask + 1]
        n = end - begin
        if n == 0:
            continue
        order = np.argsort(depth[begin:end])
        first = np.empty(n, np.int64)
        layers = 1
        first[0] = 0
        for i in range(1, n):
            step = depth[begin + order[i]] - depth[begin + order[i - 1]]
            if step > gap + gap_per_metre * depth[begin + order[i]]:
                first[layers] = i
                layers += 1
        largest, best = 0, 0
        for layer in range(layers):
            last = first[layer + 1] if layer + 1 < layers else n
            if last - first[layer] > largest:
                largest, best = last - first[layer], layer
        best_last = first[best + 1] if best + 1 < layers else n
        best_near = depth[begin + order[first[best]]]
        best_far = depth[begin + order[best_last - 1]]
        for layer in range(layers):
            last = first[layer + 1] if layer + 1 < layers else n
            near, far = depth[begin + order[first[layer]]], depth[begin + order[last - 1]]
            close = near - best_far < keep_reach and best_near - far < keep_reach
            if layer == best or (last - first[layer] >= keep_share * largest and close):
                for i in range(first[layer], last):
                    trusted[begin + order[i]] = True
    return trusted


@dataclass(frozen=True)
class SampleConfig:
    """near, far: metres of depth that are used. max_step: pixels between samples of a large mask.

    samples: a mask of fewer pixels than about this is sampled whole. background_step: pixels.
    gap, gap_per_metre: metres of jump in depth that part two layers of a mask.
    keep_share, keep_reach: a layer of at least this share of the largest, and within so many metres of it, is
    of the thing too (a shelf and its back).
    """

    near: float = 0.1
    far: float = 5.0
    max_step: int = 8
    samples: int = 400
    background_step: int = 3
    gap: float = 0.12
    gap_per_metre: float = 0.03
    keep_share: float = 0.35
    keep_reach: float = 0.6


def sample(
    depth: np.ndarray, labels: np.ndarray, lookup: np.ndarray, pixel_counts: np.ndarray, camera: tuple,
    voxels_from_camera: np.ndarray, size: float, config: SampleConfig,
) -> Samples:  # fmt: skip
    """Points of the masks of one frame.

    depth: (H, W) float32. labels: (H, W) uint16. lookup: (65536,) int32, label value -> mask, -1 = background.
    pixel_counts: (D,) of the masks. camera: (fx, fy, cx, cy). size: edge of a voxel, metres.
    """
    steps = np.sqrt(pixel_counts / config.samples).astype(np.int64)
    steps = np.clip(steps, 1, min(config.max_step, 62))
    mask_of, depth_of, points = _take(
        depth, labels, lookup, steps, config.background_step, camera,
        np.ascontiguousarray(voxels_from_camera[:3, :3]), np.ascontiguousarray(voxels_from_camera[:3, 3]),
        config.near, config.far, size,
    )  # fmt: skip
    start, depth_of, points, voxels = _sort(mask_of, depth_of, points, len(pixel_counts), size)
    first = int(start[1])
    start = start[1:] - first
    trusted = _trust(
        start, depth_of[first:], config.gap, config.gap_per_metre, config.keep_share, config.keep_reach
    )
    return Samples(start, depth_of[first:], points[first:], voxels[first:], trusted, voxels[:first])
