"""Soft spatial predicates in closed form over boxes (FARM D.2), tolerant of boxes seen from one side only.

Arrays broadcast: `a` has shape (N, 1, 3) and `b` (N, M, 3) for M anchors of each candidate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lodestar.query.table import PredicateTable


@dataclass(frozen=True)
class Boxes:
    """Corners of boxes, (..., 3), in map, metres."""

    low: np.ndarray
    high: np.ndarray

    @property
    def center(self) -> np.ndarray:
        """Return the centres (..., 3), metres."""
        return (self.low + self.high) / 2.0

    @property
    def extent(self) -> np.ndarray:
        """Return the longest side of each box (...,), metres."""
        return np.max(self.high - self.low, axis=-1)

    def take(self, indices: np.ndarray) -> Boxes:
        """Return the boxes of these rows of (N, 3) boxes, in the shape of `indices`."""
        return Boxes(self.low[indices], self.high[indices])

    def rows(self) -> Boxes:
        """Return the boxes as (N, 1, 3), to pair with (N, M, 3)."""
        return Boxes(self.low[:, None], self.high[:, None])


def falling(value: np.ndarray, half: np.ndarray | float, steepness: float) -> np.ndarray:
    """Return a value falling from 1 far below `half` through 0.5 at `half` to 0 far above."""
    exponent = steepness * (np.asarray(value) / half - 1.0)
    return 1.0 / (1.0 + np.exp(np.clip(exponent, -50.0, 50.0)))


def step(value: np.ndarray, width: float) -> np.ndarray:
    """Return a value rising from 0 far below zero through 0.5 at zero to 1 far above; 0.73 at `width` metres."""
    return 1.0 / (1.0 + np.exp(-np.clip(np.asarray(value) / width, -50.0, 50.0)))


def gap_in_plan(a: Boxes, b: Boxes) -> np.ndarray:
    """Return the distance of two boxes in plan."""
    gap = np.maximum(np.maximum(b.low - a.high, a.low - b.high)[..., :2], 0.0)
    return np.linalg.norm(gap, axis=-1)


def gap(a: Boxes, b: Boxes) -> np.ndarray:
    """Return the distance of two boxes."""
    return np.linalg.norm(np.maximum(np.maximum(b.low - a.high, a.low - b.high), 0.0), axis=-1)


def _center_off(a: Boxes, b: Boxes) -> np.ndarray:
    """Return the distance in plan from the centre of a to the box b."""
    center = a.center[..., :2]
    outside = np.maximum(np.maximum(b.low[..., :2] - center, center - b.high[..., :2]), 0.0)
    return np.linalg.norm(outside, axis=-1)


def distance(a: Boxes, b: Boxes, table: PredicateTable, in_plan: bool = False) -> np.ndarray:
    """Return the distance used by Near and NextTo: between boxes, or between centres if the table says so."""
    if table.centroids:
        return np.linalg.norm(a.center - b.center, axis=-1)
    return gap_in_plan(a, b) if in_plan else gap(a, b)


def _fall(value: np.ndarray, half: np.ndarray | float, table: PredicateTable) -> np.ndarray:
    if table.gaussian:
        return np.exp(-0.5 * (value / half) ** 2)
    return falling(value, half, table.steepness)


def _scale(a: Boxes, b: Boxes, table: PredicateTable) -> np.ndarray:
    larger = np.maximum(a.extent, b.extent)
    return np.clip(larger / table.full_size, table.min_scale, 1.0)


def on(a: Boxes, b: Boxes, table: PredicateTable) -> np.ndarray:
    """Score "a on b": a is over b, and its base is at b's top or, as on a sofa or in a shelf, well above b's base."""
    over = falling(_center_off(a, b), table.over, 5.0)
    height = np.maximum(b.high - b.low, 0.0)[..., 2]
    foot = a.low[..., 2]
    above_foot = step(foot - (b.low[..., 2] + 0.3 * height), 0.04)
    below_top = step(b.high[..., 2] + 0.2 - foot, 0.04)
    higher = step(a.center[..., 2] - b.center[..., 2], 0.05)
    return over * above_foot * below_top * np.maximum(higher, above_foot * 0.9)


def on_floor(a: Boxes, floor: np.ndarray) -> np.ndarray:
    """Score "a stands on the floor". floor: (N,) its height in map at each box, metres."""
    return step(0.22 - (a.low[..., 2] - floor), 0.04)


def above(a: Boxes, b: Boxes, table: PredicateTable) -> np.ndarray:
    """Score "a above b": a is over b and does not reach below b's top."""
    return falling(_center_off(a, b), table.above, 5.0) * step(a.low[..., 2] - b.high[..., 2] + 0.1, 0.05)


