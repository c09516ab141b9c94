"""Top-down drawings of a candidate's surroundings for a vision model (FARM D.2, projected-view reranking)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import cv2
import numpy as np

from lodestar.scene.captions import clean_text
from lodestar.scene.floor_height import foot_height
from lodestar.scene.records import Entity, EntityState

SIZE = 448  # pixels of a side
REACH = 3.0  # metres from the candidate to the edge
ARROW = 0.8  # metres
WHITE, GRAY, BLACK = (255, 255, 255), (170, 170, 170), (30, 30, 30)
RED, BLUE, GREEN = (200, 30, 30), (40, 70, 200), (20, 140, 40)


def draw_panel(
    number: int,
    candidate: Entity,
    rivals: Collection[int],
    anchors: Collection[int],
    entities: Mapping[int, Entity],
    camera_height: float,
) -> np.ndarray:
    """Return (SIZE, SIZE, 3) uint8 RGB: the boxes around a candidate from above, x to the right and y up.

    The candidate is red, rivals (ids) are blue, anchors (ids) black, other objects gray. A green arrow shows the
    candidate's front, or the direction it was seen from. The number is in the corner.
    camera_height: metres above the floor.
    """
    image = np.full((SIZE, SIZE, 3), WHITE, np.uint8)
    middle = (np.asarray(candidate.box_min, float) + candidate.box_max)[:2] / 2.0
    near = [e for e in entities.values() if e.state != EntityState.ARCHIVED and _is_near(e, middle)]
    rank = {e.id: (e.id == candidate.id) + (e.id in rivals or e.id in anchors) for e in near}
    for entity in sorted(near, key=lambda e: (rank[e.id], e.id)):
        color = GRAY
        if entity.id == candidate.id:
            color = RED
        elif entity.id in anchors:
            color = BLACK
        elif entity.id in rivals:
            color = BLUE
        _draw_box(image, entity, middle, color, 1 if color == GRAY else 2, camera_height)
    front = _front(candidate)
    if front is not None:
        edge = float(np.max(np.subtract(candidate.box_max, candidate.box_min)[:2])) / 2.0
        foot, tip = (_pixel(middle + (edge + length) * front, middle) for length in (0.0, ARROW))
        cv2.arrowedLine(image, foot, tip, GREEN, 2, cv2.LINE_AA, tipLength=0.25)
    cv2.rectangle(image, (0, 0), (SIZE - 1, SIZE - 1), BLACK, 1)
    cv2.putText(image, str(number), (8, 30), cv2.FONT_HERSHEY_SIMPLEX, 1.0, BLACK, 2, cv2.LINE_AA)
    return image


def _is_near(entity: Entity, middle: np.ndarray) -> bool:
    low, high = np.asarray(entity.box_min, float)[:2], np.asarray(entity.box_max, float)[:2]
    if not (np.isfinite(low) & np.isfinite(high) & (high >= low)).all():
        return False
    return bool(
        (np.clip(middle, low, high) - middle <= REACH).all()
        and (middle - np.clip(middle, low, high) <= REACH).all()
    )


def _pixel(point: np.ndarray, middle: np.ndarray) -> tuple[int, int]:
    offset = np.clip((np.asarray(point)[:2] - middle) / REACH, -3.0, 3.0) * SIZE / 2.0
    return round(float(SIZE / 2.0 + offset[0])), round(float(SIZE / 2.0 - offset[1]))


def _draw_box(
    image: np.ndarray, entity: Entity, middle: np.ndarray, color: tuple, width: int, camera_height: float
) -> None:
    low, high = _pixel(entity.box_min, middle), _pixel(entity.box_max, middle)
    cv2.rectangle(image, low, high, color, width, cv2.LINE_AA)
    label = clean_text(entity.label or entity.caption)[:18].encode("ascii", "replace").decode()
    foot = foot_height(entity, camera_height)
    text = label if foot < 0.3 else f"{label} +{foot:.1f}m"
    (length, _), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, 0.4, 1)
    x = int(np.clip((low[0] + high[0] - length) / 2, 2, SIZE - length - 2))
    y = int(np.clip((low[1] + high[1]) / 2 + 4, 12, SIZE - 4))
    cv2.putText(image, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.4, color, 1, cv2.LINE_AA)


def _front(entity: Entity) -> np.ndarray | None:
    """Return the (2,) unit vector of the front, or else towards the best view's camera; None = unknown."""
    if entity.front is not None:
        way = np.asarray(entity.front, float)[:2]
    elif entity.views:
        best = max(entity.views, key=lambda view: view.quality)
        way = best.map_from_camera[:2, 3] - (np.asarray(entity.box_min, float) + entity.box_max)[:2] / 2.0
    else:
        return None
    length = float(np.linalg.norm(way))
    return way / length if np.isfinite(length) and length > 1e-6 else None
