"""The labelled objects that the robot's detector finds in recorded frames."""

from __future__ import annotations

from collections import Counter

import numpy as np

from lodestar.geometry.boxes import box_iou
from lodestar.models.kinship import same_kind
from lodestar.perception.frames import RgbdFrame, SegmentedFrame
from lodestar_eval.real_images.labels import STEP, FramePoints, LabelledRoom, LabelledThing

HIT = 0.25  # least IoU of image boxes for a detection to match an object; chosen: cups are small
SEEN_PIXELS = 200  # least pixels of an object that count as seen; as in `instance_truth`


class Sightings:
    """Counts per object of a room: frames that show it, and those of them with a matching detection.

    detections: number by label, over all frames. taken: number of frames.
    """

    def __init__(self, room: LabelledRoom) -> None:
        self.room, self.taken = room, 0
        self.frames, self.hits = [0] * len(room.things), [0] * len(room.things)
        self.detections: Counter[str] = Counter()

    def add(self, frame: RgbdFrame, segmented: SegmentedFrame) -> None:
        """Count a frame with its segments."""
        self.taken += 1
        self.detections.update(detection.label for detection in segmented.detections)
        points = FramePoints(frame)
        for index, thing in enumerate(self.room.things):
            own = points.of(thing)
            if len(own) * STEP**2 >= SEEN_PIXELS:
                self.frames[index] += 1
                self.hits[index] += _is_hit(segmented, points.columns[own], points.rows[own], thing)


def _is_hit(segmented: SegmentedFrame, u: np.ndarray, v: np.ndarray, thing: LabelledThing) -> bool:
    """Return whether a detection of the object's kind fits the box of its points; u, v: (N,) their pixels."""
    low, high = np.array([u.min(), v.min()], float), np.array([u.max() + STEP, v.max() + STEP], float)
    for detection in segmented.detections:
        box = detection.box
        corner, size = np.array([box.x, box.y], float), np.array([box.width, box.height], float)
        if same_kind(detection.label, thing.label) and box_iou(low, high, corner, corner + size) >= HIT:
            return True
    return False
