"""Whether two things of different rooms lie beside each other, or a wall stands between them."""

from __future__ import annotations

import numpy as np

from lodestar.scene.regions import RegionMap

_AROUND = 0.6  # metres by which the way through an opening may be longer than the gap; chosen: half a doorway and a box


def _off(places: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the distances (K, N) in plan of places (K, 2) from boxes (N, 2+)."""
    outside = np.maximum(
        np.maximum(low[None, :, :2] - places[:, None], places[:, None] - high[None, :, :2]), 0.0
    )
    return np.linalg.norm(outside, axis=-1)


def walled_off(
    rooms: RegionMap,
    region: np.ndarray,
    other_region: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    other_low: np.ndarray,
    other_high: np.ndarray,
) -> np.ndarray:
    """Return (N,) bool: the boxes (N, 3) lie in different regions (N,), and no opening between these lies between them.

    A region of 0 is not known, and nothing is walled off from it.
    """
    walled = (region != other_region) & (region > 0) & (other_region > 0)
    if rooms.is_empty or not walled.any():
        return walled & False
    pairs = np.sort(np.column_stack([region, other_region]), axis=1)
    for a, b in np.unique(pairs[walled], axis=0):
        rows = np.flatnonzero(walled & (pairs == (a, b)).all(axis=1))
        places = rooms.openings(int(a), int(b))
        if not len(places):
            continue
        boxes = low[rows], high[rows], other_low[rows], other_high[rows]
        gap = np.maximum(np.maximum(boxes[2] - boxes[1], boxes[0] - boxes[3])[:, :2], 0.0)
        way = (_off(places, *boxes[:2]) + _off(places, *boxes[2:])).min(axis=0)
        walled[rows] = way > np.linalg.norm(gap, axis=1) + _AROUND
    return walled
