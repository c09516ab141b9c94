"""Signs in posed images: image areas that look like text on near, flat surfaces, their text and position."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import cv2
import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.perception.frames import ImageBox, RgbdFrame
from lodestar.perception.sign_text import clean_sign
from lodestar.timing.stamps import Periodic

SIGN_PERIOD = 1.0  # s, least time between two images that are read; chosen
SIGN_REREADS = 2  # images that are read while the camera stands still; chosen
SIGN_AREAS = 6  # most areas read in one image, the likeliest first; chosen: about 35 ms each
SIGN_STANDS = 0.05  # m of motion up to which the camera stands still; chosen
SIGN_STANDS_DEG = 3.0  # degrees of rotation up to which the camera stands still; chosen
SIGN_REACH = 4.5  # m to the farthest surface that is read; chosen: EXIT in letters of 150 mm is read to 4 m
SIGN_TILT_DEG = 60.0  # degrees, most between a surface's normal and the line of sight; chosen
SIGN_CONTRAST = 40  # grey levels between ink and plate within three pixels; chosen
SIGN_SCORE = 0.6  # least score of a line of text, 0 to 1; chosen

_LETTERS = 40.0  # pixels to which an area's height is enlarged
_ENLARGED = 4.0  # largest enlargement
_WIDEST, _HIGHEST = 260, 110  # pixels, largest width and height of an area
_LEAST = (10, 6)  # pixels, least width and height of an area
_FILLED = 0.45  # least share of an area's box that is near edges
_SAMPLES = 400  # most depths used to fit a plane
_TRIMS, _KEPT = 3, 0.8  # iterations of a plane fit, and share of the points kept in each
# m, largest rms error of a flat surface, and 1/m, its growth with the square of the depth; chosen
_FLAT = (0.02, 0.004)
_LETTER = (0.012, 0.6)  # m, least and largest height of letters on signs
_EDGE = 2  # pixels from the edge of the area, within which a line may be cut
_OF_LINE = 0.4  # height of a capital letter relative to the box that the text detector draws around a line


@dataclass(frozen=True)
class TextLine:
    """Line of text in an image. text: untrusted. corners: (4, 2) pixels, from the upper left, clockwise."""

    text: str
    score: float
    corners: np.ndarray


class SignReader(Protocol):
    """Interface of a component that reads text in images."""

    def read(self, rgb: np.ndarray) -> Sequence[TextLine]:
        """Return the lines of text in an image (H, W, 3) uint8. Raises DetectorUnavailable."""


@dataclass(frozen=True)
class SignSight:
    """Sighting of one line of text on a sign. text: clean, but untrusted.

    place, normal: (3,) in odom, the normal towards the reader. width, height: metres, of the line; letter:
    metres, estimated height of a capital letter. Raises ValueError for numbers that are not finite and a
    score above 1.
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
    """Lines read in one image. odom_from_camera, map_from_odom: (4, 4) at `stamp`."""

    stamp: float
    odom_from_camera: np.ndarray
    map_from_odom: np.ndarray
    sights: tuple[SignSight, ...]


class SignWatch:
    """Decides which images are read for signs. Not thread-safe.

    At most one image per SIGN_PERIOD is read, and SIGN_REREADS while the camera stands still.
    """

    def __init__(self) -> None:
        self._due = Periodic(SIGN_PERIOD)
        self._pose: np.ndarray | None = None
        self._times = 0

    def wants(self, stamp: float, odom_from_camera: np.ndarray) -> bool:
        """Return whether to read the image at this stamp and pose (4, 4); if so, it is counted."""
        stands = self._pose is not None and self._is_near(self._pose, odom_from_camera)
        if (stands and self._times >= SIGN_REREADS) or not self._due.due(stamp):
            return False
        if not stands:
            self._pose, self._times = np.array(odom_from_camera), 0
        self._times += 1
        return True

    def restart_clock(self) -> None:
        """Accept the next image in any case, because the clock went back."""
        self._due.reset()
        self._pose = None

    def _is_near(self, before: np.ndarray, pose: np.ndarray) -> bool:
        turned = float(before[:3, 2] @ pose[:3, 2]) < math.cos(math.radians(SIGN_STANDS_DEG))
        return not turned and float(np.linalg.norm(pose[:3, 3] - before[:3, 3])) <= SIGN_STANDS


def read_signs(frame: RgbdFrame, reader: SignReader) -> SignReading:
    """Return the signs on a frame's near flat surfaces; none for a frame without colour.

    Raises DetectorUnavailable.
    """
    sights: list[SignSight] = []
    areas = 0
    rgb = frame.rgb
    if rgb is not None and rgb.shape[:2] == frame.depth.shape:
        for area in sign_areas(rgb):
            surface = _surface(frame, area)
            if surface is not None:
                sights += _read_area(frame, rgb, area, surface, reader)
                areas += 1
                if areas >= SIGN_AREAS:
                    break
    return SignReading(frame.stamp, frame.odom_from_camera, frame.map_from_odom, tuple(sights))


