"""Compiled loops of the floor map: what one scan says of the floor, and which surface the robot can walk on."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

MOST_HITS = 20  # scans that a cell remembers: so many must contradict a floor that was seen often
_FACE_SEEN, _FACE_MOST = 2, 10  # how fast a cell is taken for the face of something upright, and how surely
_SURE = 2  # hits from which on a ray that goes through the floor is a mirror image, and its level follows
_NEW, _WAITS, _DONE = (
    0,
    1,
    2,
)  # a cell of the walk: not met, met by somebody who found no floor there, decided
_HIGHER = 5  # scans in a row that must see a cell higher before its floor is believed to have risen


@njit(cache=True, nogil=True)
def in_cells(returns, origin, corner, resolution):
    """Returns (N, 3) and origin (3,), metres, as cells in plan from `corner` and metres of height."""
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
    """Mark the cells under a footprint at (u, v), cells, as floor that the robot stands on.

    half_length, half_width, ground: metres. climb: rise over run along the body. A height that lies more than `step`
    metres off, or is not known, is that of the feet.
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
    """Mark cells under rays, and lower their `closest`, the least distance from which a ray has crossed them.

    closest: (rows, columns) float32, cells. crossed: (rows, columns) bool.
    ends: (N, 3) and origin: (3,) in cells in plan. reach: cells up to which a ray tells; needed: cells beyond which
    nobody asks for the distance.
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
    """First and last sample of a ray below `deeper_than`, and the number of samples on the whole ray; the cell of the
    return tells of itself.
    """
    length = math.hypot(end[0] - origin[0], end[1] - origin[1])
    steps = int(length * 1.5) + 2
    last = 1.0 - 1.0 / length if length > 1.0 else 0.0
    fall = end[2] - origin[2]
    first = (deeper_than - origin[2]) / fall if fall < 0.0 else 1.0
    return max(math.ceil(first * steps), 0), int(last * steps), steps


@njit(cache=True, nogil=True)
def trace_below(height, hits, passed, touched, scan, ends, origin, deeper_than, highest, margin, used):
    """Notes how deep rays that end below `deeper_than` pass under cells; mirror images are struck from `used`.

    height, passed: (rows, columns) float32, metres; hits: uint8; touched: int32, the scan that last reduced a cell.
    ends: (N, 3) and origin: (3,) in cells, cells and metres. margin: metres under a sure floor from which on it is a
    mirror image. highest: metres up to which a surface can be floor; what is higher (a ceiling, the top of a table)
    mirrors nothing that lies under it. Each scan that looks through a floor takes one of its hits.
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
    """Cells (M,) flat that returns of this scan lie in, and rays (K,): the first return in each cell, and all outside.

    `lowest`, `highest` and `spread` (variance of the lowest) tell of the returns in a cell.

    ends: (N, 3) and origin: (3,) in cells, cells and metres. seen: (rows, columns) int32, number of the last scan.
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
    """Heights of cells (M,) flat follow the lowest return of this scan (Fankhauser et al. 2014,
    one-dimensional filter).

    A return below what is believed replaces it; one above it is a thing on the floor, unless it lies less than `rise`
    metres above it and the lower surface does not show any more. Returns of one scan that lie more than `step` apart
    tell of the face of something upright.
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
    """Return the cells where a walk from the seeds finds floor, (rows, columns) bool, and its height, float32, metres.

    A cell is floor when its surface lies at most `step` above the floor beside it and at most `doubt` below; beyond a
    gap in which no floor was seen, at most gap_step + gap_slope * gap above, and never more than `step`: the lowest
    return from a wall may lie as high as a far ring. On to something upright the walk does not climb, and its foot does
    not lift the floor. The height of the floor changes by at most `slope`, and not where only one scan saw the surface:
    the wall of a shaft does not draw it along.
    The walk goes over gaps last; cells that are no floor carry on the height of the floor that is nearest to them.
    """
    rows, columns = height.shape
    width = columns + 2  # with a border of cells that are decided
    size = (rows + 2) * width
    around = (-width, width, -1, 1, -width - 1, -width + 1, width - 1, width + 1)
    surface = np.full(size, np.nan, np.float32)
    steep, floor, state = np.zeros(size, np.bool_), np.zeros(size, np.bool_), np.full(size, _DONE, np.uint8)
    sure = np.zeros(size, np.bool_)
    reference, gap = np.full(size, np.nan, np.float32), np.zeros(size, np.int32)
    near = np.empty(size, np.int32)  # floor, to go on from at once
    wave = np.empty(size, np.int32)  # cells that are none ...
    met_from = np.empty(size, np.int32)  # ... and the neighbours from which they were met first
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
            if state[to] == _NEW:  # the place from which it was met first tells its height
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
    """Fill the places start .. end - 1 of a line if a gap of `size` cells is narrow enough for the distance."""
    for level in range(len(widths)):
        if size <= widths[level]:
            for place in range(start, end):
                at = first + place * stride
                if closest[at] >= least[level]:
                    floor[at] = True
            return


@njit(cache=True, nogil=True)
def _fill_line(seen, foot, closest, floor, first, stride, count, widths, least):
    """Fill the gaps between the cells first, first + stride ... of flat arrays; see `bridge`."""
    floor_before, foot_before = -1, -1  # places on the line
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
    """Seen floor, and the gaps in its rows, columns and diagonals that are as narrow as the distance allows: (rows,
    columns) bool.

    foot: (rows, columns) bool, where things stand; a gap lies between two cells of seen floor, or between seen floor
    and the first foot, under which the floor goes on.
    closest: (rows, columns) float32, metres, least distance of a ray. At least[k] metres, float32, ascending, gaps of
    up to widths[k] cells count, int64, and in diagonals those of diagonal_widths[k].
    """
    rows, columns = seen.shape
    floor = seen.copy()
    was, things, now, distance = seen.ravel(), foot.ravel(), floor.ravel(), closest.ravel()
    for row in range(rows):
        _fill_line(was, things, distance, now, row * columns, 1, columns, widths, least)
    for column in range(columns):
        _fill_line(was, things, distance, now, column, columns, rows, widths, least)
    for shift in range(
        1 - rows, columns
    ):  # both diagonals that meet the first or the last row at this column
        column, row = max(shift, 0), max(-shift, 0)
        count = min(rows - row, columns - column)
        down, up = row * columns + column, (rows - 1 - row) * columns + column
        _fill_line(was, things, distance, now, down, columns + 1, count, diagonal_widths, least)
        _fill_line(was, things, distance, now, up, 1 - columns, count, diagonal_widths, least)
    return floor
