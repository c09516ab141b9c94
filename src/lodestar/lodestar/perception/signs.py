"""Signs in posed images: areas that look like text on a near flat surface, what they say, and where they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import cv2
import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.perception.config import SignConfig
from lodestar.perception.frames import ImageBox, RgbdFrame
from lodestar.perception.sign_text import clean_sign
from lodestar.timing.stamps import Periodic

_LETTERS = 40.0  # pixels to which an area's height is enlarged
_ENLARGED = 4.0  # at most
_WIDEST, _HIGHEST = 260, 110  # pixels of an area
_LEAST = (10, 6)  # pixels, width and height of an area
_FILLED = 0.45  # share of an area's box that is near edges
_SAMPLES = 400  # depths to which a plane is fitted
_TRIMS, _KEPT = 3, 0.8  # how often the farthest are left out of a plane, and which share stays
_FLAT = (0.02, 0.004)  # m of a flat surface's rms error, and 1/m times the square of the depth; chosen
_LETTER = (0.012, 0.6)  # m, height of letters on signs
_EDGE = 2  # pixels from the edge of what is read
_OF_LINE = 0.4  # height of a capital letter, heights of the box that the detector of text draws around a line


@dataclass(frozen=True)
class TextLine:
    """One line of text in an image. text: untrusted. corners: (4, 2) pixels, from the upper left, clockwise."""

    text: str
    score: float
    corners: np.ndarray


class SignReader(Protocol):
    """Port of whatever reads text in images."""

    def read(self, rgb: np.ndarray) -> Sequence[TextLine]:
        """Return the lines of an image (H, W, 3) uint8. Raises DetectorUnavailable."""
        ...


@dataclass(frozen=True)
class SignSight:
    """One line of text, once seen. text: clean, but untrusted. place, normal: (3,) in odom, the normal towards the
    reader. width, height: metres of its box; letter: of a capital letter, estimated. Raises ValueError for numbers
    that are not finite and a score beyond 1.
    """

    text: str
    score: float
    place: np.ndarray
    normal: np.ndarray
    width: float
    height: float
    letter: float
    box: ImageBox

    def __post_init__(self) -> None:
        numbers = [float(one) for one in (*self.place, *self.normal, self.width, self.height, self.letter)]
        if not (0.0 <= self.score <= 1.0 and np.isfinite(numbers).all()):
            raise ValueError(f"a sign with the score {self.score} and the numbers {numbers} was not seen")


@dataclass(frozen=True)
class SignReading:
    """Lines that were read in one image. odom_from_camera, map_from_odom: (4, 4) at `stamp`."""

    stamp: float
    odom_from_camera: np.ndarray
    map_from_odom: np.ndarray
    sights: tuple[SignSight, ...]


class SignWatch:
    """Decides which images are read: at most one per period, and few of a camera that stands. Not thread-safe."""

    def __init__(self, config: SignConfig) -> None:
        self._config = config
        self._due = Periodic(config.period)
        self._pose: np.ndarray | None = None
        self._times = 0

    def wants(self, stamp: float, odom_from_camera: np.ndarray) -> bool:
        """Return whether the image at this stamp and pose (4, 4) is read; counts it if so."""
        stands = self._pose is not None and self._is_near(self._pose, odom_from_camera)
        if (stands and self._times >= self._config.rereads) or not self._due.due(stamp):
            return False
        if not stands:
            self._pose, self._times = np.array(odom_from_camera), 0
        self._times += 1
        return True

    def restart_clock(self) -> None:
        """Accept the next image, also of a camera that stands: the clock went back."""
        self._due.reset()
        self._pose = None

    def _is_near(self, before: np.ndarray, pose: np.ndarray) -> bool:
        turned = float(before[:3, 2] @ pose[:3, 2]) < math.cos(math.radians(self._config.stands_deg))
        return not turned and float(np.linalg.norm(pose[:3, 3] - before[:3, 3])) <= self._config.stands


def read_signs(frame: RgbdFrame, reader: SignReader, config: SignConfig) -> SignReading:
    """Return what a frame's near flat surfaces say; nothing without colours. Raises DetectorUnavailable."""
    sights: list[SignSight] = []
    areas = 0
    rgb = frame.rgb
    if rgb is not None and rgb.shape[:2] == frame.depth.shape:
        for area in sign_areas(rgb, config):
            surface = _surface(frame, area, config)
            if surface is not None:
                sights += _read_area(frame, rgb, area, surface, reader, config)
                areas += 1
                if areas >= config.areas:
                    break
    return SignReading(frame.stamp, frame.odom_from_camera, frame.map_from_odom, tuple(sights))


