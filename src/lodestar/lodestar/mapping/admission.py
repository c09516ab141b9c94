"""Checks that decide whether a frame may enter a map."""

from __future__ import annotations

from enum import Enum

import numpy as np
from numba import njit

from lodestar.perception.frames import RgbdFrame, SegmentedFrame
from lodestar.perception.segments import SEGMENTS_MOST, is_crowded, is_everywhere
from lodestar.timing.stamps import SAME_MOMENT

_IDENTITY = np.eye(3)


class RejectReason(Enum):
    """Reason why a frame is rejected."""

    STALE = "stamp is not newer than the last frame's"
    STAMP_MISMATCH = "segments and depth have different stamps"
    POSE = "pose is no rigid motion"
    FAR_AWAY = "camera is beyond the map's reach"
    CAMERA = "camera has no size or no focal length"
    DEPTH_SHAPE = "depth is not a (height, width) image of the camera"
    COLOR_SHAPE = "colour is not a (height, width, 3) image of the camera"
    NO_DEPTH = "no valid depth"
    LABEL_SHAPE = "labels have another shape than the depth"
    UNKNOWN_LABEL = "a label value has no detection"
    TOO_MANY = f"more than {SEGMENTS_MOST} detections: is the detector's threshold too low?"
    EVERYWHERE = "detections with one label fill the image: does the detector work?"
    LABEL_VALUE = "two detections share a label value, or one has none of 1 to 65535"


class FrameRejected(Exception):
    """Raised for a frame that a map does not accept; `reason` says why."""

    def __init__(self, reason: RejectReason):
        super().__init__(reason.value)
        self.reason = reason


def check_frame(frame: RgbdFrame, last: float, reach: float) -> None:
    """Raise FrameRejected unless the frame is newer than stamp `last`, well formed and has valid depth.

    reach: largest allowed distance, metres, of a camera from the origin of `map` and of `odom`.
    """
    if not last < frame.stamp < np.inf:
        raise FrameRejected(RejectReason.STALE)
    if not (_is_rigid(frame.odom_from_camera) and _is_rigid(frame.map_from_odom)):
        raise FrameRejected(RejectReason.POSE)
    places = frame.odom_from_camera[:3, 3], frame.map_from_odom[:3, 3], frame.map_from_camera[:3, 3]
    if max(float(np.abs(place).max()) for place in places) > reach:
        raise FrameRejected(RejectReason.FAR_AWAY)
    camera = frame.camera
    if not (np.isfinite((camera.cx, camera.cy)).all() and 0.0 < min(camera.fx, camera.fy) < np.inf):
        raise FrameRejected(RejectReason.CAMERA)
    if frame.depth.shape != (frame.camera.height, frame.camera.width):
        raise FrameRejected(RejectReason.DEPTH_SHAPE)
    if frame.rgb is not None and frame.rgb.shape != (*frame.depth.shape, 3):
        raise FrameRejected(RejectReason.COLOR_SHAPE)
    if not _any_valid(frame.depth):
        raise FrameRejected(RejectReason.NO_DEPTH)


def _is_rigid(pose: np.ndarray) -> bool:
    """Return whether a pose (4, 4) is finite and rigid."""
    pose = np.asarray(pose, np.float64)
    if pose.shape != (4, 4) or not np.isfinite(pose).all():
        return False
    return bool(np.abs(pose[:3, :3] @ pose[:3, :3].T - _IDENTITY).max() < 1e-3)


def label_lookup(frame: RgbdFrame, segmented: SegmentedFrame) -> np.ndarray:
    """Return (65536,) int32: label value -> index of the detection, -1 = background.

    Raises FrameRejected for segments of another stamp or shape, with values without a detection, or that no working
    detector returns.
    """
    if not abs(segmented.stamp - frame.stamp) <= SAME_MOMENT:
        raise FrameRejected(RejectReason.STAMP_MISMATCH)
    if segmented.labels.shape != frame.depth.shape or segmented.labels.dtype != np.uint16:
        raise FrameRejected(RejectReason.LABEL_SHAPE)
    if is_crowded(segmented):
        raise FrameRejected(RejectReason.TOO_MANY)
    lookup = np.full(65536, -2, np.int32)
    lookup[0] = -1
    for place, detection in enumerate(segmented.detections):
        value = detection.label_value
        if not 0 < value < len(lookup) or lookup[value] != -2:
            raise FrameRejected(RejectReason.LABEL_VALUE)
        lookup[value] = place
    most = int(segmented.labels.max(initial=0))
    if (lookup[: most + 1] == -2).any() and _any_unknown(segmented.labels, lookup):
        raise FrameRejected(RejectReason.UNKNOWN_LABEL)
    if is_everywhere(segmented):
        raise FrameRejected(RejectReason.EVERYWHERE)
    return lookup


@njit(cache=True, nogil=True)
def _any_valid(depth):
    for row in range(depth.shape[0]):
        for column in range(depth.shape[1]):
            if 0.0 < depth[row, column] < np.inf:  # NaN compares false
                return True
    return False


@njit(cache=True, nogil=True)
def _any_unknown(labels, lookup):
    for row in range(labels.shape[0]):
        for column in range(labels.shape[1]):
            if lookup[labels[row, column]] == -2:
                return True
    return False
