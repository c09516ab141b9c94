"""Records of keyframes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.perception.frames import ImageBox


@dataclass(frozen=True)
class Keyframe:
    """Record of a kept image; the store holds its JPEG. map_from_camera: (4, 4)."""

    id: int
    stamp: float
    map_from_camera: np.ndarray
    camera: PinholeCamera
    instances: dict[int, ImageBox] = field(default_factory=dict)
    map_id: int = 1
    session_id: str = ""
