"""Scores of superlatives and of places in a room: the tallest, the second from the left, the one in the
corner.
"""

from __future__ import annotations

import numpy as np

from lodestar.models.lexicon import load_lexicon
from lodestar.query.config import QUERY_UNKNOWN_ATTRIBUTE
from lodestar.query.pool import UNDECIDED, UNVERIFIED, Pool
from lodestar.query.relations import Boxes, on_floor

SUPERLATIVES = {
    "largest": ("volume", 1), "smallest": ("volume", -1), "tallest": ("height", 1), "shortest": ("height", -1),
    "longest": ("length", 1), "widest": ("length", 1), "narrowest": ("width", -1),
    "darkest": ("light", -1), "lightest": ("light", 1),
}  # fmt: skip
MEASURED = {
    "large": ("volume", 1), "small": ("volume", -1), "tall": ("height", 1), "low": ("height", -1),
    "long": ("length", 1), "wide": ("length", 1), "narrow": ("width", -1),
    "dark": ("light", -1), "light": ("light", 1),
}  # fmt: skip
#: Mean colours of objects with that colour name under indoor light, RGB in [0, 1].
COLORS = {
    "red": (0.55, 0.2, 0.2), "orange": (0.7, 0.42, 0.2), "yellow": (0.68, 0.6, 0.3), "green": (0.3, 0.45, 0.3),
    "blue": (0.25, 0.33, 0.5), "purple": (0.4, 0.28, 0.45), "pink": (0.68, 0.45, 0.5), "brown": (0.42, 0.32, 0.24),
    "black": (0.16, 0.16, 0.17), "white": (0.78, 0.77, 0.74), "gray": (0.5, 0.5, 0.5), "beige": (0.66, 0.6, 0.5),
    "silver": (0.6, 0.6, 0.6), "wooden": (0.48, 0.37, 0.27),
}  # fmt: skip


def by_rank(keys: np.ndarray, power: float, place: int = 0) -> np.ndarray:
    """Return scores (R,) 1 / (1 + |rank - place|) ** power by the ascending ranks of keys (R,) (FARM D.2)."""
    rank = np.empty(len(keys))
    rank[np.argsort(keys, kind="stable")] = np.arange(len(keys))
    return (1.0 + np.abs(rank - place)) ** -power


def measure(name: str, boxes: Boxes, colors: np.ndarray) -> np.ndarray:
    """Return the measured value (N,) of a size or a shade, NaN if unknown."""
    size = boxes.high - boxes.low
    if name == "height":
        return size[:, 2]
    if name == "length":
        return size[:, :2].max(axis=1)
    if name == "width":
        return size[:, :2].min(axis=1)
    if name == "light":
        return colors @ np.array([0.299, 0.587, 0.114])
    return np.prod(np.maximum(size, 0.03), axis=1)


def attribute(pool: Pool, value: str, group: np.ndarray) -> np.ndarray:
    """Return scores (N,) of an attribute: from words, else, if unknown, by comparing sizes or colours in
    `group`.

    group: entity indices. Scores from sizes or colours differ by at most `color_spread` from that of an
    unknown attribute.
    """
    if value in SUPERLATIVES:
        name, sign = SUPERLATIVES[value]
        scores = np.zeros(len(pool))
        keys = -sign * np.nan_to_num(measure(name, pool.boxes, pool.colors)[group])
        scores[group] = by_rank(keys, pool.table.size_power)
        return scores
    scores = pool.attribute(value)
    lexicon = load_lexicon()
    wanted = lexicon.attribute(value) or value
    open_rows = group[scores[group] == QUERY_UNKNOWN_ATTRIBUTE]
    if len(open_rows) < 2:
        return scores
    spread = pool.table.color_spread
    if wanted in MEASURED:
        name, sign = MEASURED[wanted]
        known = measure(name, pool.boxes, pool.colors)[open_rows]
        if np.isfinite(known).all() and np.ptp(known) > 0.02 * np.abs(known).max():
            rank = np.argsort(np.argsort(-sign * known, kind="stable"), kind="stable")
            scores[open_rows] += spread * (0.5 - rank / (len(rank) - 1.0))
    elif wanted in COLORS and np.isfinite(pool.colors[open_rows]).all():
        away = color_distance(pool.colors[open_rows], wanted)
        likeness = np.exp(-(away - away.min()) / max(pool.table.color, 1e-6))
        scores[open_rows] += spread * (likeness - 0.5)
    return np.clip(scores, 0.0, 1.0)


