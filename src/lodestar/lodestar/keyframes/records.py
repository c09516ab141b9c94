"""Records of keyframes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.perception.frames import ImageBox


class ImageName(NamedTuple):
    """Name of a keyframe that no other run gives again: ids begin anew with each session of the keyframe store."""

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
    """A keyframe as it lies on the disk: a correction of the map moves its anchor, not its file.

    anchor_from_camera: (4, 4). size: bytes of its JPEG; 0 = not noted (version 1).
    """

    id: int
    stamp: float
    anchor_from_camera: np.ndarray
    camera: PinholeCamera
    instances: dict[int, ImageBox]
    map_id: int
    session_id: str
    size: int

    def in_map(self, map_from_anchor: np.ndarray) -> Keyframe:
        """Return the keyframe with its pose in map. map_from_anchor: (4, 4)."""
        pose = map_from_anchor @ self.anchor_from_camera
        return Keyframe(self.id, self.stamp, pose, self.camera, self.instances, self.map_id, self.session_id)

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON values."""
        return {
            "id": self.id,
            "stamp": self.stamp,
            "anchor_from_camera": self.anchor_from_camera.tolist(),
            "camera": asdict(self.camera),
            "instances": {str(i): asdict(box) for i, box in self.instances.items()},
            "map_id": self.map_id,
            "session_id": self.session_id,
            "size": self.size,
        }

    @staticmethod
    def of_json(data: dict[str, Any]) -> AnchoredKeyframe:
        """Return the record of JSON values. Raises ValueError, KeyError, TypeError.

        Version 1 had poses in map; their anchor is where the map begins.
        """
        pose = np.array(data["anchor_from_camera" if "size" in data else "map_from_camera"], np.float64)
        if pose.shape != (4, 4) or not np.isfinite(pose).all():
            raise ValueError(f"a pose of shape {pose.shape}, or one that is not finite")
        return AnchoredKeyframe(
            int(data["id"]),
            float(data["stamp"]),
            pose,
            PinholeCamera(**data["camera"]),
            {int(i): ImageBox(**box) for i, box in data["instances"].items()},
            int(data["map_id"]),
            str(data["session_id"]),
            int(data.get("size", 0)),
        )
