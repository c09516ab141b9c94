"""Reference frames of left, right, in front and behind (FARM D.2).

In this order: the viewpoint stated in the sentence; the stored views of the candidate; the known front of the
anchor; otherwise a viewer in the middle of the room who faces the anchor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lodestar.query.config import QueryConfig
from lodestar.query.relations import Boxes, falling, gap, step
from lodestar.query.table import PredicateTable
from lodestar.scene.records import View

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
    """Return the viewer at one position in plan who looks at another; None if the positions are equal."""
    way = np.asarray(towards, float)[:2] - np.asarray(position, float)[:2]
    length = float(np.linalg.norm(way))
    return None if length < 1e-3 else Viewer(np.asarray(position, float)[:2], way / length)


def seen_from(name: str, a: Boxes, b: Boxes, forward: np.ndarray, table: PredicateTable) -> np.ndarray:
    """Return the score of a side of a to b for viewers who look along `forward` (..., 2), without nearness.

    Shapes broadcast.
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
    """Return the degree to which the two are near enough to be seen together."""
    close = falling(gap(a, b), table.side_near, table.steepness)
    return table.side_floor + (1.0 - table.side_floor) * close


def in_views(
    name: str, a: Boxes, b: Boxes, views: tuple[View, ...], table: PredicateTable
) -> tuple[np.ndarray, np.ndarray]:
    """Return the side's score of one box (3,) to anchors (M, 3) in the box's views, and whether any view counts.

    The score is the mean over the views; a view counts if the anchor is in front of its camera.
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
    """Views of an entity by its row."""

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
    config: QueryConfig,
) -> np.ndarray:
    """Return scores (R, K) of a side of entities `rows` (R,) to `anchors` (R, K).

    fronts: (N, 3), NaN if unknown. middles: (N, 2) middle of each entity's room.
    """
    a, b = boxes.take(rows).rows(), boxes.take(anchors)
    close = nearness(a, b, table)
    if stated is not None:
        return seen_from(name, a, b, stated.forward, table) * close
    way = b.center[..., :2] - middles[anchors]
    length = np.linalg.norm(way, axis=-1, keepdims=True)
    from_middle = np.where(length > 0.05, way / np.maximum(length, 1e-9), np.nan)
    default = np.nan_to_num(seen_from(name, a, b, from_middle, table), nan=config.unseen_side)
    facing = -fronts[anchors][..., :2]
    fronted = ~np.isnan(facing[..., 0])
    by_front = np.nan_to_num(seen_from(name, a, b, np.nan_to_num(facing), table))
    share = table.front_share
    scores = np.where(
        fronted,
        share * by_front + (1.0 - share) * default * config.default_view,
        default * config.default_view,
    )
    for k, row in enumerate(rows):
        if views[row]:
            by_view, known = in_views(name, boxes.take(row), boxes.take(anchors[k]), views[row], table)
            scores[k] = np.where(known, by_view, scores[k])
    return scores * close


def ordered_from(
    name: str, points: np.ndarray, group: np.ndarray, eye: Viewer | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return keys (N,) by which points (N, 3) are counted from a side, least first, and whether each is in view.

    group: the entities compared. Without a stated viewer they are seen from the middle of the group.
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