def below(a: Boxes, b: Boxes, table: PredicateTable) -> np.ndarray:
    """Score "a below b": a is under the whole of b, or on the floor between its legs."""
    under = falling(_center_off(a, b), table.below, 5.0)
    lower = step(b.high[..., 2] - 0.1 - a.high[..., 2], 0.05)
    height = np.maximum(b.high - b.low, 0.0)[..., 2]
    at_foot = step(b.low[..., 2] + 0.35 * height - a.low[..., 2], 0.04)
    return under * lower * at_foot


def inside(a: Boxes, b: Boxes, table: PredicateTable) -> np.ndarray:
    """Score "a inside b": the centre of a is in b, and a is smaller."""
    center = a.center
    outside = np.linalg.norm(np.maximum(np.maximum(b.low - center, center - b.high), 0.0), axis=-1)
    smaller = step(b.extent - a.extent, 0.05)
    return falling(outside, 0.15, 5.0) * smaller


def next_to(a: Boxes, b: Boxes, table: PredicateTable) -> np.ndarray:
    """Score "a next to b": a small gap in plan at similar heights, and a is not on b."""
    apart = distance(a, b, table, in_plan=True)
    if not table.centroids and table.beside_share:  # prefers objects at the middle of b
        share = table.beside_share
        apart = (1.0 - share) * apart + share * np.linalg.norm(a.center - b.center, axis=-1)
    beside = _fall(apart, table.next_to * _scale(a, b, table), table)
    if table.centroids:
        return beside
    levels = np.maximum(np.maximum(b.low - a.high, a.low - b.high)[..., 2], 0.0)
    return beside * falling(levels, 0.8, 5.0) * (1.0 - 0.8 * on(a, b, table))


def near(a: Boxes, b: Boxes, table: PredicateTable) -> np.ndarray:
    """Score "a near b": a few steps apart."""
    scale = np.maximum(_scale(a, b, table), 0.6)
    return _fall(distance(a, b, table), table.near * scale, table)


def between(a: Boxes, b: Boxes, c: Boxes, table: PredicateTable) -> np.ndarray:
    """Score "a between b and c": a is near the line that joins them in plan. Shapes broadcast."""
    start, end, point = b.center[..., :2], c.center[..., :2], a.center[..., :2]
    line = end - start
    length = np.maximum(np.linalg.norm(line, axis=-1), 1e-6)
    share = np.sum((point - start) * line, axis=-1) / length**2
    foot = start + share[..., None] * line
    lateral = np.linalg.norm(point - foot, axis=-1)
    along = step(share - 0.05, 0.04) * step(0.95 - share, 0.04)
    return along * falling(lateral, np.maximum(0.5, table.between * length), 5.0) * step(length - 0.3, 0.05)


_FACED = 0.6  # cosine of the angle to straight across at which "opposite" is half true: 53 degrees


def opposite(a: Boxes, b: Boxes, fronts: np.ndarray, middles: np.ndarray) -> np.ndarray:
    """Score "a opposite b": a is on the side that b faces, across the room.

    fronts: (..., 3) of b, NaN if unknown. middles: (..., 2) of b's room; b is assumed to face it if its front
    is unknown.
    """
    offset = a.center[..., :2] - b.center[..., :2]
    inward = middles - b.center[..., :2]
    known = ~np.isnan(fronts[..., :1])
    faced = np.where(known, np.nan_to_num(fronts[..., :2]), inward)
    lengths = np.linalg.norm(offset, axis=-1) * np.linalg.norm(faced, axis=-1)
    cosine = np.sum(offset * faced, axis=-1) / np.maximum(lengths, 1e-6)
    beyond = np.sum((a.center[..., :2] - middles) * inward, axis=-1) / np.maximum(
        np.linalg.norm(inward, axis=-1), 1e-6
    )
    return step(cosine - _FACED, 0.15) * (0.5 + 0.5 * step(beyond, 0.3))


PAIRS: dict[str, Callable[[Boxes, Boxes, PredicateTable], np.ndarray]] = {
    "On": on,
    "Above": above,
    "Below": below,
    "Inside": inside,
    "NextTo": next_to,
    "Near": near,
}


def reach(name: str, gaps: np.ndarray, table: PredicateTable) -> np.ndarray:
    """Return an upper bound of a relation between boxes at least `gaps` metres apart in plan.

    The bound never rises with gaps and holds for either box as the anchor. Left, right, front and behind are
    bounded by their nearness.
    """
    gaps = np.maximum(gaps, 0.0)
    if name == "Opposite":
        return np.ones_like(gaps)
    if name in ("On", "Above", "Below"):
        return falling(gaps, {"On": table.over, "Above": table.above, "Below": table.below}[name], 5.0)
    if name == "Inside":
        return falling(gaps, 0.15, 5.0)
    if name in ("NextTo", "Near"):
        return _fall(gaps, table.next_to if name == "NextTo" else table.near, table)
    return table.side_floor + (1.0 - table.side_floor) * falling(gaps, table.side_near, table.steepness)
