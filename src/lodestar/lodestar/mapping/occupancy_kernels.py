"""Compiled loops of the occupancy voxels: OctoMap's rays, updates and queries over blocks of voxels.

Coordinates are rounded to float32 where OctoMap does so; its voxels are found cell by cell.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from lodestar.mapping.blocks import CELLS, SIDE, USED, find, obtain
from lodestar.mapping.submaps import bounds, is_planar, source_cell, source_column, source_levels
from lodestar.mapping.voxel_kernels import cell

UNSEEN, EMPTY, FULL = -1, 0, 1
DEPTH = 16  # levels of an OctoMap tree
HALF = 1 << (DEPTH - 1)  # voxels from its centre to its border
_CROSSED, _HIT = 1, 2  # marks of a scan


@njit(cache=True, nogil=True, inline="always")
def _place(table, coords, free, state, log_odds, x, y, z):
    """Place of the block of voxel (x, y, z), which is there afterwards; without room for it the one behind all."""
    before = state[USED]
    block = obtain(table, coords, free, state, x >> 3, y >> 3, z >> 3)
    if block < 0:
        return len(coords)
    if state[USED] != before:
        log_odds[block] = np.nan
    return block


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _aim(origin, ray, start, resolution):
    """Return the step of a ray along one axis, and the lengths at which it first, and then each time, crosses a border
    there (Amanatides and Woo, as OctoMap's computeRayKeys). ray: that part of its unit vector.
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

    marks: flat. around: the places of the blocks about the sensor, from block `first` on, -1 = not looked up yet: to
    look up a block by its hash is what costs most on the way of a ray. A ray that leads farther than these is looked up
    block by block. Returns the number of entries of `touched` afterwards, which was `count`; one more may be
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
    for a in range(3):  # one block at each border is for rounding
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
    """Mark the voxels that the rays from ends[first] on cross and hit; returns the first ray that finds no room in
    `touched`.

    ends: (N, 3) float64, origin: (3,) float32, metres. Each voxel that is marked stands once in `touched`, as
    place * CELLS + cell; tally[0] counts them. Rays that end in one voxel count once, and end in its centre. around:
    (n, n, n) int32, n odd, is overwritten by the places of the blocks about the sensor; any size gives the same marks.
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
            if block < len(coords):  # without room the ray tells what lies before its end
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
def voxels_at(coords, places):
    """(N, 3) int64: the voxels at places (N,) int64, place of the block * CELLS + cell."""
    found = np.empty((len(places), 3), np.int64)
    for n in range(len(places)):
        block, inner = places[n] // CELLS, places[n] % CELLS
        found[n, 0] = coords[block, 0] * SIDE + inner // (SIDE * SIDE)
        found[n, 1] = coords[block, 1] * SIDE + inner // SIDE % SIDE
        found[n, 2] = coords[block, 2] * SIDE + inner % SIDE
    return found


@njit(cache=True, nogil=True)
def mark_columns(voxels, map_from_voxels, resolution, corner, marks):
    """Set the marks (rows, columns) bool of the columns of the plan in which the centres of voxels (N, 3) lie.

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
    """(N, 2) bool: whether a voxel was EMPTY, and whether one was FULL, of those at `levels` over each column.

    cells: (N, 3) float64, centre of the column, x and y, and height of its floor, metres in map. levels: (L,) float64,
    metres over it. voxels_from_map: (4, 4).
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
def add_moved(table, coords, free, state, log_odds, tags, sources, values, before, moves, nodes, resolution, lowest,
              highest):  # fmt: skip
    """Add the values (S, 512) of blocks at sources (S, 3), moved by (S, 4, 4).

    NaN adds nothing. before: (S,) int64, the row of values from which a block's are counted, -1 = from nothing. nodes:
    (S,) int32, tags of the blocks; a block that several lead to gets the least. What finds no room is lost.
    """
    low, high, levels = np.empty(3, np.int64), np.empty(3, np.int64), np.empty(4 * SIDE, np.int64)
    for s in range(len(sources)):
        bounds(sources[s], moves[s], resolution, low, high)
        planar, column = is_planar(moves[s]), np.int64(0)
        if planar:
            source_levels(sources[s], moves[s], resolution, low[2], high[2], levels)
        last_x, last_y, last_z, block = 1 << 40, 0, 0, np.int64(-1)
        for x in range(low[0], high[0] + 1):
            for y in range(low[1], high[1] + 1):
                if planar:
                    column = source_column(sources[s], moves[s], resolution, x, y)
                    if column < 0:
                        continue
                for z in range(low[2], high[2] + 1):
                    if planar:
                        level = levels[z - low[2]]
                        at = column + level if level >= 0 else -1
                    else:
                        at = source_cell(sources[s], moves[s], resolution, x, y, z)
                    if at < 0 or math.isnan(values[s, at]):
                        continue
                    more = values[s, at]
                    if before[s] >= 0 and not math.isnan(values[before[s], at]):
                        if more == values[before[s], at]:
                            continue
                        more -= values[before[s], at]
                    if not (-HALF <= x < HALF and -HALF <= y < HALF and -HALF <= z < HALF):
                        continue
                    if x >> 3 != last_x or y >> 3 != last_y or z >> 3 != last_z:
                        last_x, last_y, last_z = x >> 3, y >> 3, z >> 3
                        block = np.int64(_place(table, coords, free, state, log_odds, x, y, z))
                        if tags[block] == 0 or nodes[s] < tags[block]:
                            tags[block] = nodes[s]
                    inner = cell(x, y, z)
                    known = log_odds[block, inner]
                    log_odds[block, inner] = min(
                        max(more if math.isnan(known) else known + more, lowest), highest
                    )


@njit(cache=True, nogil=True)
def write_voxels(table, coords, free, state, log_odds, voxels, values):
    """The voxels (N, 3) int64 have these log-odds (N,) float32; the caller has seen to the room."""
    for n in range(len(voxels)):
        x, y, z = voxels[n, 0], voxels[n, 1], voxels[n, 2]
        block = _place(table, coords, free, state, log_odds, x, y, z)
        log_odds[block, cell(x, y, z)] = values[n]
