"""Segments of one image, lifted to boxes in map by their depth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lodestar.perception.frames import Detection, RgbdFrame, SegmentedFrame

LIFT_MIN_DEPTH = 0.15  # metres, least depth of a pixel that is used; chosen
LIFT_MAX_DEPTH = 8.0  # metres, largest depth of a pixel that is used; chosen
LIFT_MIN_PIXELS = 20  # pixels with valid depth in a mask, at least; chosen
LIFT_MAX_PIXELS = 400  # pixels of a mask that are lifted, about; chosen
LIFT_SPREAD = 0.6  # metres of depth from the median above which a pixel is not of the object; chosen
# share of the points cut off at either end of each axis; chosen: masks bleed over edges
LIFT_TRIM = 0.05


@dataclass(frozen=True)
class LiftedDetection:
    """A detection in map, metres. center, box_min, box_max: (3,). distance: to the median pixel, along the ray."""

    detection: Detection
    center: np.ndarray
    box_min: np.ndarray
    box_max: np.ndarray
    distance: float
    bearing: float  # radians from the camera's axis in plan, left positive


def lift(frame: RgbdFrame, segmented: SegmentedFrame) -> list[LiftedDetection]:
    """Return the detections with enough valid depth, in the order of the frame; [] if the images differ in size."""
    if frame.depth.shape != segmented.labels.shape:
        return []
    lifted = []
    map_from_camera = frame.map_from_camera
    for detection in segmented.detections:
        box = detection.box
        rows = slice(max(box.y, 0), box.y + box.height)
        columns = slice(max(box.x, 0), box.x + box.width)
        depth = frame.depth[rows, columns]
        mask = segmented.labels[rows, columns] == detection.label_value
        mask &= (depth >= LIFT_MIN_DEPTH) & (depth <= LIFT_MAX_DEPTH)  # NaN and 0 fail both
        v, u = np.nonzero(mask)
        if len(v) < LIFT_MIN_PIXELS:
            continue
        step = max(len(v) // LIFT_MAX_PIXELS, 1)
        pixels = np.stack([u[::step] + columns.start, v[::step] + rows.start], axis=1)
        points = frame.camera.backproject(frame.depth, pixels).astype(np.float64)
        # of an actual point, never between two clusters
        median = float(np.quantile(points[:, 2], 0.5, method="lower"))
        points = points[np.abs(points[:, 2] - median) <= LIFT_SPREAD]
        points_map = points @ map_from_camera[:3, :3].T + map_from_camera[:3, 3]
        low, high = np.quantile(points_map, [LIFT_TRIM, 1.0 - LIFT_TRIM], axis=0)
        middle = np.median(points, axis=0)
        lifted.append(
            LiftedDetection(
                detection=detection,
                center=np.median(points_map, axis=0),
                box_min=low,
                box_max=high,
                distance=float(np.linalg.norm(middle)),
                bearing=float(np.arctan2(-middle[0], middle[2])),
            )
        )
    return lifted
