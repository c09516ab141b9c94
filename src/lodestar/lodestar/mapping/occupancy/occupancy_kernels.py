"""Compiled loops of the occupancy voxels: OctoMap's rays, updates and queries over blocks of voxels.

Coordinates are rounded to float32 at the same points as in OctoMap, so that both find the same voxels.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from lodestar.mapping.voxels.blocks import CELLS, SIDE, USED, find, obtain
from lodestar.mapping.voxels.submaps import MOVED, moved_voxels
from lodestar.mapping.voxels.voxel_kernels import cell

UNSEEN, EMPTY, FULL = -1, 0, 1
DEPTH = 16  # levels of an OctoMap octree
HALF = 1 << (DEPTH - 1)  # voxels from the octree's centre to its border
_CROSSED, _HIT = 1, 2  # marks of a voxel within a scan


@njit(cache=True, nogil=True, inline="always")
def _place(table, coords, free, state, log_odds, x, y, z):
    """Return the pool index of a voxel's block, created if needed; len(coords) if the pool is full."""
    before = state[USED]
    block = obtain(table, coords, free, state, x >> 3, y >> 3, z >> 3)
    if block < 0:
        return len(coords)
    if state[USED] != before:
        log_odds[block] = np.nan
    return block


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _aim(origin, ray, start, resolution):
    """Return a ray's step along one axis, and the ray lengths to the first voxel border and between borders.

    Follows Amanatides and Woo, as in OctoMap's computeRayKeys. ray: component of the unit vector on this
    axis.
    """
    if ray == 0.0:
        return 0, np.finfo(np.float64).max, np.finfo(np.float64).max
    step = 1 if ray > 0.0 else -1
    border = (start + 0.5) * resolution + np.float64(np.float32(step * resolution * 0.5))
    return step, (border - np.float64(origin)) / np.float64(ray), resolution / math.fabs(np.float64(ray))


@njit(cache=True, nogil=True, error_model="numpy")
def _cross(table, coords, free, state, log_odds, marks, touched, count, around, first, origin, tip, start, goal,
           resolution):  # fmt: skip
    """Mark the voxels from `start` to the one before `goal` as crossed, on the ray from `origin` to `tip`.

    marks: flat. around: pool indices of the blocks around the sensor, from block `first` on, -1 = not looked
    up yet; it saves most hash lookups, the largest cost of a ray. A ray that leaves these blocks is looked up
    block by block. Returns the new number of entries of `touched`, which was `count`; one entry beyond may be
    overwritten.
    """
    ray_x, ray_y, ray_z = tip[0] - origin[0], tip[1] - origin[1], tip[2] - origin[2]
    length = np.float32(math.sqrt(np.float64(ray_x * ray_x + ray_y * ray_y + ray_z * ray_z)))
    reach = np.float64(length)
    x, y, z = start[0], start[1], start[2]
    goal_x, goal_y, goal_z = goal[0], goal[1], goal[2]
    first_x, first_y, first_z = first[0], first[1], first[2]
    step_x, next_x, gap_x = _aim(origin[0], ray_x / length, x, resolution)
    step_y, next_y, gap_y = _aim(origin[1], ray_y / length, y, resolution)
    step_z, next_z, gap_z = _aim(origin[2], ray_z / length, z, resolution)
    near = True
    for a in range(3):  # leave a block at each border for rounding
        near &= 1 <= (goal[a] >> 3) - first[a] < around.shape[0] - 1
    last_x, last_y, last_z, block = (x >> 3) - 1, 0, 0, np.int64(-1)
    while True:
        if near:
            block = np.int64(around[(x >> 3) - first_x, (y >> 3) - first_y, (z >> 3) - first_z])
            if block < 0:
                block = np.int64(_place(table, coords, free, state, log_odds, x, y, z))
                around[(x >> 3) - first_x, (y >> 3) - first_y, (z >> 3) - first_z] = block
        elif x >> 3 != last_x or y >> 3 != last_y or z >> 3 != last_z:
            last_x, last_y, last_z = x >> 3, y >> 3, z >> 3
            block = np.int64(_place(table, coords, free, state, log_odds, x, y, z))
        at = block * CELLS + cell(x, y, z)
        mark = marks[at]
        touched[count] = at
        count += mark == 0
        marks[at] = mark | _CROSSED
        if next_x < next_y:
            if next_x < next_z:
                x += step_x
                next_x += gap_x
            else:
                z += step_z
                next_z += gap_z
        elif next_y < next_z:
            y += step_y
            next_y += gap_y
        else:
            z += step_z
            next_z += gap_z
        if x == goal_x and y == goal_y and z == goal_z:
            return count
        if min(next_x, next_y, next_z) > reach:
            return count  # rounding led past the end


