"""Whether two things of different rooms lie beside each other, or a wall stands between them."""

from __future__ import annotations

import numpy as np

from lodestar.scene.regions import RegionMap

_AROUND = 0.6  # metres by which the way through an opening may be longer than the gap; chosen: half a doorway and a box
_NEAR = 1.5  # metres in plan up to which boxes may be beside each other; chosen: one step, as half of NextTo
_INSET = 0.1  # metres by which a box may have been measured into a wall; chosen: two voxels


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

    A region of 0 is not known, and nothing is walled off from it. Nor is what is near a box that reaches into its
    region: such a box stands on the boundary of two regions of one room, and hides the opening that it stands in.
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
    gap = np.maximum(np.maximum(other_low - high, low - other_high)[:, :2], 0.0)
    near = np.flatnonzero(walled & (np.linalg.norm(gap, axis=1) <= _NEAR))
    if len(near):
        walled[near] = ~(
            _reaches(rooms, low[near], high[near], other_region[near])
            | _reaches(rooms, other_low[near], other_high[near], region[near])
        )
    return walled


def _reaches(rooms: RegionMap, low: np.ndarray, high: np.ndarray, region: np.ndarray) -> np.ndarray:
    """Return (N,) bool: a corner, an edge or the middle of a box (N, 3), `_INSET` inside, lies in a region (N,)."""
    middle, half = (low + high)[:, :2] / 2.0, np.maximum((high - low)[:, :2] / 2.0 - _INSET, 0.0)
    sides = np.array([(x, y) for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0)])
    places = middle[:, None] + sides * half[:, None]
    return (rooms.at(places.reshape(-1, 2)).reshape(len(low), -1) == region[:, None]).any(axis=1)
