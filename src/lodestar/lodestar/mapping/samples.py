"""Points of masks: sampling of pixels and removal of outliers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from lodestar.mapping.config import SampleConfig


@dataclass(frozen=True)
class Samples:
    """Points of D masks without their outliers, sorted by mask. start: (D + 1,) offsets.

    depth: (N,) float32, metres. points: (N, 3) float32, metres, voxel frame. voxels: (N, 3) int32.
    low, high: (D, 3) float32, bounds of each mask's points, inf and -inf where it has none.
    distance: (D,) float32, median depth of each mask, NaN where it has no points.
    """

    start: np.ndarray
    depth: np.ndarray
    points: np.ndarray
    voxels: np.ndarray
    low: np.ndarray
    high: np.ndarray
    distance: np.ndarray

    def of(self, mask: int) -> slice:
        """Return the slice of one mask's points."""
        return slice(int(self.start[mask]), int(self.start[mask + 1]))


@njit(cache=True, nogil=True)
def _multiples(count):
    """Return (count,) int64: bit s is set if the number is a multiple of s."""
    fits = np.zeros(count, np.int64)
    for step in range(1, 63):
        fits[::step] |= 1 << step
    return fits


@njit(cache=True, nogil=True, error_model="numpy")
def _possible(steps, dense, far):
    """Return (masks,) int64: bits of the steps that a mask may have at some depth."""
    bits = np.zeros(len(steps), np.int64)
    for mask in range(len(steps)):
        for step in range(min(steps[mask], max(1, int(dense / far))), steps[mask] + 1):
            bits[mask] |= 1 << step
    return bits


@njit(cache=True, nogil=True, error_model="numpy")
def _take(depth, labels, lookup, steps, camera, rotation, offset, near, far, size):
    """Return pixels of masks as (mask, depth, point); steps adapt to range, so that a voxel is hit about twice."""
    fx, fy, cx, cy = camera
    rows, columns = depth.shape
    mask_of = np.empty(rows * columns, np.int32)
    depth_of = np.empty(rows * columns, np.float32)
    points = np.empty((rows * columns, 3), np.float32)
    n = 0
    row_fits, column_fits = _multiples(rows), _multiples(columns)
    dense = 0.6 * size * fx
    possible = _possible(steps, dense, far)
    wanted = 0
    for bits in possible:
        wanted |= bits
    for row in range(rows):
        row_fit = row_fits[row] & wanted
        if row_fit == 0:
            continue
        for column in range(columns):
            fits = row_fit & column_fits[column]
            if fits == 0:
                continue
            mask = lookup[labels[row, column]]
            if mask < 0 or not fits & possible[mask]:
                continue
            z = depth[row, column]
            if not (z >= near and z <= far):  # also refuses NaN
                continue
            step = steps[mask]
            if step * z > dense:
                step = max(1, int(dense / z))
            if not fits >> step & 1:
                continue
            x, y = (column - cx) / fx * z, (row - cy) / fy * z
            mask_of[n] = mask
            depth_of[n] = z
            for a in range(3):
                points[n, a] = rotation[a, 0] * x + rotation[a, 1] * y + rotation[a, 2] * z + offset[a]
            n += 1
    return mask_of[:n], depth_of[:n], points[:n]


@njit(cache=True, nogil=True)
def _order(mask_of, masks):
    """Sort samples by mask: return each mask's start, (masks + 1,), and the order (N,)."""
    count = np.zeros(masks + 1, np.int64)
    for mask in mask_of:
        count[mask + 1] += 1
    start = np.cumsum(count)
    place = start[:-1].copy()
    order = np.empty(len(mask_of), np.int32)
    for i in range(len(mask_of)):
        order[place[mask_of[i]]] = i
        place[mask_of[i]] += 1
    return start, order


@njit(cache=True, nogil=True)
def _trust(depth, gap, gap_per_metre, keep_share, keep_reach, layers):
    """Find a mask's main layers in its sorted depths (N,); a mask that spills over an edge has further ones behind.

    Writes (first, last + 1) of each layer of the object into `layers` (N, 2); returns their number.
    """
    n = len(depth)
    first = 0
    count, largest, best = 0, 0, 0
    for i in range(1, n + 1):
        if i < n and depth[i] - depth[i - 1] <= gap + gap_per_metre * depth[i]:
            continue
        layers[count, 0], layers[count, 1] = first, i
        if i - first > largest:
            largest, best = i - first, count
        count, first = count + 1, i
    near, far = depth[layers[best, 0]], depth[layers[best, 1] - 1]
    kept = 0
    for layer in range(count):
        begin, end = layers[layer]
        close = depth[begin] - far < keep_reach and near - depth[end - 1] < keep_reach
        if layer == best or (end - begin >= keep_share * largest and close):
            layers[kept, 0], layers[kept, 1] = begin, end
            kept += 1
    return kept


