"""Records of keyframes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.perception.frames import ImageBox

MAX_KEYFRAME = 2**32 - 1  # largest id that fits the messages


class ImageName(NamedTuple):
    """Name of a keyframe that is unique across runs, because ids restart with each session of the store."""

    session: str
    id: int


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


@dataclass(frozen=True)
class AnchoredKeyframe:
    """A keyframe as stored on disk, with its pose relative to an anchor.

    A correction of the map moves the anchor and leaves the file. anchor_from_camera: (4, 4). size: bytes of
    its JPEG; 0 = unknown.
    """

    id: int
    stamp: float
    anchor_from_camera: np.ndarray
    camera: PinholeCamera
    instances: dict[int, ImageBox]
    map_id: int
    session_id: str
    size: int = 0

    def in_map(self, map_from_anchor: np.ndarray) -> Keyframe:
        """Return the keyframe with its pose in map. map_from_anchor: (4, 4)."""
        pose = map_from_anchor @ self.anchor_from_camera
        return Keyframe(self.id, self.stamp, pose, self.camera, self.instances, self.map_id, self.session_id)
