"""Reference frames of left, right, in front and behind (FARM D.2).

They are tried in this order: the viewpoint stated in the sentence; the stored views of the candidate; the
known front of the anchor; a viewer in the middle of the room who faces the anchor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lodestar.query.config import QUERY_DEFAULT_VIEW
from lodestar.query.relations import Boxes, falling, gap, step
from lodestar.query.table import PredicateTable
from lodestar.scene.records import View

QUERY_UNSEEN_SIDE = 0.35  # score of LeftOf and the like without any view; chosen: below QUERY_DEFAULT_VIEW

SIDEWAYS = ("LeftOf", "RightOf")
_FACING_AWAY = np.pi / 2 + 0.35  # radians; objects at larger bearings are behind the viewer


@dataclass(frozen=True)
class Viewer:
    """Position and direction of a viewer in plan: (2,) each; forward is a unit vector."""

    position: np.ndarray
    forward: np.ndarray

    @property
    def right(self) -> np.ndarray:
        """Return the (2,) unit vector to the viewer's right."""
        return np.array([self.forward[1], -self.forward[0]])

    def bearing(self, points: np.ndarray) -> np.ndarray:
        """Return the angle of points (..., 2) to the right of straight ahead, radians in (-pi, pi]."""
        offset = points - self.position
        return np.arctan2(offset @ self.right, offset @ self.forward)


def viewer(position: np.ndarray, towards: np.ndarray) -> Viewer | None:
    """Return the viewer at one position in plan who faces another; None if the positions are equal."""
    way = np.asarray(towards, float)[:2] - np.asarray(position, float)[:2]
    length = float(np.linalg.norm(way))
    return None if length < 1e-3 else Viewer(np.asarray(position, float)[:2], way / length)


def seen_from(name: str, a: Boxes, b: Boxes, forward: np.ndarray, table: PredicateTable) -> np.ndarray:
    """Return the score of a being on a side of b ("LeftOf", "InFrontOf", ...), without regard to their
    distance.

    forward: (..., 2) directions in which the viewers look. Shapes broadcast.
    """
    offset = a.center[..., :2] - b.center[..., :2]
    ahead = np.sum(offset * forward, axis=-1)
    right = offset[..., 0] * forward[..., 1] - offset[..., 1] * forward[..., 0]
    if name in SIDEWAYS:
        margin = right if name == "RightOf" else -right
        aside = falling(np.abs(ahead), 2.0 * np.abs(margin) + 0.5, 2.0)
    else:
        margin = ahead if name == "Behind" else -ahead
        aside = falling(np.abs(right), 1.0 * np.abs(margin) + 0.5, 2.0)
    return step(margin, table.side) * (0.5 + 0.5 * aside)


def nearness(a: Boxes, b: Boxes, table: PredicateTable) -> np.ndarray:
    """Return the degree in [0, 1] to which two boxes are near enough to be seen together."""
    close = falling(gap(a, b), table.side_near, table.steepness)
    return table.side_floor + (1.0 - table.side_floor) * close


def in_views(
    name: str, a: Boxes, b: Boxes, views: tuple[View, ...], table: PredicateTable
) -> tuple[np.ndarray, np.ndarray]:
    """Return scores (M,) of a box (3,) being on a side of M anchors in its saved views, and whether any view
    counts.

    name: the side, such as "LeftOf". b: (M, 3). The score is the mean over the views; a view counts if box
    and anchor are in front of its camera.
    """
    total, counted = np.zeros(len(b.low)), np.zeros(len(b.low))
    for view in views:
        camera_from_map = np.linalg.inv(view.map_from_camera)
        rotation, offset = camera_from_map[:3, :3], camera_from_map[:3, 3]
        one = rotation @ a.center + offset
        others = b.center @ rotation.T + offset
        seen = (others[:, 2] > 0.2) & (one[2] > 0.2)
        depth = max(one[2], 0.2)
        if name in SIDEWAYS:
            margin = one[0] - others[:, 0] / np.maximum(others[:, 2], 0.2) * depth
            score = step(-margin if name == "LeftOf" else margin, table.side)
        else:
            nearer = others[:, 2] - one[2]
            score = step(nearer if name == "InFrontOf" else -nearer, table.side)
        total += np.where(seen, score, 0.0)
        counted += seen
    return total / np.maximum(counted, 1.0), counted > 0


class ViewsByRow(Protocol):
    """Interface of a list of views per entity row."""

    def __getitem__(self, row: int, /) -> tuple[View, ...]: ...


def side_scores(
    name: str,
    rows: np.ndarray,
    anchors: np.ndarray,
    boxes: Boxes,
    views: ViewsByRow,
    fronts: np.ndarray,
    middles: np.ndarray,
    stated: Viewer | None,
    table: PredicateTable,
) -> np.ndarray:
    """Return scores (R, K) of entities `rows` (R,) being on a side `name` of their `anchors` (R, K).

    rows, anchors: indices of the N entities. fronts: (N, 3) unit vectors, NaN if unknown. middles: (N, 2)
    middle of each entity's room. stated: the viewer that the sentence names, None = none.
    """
    a, b = boxes.take(rows).rows(), boxes.take(anchors)
    close = nearness(a, b, table)
    if stated is not None:
        return seen_from(name, a, b, stated.forward, table) * close
    way = b.center[..., :2] - middles[anchors]
    length = np.linalg.norm(way, axis=-1, keepdims=True)
    from_middle = np.where(length > 0.05, way / np.maximum(length, 1e-9), np.nan)
    default = np.nan_to_num(seen_from(name, a, b, from_middle, table), nan=QUERY_UNSEEN_SIDE)
    facing = -fronts[anchors][..., :2]
    fronted = ~np.isnan(facing[..., 0])
    by_front = np.nan_to_num(seen_from(name, a, b, np.nan_to_num(facing), table))
    share = table.front_share
    scores = np.where(
        fronted, share * by_front + (1.0 - share) * default * QUERY_DEFAULT_VIEW, default * QUERY_DEFAULT_VIEW
    )
    for k, row in enumerate(rows):
        if views[row]:
            by_view, known = in_views(name, boxes.take(row), boxes.take(anchors[k]), views[row], table)
            scores[k] = np.where(known, by_view, scores[k])
    return scores * close


def ordered_from(
    name: str, points: np.ndarray, group: np.ndarray, eye: Viewer | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return keys (N,) that order points (N, 3) along a relation, smallest first, and whether each is in view.

    name: the relation, such as "LeftOf" for "third from the left". group: positions of the entities compared. eye: the
    viewer whose left and front count; None = unknown: all keys are 0.
    """
    if name in ("Above", "Below"):
        return (-points[:, 2] if name == "Above" else points[:, 2]), np.ones(len(points), bool)
    if eye is None:
        return np.zeros(len(points)), np.ones(len(points), bool)
    bearing = eye.bearing(points[:, :2])
    offset = points[:, :2] - eye.position
    in_view = np.abs(bearing) < _FACING_AWAY
    if name in SIDEWAYS:
        straight = offset @ eye.right
        key = np.where(in_view, bearing, np.sign(bearing) * np.pi) + 0.01 * straight
        return (key if name == "LeftOf" else -key), in_view
    depth = offset @ eye.forward
    return (depth if name == "InFrontOf" else -depth), in_view
