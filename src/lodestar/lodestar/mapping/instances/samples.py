"""Points of masks: sampling of pixels and removal of outliers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from lodestar.mapping.config import SAMPLE_NEAR, VOXEL_SIZE

SAMPLE_MAX_STEP = 8  # pixels between samples of a large mask; chosen
SAMPLE_PIXELS = 400  # pixels of a mask up to which about all are sampled; chosen
SAMPLE_GAP = 0.12  # metres of a jump in depth that separates two layers of a mask; chosen
SAMPLE_GAP_PER_METRE = 0.03  # metres per metre of range, added to SAMPLE_GAP; chosen
# share of the largest layer's samples from which another layer belongs to the object: a shelf's back; chosen
SAMPLE_KEEP_SHARE = 0.35
SAMPLE_KEEP_REACH = 0.6  # largest distance, metres, of such a layer from the largest one; chosen


@dataclass(frozen=True)
class Samples:
    """Points of D masks without outliers, sorted by mask.

    start: (D + 1,), mask d has the points start[d] to start[d + 1] - 1. depth: (N,) float32, metres. points:
    (N, 3) float32, metres, voxel frame. voxels: (N, 3) int32. low, high: (D, 3) float32, bounds of each
    mask's points, inf and -inf for a mask without points. distance: (D,) float32, median depth of each mask,
    NaN for a mask without points.
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
    """Return (count,) int64 bit masks: bit s (1 to 62) of element n is set if n is a multiple of s."""
    fits = np.zeros(count, np.int64)
    for step in range(1, 63):
        for n in range(0, count, step):
            fits[n] |= 1 << step
    return fits


@njit(cache=True, nogil=True, error_model="numpy")
def _possible(steps, dense, far):
    """Return (masks,) int64 bit masks: bit s is set if the sampling step s may occur in a mask.

    steps: (masks,) largest step per mask, pixels. dense: product of step and depth at which a voxel is
    sampled about twice. far: largest depth, metres.
    """
    bits = np.zeros(len(steps), np.int64)
    for mask in range(len(steps)):
        for step in range(min(steps[mask], max(1, int(dense / far))), steps[mask] + 1):
            bits[mask] |= 1 << step
    return bits


@njit(cache=True, nogil=True, error_model="numpy")
def _take(depth, labels, lookup, steps, camera, rotation, offset, near, far, size):
    """Return the sampled pixels of all masks: mask (N,), depth (N,) and point (N, 3).

    The sampling step shrinks with range, so that each voxel is sampled about twice.
    """
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
            if not (z >= near and z <= far):  # false for NaN
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
    """Return each mask's start, (masks + 1,), and the order (N,) that sorts the samples by mask."""
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
    """Find the depth layers that belong to a mask's object; return their number.

    A mask that spills over the object's edge has further layers behind the object. depth: (N,), sorted.
    Writes (first, last + 1) of each layer of the object into `layers` (N, 2).
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
    """Return the arrays of `Samples`, without outliers, from the samples of a frame in order of masks."""
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
            for k in own:  # in image order, because neighbouring pixels share a block
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
    voxels_from_camera: np.ndarray, far: float,
) -> Samples:  # fmt: skip
    """Return sampled points of the masks of one frame, without outliers.

    depth: (H, W) float32. labels: (H, W) uint16. lookup: (65536,) int32, label value -> mask, -1 =
    background. pixel_counts: (D,) pixels per mask. camera: (fx, fy, cx, cy). far: largest depth, metres.
    """
    steps = np.sqrt(pixel_counts / SAMPLE_PIXELS).astype(np.int64)
    steps = np.clip(steps, 1, SAMPLE_MAX_STEP)
    mask_of, depth_of, points = _take(
        depth, labels, lookup, steps, camera,
        np.ascontiguousarray(voxels_from_camera[:3, :3]), np.ascontiguousarray(voxels_from_camera[:3, 3]),
        SAMPLE_NEAR, far, VOXEL_SIZE,
    )  # fmt: skip
    start, order = _order(mask_of, len(pixel_counts))
    return Samples(
        *_arrange(
            start, order, depth_of, points, VOXEL_SIZE, SAMPLE_GAP, SAMPLE_GAP_PER_METRE, SAMPLE_KEEP_SHARE,
            SAMPLE_KEEP_REACH,
        )
    )  # fmt: skip


@njit(cache=True, nogil=True)
def distinct(voxels, enough):
    """Return whether voxels (N, 3) have at least `enough` distinct rows."""
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
