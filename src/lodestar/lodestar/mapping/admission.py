"""Which frames a map takes in."""

from __future__ import annotations

from enum import Enum

import numpy as np
from numba import njit

from lodestar.perception.frames import RgbdFrame, SegmentedFrame


class RejectReason(Enum):
    """Why a frame was not taken in."""

    STALE = "stamp is not newer than the last frame's"
    STAMP_MISMATCH = "segments and depth have different stamps"
    POSE = "pose is not finite"
    DEPTH_SHAPE = "depth is not a (height, width) image of the camera"
    NO_DEPTH = "no valid depth"
    LABEL_SHAPE = "labels have another shape than the depth"
    UNKNOWN_LABEL = "a label value has no detection"


class FrameRejected(Exception):
    """A frame was counted and not taken in, for `reason`."""

    def __init__(self, reason: RejectReason):
        super().__init__(reason.value)
        self.reason = reason


def check_frame(frame: RgbdFrame, last: float) -> None:
    """Raise FrameRejected unless the frame is newer than stamp `last`, well formed and has valid depth."""
    if not frame.stamp > last:
        raise FrameRejected(RejectReason.STALE)
    if not (np.isfinite(frame.odom_from_camera).all() and np.isfinite(frame.map_from_odom).all()):
        raise FrameRejected(RejectReason.POSE)
    if frame.depth.shape != (frame.camera.height, frame.camera.width):
        raise FrameRejected(RejectReason.DEPTH_SHAPE)
    if not (frame.depth > 0.0).any():  # NaN compares false
        raise FrameRejected(RejectReason.NO_DEPTH)


def label_lookup(frame: RgbdFrame, segmented: SegmentedFrame) -> np.ndarray:
    """(65536,) int32, label value -> place in the detections, -1 = background.

    Raises FrameRejected for segments of another stamp or shape, or with values that no detection has.
    """
    if not abs(segmented.stamp - frame.stamp) <= 1e-3:
        raise FrameRejected(RejectReason.STAMP_MISMATCH)
    if segmented.labels.shape != frame.depth.shape or segmented.labels.dtype != np.uint16:
        raise FrameRejected(RejectReason.LABEL_SHAPE)
    lookup = np.full(65536, -2, np.int32)
    lookup[0] = -1
    for place, detection in enumerate(segmented.detections):
        lookup[detection.label_value] = place
    if _any_unknown(segmented.labels, lookup):
        raise FrameRejected(RejectReason.UNKNOWN_LABEL)
    return lookup


@njit(cache=True, nogil=True)
def _any_unknown(labels, lookup):
    for row in range(labels.shape[0]):
        for column in range(labels.shape[1]):
            if lookup[labels[row, column]] == -2:
                return True
    return False
