"""The floor's walk and its bridges as they are defined, without regard to speed."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from lodestar.mapping.floor import FloorConfig

_WAYS = ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def walk(
    height: np.ndarray,
    hits: np.ndarray,
    face: np.ndarray,
    seeds: np.ndarray,
    resolution: float,
    config: FloorConfig,
) -> tuple[np.ndarray, np.ndarray]:
    """Return floor and reference of `floor_kernels.walk`; a cell is entered from every neighbour that meets it."""
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
            up = config.step
            if away > 1:
                up = min(config.gap_step + config.gap_slope * away * resolution, config.step)
            if face[to] > 0:
                up = min(up, config.gap_step)
            if hits[to] == 0 or not -config.doubt <= offset <= up:
                wave.append((to, at))
                continue
            most = config.slope * away * resolution if hits[to] >= 2 else 0.0  # seen by one scan alone
            done[to], floor[to] = True, True
            reference[to] = float(reference[at]) + min(max(offset, -most), 0.0 if face[to] > 0 else most)
            near.append(to)
    return floor, reference


def bridged(
    seen: np.ndarray, foot: np.ndarray, closest: np.ndarray, resolution: float, config: FloorConfig
) -> np.ndarray:
    """Return seen floor and the gaps that count as floor. closest: metres, float32."""
    width = np.full(seen.shape, np.inf)  # cells, of the narrowest gap around each cell
    nothing = np.zeros_like(foot)
    for cell in np.argwhere(~seen):
        gaps = [_gap(seen, feet, cell, way) for way in _WAYS[::2] for feet in (foot, nothing)]
        width[tuple(cell)] = min(gaps)
    floor, gap, least = seen.copy(), config.bridge, 0.0
    while True:
        floor |= (width <= gap / resolution + 1e-6) & (closest >= np.float32(least))
        if gap >= config.far_bridge:
            return floor
        gap = min(gap * 1.5, config.far_bridge)
        least = math.sqrt(gap / config.ring_gap)


def _gap(seen: np.ndarray, foot: np.ndarray, cell: np.ndarray, way: tuple[int, int]) -> float:
    """Cells across the gap around a cell, or up to it if it is a foot; infinite unless seen floor ends the gap."""
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
