"""Separation of people and animals (movers) from still objects in segmented frames, and their positions.

Flat pictures of them are ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

import cv2
import numpy as np

from lodestar.models.kinship import kind_of, same_kind
from lodestar.models.lexicon import words_of
from lodestar.perception.config import MoverConfig
from lodestar.perception.frames import Detection, RgbdFrame, SegmentedFrame

MOVER_MIN_POINTS = 12  # least valid depths of a mover's mask; chosen, as VOXEL_MIN_POINTS
MOVER_MIN_SCORE = 0.3  # least score of a detection that is placed, 0..1; chosen
# m, and 1/m times the square of the depth: largest error of depth in a plane for a flat picture; chosen
MOVER_FLAT: tuple[float, float] = (0.03, 0.006)

# group words after which the noun after "of" is the kind
_MANY = (["group"], ["crowd"], ["pair"], ["couple"])
#: Parts of a label that describe a mover further and do not name its kind.
_MORE = re.compile(
    r"\b(?:in|with|on|at|by|near|who|that|walking|standing|sitting|lying|wearing|holding|carrying)\b.*"
)
_LIFELESS = frozenset(
    {"hot", "toy", "stuffed", "plush", "plastic", "ceramic", "wooden", "painted", "printed"}
)
_EDGE = 2  # pixels around a mask whose depth may belong to the mover
_RING = 12  # pixels around a mask that count as its surroundings
_SAMPLES = 400  # most depth samples of a mask, and of its surroundings
_DEEP = 0.5  # m from the median depth of a mask, beyond which a depth belongs to another object
_INSIDE = 0.12  # m from the visible surface to the middle of a body
_COPLANAR = 0.9  # share of a mask in the plane of its surroundings, from which it is a picture
_TRIMS, _KEPT = 4, 0.7  # iterations of a plane fit, and share of the points kept in each


@dataclass(frozen=True)
class MoverSight:
    """Sighting of one mover, in odom, metres.

    place: (3,) middle of its body; low, high: (3,) corners of its box.
    """

    detection: Detection
    place: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class SplitFrame:
    """Frame divided into still objects and movers.

    frame: the frame with depth made invalid at the movers. still: the segments without movers. pictures:
    number of flat pictures of movers.
    """

    frame: RgbdFrame
    still: SegmentedFrame
    sights: tuple[MoverSight, ...] = ()
    pictures: int = 0


@lru_cache(maxsize=4096)
def moves_by_itself(label: str, kinds: tuple[str, ...]) -> bool:
    """Return whether a label names one of these kinds of people and animals, or a variety of one.

    True for "man in a red shirt" and "group of people"; false for "picture of a person" and "toy dog".
    """
    head, _, of_what = label.casefold().partition(" of ")
    words = words_of(_MORE.sub("", of_what if of_what and head.split()[-1:] in _MANY else head))
    if not words or not _LIFELESS.isdisjoint(words[:-1]):
        return False
    noun = kind_of(" ".join(words))
    return any(same_kind(noun, kind) for kind in kinds)


def split_movers(frame: RgbdFrame, segmented: SegmentedFrame, config: MoverConfig) -> SplitFrame:
    """Return the frame and its segments without movers, and the movers that depth locates.

    Frame and segments are returned unchanged if no segment is a mover, or if their images differ in size.
    """
    moving = [one for one in segmented.detections if moves_by_itself(one.label, config.kinds)]
    if not moving or segmented.labels.shape != frame.depth.shape:
        return SplitFrame(frame, segmented)
    values = [one.label_value for one in moving]
    mask = np.isin(segmented.labels, values)
    hidden = cv2.dilate(mask.astype(np.uint8), np.ones((2 * _EDGE + 1, 2 * _EDGE + 1), np.uint8)) > 0
    depth = np.where(hidden, frame.depth.dtype.type(0), frame.depth)
    still = replace(
        segmented,
        labels=np.where(mask, segmented.labels.dtype.type(0), segmented.labels),
        detections=tuple(one for one in segmented.detections if one.label_value not in values),
    )
    sights, pictures = list[MoverSight](), 0
    for one in moving:
        own = segmented.labels == one.label_value
        if one.score < MOVER_MIN_SCORE:
            continue
        if _is_flat(frame, own, hidden, config):
            pictures += 1
        elif (sight := _placed(frame, one, own, config)) is not None:
            sights.append(sight)
    return SplitFrame(replace(frame, depth=depth), still, tuple(sights), pictures)


def _points(frame: RgbdFrame, mask: np.ndarray, config: MoverConfig) -> np.ndarray:
    """Return (N, 3) points of a sample of a mask's valid depths, in the camera's frame."""
    depth = frame.depth
    rows, columns = np.nonzero(mask & (depth > 0.0) & (depth <= config.far))
    step = max(1, len(rows) // _SAMPLES)
    rows, columns = rows[::step], columns[::step]
    z, camera = depth[rows, columns].astype(np.float64), frame.camera
    return np.stack([(columns - camera.cx) * z / camera.fx, (rows - camera.cy) * z / camera.fy, z], axis=1)


def _placed(
    frame: RgbdFrame, detection: Detection, mask: np.ndarray, config: MoverConfig
) -> MoverSight | None:
    points = _points(frame, mask, config)
    if len(points) < MOVER_MIN_POINTS:
        return None
    points = points[np.abs(points[:, 2] - np.median(points[:, 2])) <= _DEEP]
    pose = np.asarray(frame.odom_from_camera, np.float64)
    in_odom = points @ pose[:3, :3].T + pose[:3, 3]
    low, high = np.percentile(in_odom, (2.0, 98.0), axis=0)
    place = np.median(in_odom, axis=0)
    away = place[:2] - pose[:2, 3]
    place[:2] += _INSIDE * away / max(float(np.linalg.norm(away)), 1e-6)
    return MoverSight(detection, place, low, high) if np.isfinite(place).all() else None


def _is_flat(frame: RgbdFrame, mask: np.ndarray, hidden: np.ndarray, config: MoverConfig) -> bool:
    """Return whether a mask's depth lies in the plane of its surroundings, as for a poster or a mirror.

    A person who is nearer or farther than the visible part of that plane, as beside a wall, is not flat.
    """
    size = np.ones((2 * _RING + 1, 2 * _RING + 1), np.uint8)
    around = (cv2.dilate(mask.astype(np.uint8), size) > 0) & ~hidden
    own, other = _points(frame, mask, config), _points(frame, around, config)
    if len(own) < MOVER_MIN_POINTS or len(other) < MOVER_MIN_POINTS:
        return False
    normal, middle, kept = np.zeros(3), np.zeros(3), other
    for _ in range(_TRIMS):
        middle = kept.mean(axis=0)
        normal = np.linalg.svd(kept - middle, full_matrices=False)[2][2]
        errors = np.abs((other - middle) @ normal)
        kept = other[errors <= np.quantile(errors, _KEPT)]
    near = MOVER_FLAT[0] + MOVER_FLAT[1] * own[:, 2] ** 2
    within = (own[:, 2] >= kept[:, 2].min() - near) & (own[:, 2] <= kept[:, 2].max() + near)
    return bool((within & (np.abs((own - middle) @ normal) <= near)).mean() >= _COPLANAR)
