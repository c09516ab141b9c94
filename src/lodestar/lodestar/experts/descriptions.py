"""What the camera saw, in words, kept by place for the semantic-map expert (D_scene of RoboAtlas IV-F)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lodestar.geometry.poses import wrap_angle


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
    """What is in view, in words. map_from_camera: (4, 4)."""

    stamp: float
    map_from_camera: np.ndarray
    text: str
    points: tuple[AnnotatedPoint, ...]


@dataclass(frozen=True)
class DescriptionConfig:
    """A newer description takes the place of one within `place` metres and `angle` radians of it. capacity: kept."""

    place: float = 1.5
    angle: float = math.radians(45.0)
    capacity: int = 60


class DescriptionMemory:
    """Descriptions of unlike views, the oldest forgotten first. They are untrusted text."""

    def __init__(self, config: DescriptionConfig | None = None) -> None:
        self._config = config or DescriptionConfig()
        self._kept: list[tuple[float, float, float, SceneDescription]] = []

    def __len__(self) -> int:
        return len(self._kept)

    def clear(self) -> None:
        """Nothing was seen."""
        self._kept.clear()

    def add(self, description: SceneDescription) -> None:
        """Keep it instead of what was said of the same view before."""
        pose = description.map_from_camera
        x, y = float(pose[0, 3]), float(pose[1, 3])
        heading = math.atan2(pose[1, 2], pose[0, 2])
        config = self._config
        self._kept = [
            kept
            for kept in self._kept
            if math.hypot(kept[0] - x, kept[1] - y) > config.place
            or abs(float(wrap_angle(kept[2] - heading))) > config.angle
        ]
        self._kept.append((x, y, heading, description))
        del self._kept[: -config.capacity]

    def texts(self) -> tuple[str, ...]:
        """Where it was looked from and what was said, oldest first."""
        return tuple(f"from ({x:.1f}, {y:.1f}): {kept.text}" for x, y, _, kept in self._kept)