@njit(cache=True, nogil=True, error_model="numpy")
def mark_rays(table, coords, free, state, log_odds, marks, touched, tally, around, ends, first, origin, resolution,
              max_range):  # fmt: skip
    """Mark the voxels that rays cross and hit; return the index of the first ray that was not processed.

    Rays from ends[first] on are processed until `touched` is full; len(ends) = all. ends: (N, 3) float64,
    origin: (3,) float32, metres. Each marked voxel is entered once in `touched`, as pool index * CELLS +
    cell; tally[0] counts the entries. Rays that end in the same voxel count once, and end in its centre.
    around: (n, n, n) int32, n odd, is overwritten with the pool indices of the blocks around the sensor; its
    size does not change the marks.
    """
    factor, flat, count = 1.0 / resolution, marks.reshape(-1), tally[0]
    tip, ray = np.empty(3, np.float32), np.empty(3, np.float32)
    start, goal, corner = np.empty(3, np.int64), np.empty(3, np.int64), np.empty(3, np.int64)
    reach = around.shape[0] // 2
    for a in range(3):
        start[a] = math.floor(factor * origin[a])
        corner[a] = (start[a] >> 3) - reach
        if not -HALF <= start[a] < HALF:
            return len(ends)
    around[:] = -1
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
        if count + crossed > len(touched):
            tally[0] = count
            return i
        if hits:
            block = _place(table, coords, free, state, log_odds, goal[0], goal[1], goal[2])
            at = block * CELLS + cell(goal[0], goal[1], goal[2])
            mark = flat[at]
            if mark & _HIT:
                continue
            if block < len(coords):  # if the pool is full, the ray still clears the voxels before its end
                if mark == 0:
                    touched[count] = at
                    count += 1
                flat[at] = mark | _HIT
        if start[0] == goal[0] and start[1] == goal[1] and start[2] == goal[2]:
            continue
        count = _cross(
            table, coords, free, state, log_odds, flat, touched, count, around, corner, origin, tip, start, goal,
            resolution,
        )  # fmt: skip
    tally[0] = count
    return len(ends)


@njit(cache=True, nogil=True)
def update_marked(log_odds, marks, touched, hit, miss, low, high):
    """Apply hits and misses to the marked voxels and clear their marks; return the number of changed voxels.

    Voxels whose state changes are moved to the front of `touched`. hit, miss, low, high: float32, log-odds.
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
def voxels_at(coords, places):
    """Return the voxels (N, 3) int64 for `places` (N,) int64: a block's pool index * CELLS + cell."""
    found = np.empty((len(places), 3), np.int64)
    for n in range(len(places)):
        block, inner = places[n] // CELLS, places[n] % CELLS
        found[n, 0] = coords[block, 0] * SIDE + inner // (SIDE * SIDE)
        found[n, 1] = coords[block, 1] * SIDE + inner // SIDE % SIDE
        found[n, 2] = coords[block, 2] * SIDE + inner % SIDE
    return found


@njit(cache=True, nogil=True)
def mark_columns(voxels, map_from_voxels, resolution, corner, marks):
    """Set `marks` (rows, columns) bool for the 2-D grid cells below or above the centres of voxels (N, 3).

    map_from_voxels: (4, 4). corner: (column, row) of cell (0, 0), int64, in multiples of the resolution.
    """
    rows, columns = marks.shape
    m = map_from_voxels
    for n in range(len(voxels)):
        x, y, z = (
            (voxels[n, 0] + 0.5) * resolution,
            (voxels[n, 1] + 0.5) * resolution,
            (voxels[n, 2] + 0.5) * resolution,
        )
        column = math.floor((m[0, 0] * x + m[0, 1] * y + m[0, 2] * z + m[0, 3]) / resolution) - corner[0]
        row = math.floor((m[1, 0] * x + m[1, 1] * y + m[1, 2] * z + m[1, 3]) / resolution) - corner[1]
        if 0 <= row < rows and 0 <= column < columns:
            marks[row, column] = True


