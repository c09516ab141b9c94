"""Masks and heights of cells, grown, bridged and smoothed."""

from __future__ import annotations

import math

import cv2
import numpy as np

from lodestar.mapping.config import FloorConfig

_BUMP = 1.0  # m, within which floor that rises and falls again is a thing on it
_NEIGHBOURS = np.ones((3, 3), np.uint8)


def disc(reach: float, resolution: float) -> np.ndarray:
    """Cells whose centres lie within `reach` metres of the middle one."""
    cells = math.floor(reach / resolution + 1e-6)
    rows, columns = np.mgrid[-cells : cells + 1, -cells : cells + 1]
    return (np.hypot(rows, columns) <= reach / resolution + 1e-6).astype(np.uint8)


def bridges(config: FloorConfig, resolution: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cells of the widest gaps that count as floor along rows and along diagonals, (N,) int64 each, and the least
    distances of rays for them, (N,) float32, metres, ascending.
    """
    gaps, least = [config.bridge], [0.0]
    while gaps[-1] < config.far_bridge:
        gaps.append(min(gaps[-1] * 1.5, config.far_bridge))
        least.append(math.sqrt(gaps[-1] / config.ring_gap))
    cells = np.array(gaps) / resolution
    straight, diagonal = (np.floor(cells / side + 1e-6).astype(np.int64) for side in (1.0, math.sqrt(2.0)))
    return straight, diagonal, np.array(least, np.float32)


def grown(mask: np.ndarray, reach: float, resolution: float) -> np.ndarray:
    """The mask and cells that lie within `reach` metres of it."""
    return cv2.dilate(mask.astype(np.uint8), disc(reach, resolution)) > 0


def spread(mask: np.ndarray, through: np.ndarray, reach: float, resolution: float) -> np.ndarray:
    """The mask and cells that are no farther from it than `reach` on a way through the cells of `through`."""
    spread, cells = mask.astype(np.uint8), through.astype(np.uint8)
    for _ in range(math.floor(reach / resolution + 1e-6)):
        spread = np.minimum(cv2.dilate(spread, _NEIGHBOURS), cells)
    return spread > 0


def without_bumps(reference: np.ndarray, resolution: float) -> np.ndarray:
    """Heights of the floor without what rises over less than _BUMP metres: the foot of things that stand on it."""
    unknown = np.isnan(reference)
    side = 2 * round(_BUMP / resolution / 2.0) + 1
    kernel = np.ones((side, side), np.uint8)
    low = cv2.erode(np.where(unknown, np.float32(np.inf), reference), kernel)
    low[~np.isfinite(low)] = -np.inf
    return np.where(unknown, np.float32(np.nan), cv2.dilate(low, kernel))
