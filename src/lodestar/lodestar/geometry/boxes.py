"""Axis-aligned boxes given by two opposite corners, in any number of dimensions, metres."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def box_volume(box_min: ArrayLike, box_max: ArrayLike) -> np.ndarray:
    """Return the volume (area in 2D) of boxes (..., D); 0 for a box whose corners are swapped."""
    return np.prod(np.maximum(np.asarray(box_max, float) - np.asarray(box_min, float), 0.0), axis=-1)


def box_intersection(a_min: ArrayLike, a_max: ArrayLike, b_min: ArrayLike, b_max: ArrayLike) -> np.ndarray:
    """Return the volume shared by boxes a and b (..., D); leading dimensions broadcast."""
    return box_volume(np.maximum(a_min, b_min), np.minimum(a_max, b_max))


def box_iou(a_min: ArrayLike, a_max: ArrayLike, b_min: ArrayLike, b_max: ArrayLike) -> np.ndarray:
    """Return the intersection over union of boxes (..., D), in [0, 1]; 0 if both are empty."""
    shared = box_intersection(a_min, a_max, b_min, b_max)
    union = box_volume(a_min, a_max) + box_volume(b_min, b_max) - shared
    return np.divide(shared, union, out=np.zeros_like(np.asarray(union, float)), where=union > 0.0)


def nearest_point_on_box(point: ArrayLike, box_min: ArrayLike, box_max: ArrayLike) -> np.ndarray:
    """Return the point of the solid box nearest to `point` (..., D); a point inside is its own nearest point."""
    return np.minimum(np.maximum(np.asarray(point, float), box_min), box_max)


def point_box_distance(point: ArrayLike, box_min: ArrayLike, box_max: ArrayLike) -> np.ndarray:
    """Return the distance of points (..., D) from the solid box; 0 inside."""
    return np.linalg.norm(np.asarray(point, float) - nearest_point_on_box(point, box_min, box_max), axis=-1)


def box_distance(a_min: ArrayLike, a_max: ArrayLike, b_min: ArrayLike, b_max: ArrayLike) -> np.ndarray:
    """Return the smallest distance between boxes a and b (..., D); 0 if they touch or overlap."""
    gap = np.maximum(np.asarray(b_min, float) - a_max, np.asarray(a_min, float) - b_max)
    return np.linalg.norm(np.maximum(gap, 0.0), axis=-1)


def transform_box(
    a_from_b: np.ndarray, box_min: ArrayLike, box_max: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Return the axis-aligned box in frame a that encloses a box (3,), (3,) of frame b."""
    rotation, translation = a_from_b[:3, :3], a_from_b[:3, 3]
    low, high = np.asarray(box_min, float), np.asarray(box_max, float)
    center, half = (low + high) / 2.0, (high - low) / 2.0
    center_a = rotation @ center + translation
    half_a = np.abs(rotation) @ half
    return center_a - half_a, center_a + half_a