def sign_areas(rgb: np.ndarray, config: SignConfig) -> list[ImageBox]:
    """Return boxes whose edges lie as close as those of letters, the fullest first; at two scales."""
    grey = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
    half = cv2.resize(grey, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    found = [(fill, ImageBox(*box)) for fill, box in _dense(grey, config.contrast)]
    found += [(fill, ImageBox(*(2 * side for side in box))) for fill, box in _dense(half, config.contrast)]
    kept: list[ImageBox] = []
    for _, box in sorted(found, key=lambda one: -one[0]):
        if not any(_covers(other, box) for other in kept):
            kept.append(box)
    return kept


def _dense(grey: np.ndarray, contrast: int) -> list[tuple[float, tuple[int, int, int, int]]]:
    """Return boxes x, y, width, height of dense edges, and which share of their turned rectangles is near edges."""
    edges = cv2.morphologyEx(grey, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)) > contrast
    joined = cv2.morphologyEx(edges.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 11), np.uint8))
    joined = cv2.morphologyEx(joined, cv2.MORPH_OPEN, np.ones((4, 5), np.uint8))
    _, labels, found, _ = cv2.connectedComponentsWithStats(joined, connectivity=4)
    kept = []
    for number, (x, y, width, height, filled) in enumerate(found.tolist()):
        if number == 0 or not (_LEAST[0] <= width <= _WIDEST and _LEAST[1] <= height <= _HIGHEST):
            continue
        rows, columns = np.nonzero(labels[y : y + height, x : x + width] == number)
        turned = cv2.minAreaRect(np.column_stack([columns, rows]).astype(np.float32))[1]
        share = filled / ((turned[0] + 1.0) * (turned[1] + 1.0))
        if share > _FILLED and max(turned) >= 0.8 * min(turned):
            kept.append((share, (x, y, width, height)))
    return kept


def _covers(one: ImageBox, other: ImageBox) -> bool:
    """Return whether most of the other box lies in this one."""
    width = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    height = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return width > 0 and height > 0 and width * height > 0.6 * other.width * other.height


