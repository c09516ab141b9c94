"""Places from which the entities of a snapshot are looked at (SnapMem App. 10)."""

from __future__ import annotations

import math

import numpy as np


def observation_poses(centres: np.ndarray, camera: np.ndarray, distance: float) -> np.ndarray:
    """Return poses (2, 3) x, y, heading, metres and radians, from which the entities can be observed; the better first.

    centres: (N, 2+), N > 0, of the entities. camera: (2+,), from where the image was taken. distance: metres from the
    middle of the entities. One entity is looked at from the camera's side, two across the line that joins them, more
    across their longest extent; of the two sides, the camera's own is the better one. Whether the robot can stand there
    is for the caller to check. Raises ValueError for centres or a camera that are not finite.
    """
    centres = np.asarray(centres, np.float64)[:, :2]
    camera = np.asarray(camera, np.float64)[:2]
    if not len(centres) or not (np.isfinite(centres).all() and np.isfinite(camera).all()):
        raise ValueError("an observation needs the finite places of at least one entity and of the camera")
    middle = centres.mean(axis=0)
    towards = camera - middle
    axis = _unit(towards) if len(centres) == 1 else _across(centres - middle, towards)
    if float(axis @ towards) < 0.0:
        axis = -axis
    places = middle + distance * np.array([axis, -axis])
    looks = middle - places
    return np.column_stack([places, np.arctan2(looks[:, 1], looks[:, 0])])


def _across(offsets: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """Return the unit axis (2,) along which the offsets vary least; the camera's where they have no direction."""
    values, axes = np.linalg.eigh(offsets.T @ offsets)
    if math.isclose(float(values[0]), float(values[1]), rel_tol=1e-6, abs_tol=1e-9):
        return _unit(towards)
    return np.asarray(axes[:, 0])


def _unit(vector: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 1e-9 else np.array([1.0, 0.0])
