"""Compiled loops for what lies low on the floor: pallets, forks of a truck, a curb.

Most rays pass over such a thing, through the voxel that its top lies in, and would clear that voxel. So the plan keeps
the height of the highest surface of each cell as well: only a ray that passes lower contradicts it.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

MOST = 8  # evidence that a cell keeps: so many scans must contradict a surface that was seen often; chosen
SEEN = 2  # evidence of a scan that sees the surface; chosen: a cell on the edge is seen in one scan of three
SURE = 4  # evidence from which on the surface is believed: two scans


@njit(cache=True, nogil=True)
def tips(ends, used, tip, tipped, scan, origin, resolution, reach, highest, noise_per_meter):
    """Note the highest return of this scan per cell, and return the cells (M,) flat.

    ends: (N, 3) and origin: (3,) in cells in plan and metres of height. tip: (rows, columns) float32, metres, less what
    the attitude may add. tipped: int32, number of the last scan. Returns count up to `reach` metres away in plan and up
    to `highest`, metres.
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
    """The highest surface of cells (M,) flat follows what this scan saw there.

    top: (rows, columns) float32, metres; tops: uint8, its evidence. A return more than `gate` metres higher replaces
    it; where a thing is known (low: bool) it follows slowly, so that one stray return does not hide the thing. A return
    more than `gate` lower takes evidence only, as most of a cell may be floor.
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
    """A ray that passes lower than `gate` metres under the surface of a cell takes evidence, once per scan."""
    rows, columns = top.shape
    for i in range(len(ends)):
        fall = origin[2] - ends[i, 2]
        if not used[i] or fall <= 0.0 or ends[i, 2] > highest:
            continue
        length = math.hypot(ends[i, 0] - origin[0], ends[i, 1] - origin[1])
        steps = int(length * 1.5) + 2
        last = min(1.0, reach / max(resolution * length, 1e-9)) - 1.0 / max(
            length, 1.0
        )  # its end tells of itself
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
