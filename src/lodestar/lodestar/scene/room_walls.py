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
    apart = np.flatnonzero(walled)
    one, two = region[apart].astype(np.int64), other_region[apart].astype(np.int64)
    span = int(max(one.max(), two.max())) + 1
    keys = np.minimum(one, two) * span + np.maximum(one, two)  # one number for a pair of rooms
    order = np.argsort(keys, kind="stable")
    keys, apart = keys[order], apart[order]
    for (a, b), places in rooms.all_openings().items():  # few of all pairs of rooms
        first, last = np.searchsorted(keys, (a * span + b, a * span + b + 1))
        if first == last or b >= span:
            continue
        rows = apart[first:last]
        boxes = low[rows], high[rows], other_low[rows], other_high[rows]
        gap = np.maximum(np.maximum(boxes[2] - boxes[1], boxes[0] - boxes[3])[:, :2], 0.0)
        way = (_off(places, *boxes[:2]) + _off(places, *boxes[2:])).min(axis=0)
        walled[rows] = way > np.linalg.norm(gap, axis=1) + _AROUND
    return walled