def sign_areas(rgb: np.ndarray) -> list[ImageBox]:
    """Return boxes whose edges are as dense as letters', densest first; they are searched at two scales."""
    grey = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
    half = cv2.resize(grey, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    found = [(fill, ImageBox(*box)) for fill, box in _dense(grey)]
    found += [(fill, ImageBox(*(2 * side for side in box))) for fill, box in _dense(half)]
    kept: list[ImageBox] = []
    for _, box in sorted(found, key=lambda one: -one[0]):
        if not any(_covers(other, box) for other in kept):
            kept.append(box)
    return kept


def _dense(grey: np.ndarray) -> list[tuple[float, tuple[int, int, int, int]]]:
    """Return boxes (x, y, width, height) around regions of dense edges, each with its density.

    The density is the share of the region's rotated rectangle that is near edges.
    """
    edges = cv2.morphologyEx(grey, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)) > SIGN_CONTRAST
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
        if share > _FILLED:
            kept.append((share, (x, y, width, height)))
    return kept


def _covers(one: ImageBox, other: ImageBox) -> bool:
    """Return whether most of the box `other` lies in the box `one`."""
    width = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    height = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return width > 0 and height > 0 and width * height > 0.6 * other.width * other.height


def _surface(frame: RgbdFrame, area: ImageBox) -> tuple[np.ndarray, np.ndarray] | None:
    """Return a point and the normal (3,) of an area's plane, camera frame; None if not near and flat."""
    r0, r1 = area.y, area.y + area.height
    c0, c1 = area.x, area.x + area.width
    depth = frame.depth[r0:r1, c0:c1]
    rows, columns = np.nonzero((depth > 0.0) & np.isfinite(depth))
    if len(rows) < 0.5 * depth.size:
        return None
    step = max(len(rows) // _SAMPLES, 1)
    pixels = np.column_stack([columns[::step] + c0, rows[::step] + r0])
    points = frame.camera.backproject(frame.depth, pixels).astype(np.float64)
    if float(np.median(points[:, 2])) > SIGN_REACH:
        return None
    middle, normal, errors = _plane(points)
    for _ in range(_TRIMS):  # exclude, for example, a doorway or a shelf beside the sign
        points = points[errors <= np.quantile(errors, _KEPT)]
        middle, normal, errors = _plane(points)
    tilt = float(-(normal @ middle) / np.linalg.norm(middle))
    rms = float(np.sqrt(np.mean(errors**2)))
    if rms > _FLAT[0] + _FLAT[1] * middle[2] ** 2 or tilt < math.cos(math.radians(SIGN_TILT_DEG)):
        return None
    return middle, normal


def _plane(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the plane of points (N, 3): a point on it, its normal (3,), and the points' distances (N,).

    The normal points towards the camera.
    """
    middle = points.mean(axis=0)
    normal = np.linalg.svd((points - middle).T @ (points - middle))[0][:, 2]
    normal = -normal if normal @ middle > 0.0 else normal
    return middle, normal, np.abs((points - middle) @ normal)


def _read_area(
    frame: RgbdFrame, rgb: np.ndarray, area: ImageBox, surface: tuple[np.ndarray, np.ndarray],
    reader: SignReader,
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
        if line.score >= SIGN_SCORE and clean_sign(line.text) and not _is_cut(line, large.shape)
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
    """Return whether a line touches the edge of the area that was read, so that a part of it may be missing."""
    corners = np.asarray(line.corners, np.float64).reshape(4, 2)
    limit = np.array([shape[1], shape[0]]) - 1 - _EDGE
    return bool((corners < _EDGE).any() or (corners > limit).any())


def is_mirrored(line: TextLine, turned: Sequence[TextLine], width: int) -> bool:
    """Return whether a line reads better in the mirrored image, so that it is seen in a mirror.

    turned: the lines of the mirrored image. width: of the image, pixels. A text that reads the same both ways is not
    mirrored.
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
    """Return the sighting of a line of text; None if its letters have an implausible size.

    corners: (4, 2) of the line in the image, pixels. surface: point and normal of its plane.
    """
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
    """Return the points (N, 3), camera frame, where the rays of pixels (N, 2) meet a plane.

    None if a ray misses. point, normal: (3,) each, of the plane.
    """
    rays = np.ones((len(pixels), 3))
    rays[:, 0] = (pixels[:, 0] - camera.cx) / camera.fx
    rays[:, 1] = (pixels[:, 1] - camera.cy) / camera.fy
    towards = rays @ normal
    if (towards > -1e-3).any():
        return None
    return rays * ((point @ normal) / towards)[:, None]
