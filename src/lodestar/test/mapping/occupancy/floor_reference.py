"""Plain reference implementations of the floor's walk and bridges, without regard to speed."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from lodestar.mapping.occupancy import floor_shapes
from lodestar.mapping.occupancy.floor import (
    FLOOR_DOUBT,
    FLOOR_GAP_SLOPE,
    FLOOR_GAP_STEP,
    FLOOR_SLOPE,
    FLOOR_STEP,
)

_WAYS = ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def walk(
    height: np.ndarray, hits: np.ndarray, face: np.ndarray, seeds: np.ndarray, resolution: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return floor and reference of `floor_kernels.walk`; a cell is entered from all neighbours of fitting height."""
    floor, reference = np.zeros(height.shape, bool), np.full(height.shape, np.nan, np.float32)
    gap, done = np.zeros(height.shape, int), np.zeros(height.shape, bool)
    near = deque((int(r), int(c)) for r, c in np.argwhere(seeds & (hits > 0)))
    wave: deque[tuple[tuple[int, int], tuple[int, int]]] = deque()
    for cell in near:
        done[cell], floor[cell], reference[cell] = True, True, height[cell]
    while near or wave:
        if near:
            at = near.popleft()
        else:
            at, before = wave.popleft()
            if done[at]:
                continue
            done[at], reference[at], gap[at] = True, reference[before], gap[before] + 1
        away = int(gap[at]) + 1
        for dr, dc in _WAYS:
            to = at[0] + dr, at[1] + dc
            if not (0 <= to[0] < height.shape[0] and 0 <= to[1] < height.shape[1]) or done[to]:
                continue
            offset = float(height[to] - reference[at])
            up = FLOOR_STEP
            if away > 1:
                up = min(FLOOR_GAP_STEP + FLOOR_GAP_SLOPE * away * resolution, FLOOR_STEP)
            if face[to] > 0:
                up = min(up, FLOOR_GAP_STEP)
            if hits[to] == 0 or not -FLOOR_DOUBT <= offset <= up:
                wave.append((to, at))
                continue
            # no slope for a cell seen by a single scan
            most = FLOOR_SLOPE * away * resolution if hits[to] >= 2 else 0.0
            done[to], floor[to] = True, True
            reference[to] = float(reference[at]) + min(max(offset, -most), 0.0 if face[to] > 0 else most)
            near.append(to)
    return floor, reference


def bridged(
    seen: np.ndarray, foot: np.ndarray, closest: np.ndarray, resolution: float, far_bridge: float
) -> np.ndarray:
    """Return the seen floor and the gaps that count as floor. closest: metres, float32; far_bridge: metres."""
    width = np.full(seen.shape, np.inf)  # cells, width of the narrowest gap around each cell
    nothing = np.zeros_like(foot)
    for cell in np.argwhere(~seen):
        gaps = [_gap(seen, feet, cell, way) for way in _WAYS[::2] for feet in (foot, nothing)]
        width[tuple(cell)] = min(gaps)
    floor, gap, least = seen.copy(), floor_shapes.FLOOR_BRIDGE, 0.0
    while True:
        floor |= (width <= gap / resolution + 1e-6) & (closest >= np.float32(least))
        if gap >= far_bridge:
            return floor
        gap = min(gap * 1.5, far_bridge)
        least = math.sqrt(gap / floor_shapes.FLOOR_RING_GAP)


def _gap(seen: np.ndarray, foot: np.ndarray, cell: np.ndarray, way: tuple[int, int]) -> float:
    """Return the number of cells across the gap around a cell, or up to a foot; inf unless seen floor ends the gap."""
    away, on_floor = [], []
    for sign in (-1, 1):
        row, column, steps = int(cell[0]), int(cell[1]), 0
        while steps == 0 or not (seen[row, column] or foot[row, column]):
            row, column, steps = row + sign * way[0], column + sign * way[1], steps + 1
            if not (0 <= row < seen.shape[0] and 0 <= column < seen.shape[1]):
                steps = -1
                break
        away.append(steps)
        on_floor.append(steps > 0 and bool(seen[row, column]))
    if foot[tuple(cell)]:
        sizes = [steps - 1 for steps, sure in zip(away, on_floor) if sure]
        return min(sizes) * math.hypot(*way) if sizes else math.inf
    if min(away) < 0 or not any(on_floor):
        return math.inf
    return (sum(away) - 1) * math.hypot(*way)
