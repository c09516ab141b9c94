"""Kernels: cells of a grid under a footprint, and the nearest obstacle."""

from __future__ import annotations

import math

import numba as nb
import numpy as np


@nb.njit(cache=True)
def covered(cells, occupied_from, origin_x, origin_y, resolution, poses, half_length, half_width):
    """Return counts (N, 2) of occupied and unknown cells whose centres lie under the footprint at poses (N, 3)."""
    counts = np.zeros((poses.shape[0], 2), np.int64)
    radius = math.hypot(half_length, half_width)
    for i in range(poses.shape[0]):
        x, y = poses[i, 0], poses[i, 1]
        c, s = math.cos(poses[i, 2]), math.sin(poses[i, 2])
        for row in range(math.floor((y - radius - origin_y) / resolution),
                         math.floor((y + radius - origin_y) / resolution) + 1):  # fmt: skip
            dy = origin_y + (row + 0.5) * resolution - y
            for column in range(math.floor((x - radius - origin_x) / resolution),
                                math.floor((x + radius - origin_x) / resolution) + 1):  # fmt: skip
                dx = origin_x + (column + 0.5) * resolution - x
                if abs(dx * c + dy * s) > half_length or abs(dy * c - dx * s) > half_width:
                    continue
                value = -1
                if 0 <= row < cells.shape[0] and 0 <= column < cells.shape[1]:
                    value = cells[row, column]
                if value < 0:
                    counts[i, 1] += 1
                elif value >= occupied_from:
                    counts[i, 0] += 1
    return counts


@nb.njit(cache=True)
def nearest_obstacle(cells, occupied_from, origin_x, origin_y, resolution, x, y, reach):
    """Return the metres from (x, y) to the centre of the nearest occupied cell, at most `reach`."""
    best = reach
    steps = int(reach / resolution) + 1
    row0, column0 = math.floor((y - origin_y) / resolution), math.floor((x - origin_x) / resolution)
    for row in range(max(row0 - steps, 0), min(row0 + steps + 1, cells.shape[0])):
        for column in range(max(column0 - steps, 0), min(column0 + steps + 1, cells.shape[1])):
            if cells[row, column] >= occupied_from:
                dx = origin_x + (column + 0.5) * resolution - x
                dy = origin_y + (row + 0.5) * resolution - y
                best = min(best, math.hypot(dx, dy))
    return best
