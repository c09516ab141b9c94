"""Calibration of a camera as its driver publishes it, and the pinhole camera of its rectified images.

Names and matrices are those of sensor_msgs/CameraInfo and OpenCV.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from lodestar.geometry.camera import PinholeCamera

Intrinsics = tuple[float, float, float, float]  # fx, fy, cx, cy, pixels

#: Names of OpenCV's polynomial distortion, radial and tangential; some drivers leave the name empty ("").
_POLYNOMIAL = ("plumb_bob", "rational_polynomial", "thin_prism", "radtan", "brown_conrady", "")
_POLYNOMIAL_LENGTHS = (4, 5, 8, 12, 14)  # allowed numbers of polynomial coefficients
#: Names of OpenCV's fisheye distortion.
_FISHEYE = ("equidistant", "fisheye", "kannala_brandt")
_FISHEYE_LENGTHS = (4,)


class ImageMismatch(ValueError):
    """Raised for an image whose size the camera cannot produce; the message names both sizes."""


@dataclass(frozen=True)
class CameraModel:
    """Calibration of a camera. Sizes, matrices and the window are in pixels of the full, unbinned image.

    At least one of raw and rectified is given.
    """

    width: int  # pixels
    height: int  # pixels
    raw: Intrinsics | None = None  # intrinsics of the distorted image (K)
    rectified: Intrinsics | None = None  # intrinsics of the undistorted image (P)
    distortion: str = ""  # name of the distortion model
    coefficients: tuple[float, ...] = ()
    binning: tuple[int, int] = (1, 1)  # pixels of the sensor per pixel of an image, along x and y
    window: tuple[int, int, int, int] = (0, 0, 0, 0)  # x, y, width, height that are output; zeros = all
    turned: bool = False  # the rectified image is that of a rotated camera, as in a stereo pair

    @property
    def unapplied(self) -> str:
        """Return the reason why the distortion cannot be removed; "" if it can, or if there is none."""
        if not any(self.coefficients):
            return ""
        if self.raw is None:
            return ""  # P alone describes rectified images
        if self._padded() is None:
            return f"{self.distortion!r} with {len(self.coefficients)} coefficients is not known"
        return ""

    @property
    def is_distorted(self) -> bool:
        """Return whether raw images must be rectified with `rectification`."""
        return any(self.coefficients) and self.raw is not None and not self.unapplied

    @property
    def image_size(self) -> tuple[int, int]:
        """Return the (width, height) of the camera's images after window and binning, pixels."""
        window = self._window()
        width, height = window[2:] if window else (self.width, self.height)
        bins = self.binning if window is not None else (1, 1)
        return max(1, width // bins[0]), max(1, height // bins[1])

    def pinhole(self, width: int, height: int, *, from_rectified: bool = False) -> PinholeCamera:
        """Return the pinhole camera of rectified images of this size, pixels.

        from_rectified: whether the driver's images are rectified already. Raises ImageMismatch for a size
        that the camera cannot produce.
        """
        return self._crop(self._target(from_rectified), width, height)

    def _target(self, from_rectified: bool) -> Intrinsics:
        """Return the intrinsics of the rectified image; without distortion, those of the raw image."""
        use_rectified = from_rectified or (self.is_distorted and not self.turned)
        chosen = (self.rectified or self.raw) if use_rectified else (self.raw or self.rectified)
        if chosen is None:
            raise ImageMismatch("the camera has no calibration")
        return chosen

    def _crop(self, intrinsics: Intrinsics, width: int, height: int) -> PinholeCamera:
        """Return the pinhole camera for an image of this size that shows a part of the full image."""
        x, y, sx, sy = self._view(width, height)
        fx, fy, cx, cy = intrinsics
        return PinholeCamera(width, height, fx * sx, fy * sy, (cx - x) * sx, (cy - y) * sy)

    def _view(self, width: int, height: int) -> tuple[float, float, float, float]:
        """Return which part of the full image an image of this size shows: (x, y, scale x, scale y).

        x, y: corner of the part in the full image. scale: pixels of the image per pixel of the full image.
        Raises ImageMismatch.
        """
        window = self._window()
        bx, by = self.binning
        full = (0, 0, self.width, self.height)
        wholes = [(window, bx, by), (window, 1, 1)] if window not in (None, full) else []
        for part, binx, biny in (*wholes, (full, 1, 1), (full, bx, by)):
            assert part is not None
            if abs(width - part[2] / binx) < 1.0 and abs(height - part[3] / biny) < 1.0:
                return part[0], part[1], 1.0 / binx, 1.0 / biny
        part = window or full
        if window is None or width * part[3] != height * part[2]:
            told = f", window {self.window}" if any(self.window) else ""
            told += f", binning {bx}x{by}" if (bx, by) != (1, 1) else ""
            raise ImageMismatch(
                f"the image is {width}x{height}, but camera_info says {self.width}x{self.height}{told}"
            )
        return part[0], part[1], width / part[2], height / part[3]

    def _window(self) -> tuple[int, int, int, int] | None:
        """Return the part (x, y, width, height) that the sensor outputs.

        None if it exceeds the full image.
        """
        x, y, width, height = self.window
        width, height = width or self.width - x, height or self.height - y
        inside = x >= 0 and y >= 0 and width > 0 and height > 0
        return (
            (x, y, width, height)
            if inside and x + width <= self.width and y + height <= self.height
            else None
        )

    def _padded(self) -> tuple[bool, tuple[float, ...]] | None:
        """Return (is fisheye, coefficients padded to a length that OpenCV takes); None for an unknown model."""
        name = self.distortion.strip().lower()
        fisheye = name in _FISHEYE
        if not fisheye and name not in _POLYNOMIAL:
            return None
        values = self.coefficients
        while values and values[-1] == 0.0:
            values = values[:-1]
        lengths = _FISHEYE_LENGTHS if fisheye else _POLYNOMIAL_LENGTHS
        length = next((length for length in lengths if length >= len(values)), None)
        return None if length is None else (fisheye, values + (0.0,) * (length - len(values)))


@dataclass(frozen=True, eq=False)
class Rectification:
    """Converts images of a camera to those of a pinhole camera; without maps it returns them unchanged.

    camera: of the rectified images. smooth, nearest: pairs of maps for OpenCV's remap, bilinear and nearest
    neighbour.
    """

    camera: PinholeCamera
    smooth: tuple[np.ndarray, np.ndarray] | None = None
    nearest: tuple[np.ndarray, np.ndarray] | None = None

    def color(self, image: np.ndarray) -> np.ndarray:
        """Return the rectified (H, W, 3) uint8 image, interpolated; black where the camera sees nothing."""
        return image if self.smooth is None else _remap(image, self.smooth, nearest=False)

    def values(self, image: np.ndarray) -> np.ndarray:
        """Return the rectified (H, W) depth or label image by nearest neighbour; 0 where the camera sees nothing."""
        return image if self.nearest is None else _remap(image, self.nearest, nearest=True)


@lru_cache(maxsize=16)
def rectification(model: CameraModel, width: int, height: int, from_rectified: bool = False) -> Rectification:
    """Return the cached rectification for images of this size, pixels. Raises ImageMismatch.

    from_rectified: whether the images are rectified already. Depth along the optical axis stays valid,
    because no image is rotated.
    """
    camera = model.pinhole(width, height, from_rectified=from_rectified)
    if from_rectified or not model.is_distorted:
        return Rectification(camera)
    import cv2

    padded = model._padded()
    assert model.raw is not None and padded is not None
    fisheye, coefficients = padded
    seen = model._crop(model.raw, width, height)
    undistort: Any = cv2.fisheye.initUndistortRectifyMap if fisheye else cv2.initUndistortRectifyMap
    x, y = undistort(
        _matrix(seen), np.array(coefficients), np.eye(3), _matrix(camera), (width, height), cv2.CV_32FC1
    )
    smooth = cv2.convertMaps(x, y, cv2.CV_16SC2)
    nearest = cv2.convertMaps(x, y, cv2.CV_16SC2, nninterpolation=True)
    return Rectification(camera, (smooth[0], smooth[1]), (nearest[0], nearest[1]))


def _matrix(camera: PinholeCamera) -> np.ndarray:
    return np.array([[camera.fx, 0.0, camera.cx], [0.0, camera.fy, camera.cy], [0.0, 0.0, 1.0]])


def _remap(image: np.ndarray, maps: tuple[np.ndarray, np.ndarray], *, nearest: bool) -> np.ndarray:
    import cv2

    between: Any = None if nearest else maps[1]
    mode = cv2.INTER_NEAREST if nearest else cv2.INTER_LINEAR
    return cv2.remap(image, maps[0], between, mode, borderMode=cv2.BORDER_CONSTANT)
