"""Compiled loops for low objects on the floor: pallets, forks of a truck, a curb.

Most rays pass over such an object, through the voxel that holds its top, and would clear that voxel. So the
map also keeps the height of the highest surface of each 2-D cell; only a ray that passes below this height is
evidence against it.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

MOST = 8  # largest evidence of a cell; this many scans must contradict a surface that was seen often; chosen
# evidence from a scan that sees the surface; chosen: a cell on the edge is seen in one scan of three
SEEN = 2
SURE = 4  # evidence from which the surface counts as real: two scans


@njit(cache=True, nogil=True)
def tips(ends, used, tip, tipped, scan, origin, resolution, reach, highest, noise_per_meter):
    """Write the highest return of this scan per cell to `tip`; return the cells (M,), flat.

    ends: (N, 3) and origin: (3,) in cells in plan, height in metres. tip: (rows, columns) float32, metres,
    reduced by the possible error from attitude. tipped: int32, number of the last scan. Returns count up to
    `reach` metres away in plan and up to the height `highest`, metres.
    """
    rows, columns = tip.shape
    found, count = np.empty(len(ends), np.int64), 0
    for i in range(len(ends)):
        if not used[i] or ends[i, 2] > highest:
            continue
        row, column = math.floor(ends[i, 1]), math.floor(ends[i, 0])
        away = resolution * math.hypot(ends[i, 0] - origin[0], ends[i, 1] - origin[1])
        if away > reach or not (0 <= row < rows and 0 <= column < columns):
            continue
        z = ends[i, 2] - noise_per_meter * away
        if tipped[row, column] != scan:
            tipped[row, column], tip[row, column] = scan, z
            found[count] = row * columns + column
            count += 1
        elif z > tip[row, column]:
            tip[row, column] = z
    return found[:count]


@njit(cache=True, nogil=True)
def fuse(cells, tip, top, tops, low, gate):
    """Update the highest surface of cells (M,), flat, with this scan's `tip`.

    top: (rows, columns) float32, metres, height of that surface; tops: uint8, its evidence. A return more
    than `gate` metres higher replaces the surface; on a known low object (low: bool) the surface rises
    slowly, so that one stray return does not hide the object. A return more than `gate` lower only reduces
    the evidence, because most of a cell may be floor.
    """
    columns = top.shape[1]
    for i in range(len(cells)):
        row = cells[i] // columns
        column = cells[i] - row * columns
        offset = tip[row, column] - top[row, column]
        if tops[row, column] == 0 or (offset > gate and not low[row, column]):
            top[row, column], tops[row, column] = tip[row, column], SEEN
        elif offset >= -gate:
            top[row, column] += 0.25 * offset
            tops[row, column] = min(tops[row, column] + SEEN, MOST)
        else:
            tops[row, column] -= 1


@njit(cache=True, nogil=True)
def pass_under(ends, used, top, tops, tipped, scan, origin, resolution, reach, highest, gate):
    """Reduce the evidence of cells whose highest surface contradicts a ray.

    That is the case if the ray passes more than `gate` metres below it. tops: the evidence, reduced at most
    once per scan.
    """
    rows, columns = top.shape
    for i in range(len(ends)):
        fall = origin[2] - ends[i, 2]
        if not used[i] or fall <= 0.0 or ends[i, 2] > highest:
            continue
        length = math.hypot(ends[i, 0] - origin[0], ends[i, 1] - origin[1])
        steps = int(length * 1.5) + 2
        # the cell of the return is updated by `fuse`
        last = min(1.0, reach / max(resolution * length, 1e-9)) - 1.0 / max(length, 1.0)
        for k in range(max(math.ceil((origin[2] - highest) / fall * steps), 0), int(last * steps) + 1):
            share = k / steps
            row = math.floor(origin[1] + share * (ends[i, 1] - origin[1]))
            column = math.floor(origin[0] + share * (ends[i, 0] - origin[0]))
            if not (0 <= row < rows and 0 <= column < columns):
                continue
            if tops[row, column] == 0 or tipped[row, column] == scan:
                continue
            if origin[2] - share * fall < top[row, column] - gate:
                tops[row, column] -= 1
                tipped[row, column] = scan