#: Weights of the differences in lightness and in chroma in a colour distance: light changes within a room, hue does
#: not. Black and white are compared by lightness alone.
_LIGHTNESS, _CHROMA = 0.5, 2.0


def color_distance(colors: np.ndarray, name: str) -> np.ndarray:
    """Return distances (N,) of colours (N, 3), RGB in [0, 1], from a named colour: CIELAB / 100, with weights
    for lightness and chroma.
    """
    off = (_lab(colors) - _lab(np.array([COLORS[name]]))) / 100.0
    lightness = 1.0 if name in ("black", "white") else _LIGHTNESS
    return np.linalg.norm(off * np.array([lightness, _CHROMA, _CHROMA]), axis=1)


def _lab(colors: np.ndarray) -> np.ndarray:
    """Return CIELAB coordinates (N, 3), white D65, of sRGB colours (N, 3)."""
    linear = np.where(colors > 0.04045, ((colors + 0.055) / 1.055) ** 2.4, colors / 12.92)
    xyz = linear @ np.array([[0.4124, 0.2126, 0.0193], [0.3576, 0.7152, 0.1192], [0.1805, 0.0722, 0.9505]])
    xyz = xyz / np.array([0.9505, 1.0, 1.089])
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16.0 / 116.0).T
    return np.stack([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)], axis=1)


def structure(pool: Pool, name: str, category: str, group: np.ndarray) -> np.ndarray:
    """Return scores (N,) of a relation to a part of the building, such as a corner, by the entities' places
    in their rooms.

    group: indices of the compared entities. A room's extent is estimated from its entities, so the scores
    stay near that of an unverified predicate.
    """
    boxes = pool.boxes
    if category == "floor" and name in ("On", "NextTo", "Near", "Below"):
        return on_floor(boxes, pool.floors)
    scores = np.full(len(pool), UNVERIFIED)
    if len(group) < 2:
        return scores
    away = _away(pool, category, group)
    spread = pool.table.place
    likeness = np.exp(-(away - away.min()) / 1.0)
    scores[group] = np.clip(UNVERIFIED + spread * (likeness - 0.5), 0.0, 1.0)
    return scores


def _away(pool: Pool, category: str, group: np.ndarray) -> np.ndarray:
    """Return the distance (G,), metres, of entities from a part of their room."""
    boxes, low, high = pool.boxes, pool.room_low[group], pool.room_high[group]
    center = boxes.center[group, :2]
    if category == "center":
        return np.linalg.norm(center - (low + high) / 2.0, axis=1)
    if category == "ceiling":
        return boxes.high[:, 2].max() - boxes.high[group, 2]
    sides = np.minimum(boxes.low[group, :2] - low, high - boxes.high[group, :2])
    sides = np.maximum(sides, 0.0)
    if category == "corner":
        return np.linalg.norm(sides, axis=1)
    return sides.min(axis=1)


def amid(pool: Pool, group: np.ndarray, by_height: bool = False) -> np.ndarray:
    """Return scores (N,) of being the middle one of a group, ordered along its direction of largest spread or
    by height.

    group: entity indices.
    """
    scores = np.zeros(len(pool))
    if not len(group):
        return scores
    points = pool.boxes.center[group]
    off = points - points.mean(axis=0)
    if by_height:
        keys = np.abs(points[:, 2] - (points[:, 2].min() + points[:, 2].max()) / 2.0)
    elif len(group) > 2:
        _, _, axes = np.linalg.svd(off, full_matrices=False)
        along = off @ axes[0]
        rank = np.argsort(np.argsort(along, kind="stable"), kind="stable")
        keys = np.abs(rank - (len(group) - 1) / 2.0) + 0.1 * np.linalg.norm(off, axis=1)
    else:
        keys = np.linalg.norm(off, axis=1)
    scores[group] = by_rank(keys, pool.table.single_power)
    return scores


def apart(pool: Pool, group: np.ndarray, farthest: bool) -> np.ndarray:
    """Return scores (N,) of being farthest from (or closest to) the nearest other entity of the group (entity
    indices).
    """
    scores = np.full(len(pool), 0.0 if len(group) else UNDECIDED)
    if len(group) == 1:
        scores[group] = 1.0
    if len(group) < 2:
        return scores
    centers = pool.boxes.center[group]
    between = np.linalg.norm(centers[:, None] - centers[None], axis=-1)
    np.fill_diagonal(between, np.inf)
    nearest = between.min(axis=1)
    scores[group] = by_rank(-nearest if farthest else nearest, pool.table.single_power)
    return scores
