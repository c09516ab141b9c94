"""Compiled loops of the occupancy voxels: OctoMap's rays, updates and queries over blocks of voxels.

Coordinates are rounded to float32 where OctoMap does so; its voxels are found cell by cell.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from lodestar.mapping.blocks import CELLS, USED, find, obtain
from lodestar.mapping.voxel_kernels import cell

UNSEEN, EMPTY, FULL = -1, 0, 1
DEPTH = 16  # levels of an OctoMap tree
HALF = 1 << (DEPTH - 1)  # voxels from its centre to its border
_CROSSED, _HIT = 1, 2  # marks of a scan


@njit(cache=True, nogil=True, inline="always")
def _place(table, coords, free, state, log_odds, x, y, z):
    """Place of the block of voxel (x, y, z), which is there afterwards; the caller has seen to the room."""
    before = state[USED]
    block = obtain(table, coords, free, state, x >> 3, y >> 3, z >> 3)
    if state[USED] != before:
        log_odds[block] = np.nan
    return block


@njit(cache=True, nogil=True, error_model="numpy")
def _aim(origin, tip, start, resolution, step, t_max, t_delta):
    """Write a ray's steps (Amanatides and Woo, as OctoMap's computeRayKeys); returns its length."""
    ray = np.empty(3, np.float32)
    for a in range(3):
        ray[a] = tip[a] - origin[a]
    reach = np.float32(math.sqrt(np.float64(ray[0] * ray[0] + ray[1] * ray[1] + ray[2] * ray[2])))
    for a in range(3):
        ray[a] = ray[a] / reach
        step[a] = 1 if ray[a] > 0.0 else (-1 if ray[a] < 0.0 else 0)
        t_max[a] = t_delta[a] = np.finfo(np.float64).max
        if step[a] != 0:
            centre = (start[a] + 0.5) * resolution
            border = centre + np.float64(np.float32(step[a] * resolution * 0.5))
            t_max[a] = (border - np.float64(origin[a])) / np.float64(ray[a])
            t_delta[a] = resolution / math.fabs(np.float64(ray[a]))
    return np.float64(reach)


@njit(cache=True, nogil=True)
def _cross(table, coords, free, state, log_odds, marks, touched, tally, start, goal, reach, step, t_max,
           t_delta):  # fmt: skip
    """Mark the voxels from `start` to the one before `goal` as crossed; t_max is used up."""
    now = start.copy()
    last_x, last_y, last_z, block = 1 << 40, 0, 0, -1
    while True:
        x, y, z = now[0], now[1], now[2]
        if x >> 3 != last_x or y >> 3 != last_y or z >> 3 != last_z:
            last_x, last_y, last_z = x >> 3, y >> 3, z >> 3
            block = _place(table, coords, free, state, log_odds, x, y, z)
        inner = cell(x, y, z)
        if marks[block, inner] == 0:
            touched[tally[0]] = block * CELLS + inner
            tally[0] += 1
            marks[block, inner] = _CROSSED
        if t_max[0] < t_max[1]:
            a = 0 if t_max[0] < t_max[2] else 2
        else:
            a = 1 if t_max[1] < t_max[2] else 2
        now[a] += step[a]
        t_max[a] += t_delta[a]
        if now[0] == goal[0] and now[1] == goal[1] and now[2] == goal[2]:
            break
        if min(t_max[0], t_max[1], t_max[2]) > reach:
            break  # rounding led past the end


@njit(cache=True, nogil=True, error_model="numpy")
def mark_rays(table, coords, free, state, log_odds, marks, touched, tally, ends, first, origin, resolution,
              max_range):  # fmt: skip
    """Mark the voxels that the rays from ends[first] on cross and hit; returns the first ray that found no room.

    ends: (N, 3) float64, origin: (3,) float32, metres. Each voxel that is marked stands once in `touched`, as
    place * CELLS + cell; tally[0] counts them. Rays that end in one voxel count once, and end in its centre.
    """
    factor = 1.0 / resolution
    tip, ray = np.empty(3, np.float32), np.empty(3, np.float32)
    start, goal = np.empty(3, np.int64), np.empty(3, np.int64)
    step, t_max, t_delta = np.empty(3, np.int64), np.empty(3, np.float64), np.empty(3, np.float64)
    for a in range(3):
        start[a] = math.floor(factor * origin[a])
        if not -HALF <= start[a] < HALF:
            return len(ends)
    for i in range(first, len(ends)):
        inside, crossed = True, 1
        for a in range(3):
            key = math.floor(factor * np.float32(ends[i, a]))
            inside &= -HALF <= key < HALF
            tip[a] = np.float32((key + 0.5) * resolution)
            ray[a] = tip[a] - origin[a]
        if not inside:
            continue
        length = math.sqrt(np.float64(ray[0] * ray[0] + ray[1] * ray[1] + ray[2] * ray[2]))
        hits = length <= max_range
        if not hits:
            for a in range(3):
                tip[a] = origin[a] + ray[a] / np.float32(length) * np.float32(max_range)
        for a in range(3):
            goal[a] = math.floor(factor * tip[a])
            inside &= -HALF <= goal[a] < HALF
            crossed += abs(goal[a] - start[a]) + 2
        if not inside:
            continue
        if tally[0] + crossed > len(touched) or state[USED] + crossed > len(coords):
            return i
        if hits:
            block = _place(table, coords, free, state, log_odds, goal[0], goal[1], goal[2])
            inner = cell(goal[0], goal[1], goal[2])
            mark = marks[block, inner]
            if mark & _HIT:
                continue
            if mark == 0:
                touched[tally[0]] = block * CELLS + inner
                tally[0] += 1
            marks[block, inner] = mark | _HIT
        if start[0] == goal[0] and start[1] == goal[1] and start[2] == goal[2]:
            continue
        reach = _aim(origin, tip, start, resolution, step, t_max, t_delta)
        _cross(
            table, coords, free, state, log_odds, marks, touched, tally, start, goal, reach, step, t_max, t_delta
        )  # fmt: skip
    return len(ends)


@njit(cache=True, nogil=True)
def update_marked(log_odds, marks, touched, hit, miss, low, high):
    """Marked voxels get their hit or miss and lose their mark; those whose state changes move to the front.

    Returns how many these are. hit, miss, low, high: float32, log-odds.
    """
    changed = 0
    for n in range(len(touched)):
        block, inner = touched[n] // CELLS, touched[n] % CELLS
        change = hit if marks[block, inner] & _HIT else miss
        marks[block, inner] = 0
        before = log_odds[block, inner]
        if math.isnan(before):
            after = change
        elif (change >= 0.0 and before >= high) or (change <= 0.0 and before <= low):
            continue
        else:
            after = min(max(before + change, low), high)
        log_odds[block, inner] = after
        if math.isnan(before) or (before >= 0.0) != (after >= 0.0):
            touched[changed] = touched[n]
            changed += 1
    return changed


@njit(cache=True, nogil=True)
def labels(table, coords, log_odds, points, resolution):
    """(N,) int32: UNSEEN, EMPTY or FULL at points (N, 3) float64, metres."""
    result = np.full(len(points), UNSEEN, np.int32)
    factor = 1.0 / resolution
    last_x, last_y, last_z, block = 1 << 40, 0, 0, -1
    for n in range(len(points)):
        x = math.floor(factor * np.float32(points[n, 0]))
        y = math.floor(factor * np.float32(points[n, 1]))
        z = math.floor(factor * np.float32(points[n, 2]))
        if x >> 3 != last_x or y >> 3 != last_y or z >> 3 != last_z:
            last_x, last_y, last_z = x >> 3, y >> 3, z >> 3
            block = find(table, coords, last_x, last_y, last_z)
        if block >= 0:
            value = log_odds[block, cell(x, y, z)]
            if not math.isnan(value):
                result[n] = FULL if value >= 0.0 else EMPTY
    return result


@njit(cache=True, nogil=True)
def write_voxels(table, coords, free, state, log_odds, voxels, values):
    """The voxels (N, 3) int64 have these log-odds (N,) float32; the caller has seen to the room."""
    for n in range(len(voxels)):
        x, y, z = voxels[n, 0], voxels[n, 1], voxels[n, 2]
        block = _place(table, coords, free, state, log_odds, x, y, z)
        log_odds[block, cell(x, y, z)] = values[n]
