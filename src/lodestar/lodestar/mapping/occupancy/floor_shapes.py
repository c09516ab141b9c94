"""Operations on masks and heights of cells: dilation, widths of gaps, and smoothing."""

from __future__ import annotations

import math

import cv2
import numpy as np

FLOOR_BRIDGE = 0.6  # m, widest gap in seen floor that counts as floor: the blind ring of a LiDAR at the start
# 1/m; from d metres on, gaps of up to FLOOR_RING_GAP * d^2 m count too (rings 2.8 degrees apart, 0.5 m up)
FLOOR_RING_GAP = 0.3

_BUMP = 1.0  # m; a rise of the floor that is shorter is an object on it
_NEIGHBOURS = np.ones((3, 3), np.uint8)


def disc(reach: float, resolution: float) -> np.ndarray:
    """Return a square uint8 kernel, 1 where a cell's centre lies within `reach` metres of the middle."""
    cells = math.floor(reach / resolution + 1e-6)
    rows, columns = np.mgrid[-cells : cells + 1, -cells : cells + 1]
    return (np.hypot(rows, columns) <= reach / resolution + 1e-6).astype(np.uint8)


def bridges(widest: float, resolution: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the widest gaps that count as floor, as a table over distance.

    The table is: cells along rows and along diagonals, (N,) int64 each, and the smallest distance from which
    a ray must have crossed the gap, (N,) float32, metres, ascending. widest: metres, of the widest gap.
    """
    gaps, least = [FLOOR_BRIDGE], [0.0]
    while gaps[-1] < widest:
        gaps.append(min(gaps[-1] * 1.5, widest))
        least.append(math.sqrt(gaps[-1] / FLOOR_RING_GAP))
    cells = np.array(gaps) / resolution
    straight, diagonal = (np.floor(cells / side + 1e-6).astype(np.int64) for side in (1.0, math.sqrt(2.0)))
    return straight, diagonal, np.array(least, np.float32)


def grown(mask: np.ndarray, reach: float, resolution: float) -> np.ndarray:
    """Return the mask, bool, dilated by `reach` metres."""
    return cv2.dilate(mask.astype(np.uint8), disc(reach, resolution)) > 0


def spread(mask: np.ndarray, through: np.ndarray, reach: float, resolution: float) -> np.ndarray:
    """Return the mask, bool, dilated by `reach` metres within the cells of `through` only."""
    spread, cells = mask.astype(np.uint8), through.astype(np.uint8)
    for _ in range(math.floor(reach / resolution + 1e-6)):
        spread = np.minimum(cv2.dilate(spread, _NEIGHBOURS), cells)
    return spread > 0


def without_bumps(reference: np.ndarray, resolution: float) -> np.ndarray:
    """Return the floor's heights with narrow rises removed: those shorter than _BUMP metres are objects."""
    unknown = np.isnan(reference)
    side = 2 * round(_BUMP / resolution / 2.0) + 1
    kernel = np.ones((side, side), np.uint8)
    low = cv2.erode(np.where(unknown, np.float32(np.inf), reference), kernel)
    low[~np.isfinite(low)] = -np.inf
    return np.where(unknown, np.float32(np.nan), cv2.dilate(low, kernel))
