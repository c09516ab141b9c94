"""RGB-D frames and their segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Protocol

import numpy as np
from msgspec import Meta

from lodestar.geometry.camera import PinholeCamera

#: Corner coordinates of an outline, within the limits of number and value of the box message.
Outline = Annotated[tuple[Annotated[int, Meta(ge=-(2**15), le=2**15 - 1)], ...], Meta(max_length=64)]


DARK = 20  # of 255: brightness of an image's lightest pixels below which it shows nothing; chosen
LOOK_DEPTH = 0.05  # share of pixels with a depth below which a frame shows nothing of the floor; chosen


def is_dark(rgb: np.ndarray) -> bool:
    """Return whether an image (H, W, 3) uint8 shows nothing, as from a covered camera or in a room without light:
    99 of 100 pixels are below DARK in all channels.
    """
    return rgb.size == 0 or bool(np.quantile(rgb[::4, ::4].max(axis=2), 0.99) < DARK)


@dataclass(frozen=True)
class ImageBox:
    """Axis-aligned box in an image, pixels.

    outline: of the object's mask, made by `perception.outlines`: corner coordinates x0, y0, x1, y1, ..., with -1, -1
    between two parts; () = unknown.
    """

    x: int
    y: int
    width: int
    height: int
    outline: Outline = field(default=(), kw_only=True)


@dataclass(frozen=True)
class RgbdFrame:
    """One posed image.

    rgb: (H, W, 3) uint8 or None. depth: (H, W) float32, metres along the optical axis, 0 = invalid.
    odom_from_camera, map_from_odom: (4, 4) at `stamp` (seconds).
    """

    stamp: float
    camera: PinholeCamera
    depth: np.ndarray
    odom_from_camera: np.ndarray
    map_from_odom: np.ndarray = field(default_factory=lambda: np.eye(4))
    rgb: np.ndarray | None = None

    @property
    def map_from_camera(self) -> np.ndarray:
        """Return the camera's pose (4, 4) in map."""
        return self.map_from_odom @ self.odom_from_camera


@dataclass(frozen=True)
class CameraLook:
    """View of a camera without its images. map_from_camera: (4, 4) of its optical frame at `stamp`, seconds."""

    stamp: float
    map_from_camera: np.ndarray
    camera: PinholeCamera

    @classmethod
    def of(cls, frame: RgbdFrame) -> CameraLook | None:
        """Return the look of a frame; None if less than LOOK_DEPTH of its pixels has a depth, as when covered."""
        depth = frame.depth[::8, ::8]
        if not ((depth > 0.0) & (depth < np.inf)).mean() >= LOOK_DEPTH:
            return None
        return cls(frame.stamp, frame.map_from_camera, frame.camera)


@dataclass(frozen=True)
class AlignedDepth:
    """Depth (H, W) float32, metres, invalid = 0 or NaN, registered to the pixels of the colour image.

    camera: its camera.
    """

    depth: np.ndarray
    camera: PinholeCamera


@dataclass(frozen=True)
class Detection:
    """One segment, without an identity across frames. `caption` is untrusted text."""

    label_value: int
    label: str
    caption: str
    score: float
    box: ImageBox
    pixel_count: int
    feature: np.ndarray | None = None  # (D,) float32, unit length; appearance
    feature_model: str = ""  # name of the model; features of different models cannot be compared


@dataclass(frozen=True)
class SegmentedFrame:
    """Segments of one RGB image. labels: (H, W) uint16, 0 = none, numbered independently in each frame."""

    stamp: float
    labels: np.ndarray
    detections: tuple[Detection, ...]
    detector: str = ""


class DetectorUnavailable(RuntimeError):
    """Raised if the detector cannot run; the message says what to install or provide."""


@dataclass(frozen=True)
class Vocabulary:
    """Labels that a detector can assign. names: all labels of a closed detector. is_open: it searches for any text."""

    names: tuple[str, ...] = ()
    is_open: bool = False


class Labeller(Protocol):
    """Interface of components that label segments, for any kind of input image."""

    name: str

    @property
    def vocabulary(self) -> Vocabulary:
        """Return the labels that the component can assign; may load its model. Raises DetectorUnavailable."""

    def look_for(self, words: Sequence[str]) -> None:
        """Search for these words instead of the previous ones, from the next image on.

        Returns when the words are set. An open detector may take seconds, so call it on another thread than
        that of the images, which meanwhile use the previous words. A closed detector ignores the words.
        Raises DetectorUnavailable.
        """


class Detector(Labeller, Protocol):
    """Interface of a detector that segments RGB images."""

    def detect(self, stamp: float, rgb: np.ndarray, depth: AlignedDepth | None = None) -> SegmentedFrame:
        """Return the segments of an (H, W, 3) uint8 image. Raises DetectorUnavailable.

        depth: of the same moment; used to make masks from boxes if the detector returns no masks.
        """