@njit(cache=True, nogil=True)
def column_states(table, coords, log_odds, cells, voxels_from_map, levels, resolution):
    """Return (N, 2) bool: whether any voxel above each column's floor is EMPTY, and whether any is FULL.

    cells: (N, 3) float64, centre x and y of the column and height of its floor, metres in map. levels: (L,)
    float64, metres above the floor, at which voxels are read. voxels_from_map: (4, 4).
    """
    found = np.zeros((len(cells), 2), np.bool_)
    m, factor = voxels_from_map, 1.0 / resolution
    last_x, last_y, last_z, block = 1 << 40, 0, 0, -1
    for n in range(len(cells)):
        for k in range(len(levels)):
            u, v, w = cells[n, 0], cells[n, 1], levels[k] + cells[n, 2]
            x = math.floor(factor * np.float32(m[0, 0] * u + m[0, 1] * v + m[0, 2] * w + m[0, 3]))
            y = math.floor(factor * np.float32(m[1, 0] * u + m[1, 1] * v + m[1, 2] * w + m[1, 3]))
            z = math.floor(factor * np.float32(m[2, 0] * u + m[2, 1] * v + m[2, 2] * w + m[2, 3]))
            if x >> 3 != last_x or y >> 3 != last_y or z >> 3 != last_z:
                last_x, last_y, last_z = x >> 3, y >> 3, z >> 3
                block = find(table, coords, last_x, last_y, last_z)
            if block >= 0:
                value = log_odds[block, cell(x, y, z)]
                if not math.isnan(value):
                    found[n, 1 if value >= 0.0 else 0] = True
    return found


@njit(cache=True, nogil=True)
def labels(table, coords, log_odds, points, resolution):
    """Return (N,) int32: UNSEEN, EMPTY or FULL at points (N, 3) float64, metres."""
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
def add_moved(table, coords, free, state, log_odds, tags, sources, values, before, moves, nodes, resolution, lowest,
              highest):  # fmt: skip
    """Add the values of moved blocks to the voxels at their new places.

    values: (S, 512) of the blocks at sources (S, 3), which move by `moves` (S, 4, 4). NaN adds nothing.
    before: (S,) int64, row of `values` to subtract from a block's values, -1 = none. nodes: (S,) int32, tags
    of the blocks; a target block gets the smallest tag of its sources. Values are dropped if the pool is
    full.
    """
    found = np.empty((MOVED, 4), np.int64)
    for s in range(len(sources)):
        last_x, last_y, last_z, block = 1 << 40, 0, 0, np.int64(-1)
        for n in range(moved_voxels(sources[s], moves[s], resolution, found)):
            x, y, z, at = found[n, 0], found[n, 1], found[n, 2], found[n, 3]
            more = values[s, at]
            if math.isnan(more) or not (-HALF <= x < HALF and -HALF <= y < HALF and -HALF <= z < HALF):
                continue
            if before[s] >= 0 and not math.isnan(values[before[s], at]):
                if more == values[before[s], at]:
                    continue
                more -= values[before[s], at]
            if x >> 3 != last_x or y >> 3 != last_y or z >> 3 != last_z:
                last_x, last_y, last_z = x >> 3, y >> 3, z >> 3
                block = np.int64(_place(table, coords, free, state, log_odds, x, y, z))
                if tags[block] == 0 or nodes[s] < tags[block]:
                    tags[block] = nodes[s]
            inner = cell(x, y, z)
            known = log_odds[block, inner]
            log_odds[block, inner] = min(max(more if math.isnan(known) else known + more, lowest), highest)


@njit(cache=True, nogil=True)
def write_voxels(table, coords, free, state, log_odds, voxels, values):
    """Set the log-odds of voxels (N, 3) int64 to values (N,) float32; the pool must have room for them."""
    for n in range(len(voxels)):
        x, y, z = voxels[n, 0], voxels[n, 1], voxels[n, 2]
        block = _place(table, coords, free, state, log_odds, x, y, z)
        log_odds[block, cell(x, y, z)] = values[n]
