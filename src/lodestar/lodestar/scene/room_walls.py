"""Test whether a wall stands between two objects of different rooms."""

from __future__ import annotations

import numpy as np

from lodestar.scene.regions import RegionMap

_AROUND = 0.6  # metres by which a path through an opening may exceed the gap; chosen: half a doorway, a box
_NEAR = 1.5  # metres in plan within which boxes may be beside each other; chosen: one step, as half of NextTo
_INSET = 0.1  # metres by which a box may extend into a wall by measurement error; chosen: two voxels


def _off(places: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the distances (K, N), metres in plan, of K places from N boxes.

    places: (K, 2). low, high: corners (N, 2+).
    """
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
    """Return (N,) bool: whether a wall stands between two boxes.

    This is so if the boxes (N, 3) lie in different regions (N,) and no opening between these regions lies
    between them. Region 0 is unknown and never walled off; nor is a box that extends into the other's region,
    because it stands on the boundary of two regions of one room and hides the opening there.
    """
    walled = (region != other_region) & (region > 0) & (other_region > 0)
    if rooms.is_empty or not walled.any():
        return walled & False
    apart = np.flatnonzero(walled)
    one, two = region[apart].astype(np.int64), other_region[apart].astype(np.int64)
    span = int(max(one.max(), two.max())) + 1
    keys = np.minimum(one, two) * span + np.maximum(one, two)  # one key per pair of rooms
    order = np.argsort(keys, kind="stable")
    keys, apart = keys[order], apart[order]
    for (a, b), places in rooms.all_openings().items():  # few pairs of rooms have openings
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
    """Return (N,) bool: whether a box (N, 3) extends into a region (N,) by more than `_INSET` metres.

    Tested are its corners, the middles of its edges and its centre.
    """
    middle, half = (low + high)[:, :2] / 2.0, np.maximum((high - low)[:, :2] / 2.0 - _INSET, 0.0)
    sides = np.array([(x, y) for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0)])
    places = middle[:, None] + sides * half[:, None]
    return (rooms.at(places.reshape(-1, 2)).reshape(len(low), -1) == region[:, None]).any(axis=1)
