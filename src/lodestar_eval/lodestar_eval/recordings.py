"""Recorded RGB-D sequences with camera poses, as frames of the map."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import cv2
import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, inverse
from lodestar.perception.frames import RgbdFrame

_FRAME = re.compile(r"frame-(\d+)\.depth\.png$")
_INVALID_MM = 65535  # 7-Scenes' value of pixels without a measurement


class BadRecording(ValueError):
    """Raised if a path has no readable recording; the message says what is missing."""


class Recording(Protocol):
    """A sequence of frames. skipped: unusable frames so far, by reason."""

    name: str
    skipped: Counter[str]

    def __len__(self) -> int:
        """Return an upper bound on the number of frames."""

    def frames(self) -> Iterator[RgbdFrame]:
        """Yield the frames in the order of stamps; z of the map is up if the first camera is level."""


@dataclass
class FolderRecording:
    """Recording in a folder in the format of 7-Scenes.

    Files: frame-NNNNNN.{color.jpg|color.png, depth.png, pose.txt} and camera-intrinsics.txt.

    Depth: uint16 millimetres, 0 and 65535 invalid. Pose: 4x4 world <- camera, metres. rate: frames per
    second. map_from_world: (4, 4); None = the map is the first camera's, x ahead and z up.
    """

    path: Path
    rate: float = 30.0
    map_from_world: np.ndarray | None = None
    skipped: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.name = self.path.resolve().name
        if not self.path.is_dir():
            raise BadRecording(f"{self.path} is no folder")
        self._numbers = sorted(int(m[1]) for file in self.path.iterdir() if (m := _FRAME.match(file.name)))
        if not self._numbers:
            raise BadRecording(f"{self.path} has no frame-NNNNNN.depth.png")
        self._matrix = _matrix(self.path / "camera-intrinsics.txt", (3, 3))

    def __len__(self) -> int:
        return len(self._numbers)

    def frames(self) -> Iterator[RgbdFrame]:
        """Yield the frames with complete files; the others are counted in `skipped`."""
        self.skipped.clear()
        map_from_world = self.map_from_world
        for number in self._numbers:
            stem = str(self.path / f"frame-{number:06d}")
            depth_mm = cv2.imread(f"{stem}.depth.png", cv2.IMREAD_UNCHANGED)
            if depth_mm is None or depth_mm.ndim != 2 or depth_mm.dtype != np.uint16:
                self.skipped["depth"] += 1
                continue
            try:
                world_from_camera = _matrix(Path(f"{stem}.pose.txt"), (4, 4))
            except BadRecording:
                self.skipped["pose"] += 1
                continue
            if map_from_world is None:
                map_from_world = BODY_FROM_OPTICAL @ inverse(world_from_camera)
            rgb = _color(stem)
            if rgb is None or rgb.shape[:2] != depth_mm.shape:
                self.skipped["colour"] += 1
                rgb = None
            height, width = depth_mm.shape
            matrix = self._matrix
            camera = PinholeCamera(width, height, matrix[0, 0], matrix[1, 1], matrix[0, 2], matrix[1, 2])
            depth = np.where(depth_mm == _INVALID_MM, 0, depth_mm).astype(np.float32) * np.float32(1e-3)
            yield RgbdFrame(
                number / self.rate, camera, depth, map_from_world @ world_from_camera, np.eye(4), rgb
            )


def _matrix(file: Path, shape: tuple[int, int]) -> np.ndarray:
    try:
        matrix = np.loadtxt(file, ndmin=2)
    except (OSError, ValueError) as error:
        raise BadRecording(f"{file}: {error}") from error
    if matrix.shape != shape or not np.isfinite(matrix).all():
        raise BadRecording(f"{file} is no finite {shape[0]} x {shape[1]} matrix")
    return matrix


def _color(stem: str) -> np.ndarray | None:
    for suffix in ("jpg", "png"):
        image = cv2.imread(f"{stem}.color.{suffix}", cv2.IMREAD_COLOR)
        if image is not None:
            return np.ascontiguousarray(image[:, :, ::-1])
    return None
