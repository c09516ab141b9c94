"""Compiled loops of the floor map: updates from one scan, and the search for walkable floor."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

MOST_HITS = 20  # largest number of hits; this many scans must contradict a floor that was seen often
_FACE_SEEN, _FACE_MOST = 2, 10  # evidence for a vertical face: gain per scan, and maximum
_SURE = 2  # hits from which a surface mirrors rays and shapes the floor's height
_NEW, _WAITS, _DONE = (0, 1, 2)  # states of a cell in `walk`: not reached; reached, but not as floor; decided
_HIGHER = 5  # scans in a row that must see a higher surface before the cell's floor is raised


@njit(cache=True, nogil=True)
def in_cells(returns, origin, corner, resolution):
    """Return returns (N, 3) and origin (3,) in cells from `corner` in plan, with heights in metres.

    returns, origin: metres in map. corner: (column, row) of cell (0, 0).
    """
    ends, start = np.empty((len(returns), 3)), np.empty(3)
    for a in range(2):
        start[a] = origin[a] / resolution - corner[a]
    start[2] = origin[2]
    for i in range(len(returns)):
        for a in range(2):
            ends[i, a] = returns[i, a] / resolution - corner[a]
        ends[i, 2] = returns[i, 2]
    return ends, start


@njit(cache=True, nogil=True)
def tread(
    height,
    variance,
    hits,
    trodden,
    u,
    v,
    yaw,
    half_length,
    half_width,
    resolution,
    ground,
    climb,
    noise,
    step,
):
    """Mark the cells under a footprint as floor on which the robot has stood.

    u, v: centre of the footprint in cells. half_length, half_width, ground: metres. climb: rise over run
    along the body. A cell whose height is unknown or more than `step` metres off gets the height of the feet.
    """
    rows, columns = height.shape
    reach = math.ceil(math.hypot(half_length, half_width) / resolution)
    c, s = math.cos(yaw), math.sin(yaw)
    for row in range(max(math.floor(v) - reach, 0), min(math.floor(v) + reach + 1, rows)):
        for column in range(max(math.floor(u) - reach, 0), min(math.floor(u) + reach + 1, columns)):
            dx, dy = (column + 0.5 - u) * resolution, (row + 0.5 - v) * resolution
            along, across = dx * c + dy * s, dy * c - dx * s
            if abs(along) > half_length or abs(across) > half_width:
                continue
            here = ground + along * climb
            if hits[row, column] == 0 or abs(height[row, column] - here) > step:
                height[row, column], variance[row, column] = here, noise
                hits[row, column] = MOST_HITS
            trodden[row, column] = True


@njit(cache=True, nogil=True)
def cross(closest, crossed, ends, origin, reach, needed):
    """Mark cells under rays as crossed, and update the smallest distance from which a ray has crossed each.

    closest: (rows, columns) float32, that distance in cells. crossed: (rows, columns) bool. ends: (N, 3) and
    origin: (3,) in cells in plan. reach: cells from the origin within which a ray is traced. needed: largest
    distance, in cells, that is recorded.
    """
    rows, columns = closest.shape
    u0, v0 = origin[0], origin[1]
    for i in range(len(ends)):
        du, dv = ends[i, 0] - u0, ends[i, 1] - v0
        length = math.hypot(du, dv)
        steps = int(min(length, reach) * 1.5) + 2
        share = (min(1.0, reach / length) if length > 1e-9 else 0.0) / steps
        du, dv, length = du * share, dv * share, length * share
        if length * steps > needed:
            steps = int(needed / length) + 1
        for k in range(steps + 1):
            u, v = u0 + k * du, v0 + k * dv
            if 0.0 <= u < columns and 0.0 <= v < rows:
                row, column = int(v), int(u)
                crossed[row, column] = True
                if k * length < closest[row, column]:
                    closest[row, column] = k * length


@njit(cache=True, nogil=True)
def _samples(origin, end, deeper_than):
    """Return the first and last sample of a ray below `deeper_than`, and the number of samples of the ray.

    Samples are points at equal distances along the ray. The cell of the return itself is left out.
    """
    length = math.hypot(end[0] - origin[0], end[1] - origin[1])
    steps = int(length * 1.5) + 2
    last = 1.0 - 1.0 / length if length > 1.0 else 0.0
    fall = end[2] - origin[2]
    first = (deeper_than - origin[2]) / fall if fall < 0.0 else 1.0
    return max(math.ceil(first * steps), 0), int(last * steps), steps


@njit(cache=True, nogil=True)
def trace_below(height, hits, passed, touched, scan, ends, origin, deeper_than, highest, margin, used):
    """Record the lowest heights at which rays pass below cells; mark mirror images in the floor.

    Rays are used from `deeper_than` downwards. height, passed: (rows, columns) float32, metres; hits: uint8;
    touched: int32, the last scan that reduced a cell's hits. ends: (N, 3) and origin: (3,) in cells, height
    in metres. `used` is set to False for mirror images: returns more than `margin` metres below a certain
    floor. highest: metres up to which a surface can be floor; higher surfaces (a ceiling, a table top) mirror
    nothing. Each scan with rays through a cell's floor takes one of the cell's hits.
    """
    rows, columns = height.shape
    for i in range(len(ends)):
        if not used[i] or ends[i, 2] >= deeper_than:
            continue
        first, last, steps = _samples(origin, ends[i], deeper_than)
        for noting in (False, True):
            for k in range(first, last + 1):
                share = k / steps
                row = math.floor(origin[1] + share * (ends[i, 1] - origin[1]))
                column = math.floor(origin[0] + share * (ends[i, 0] - origin[0]))
                if not (0 <= row < rows and 0 <= column < columns):
                    continue
                z = origin[2] + share * (ends[i, 2] - origin[2])
                if noting:
                    if not passed[row, column] <= z:
                        passed[row, column] = z
                elif hits[row, column] > 0 and z + margin < height[row, column] <= highest:
                    if hits[row, column] >= _SURE:
                        used[i] = False
                    if touched[row, column] != scan:
                        touched[row, column] = scan
                        hits[row, column] -= 1
                        if hits[row, column] == 0:
                            height[row, column] = np.nan
                    if not used[i]:
                        break
            if not used[i]:
                break


@njit(cache=True, nogil=True)
def lowest_returns(
    ends, used, lowest, highest, spread, seen, scan, noise, noise_per_meter, origin, resolution
):
    """Return the cells (M,), flat, that contain returns of this scan, and indices (K,) of rays to trace.

    These are one ray per cell, and all rays that end off the grid. Writes lowest, highest: (rows, columns),
    the lowest and highest return per cell, and spread: the variance of the lowest. ends: (N, 3) and origin:
    (3,) in cells, height in metres. seen: (rows, columns) int32, number of the last scan.
    """
    rows, columns = lowest.shape
    found, rays = np.empty(len(ends), np.int64), np.empty(len(ends), np.int64)
    count = kept = 0
    for i in range(len(ends)):
        row, column = math.floor(ends[i, 1]), math.floor(ends[i, 0])
        if not used[i]:
            continue
        if not (0 <= row < rows and 0 <= column < columns):
            rays[kept] = i
            kept += 1
            continue
        z = ends[i, 2]
        if seen[row, column] == scan and z >= lowest[row, column]:
            highest[row, column] = max(highest[row, column], z)
            continue
        if seen[row, column] != scan:
            seen[row, column] = scan
            found[count] = row * columns + column
            count += 1
            rays[kept] = i
            kept += 1
            highest[row, column] = z
        away = resolution * math.hypot(ends[i, 0] - origin[0], ends[i, 1] - origin[1])
        lowest[row, column] = z
        spread[row, column] = noise * noise + (noise_per_meter * away) ** 2
    return found[:count], rays[:kept]


@njit(cache=True, nogil=True)
def fuse_heights(
    cells, lowest, highest, spread, height, variance, hits, above, face, gate, least_gate, rise, step
):
    """Update heights of cells (M,), flat, with the lowest returns of this scan (Fankhauser et al. 2014).

    A 1-D Kalman filter per cell. A return below the known surface replaces it. A return above it is an object
    on the floor, unless it lies less than `rise` metres above and the lower surface has not been seen for
    some scans. Returns of one scan in a cell that lie more than `step` apart are evidence for a vertical
    face.
    """
    columns = height.shape[1]
    for i in range(len(cells)):
        row = cells[i] // columns
        column = cells[i] - row * columns
        z, v = lowest[row, column], spread[row, column]
        if highest[row, column] - z > step:
            face[row, column] = min(face[row, column] + _FACE_SEEN, _FACE_MOST)
        elif face[row, column] > 0:
            face[row, column] -= 1
        offset = z - height[row, column]
        bound = max(gate * math.sqrt(v + variance[row, column]), least_gate)
        if hits[row, column] == 0 or offset < -bound:
            height[row, column], variance[row, column], hits[row, column] = z, v, 1
            above[row, column] = 0
        elif offset <= bound:
            gain = variance[row, column] / (variance[row, column] + v)
            height[row, column] += gain * offset
            variance[row, column] = max((1.0 - gain) * variance[row, column], 0.01**2)
            hits[row, column] = min(hits[row, column] + 1, MOST_HITS)
            above[row, column] = 0
        elif offset <= rise:
            above[row, column] += 1
            if above[row, column] >= _HIGHER:
                height[row, column], variance[row, column], hits[row, column] = z, v, 1
                above[row, column] = 0


@njit(cache=True, nogil=True)
def walk(height, hits, face, seeds, resolution, step, gap_step, gap_slope, slope, doubt):
    """Return the floor reachable from the seeds, (rows, columns) bool, and its height, float32, metres.

    A cell is floor if its surface lies at most `step` above the neighbouring floor and at most `doubt` below
    it. Beyond a gap without seen floor it may lie at most gap_step + gap_slope * gap above, and never more
    than `step`, because the lowest return from a wall may lie as high as a far LiDAR ring. The search does
    not climb vertical faces, and the surface at their foot does not raise the floor. The floor's height
    changes by at most `slope`, and not at all where only one scan saw the surface, so that the wall of a
    shaft does not pull it down. Gaps are crossed last; cells without floor get the height of the nearest
    floor.
    """
    rows, columns = height.shape
    width = columns + 2  # with a border of decided cells
    size = (rows + 2) * width
    around = (-width, width, -1, 1, -width - 1, -width + 1, width - 1, width + 1)
    surface = np.full(size, np.nan, np.float32)
    steep, floor, state = np.zeros(size, np.bool_), np.zeros(size, np.bool_), np.full(size, _DONE, np.uint8)
    sure = np.zeros(size, np.bool_)
    reference, gap = np.full(size, np.nan, np.float32), np.zeros(size, np.int32)
    near = np.empty(size, np.int32)  # queue of floor cells, expanded at once
    wave = np.empty(size, np.int32)  # queue of reached cells that are not floor so far
    met_from = np.empty(size, np.int32)  # the neighbours from which these were reached first
    near_taken = near_count = wave_taken = wave_count = 0
    for row in range(rows):
        for column in range(columns):
            at = (row + 1) * width + column + 1
            state[at], steep[at] = _NEW, face[row, column] > 0
            if hits[row, column] > 0:
                surface[at], sure[at] = height[row, column], hits[row, column] >= _SURE
                if seeds[row, column]:
                    state[at], floor[at], reference[at] = _DONE, True, height[row, column]
                    near[near_count] = at
                    near_count += 1
    while near_taken < near_count or wave_taken < wave_count:
        if near_taken < near_count:
            at = near[near_taken]
            near_taken += 1
        else:
            at, before = wave[wave_taken], met_from[wave_taken]
            wave_taken += 1
            if state[at] == _DONE:
                continue
            state[at], reference[at], gap[at] = _DONE, reference[before], gap[before] + 1
        base = reference[at]
        away = gap[at] + 1
        for k in range(8):
            to = at + around[k]
            if state[to] == _DONE:
                continue
            offset = surface[to] - base
            if offset >= -doubt:
                up = step
                if away > 1:
                    up = min(gap_step + gap_slope * away * resolution, step)
                if steep[to]:
                    up = min(up, gap_step)
                if offset <= up:
                    most = slope * away * resolution if sure[to] else 0.0
                    state[to], floor[to] = _DONE, True
                    reference[to] = base + min(max(offset, -most), 0.0 if steep[to] else most)
                    near[near_count] = to
                    near_count += 1
                    continue
            if state[to] == _NEW:  # its height is that of the neighbour that reached it first
                state[to] = _WAITS
                wave[wave_count], met_from[wave_count] = to, at
                wave_count += 1
    inside = (slice(1, rows + 1), slice(1, width - 1))
    return (
        floor.reshape((rows + 2, width))[inside].copy(),
        reference.reshape((rows + 2, width))[inside].copy(),
    )


@njit(cache=True, nogil=True)
def _fill(closest, floor, first, stride, start, end, size, widths, least):
    """Mark positions start .. end - 1 of a line of cells as floor if a gap of `size` cells is narrow enough.

    Gaps of up to widths[k] cells are filled in cells that rays crossed from a distance of at least least[k].
    closest: that distance. first, stride: flat index of the line's first cell, and step between cells.
    """
    for level in range(len(widths)):
        if size <= widths[level]:
            for place in range(start, end):
                at = first + place * stride
                if closest[at] >= least[level]:
                    floor[at] = True
            return


@njit(cache=True, nogil=True)
def _fill_line(seen, foot, closest, floor, first, stride, count, widths, least):
    """Fill the gaps on one line of cells; see `bridge`.

    first, stride: flat index of the line's first cell, and step between cells. count: number of cells.
    """
    floor_before, foot_before = -1, -1  # positions on the line
    for place in range(count):
        at = first + place * stride
        if seen[at]:
            size = place - floor_before - 1
            if floor_before >= 0 and size > 0:
                _fill(closest, floor, first, stride, floor_before + 1, place, size, widths, least)
            if foot_before > floor_before:
                size = place - foot_before - 1
                _fill(closest, floor, first, stride, foot_before, place, size, widths, least)
            floor_before = place
        elif foot[at]:
            if floor_before > foot_before:
                size = place - floor_before - 1
                _fill(closest, floor, first, stride, floor_before + 1, place + 1, size, widths, least)
            foot_before = place


@njit(cache=True, nogil=True)
def bridge(seen, foot, closest, widths, diagonal_widths, least):
    """Return (rows, columns) bool: seen floor, and the narrow gaps in its rows, columns and diagonals.

    A gap lies between two cells of seen floor, or between seen floor and the first foot of an object, whose
    cell is filled too. foot: (rows, columns) bool, cells where objects stand. closest: (rows, columns)
    float32, metres, smallest distance from which a ray has crossed a cell. At distances of at least least[k]
    metres (float32, ascending), gaps of up to widths[k] cells (int64) are filled, in diagonals up to
    diagonal_widths[k].
    """
    rows, columns = seen.shape
    floor = seen.copy()
    was, things, now, distance = seen.ravel(), foot.ravel(), floor.ravel(), closest.ravel()
    for row in range(rows):
        _fill_line(was, things, distance, now, row * columns, 1, columns, widths, least)
    for column in range(columns):
        _fill_line(was, things, distance, now, column, columns, rows, widths, least)
    for shift in range(1 - rows, columns):  # the diagonals in both directions that start at this offset
        column, row = max(shift, 0), max(-shift, 0)
        count = min(rows - row, columns - column)
        down, up = row * columns + column, (rows - 1 - row) * columns + column
        _fill_line(was, things, distance, now, down, columns + 1, count, diagonal_widths, least)
        _fill_line(was, things, distance, now, up, 1 - columns, count, diagonal_widths, least)
    return floor
