"""The floor's walk and its bridges as they are defined, without regard to speed."""

from __future__ import annotations

import math
from collections import deque

import cv2
import numpy as np

from lodestar.mapping.floor import FloorConfig

_WAYS = ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def walk(
    height: np.ndarray,
    variance: np.ndarray,
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
                up = config.gap_step + config.gap_slope * away * resolution + 2.0 * math.sqrt(variance[to])
            if face[to] > 0:
                up = min(up, config.gap_step)
            if hits[to] == 0 or not -config.doubt <= offset <= up:
                wave.append((to, at))
                continue
            most = config.slope * away * resolution
            done[to], floor[to] = True, True
            reference[to] = float(reference[at]) + min(max(offset, -most), most)
            near.append(to)
    return floor, reference


def bridged(seen: np.ndarray, closest: np.ndarray, resolution: float, config: FloorConfig) -> np.ndarray:
    """Return seen floor and the gaps that count as floor: one closing per width. closest: cells."""
    gap = config.bridge
    floor = _closed(seen, gap, resolution)
    while gap < config.far_bridge:
        gap = min(gap * 1.5, config.far_bridge)
        floor |= _closed(seen, gap, resolution) & (
            closest * resolution >= np.float32(math.sqrt(gap / config.ring_gap))
        )
    return floor


def _closed(mask: np.ndarray, gap: float, resolution: float) -> np.ndarray:
    cells, filled = math.floor(gap / resolution + 1e-6) + 1, mask
    for shape in ((1, cells), (cells, 1)):
        line = np.ones(shape, np.uint8)
        filled = filled | (cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_CLOSE, line) > 0)
    return filled
