"""Soft spatial predicates in closed form over boxes (FARM D.2), tolerant of boxes of which one side was seen.

Arrays broadcast: `a` has shape (N, 1, 3) and `b` (N, M, 3) for M anchors of each candidate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lodestar.query.config import QueryConfig
from lodestar.scene.records import View


@dataclass(frozen=True)
class Boxes:
    """Corners of boxes, (..., 3), in map, metres."""

    low: np.ndarray
    high: np.ndarray

    @property
    def center(self) -> np.ndarray:
        """(..., 3)."""
        return (self.low + self.high) / 2.0

    @property
    def extent(self) -> np.ndarray:
        """(...,): the longest side in plan or height."""
        return np.max(self.high - self.low, axis=-1)

    def take(self, indices: np.ndarray) -> Boxes:
        """Boxes of these rows of (N, 3) boxes, in the shape of `indices`."""
        return Boxes(self.low[indices], self.high[indices])

    def rows(self) -> Boxes:
        """(N, 1, 3), to pair with (N, M, 3)."""
        return Boxes(self.low[:, None], self.high[:, None])


def falling(value: np.ndarray, half: np.ndarray | float, steepness: float) -> np.ndarray:
    """1 far below `half`, 0.5 at it, 0 far above."""
    exponent = steepness * (np.asarray(value) / half - 1.0)
    return 1.0 / (1.0 + np.exp(np.clip(exponent, -50.0, 50.0)))


def step(value: np.ndarray, width: float) -> np.ndarray:
    """0 far below zero, 0.5 at it, 1 far above; `width` metres to 0.73."""
    return 1.0 / (1.0 + np.exp(-np.clip(np.asarray(value) / width, -50.0, 50.0)))


def gap_in_plan(a: Boxes, b: Boxes) -> np.ndarray:
    """Distance of two boxes seen from above."""
    gap = np.maximum(np.maximum(b.low - a.high, a.low - b.high)[..., :2], 0.0)
    return np.linalg.norm(gap, axis=-1)


def gap(a: Boxes, b: Boxes) -> np.ndarray:
    """Distance of two boxes."""
    return np.linalg.norm(np.maximum(np.maximum(b.low - a.high, a.low - b.high), 0.0), axis=-1)


def _center_off(a: Boxes, b: Boxes) -> np.ndarray:
    """Distance in plan of the centre of a from the box b."""
    center = a.center[..., :2]
    outside = np.maximum(np.maximum(b.low[..., :2] - center, center - b.high[..., :2]), 0.0)
    return np.linalg.norm(outside, axis=-1)


def _scale(a: Boxes, b: Boxes, config: QueryConfig) -> np.ndarray:
    larger = np.maximum(a.extent, b.extent)
    return np.clip(larger / config.full_size, config.min_scale, 1.0)


def on(a: Boxes, b: Boxes) -> np.ndarray:
    """a stands on b: over it, and its foot at b's top or, as on a sofa or in a shelf, well above b's foot."""
    over = falling(_center_off(a, b), 0.3, 5.0)
    height = np.maximum(b.high - b.low, 0.0)[..., 2]
    foot = a.low[..., 2]
    above_foot = step(foot - (b.low[..., 2] + 0.3 * height), 0.04)
    below_top = step(b.high[..., 2] + 0.2 - foot, 0.04)
    higher = step(a.center[..., 2] - b.center[..., 2], 0.05)
    return over * above_foot * below_top * np.maximum(higher, above_foot * 0.9)


def on_floor(a: Boxes) -> np.ndarray:
    """a stands on the floor, which is at z = 0."""
    return step(0.22 - a.low[..., 2], 0.04)


def above(a: Boxes, b: Boxes) -> np.ndarray:
    """a is over b and does not reach below its top."""
    return falling(_center_off(a, b), 0.5, 5.0) * step(a.low[..., 2] - b.high[..., 2] + 0.1, 0.05)


def below(a: Boxes, b: Boxes) -> np.ndarray:
    """a is under b: beneath the whole of it, or on the floor between its legs."""
    under = falling(_center_off(a, b), 0.4, 5.0)
    lower = step(b.high[..., 2] - 0.1 - a.high[..., 2], 0.05)
    height = np.maximum(b.high - b.low, 0.0)[..., 2]
    at_foot = step(b.low[..., 2] + 0.35 * height - a.low[..., 2], 0.04)
    return under * lower * at_foot


def inside(a: Boxes, b: Boxes) -> np.ndarray:
    """The centre of a is in b, and a is the smaller."""
    center = a.center
    outside = np.linalg.norm(np.maximum(np.maximum(b.low - center, center - b.high), 0.0), axis=-1)
    smaller = step(b.extent - a.extent, 0.05)
    return falling(outside, 0.15, 5.0) * smaller


def next_to(a: Boxes, b: Boxes, config: QueryConfig) -> np.ndarray:
    """a is beside b: a small gap in plan at about one height, and not on top of it."""
    half = config.next_to * _scale(a, b, config)
    beside = falling(gap_in_plan(a, b), half, config.steepness)
    levels = np.maximum(np.maximum(b.low - a.high, a.low - b.high)[..., 2], 0.0)
    return beside * falling(levels, 0.8, 5.0) * (1.0 - 0.8 * on(a, b))


def near(a: Boxes, b: Boxes, config: QueryConfig) -> np.ndarray:
    """a is within a few steps of b."""
    half = config.near * np.maximum(_scale(a, b, config), 0.6)
    return falling(gap(a, b), half, config.steepness)


def between(a: Boxes, b: Boxes, c: Boxes) -> np.ndarray:
    """a lies between b and c, near the line that joins them in plan. Shapes broadcast."""
    start, end, point = b.center[..., :2], c.center[..., :2], a.center[..., :2]
    line = end - start
    length = np.maximum(np.linalg.norm(line, axis=-1), 1e-6)
    share = np.sum((point - start) * line, axis=-1) / length**2
    foot = start + share[..., None] * line
    lateral = np.linalg.norm(point - foot, axis=-1)
    along = step(share - 0.05, 0.04) * step(0.95 - share, 0.04)
    return along * falling(lateral, np.maximum(0.5, 0.25 * length), 5.0) * step(length - 0.3, 0.05)


def view_relation(
    name: str, a: Boxes, b: Boxes, views: tuple[View, ...], config: QueryConfig, near_score: np.ndarray
) -> np.ndarray:
    """LeftOf, RightOf, InFrontOf, Behind of one box (3,) and anchors (M, 3) in the views of the former.

    The mean over its views of where its centre lies in the camera's frame, and that the two are close by.
    Without a view that has the anchor in front of it: `unseen_side`.
    """
    total = np.zeros(len(b.low))
    counted = np.zeros(len(b.low))
    for view in views:
        camera_from_map = np.linalg.inv(view.map_from_camera)
        rotation, offset = camera_from_map[:3, :3], camera_from_map[:3, 3]
        one = rotation @ a.center + offset
        others = b.center @ rotation.T + offset
        seen = (others[:, 2] > 0.2) & (one[2] > 0.2)
        if name in ("LeftOf", "RightOf"):
            offset_right = one[0] / max(one[2], 0.2) - others[:, 0] / np.maximum(others[:, 2], 0.2)
            margin = offset_right * max(one[2], 0.2)
            score = step(-margin if name == "LeftOf" else margin, 0.15)
        else:
            nearer = others[:, 2] - one[2]
            score = step(nearer if name == "InFrontOf" else -nearer, 0.15)
        total += np.where(seen, score, 0.0)
        counted += seen
    known = total / np.maximum(counted, 1.0)
    return np.where(counted > 0, known, config.unseen_side) * near_score
