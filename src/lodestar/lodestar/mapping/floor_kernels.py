"""Compiled loops of the floor map: what one scan says of the floor, and which surface the robot can walk on."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

MOST_HITS = 20  # scans that a cell remembers: so many must contradict a floor that was seen often
_FACE_SEEN, _FACE_MOST = 2, 10  # how fast a cell is taken for the face of something upright, and how surely
_SURE = 2  # hits from which on a ray that goes through the floor is a mirror image
_HIGHER = 5  # scans in a row that must see a cell higher before its floor is believed to have risen


@njit(cache=True)
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


@njit(cache=True)
def trace_below(height, hits, passed, touched, scan, ends, origin, deeper_than, margin, used):
    """Notes how deep rays that end below `deeper_than` pass under cells; mirror images are struck from `used`.

    height, passed: (rows, columns) float32, metres; hits: uint8; touched: int32, the scan that last reduced a cell.
    ends: (N, 3) and origin: (3,) in cells, cells and metres. margin: metres under a sure floor from which on it is a
    mirror image. Each scan that looks through a floor takes one of its hits.
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
                elif hits[row, column] > 0 and z < height[row, column] - margin:
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


@njit(cache=True)
def lowest_returns(
    ends, used, lowest, highest, spread, seen, scan, noise, noise_per_meter, origin, resolution
):
    """Cells (M,) flat that returns of this scan lie in; `lowest`, `highest` and `spread` (variance of the
    lowest) there tell of them.

    ends: (N, 3) and origin: (3,) in cells, cells and metres. seen: (rows, columns) int32, number of the last scan.
    """
    rows, columns = lowest.shape
    found = np.empty(len(ends), np.int64)
    count = 0
    for i in range(len(ends)):
        row, column = math.floor(ends[i, 1]), math.floor(ends[i, 0])
        if not used[i] or not (0 <= row < rows and 0 <= column < columns):
            continue
        z = ends[i, 2]
        if seen[row, column] == scan and z >= lowest[row, column]:
            highest[row, column] = max(highest[row, column], z)
            continue
        if seen[row, column] != scan:
            seen[row, column] = scan
            found[count] = row * columns + column
            count += 1
            highest[row, column] = z
        away = resolution * math.hypot(ends[i, 0] - origin[0], ends[i, 1] - origin[1])
        lowest[row, column] = z
        spread[row, column] = noise * noise + (noise_per_meter * away) ** 2
    return found[:count]


@njit(cache=True)
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


@njit(cache=True)
def walk(height, variance, hits, face, seeds, resolution, step, gap_step, gap_slope, slope, doubt):
    """Where somebody who walks from the seeds finds floor: (rows, columns) bool; and its height, float32, metres.

    A cell is floor when its surface lies at most `step` above the floor beside it and at most `doubt` below; beyond a
    gap in which no floor was seen, at most gap_step + gap_slope * gap + two standard deviations above. On to something
    upright the walk does not climb. The height of the floor changes by at most `slope`: neither the foot of things nor
    the wall of a shaft draws it along. The walk goes over gaps last; cells that are no floor carry on the height of the
    floor that is nearest to them.
    """
    rows, columns = height.shape
    size = rows * columns
    floor = np.zeros((rows, columns), np.bool_)
    reference = np.full((rows, columns), np.nan, np.float32)
    gap = np.zeros((rows, columns), np.int32)
    done = np.zeros((rows, columns), np.bool_)
    near = np.empty(size, np.int64)  # floor, to go on from at once
    wave = np.empty(
        (8 * size, 2), np.int32
    )  # cells that are none, and the neighbours from which they were met
    near_taken = near_count = wave_taken = wave_count = 0
    for row in range(rows):
        for column in range(columns):
            if seeds[row, column] and hits[row, column] > 0:
                done[row, column] = floor[row, column] = True
                reference[row, column] = height[row, column]
                near[near_count] = row * columns + column
                near_count += 1
    while near_taken < near_count or wave_taken < wave_count:
        if near_taken < near_count:
            cell = near[near_taken]
            near_taken += 1
            r, c = cell // columns, cell % columns
        else:
            r, c = wave[wave_taken, 0] // columns, wave[wave_taken, 0] % columns
            pr, pc = wave[wave_taken, 1] // columns, wave[wave_taken, 1] % columns
            wave_taken += 1
            if done[r, c]:
                continue
            done[r, c] = True
            reference[r, c] = reference[pr, pc]
            gap[r, c] = gap[pr, pc] + 1
        base = reference[r, c]
        away = gap[r, c] + 1
        for k in range(8):
            nr, nc = r + (-1, 1, 0, 0, -1, -1, 1, 1)[k], c + (0, 0, -1, 1, -1, 1, -1, 1)[k]
            if nr < 0 or nr >= rows or nc < 0 or nc >= columns or done[nr, nc]:
                continue
            offset = height[nr, nc] - base
            up = step
            if away > 1:
                up = gap_step + gap_slope * away * resolution + 2.0 * math.sqrt(variance[nr, nc])
            if face[nr, nc] > 0:
                up = min(up, gap_step)
            if hits[nr, nc] == 0 or not -doubt <= offset <= up:
                wave[wave_count] = nr * columns + nc, r * columns + c
                wave_count += 1
            else:
                most = slope * away * resolution
                done[nr, nc] = floor[nr, nc] = True
                reference[nr, nc] = base + min(max(offset, -most), most)
                near[near_count] = nr * columns + nc
                near_count += 1
    return floor, reference
