"""The robot's detector on recorded frames, and the labelled objects that it detects."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lodestar.assembly import parts
from lodestar.assembly.config import PerceptionConfig
from lodestar.geometry.boxes import box_iou
from lodestar.models.kinship import same_kind
from lodestar.perception.frames import AlignedDepth, RgbdFrame, SegmentedFrame
from lodestar_eval.real_images.labels import STEP, FramePoints, LabelledThing

HIT = 0.25  # least IoU of image boxes for a detection to match an object; chosen: cups are small


class RoomDetector:
    """The detector of a configuration, as in the perception node."""

    def __init__(self, config: PerceptionConfig) -> None:
        self._detector = parts.color_detector(config)

    def detect(self, frame: RgbdFrame) -> SegmentedFrame:
        """Return the segments of a frame with colour. Raises DetectorUnavailable."""
        assert frame.rgb is not None
        return self._detector.detect(frame.stamp, frame.rgb, AlignedDepth(frame.depth, frame.camera))


def hits_of(
    segmented: SegmentedFrame, points: FramePoints, things: Sequence[LabelledThing]
) -> list[tuple[int, bool]]:
    """Return, per object, its number of visible pixels, and whether a detection of its kind fits its box."""
    found = []
    for thing in things:
        own = points.of(thing)
        hit = False
        if len(own):
            u, v = points.columns[own], points.rows[own]
            low, high = np.array([u.min(), v.min()], float), np.array([u.max() + STEP, v.max() + STEP], float)
            for detection in segmented.detections:
                box = detection.box
                corner = np.array([box.x, box.y], float)
                size = np.array([box.width, box.height], float)
                if same_kind(detection.label, thing.label):
                    hit |= bool(box_iou(low, high, corner, corner + size) >= HIT)
        found.append((len(own) * STEP**2, hit))
    return found
