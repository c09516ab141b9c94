"""Class-agnostic segments from a depth image, used if no detector is installed.

Large planes with nothing behind them (floor, ceiling, walls) are removed as structure; the rest is split along depth
jumps and concave creases into convex pieces (Stein et al. 2014, "Object partitioning using local convexity").
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numba import njit

from lodestar.geometry.camera import PinholeCamera
from lodestar.models.english import with_article
from lodestar.perception.config import GeometricConfig
from lodestar.perception.frames import Detection, SegmentedFrame, Vocabulary
from lodestar.perception.segments import label_extents

# Chosen on rendered depth images of rooms:
GEOMETRIC_STEP = 2  # image pixels per working pixel
GEOMETRIC_NEAR = 0.3  # metres, least depth that is used
GEOMETRIC_JUMP = 0.02  # metres, deviation of depth from the neighbours' plane that splits them; chosen
# metres per square metre of squared depth, added to GEOMETRIC_JUMP; chosen: the error of a structured-light camera
GEOMETRIC_JUMP_PER_SQUARE = 0.012
GEOMETRIC_REACH = 4  # working pixels between the points of a normal; chosen
GEOMETRIC_CREASE = 0.12  # sine of the concave angle that splits two pieces; chosen: about 7 degrees
GEOMETRIC_PLANE_TRIALS = 60  # planes tried per search for a plane of the room
GEOMETRIC_PLANES = 5  # most planes of the room
# share of all points that a plane of the room must hold; chosen
GEOMETRIC_PLANE_SHARE = 0.08
GEOMETRIC_PLANE_GAP = 0.03  # metres from a plane within which points belong to it; chosen
# metres per square metre of squared depth, added to GEOMETRIC_PLANE_GAP; chosen
GEOMETRIC_PLANE_GAP_PER_SQUARE = 0.008
GEOMETRIC_BEHIND = 0.03  # share of the points that may lie behind a plane of the room; chosen
GEOMETRIC_MAX_SHARE = 0.5  # largest share of the image that a segment covers; chosen
GEOMETRIC_SCORE = 0.5  # score of every segment, 0..1; chosen


class GeometricSegmenter:
    """Segments furniture and the objects on it with the label "object"; deterministic for one seed.

    captioned: whether a vision model names the objects later; without one they have no names.
    """

    name = "geometric"

    def __init__(self, config: GeometricConfig = GeometricConfig(), seed: int = 0, captioned: bool = False):
        self.config = config
        self.vocabulary = Vocabulary(is_open=captioned)
        self._rng = np.random.default_rng(seed)

    def look_for(self, words: Sequence[str]) -> None:
        """Do nothing: shapes are segmented regardless of names."""

    def segment(
        self, stamp: float, depth: np.ndarray, camera: PinholeCamera, rgb: np.ndarray | None
    ) -> SegmentedFrame:
        """Return segments of depth (H, W) float32, metres, invalid = 0 or NaN; rgb (H, W, 3) uint8 gives colour names.

        Raises ValueError for images whose shape differs from the camera's.
        """
        shape = camera.height, camera.width
        if depth.shape != shape:
            raise ValueError(f"depth has shape {depth.shape}, the camera {shape}")
        if rgb is not None and rgb.shape != (*shape, 3):
            raise ValueError(f"colour has shape {rgb.shape}, the camera {shape}")
        coarse = np.ascontiguousarray(depth[::GEOMETRIC_STEP, ::GEOMETRIC_STEP], np.float32)
        usable = (coarse >= GEOMETRIC_NEAR) & (coarse <= self.config.far)
        small = np.asarray(cv2.medianBlur(np.where(usable, coarse, np.float32(0.0)), 3))
        lens = [value / GEOMETRIC_STEP for value in (camera.fx, camera.fy, camera.cx, camera.cy)]
        points = _points(small, *lens)
        normals = _normals(points, GEOMETRIC_REACH, GEOMETRIC_JUMP, GEOMETRIC_JUMP_PER_SQUARE)
        room = self._room(points, normals, small > 0)
        things = (small > 0) & ~room
        edges = _edges(
            points, normals, GEOMETRIC_REACH, GEOMETRIC_CREASE, GEOMETRIC_JUMP, GEOMETRIC_JUMP_PER_SQUARE
        )
        labels = _pieces(things & ~edges, things, self.config.min_pixels)
        full = np.repeat(np.repeat(labels, GEOMETRIC_STEP, 0), GEOMETRIC_STEP, 1)[
            : camera.height, : camera.width
        ]
        full = np.where(np.isfinite(depth) & (depth > 0), full, 0).astype(np.uint16)
        return self._named(stamp, full, rgb)

    def _room(self, points: np.ndarray, normals: np.ndarray, valid: np.ndarray) -> np.ndarray:
        """Return (h, w) bool: points on planes that bound the visible space."""
        flat, facing = points[valid], normals[valid]
        known = np.isfinite(facing[:, 0])
        distance = (GEOMETRIC_PLANE_GAP + GEOMETRIC_PLANE_GAP_PER_SQUARE * flat[:, 2] ** 2).astype(np.float32)
        taken, bounding = np.zeros((2, len(flat)), bool)
        for _ in range(GEOMETRIC_PLANES):
            candidates = np.flatnonzero(known & ~taken)
            if len(candidates) == 0 or len(candidates) < GEOMETRIC_PLANE_SHARE * len(flat):
                break
            plane = _best_plane(
                flat, facing, distance, candidates, self._rng.choice(candidates, GEOMETRIC_PLANE_TRIALS)
            )
            near, own, behind = _sides(flat, facing, distance, plane)
            if own.sum() < GEOMETRIC_PLANE_SHARE * len(flat):
                break
            taken |= own
            if behind <= GEOMETRIC_BEHIND * len(flat):
                taken |= near
                bounding |= near
        room = np.zeros(valid.shape, bool)
        room[valid] = bounding
        return room

    def _named(self, stamp: float, labels: np.ndarray, rgb: np.ndarray | None) -> SegmentedFrame:
        detections = []
        for value, box, count in label_extents(labels):
            window = np.s_[box.y : box.y + box.height : 2, box.x : box.x + box.width : 2]
            caption = "an object"
            pixels = None if rgb is None else rgb[window][labels[window] == value]
            if pixels is not None and len(pixels):
                name = color_name(np.median(pixels[:: 1 + len(pixels) // 1000], axis=0))
                caption = with_article(f"{name} object")
            detections.append(Detection(value, "object", caption, GEOMETRIC_SCORE, box, count))
        return SegmentedFrame(stamp, labels, tuple(detections), self.name)


@njit(cache=True, nogil=True)
def _points(depth, fx, fy, cx, cy):
    """Return points (h, w, 3) float32 in the optical frame; z = 0 where depth is invalid."""
    rows, columns = depth.shape
    points = np.zeros((rows, columns, 3), np.float32)
    for row in range(rows):
        for column in range(columns):
            z = depth[row, column]
            points[row, column, 0] = (column - cx) / fx * z
            points[row, column, 1] = (row - cy) / fy * z
            points[row, column, 2] = z
    return points


@njit(cache=True, nogil=True, inline="always")
def _bend(before, here, after):
    """Return the metres by which `here` deviates from the line through `before` and `after`, inf = unknown.

    Planes are linear in inverse depth.
    """
    if before <= 0.0 or here <= 0.0 or after <= 0.0:
        return np.inf
    return abs(1.0 / before - 2.0 / here + 1.0 / after) * here * here


@njit(cache=True, nogil=True)
def _normals(points, reach, jump, per_square):
    """Return unit normals (h, w, 3) float32 towards the camera; NaN beside jumps, borders and invalid depth."""
    rows, columns, _ = points.shape
    normals = np.full((rows, columns, 3), np.nan, np.float32)
    for row in range(reach, rows - reach):
        for column in range(reach, columns - reach):
            z = points[row, column, 2]
            left, right = points[row, column - reach], points[row, column + reach]
            above, below = points[row - reach, column], points[row + reach, column]
            limit = 2.0 * jump + per_square * z * z
            if _bend(left[2], z, right[2]) > limit or _bend(above[2], z, below[2]) > limit:
                continue
            ax, ay, az = right[0] - left[0], right[1] - left[1], right[2] - left[2]
            bx, by, bz = below[0] - above[0], below[1] - above[1], below[2] - above[2]
            nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
            length = np.sqrt(nx * nx + ny * ny + nz * nz)
            if length == 0.0:
                continue
            towards = nx * points[row, column, 0] + ny * points[row, column, 1] + nz * z
            sign = -1.0 if towards > 0.0 else 1.0
            normals[row, column, 0] = sign * nx / length
            normals[row, column, 1] = sign * ny / length
            normals[row, column, 2] = sign * nz / length
    return normals


@njit(cache=True, nogil=True)
def _best_plane(points, normals, distance, candidates, trials):
    """Return the unit normal and offset (4,) of that tried plane which contains most candidates."""
    best, plane = -1, np.zeros(4, np.float32)
    step = max(1, len(candidates) // 1500)
    for trial in trials:
        n = normals[trial]
        offset = n[0] * points[trial, 0] + n[1] * points[trial, 1] + n[2] * points[trial, 2]
        count = 0
        for k in range(0, len(candidates), step):
            i = candidates[k]
            away = n[0] * points[i, 0] + n[1] * points[i, 1] + n[2] * points[i, 2] - offset
            along = n[0] * normals[i, 0] + n[1] * normals[i, 1] + n[2] * normals[i, 2]
            if abs(away) <= distance[i] and along > 0.9:
                count += 1
        if count > best:
            best = count
            plane[:3], plane[3] = n, offset
    return plane


@njit(cache=True, nogil=True)
def _sides(points, normals, distance, plane):
    """Return two point masks and a number.

    The masks contain the points near a plane, and those of them with its orientation; the number counts the
    points far behind it.
    """
    near, own = np.zeros(len(points), np.bool_), np.zeros(len(points), np.bool_)
    behind = 0
    side = -1.0 if plane[3] > 0.0 else 1.0  # side of the camera, which is at the origin
    for i in range(len(points)):
        offset = plane[0] * points[i, 0] + plane[1] * points[i, 1] + plane[2] * points[i, 2] - plane[3]
        near[i] = abs(offset) <= distance[i]
        along = plane[0] * normals[i, 0] + plane[1] * normals[i, 1] + plane[2] * normals[i, 2]
        own[i] = near[i] and abs(along) > 0.8
        if offset * side < -2.0 * distance[i]:
            behind += 1
    return near, own, behind


@njit(cache=True, nogil=True)
def _edges(points, normals, reach, crease, jump, per_square):
    """Return (h, w) bool: pixels beside a depth jump or in a concave crease."""
    rows, columns, _ = points.shape
    edges = np.zeros((rows, columns), np.bool_)
    for row in range(rows):
        for column in range(columns):
            z = points[row, column, 2]
            if z == 0.0:
                continue
            for direction in range(2):
                down, right = direction, 1 - direction
                near_row, near_column = row + down, column + right
                if near_row < rows and near_column < columns and points[near_row, near_column, 2] > 0.0:
                    other = points[near_row, near_column, 2]
                    before = points[row - down, column - right, 2] if row >= down and column >= right else 0.0
                    inside = near_row + down < rows and near_column + right < columns
                    after = points[near_row + down, near_column + right, 2] if inside else 0.0
                    step = min(_bend(before, z, other), _bend(z, other, after))
                    if step == np.inf:  # no depth on either side
                        step = 0.2 * abs(z - other)
                    if step > jump + per_square * z * z:
                        edges[row, column] = edges[near_row, near_column] = True
                far_row, far_column = row + direction * reach, column + (1 - direction) * reach
                back_row, back_column = row - direction * reach, column - (1 - direction) * reach
                if far_row >= rows or far_column >= columns or back_row < 0 or back_column < 0:
                    continue
                a, b = normals[back_row, back_column], normals[far_row, far_column]
                if not (a[0] == a[0] and b[0] == b[0]):  # a normal is NaN
                    continue
                p, q = points[back_row, back_column], points[far_row, far_column]
                dx, dy, dz = q[0] - p[0], q[1] - p[1], q[2] - p[2]
                length = np.sqrt(dx * dx + dy * dy + dz * dz)
                if length == 0.0:
                    continue
                bend = ((a[0] - b[0]) * dx + (a[1] - b[1]) * dy + (a[2] - b[2]) * dz) / length
                if bend > 2.0 * crease:
                    edges[row, column] = True
    return edges


def _pieces(inner: np.ndarray, things: np.ndarray, least: int) -> np.ndarray:
    """Return (h, w) uint16, numbers of the large connected pieces of `inner`, grown back over their edges.

    least: pixels of a piece in the full image.
    """
    count, labels, stats, _ = cv2.connectedComponentsWithStats(inner.astype(np.uint8), connectivity=4)
    size = stats[:, cv2.CC_STAT_AREA] * GEOMETRIC_STEP**2
    good = (size >= least) & (size <= GEOMETRIC_MAX_SHARE * inner.size * GEOMETRIC_STEP**2)
    good[0] = False
    order = np.zeros(count, np.uint16)
    order[good] = np.arange(1, good.sum() + 1)
    labels = order[labels]
    for _ in range(GEOMETRIC_REACH):  # edges are about as wide
        grown = cv2.dilate(labels, np.ones((3, 3), np.uint8))
        labels = np.where((labels == 0) & things, grown, labels)
    return labels


_COLORS = {
    "black": (25, 25, 25), "white": (235, 235, 235), "gray": (128, 128, 128), "red": (190, 35, 35),
    "orange": (230, 130, 30), "yellow": (225, 210, 50), "green": (50, 130, 60), "blue": (45, 80, 175),
    "purple": (120, 60, 150), "brown": (110, 70, 40), "beige": (205, 185, 150), "pink": (230, 150, 180),
}  # fmt: skip


def color_name(rgb: np.ndarray) -> str:
    """Return the basic colour name nearest to rgb (3,), 0-255, in CIE Lab."""
    palette = np.array([rgb, *_COLORS.values()], np.float32).reshape(1, -1, 3) / 255.0
    lab = cv2.cvtColor(palette, cv2.COLOR_RGB2LAB)[0]
    return list(_COLORS)[int(np.argmin(np.linalg.norm(lab[1:] - lab[0], axis=1)))]
