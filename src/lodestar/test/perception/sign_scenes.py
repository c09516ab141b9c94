"""Views of a wall with a plate, and a scripted text reader."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.perception.frames import RgbdFrame
from lodestar.perception.signs import TextLine

CAMERA = PinholeCamera(640, 480, 380.0, 380.0, 319.5, 239.5)
WALL = 2.0  # m, x of the wall, whose plates face -x


def view(
    x: float = 0.0, y: float = 0.0, text: str = "204", stamp: float = 0.0, depth: float | None = None
) -> RgbdFrame:
    """Return the frame of a camera at (x, y, 1), which looks along +x at a wall with a plate at (WALL, 0, 1)."""
    away = WALL - x
    image = np.full((480, 640, 3), 225, np.uint8)
    column, row = 319.5 + 380.0 * y / away, 239.5
    scale = 0.06 * 380.0 / away / 21.0
    (width, height), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, 2)
    place = (round(column - width / 2), round(row + height / 2))
    cv2.putText(image, text, place, cv2.FONT_HERSHEY_SIMPLEX, scale, (15, 15, 15), 2, cv2.LINE_AA)
    pose = planar_transform(x, y, 0.0, 1.0) @ BODY_FROM_OPTICAL
    metres = np.full((480, 640), away if depth is None else depth, np.float32)
    return RgbdFrame(stamp, CAMERA, metres, pose, np.eye(4), image)


@dataclass
class ScriptedReader:
    """Reads `texts` in the middle of every image; of a mirror image, `turned`. Each text has a score."""

    texts: Sequence[tuple[str, float]] = (("204", 0.99),)
    turned: Sequence[tuple[str, float]] = ()
    shapes: list[tuple[int, ...]] = field(default_factory=list)
    edge: bool = False  # whether the text touches the edge of the image

    def read(self, rgb: np.ndarray) -> Sequence[TextLine]:
        """Return the scripted lines; every second image counts as the mirror image of the one before."""
        self.shapes.append(rgb.shape)
        said = self.texts if len(self.shapes) % 2 else self.turned
        height, width = rgb.shape[:2]
        left = 0.0 if self.edge else 0.25 * width
        box = np.array(
            [
                [left, 0.25 * height],
                [0.75 * width, 0.25 * height],
                [0.75 * width, 0.75 * height],
                [left, 0.75 * height],
            ]
        )
        return [TextLine(text, score, box) for text, score in said]


def tilted(angle: float) -> RgbdFrame:
    """Return a view of a wall turned by an angle, radians, about the vertical."""
    frame = view()
    columns = (np.arange(640) - 319.5) / 380.0
    metres = WALL / (1.0 - columns * math.tan(angle))
    return RgbdFrame(
        0.0,
        CAMERA,
        np.tile(metres.astype(np.float32), (480, 1)),
        frame.odom_from_camera,
        np.eye(4),
        frame.rgb,
    )