def _surface(frame: RgbdFrame, area: ImageBox, config: SignConfig) -> tuple[np.ndarray, np.ndarray] | None:
    """Return a point and the normal (3,) of an area's plane, in the camera; None where it is not near and flat."""
    r0, r1 = area.y, area.y + area.height
    c0, c1 = area.x, area.x + area.width
    depth = frame.depth[r0:r1, c0:c1]
    rows, columns = np.nonzero((depth > 0.0) & np.isfinite(depth))
    if len(rows) < 0.5 * depth.size:
        return None
    step = max(len(rows) // _SAMPLES, 1)
    pixels = np.column_stack([columns[::step] + c0, rows[::step] + r0])
    points = frame.camera.backproject(frame.depth, pixels).astype(np.float64)
    if float(np.median(points[:, 2])) > config.reach:
        return None
    middle, normal, errors = _plane(points)
    for _ in range(_TRIMS):  # a doorway or a shelf beside the sign is left out
        points = points[errors <= np.quantile(errors, _KEPT)]
        middle, normal, errors = _plane(points)
    tilt = float(-(normal @ middle) / np.linalg.norm(middle))
    rms = float(np.sqrt(np.mean(errors**2)))
    if rms > _FLAT[0] + _FLAT[1] * middle[2] ** 2 or tilt < math.cos(math.radians(config.tilt_deg)):
        return None
    return middle, normal


def _plane(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a point and the normal (3,) towards the camera of the plane of points (N, 3), and their distances (N,)."""
    middle = points.mean(axis=0)
    normal = np.linalg.svd((points - middle).T @ (points - middle))[0][:, 2]
    normal = -normal if normal @ middle > 0.0 else normal
    return middle, normal, np.abs((points - middle) @ normal)


def _read_area(
    frame: RgbdFrame, rgb: np.ndarray, area: ImageBox, surface: tuple[np.ndarray, np.ndarray],
    reader: SignReader, config: SignConfig,
) -> list[SignSight]:  # fmt: skip
    """Return the lines of one area that are text on its surface and not in a mirror."""
    margin = max(round(0.8 * area.height), 8)
    x0, y0 = max(area.x - margin, 0), max(area.y - margin, 0)
    crop = rgb[y0 : area.y + area.height + margin, x0 : area.x + area.width + margin]
    scale = min(max(_LETTERS / area.height, 1.0), _ENLARGED)
    large = cv2.resize(crop, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    lines = [
        line
        for line in reader.read(large)
        if line.score >= config.score and clean_sign(line.text) and not _is_cut(line, large.shape)
    ]
    if not lines:
        return []
    turned = reader.read(np.ascontiguousarray(large[:, ::-1]))
    sights = []
    for line in lines:
        if is_mirrored(line, turned, large.shape[1]):
            continue
        corners = np.asarray(line.corners, np.float64).reshape(4, 2) / scale + (x0, y0)
        sight = _placed(frame, line, corners, surface)
        if sight is not None:
            sights.append(sight)
    return sights


def _is_cut(line: TextLine, shape: tuple[int, ...]) -> bool:
    """Return whether a line touches the edge of what was read, so that a part of it may be missing."""
    corners = np.asarray(line.corners, np.float64).reshape(4, 2)
    limit = np.array([shape[1], shape[0]]) - 1 - _EDGE
    return bool((corners < _EDGE).any() or (corners > limit).any())


def is_mirrored(line: TextLine, turned: Sequence[TextLine], width: int) -> bool:
    """Return whether a line reads better in the mirror image (of this width): then it is seen in a mirror.

    turned: the lines of the mirror image. What reads the same both ways is no mirror's.
    """
    middle = np.asarray(line.corners, np.float64).reshape(4, 2).mean(axis=0)
    middle[0] = width - 1 - middle[0]
    for other in turned:
        corners = np.asarray(other.corners, np.float64).reshape(4, 2)
        inside = (corners.min(axis=0) <= middle).all() and (middle <= corners.max(axis=0)).all()
        if inside and other.score > line.score and clean_sign(other.text) != clean_sign(line.text):
            return True
    return False


def _placed(
    frame: RgbdFrame, line: TextLine, corners: np.ndarray, surface: tuple[np.ndarray, np.ndarray]
) -> SignSight | None:
    """Return the sight of a line with these corners (4, 2), pixels; None where no sign has letters of its size."""
    points = _on_plane(frame.camera, np.vstack([corners, corners.mean(axis=0)]), *surface)
    if points is None:
        return None
    width = float(np.linalg.norm(points[1] - points[0]) + np.linalg.norm(points[2] - points[3])) / 2
    height = float(np.linalg.norm(points[3] - points[0]) + np.linalg.norm(points[2] - points[1])) / 2
    letter = _OF_LINE * height
    if not _LETTER[0] <= letter <= _LETTER[1]:
        return None
    turn, shift = frame.odom_from_camera[:3, :3], frame.odom_from_camera[:3, 3]
    low, high = corners.min(axis=0), corners.max(axis=0)
    box = ImageBox(int(low[0]), int(low[1]), max(int(high[0] - low[0]), 1), max(int(high[1] - low[1]), 1))
    text = clean_sign(line.text)
    return SignSight(
        text,
        min(float(line.score), 1.0),
        turn @ points[4] + shift,
        turn @ surface[1],
        width,
        height,
        letter,
        box,
    )


def _on_plane(
    camera: PinholeCamera, pixels: np.ndarray, point: np.ndarray, normal: np.ndarray
) -> np.ndarray | None:
    """Return where the rays of pixels (N, 2) meet a plane, (N, 3) in the camera; None where one does not."""
    rays = np.ones((len(pixels), 3))
    rays[:, 0] = (pixels[:, 0] - camera.cx) / camera.fx
    rays[:, 1] = (pixels[:, 1] - camera.cy) / camera.fy
    towards = rays @ normal
    if (towards > -1e-3).any():
        return None
    return rays * ((point @ normal) / towards)[:, None]