@njit(cache=True, nogil=True, error_model="numpy")
def _arrange(start, order, depth_of, points_of, size, gap, gap_per_metre, keep_share, keep_reach):
    """Return the arrays of `Samples` from the samples of a frame and their order."""
    masks, total = len(start) - 1, len(order)
    begins = np.zeros(masks + 1, np.int64)
    depth, points = np.empty(total, np.float32), np.empty((total, 3), np.float32)
    voxels = np.empty((total, 3), np.int32)
    low, high = np.full((masks, 3), np.inf, np.float32), np.full((masks, 3), -np.inf, np.float32)
    distance = np.full(masks, np.nan, np.float32)
    good = np.zeros(len(order), np.bool_)
    n = 0
    for mask in range(masks):
        own = order[start[mask] : start[mask + 1]]
        if len(own):
            # The bits of positive floats sort like their values; the low bits hold the sample's index.
            keys = np.empty(len(own), np.int64)
            depths = depth_of[own]
            bits = depths.view(np.int32)
            for i in range(len(own)):
                keys[i] = np.int64(bits[i]) << 32 | own[i]
            keys.sort()
            for i in range(len(own)):
                depths[i] = depth_of[keys[i] & 0xFFFFFFFF]
            layers = np.empty((len(own), 2), np.int64)
            count = 0
            for layer in range(_trust(depths, gap, gap_per_metre, keep_share, keep_reach, layers)):
                for i in range(layers[layer, 0], layers[layer, 1]):
                    good[keys[i] & 0xFFFFFFFF] = True
                    depths[count] = depths[i]
                    count += 1
            distance[mask] = 0.5 * (depths[(count - 1) // 2] + depths[count // 2])
            for k in own:  # in the order of the image, in which neighbours share a block
                if not good[k]:
                    continue
                depth[n] = depth_of[k]
                for a in range(3):
                    value = points_of[k, a]
                    points[n, a] = value
                    voxels[n, a] = math.floor(value / size)
                    low[mask, a], high[mask, a] = min(low[mask, a], value), max(high[mask, a], value)
                n += 1
        begins[mask + 1] = n
    return begins, depth[:n], points[:n], voxels[:n], low, high, distance


def sample(
    depth: np.ndarray, labels: np.ndarray, lookup: np.ndarray, pixel_counts: np.ndarray, camera: tuple,
    voxels_from_camera: np.ndarray, size: float, config: SampleConfig,
) -> Samples:  # fmt: skip
    """Return the points of the masks of one frame.

    depth: (H, W) float32. labels: (H, W) uint16. lookup: (65536,) int32, label value -> mask, -1 = background.
    pixel_counts: (D,) of the masks. camera: (fx, fy, cx, cy). size: edge of a voxel, metres.
    """
    steps = np.sqrt(pixel_counts / config.samples).astype(np.int64)
    steps = np.clip(steps, 1, min(config.max_step, 62))
    mask_of, depth_of, points = _take(
        depth, labels, lookup, steps, camera,
        np.ascontiguousarray(voxels_from_camera[:3, :3]), np.ascontiguousarray(voxels_from_camera[:3, 3]),
        config.near, config.far, size,
    )  # fmt: skip
    start, order = _order(mask_of, len(pixel_counts))
    return Samples(
        *_arrange(
            start, order, depth_of, points, size, config.gap, config.gap_per_metre, config.keep_share,
            config.keep_reach,
        )
    )  # fmt: skip


@njit(cache=True, nogil=True)
def distinct(voxels, enough):
    """Return whether voxels (N, 3) has at least `enough` distinct rows."""
    found = np.empty((enough, 3), np.int32)
    count = 0
    for n in range(len(voxels)):
        known = False
        for k in range(count):
            if found[k, 0] == voxels[n, 0] and found[k, 1] == voxels[n, 1] and found[k, 2] == voxels[n, 2]:
                known = True
                break
        if not known:
            if count == enough:
                break
            found[count, 0], found[count, 1], found[count, 2] = voxels[n, 0], voxels[n, 1], voxels[n, 2]
            count += 1
    return count >= enough
