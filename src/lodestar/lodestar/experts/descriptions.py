"""Scene descriptions by place, as context for the semantic-map expert (D_scene of RoboAtlas IV-F)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lodestar.geometry.poses import wrap_angle

DESCRIPTION_PLACE = 1.5  # metres within which two views are at the same place; chosen
DESCRIPTION_CAPACITY = 60  # descriptions that are kept; chosen
DESCRIPTION_ANGLE = math.radians(45.0)  # radians within which two views have the same heading; chosen


@dataclass(frozen=True)
class AnnotatedPoint:
    """A numbered mark on the image and the point behind it. pixel: (column, row). point: (3,) map, metres.

    score: relevance to the directive in [0, 1], -1 = not scored.
    """

    number: int
    pixel: tuple[float, float]
    point: np.ndarray
    score: float = -1.0


@dataclass(frozen=True)
class SceneDescription:
    """Description of one view in words. map_from_camera: (4, 4)."""

    stamp: float
    map_from_camera: np.ndarray
    text: str
    points: tuple[AnnotatedPoint, ...]


class DescriptionMemory:
    """Stores descriptions of different views; the oldest is dropped first. They are untrusted text."""

    def __init__(self) -> None:
        self._kept: list[tuple[float, float, float, SceneDescription]] = []

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, description: SceneDescription) -> None:
        """Store a description; it replaces an earlier description of the same view."""
        pose = description.map_from_camera
        x, y = float(pose[0, 3]), float(pose[1, 3])
        heading = math.atan2(pose[1, 2], pose[0, 2])
        self._kept = [
            kept
            for kept in self._kept
            if math.hypot(kept[0] - x, kept[1] - y) > DESCRIPTION_PLACE
            or abs(float(wrap_angle(kept[2] - heading))) > DESCRIPTION_ANGLE
        ]
        self._kept.append((x, y, heading, description))
        del self._kept[:-DESCRIPTION_CAPACITY]

    def texts(self) -> tuple[str, ...]:
        """Return camera positions and descriptions as text, oldest first."""
        return tuple(f"from ({x:.1f}, {y:.1f}): {kept.text}" for x, y, _, kept in self._kept)
