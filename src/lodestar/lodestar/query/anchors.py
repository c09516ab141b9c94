"""Exact search for the best anchor of every candidate, without scoring every pair."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial import cKDTree

from lodestar.query.relations import Boxes

BRUTE = 8_000  # pairs; up to this number all are scored
NOTHING = 1e-6  # scores at or below this count as zero
_CHUNK = 2_000_000  # pairs or triples held in memory at once

#: Function that scores a relation: (rows (R,), anchors (R, K)) -> (R, K).
PairScore = Callable[[np.ndarray, np.ndarray], np.ndarray]


def best_anchors(
    rows: np.ndarray,
    anchors: np.ndarray,
    worth: np.ndarray,
    boxes: Boxes,
    score: PairScore,
    bound: Callable[[np.ndarray], np.ndarray],
    first: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return (R,) each candidate's best score over the anchors, and (R,) the index of that anchor.

    The score is the relation times the anchor's worth; the index is -1 if the score is 0. rows: (R,)
    candidates, anchors: (A,), both as indices of the N entities. worth: (N,) score of each entity as the
    anchor. bound(gaps): upper bound of the relation at gaps in plan, must not increase with the gap. The
    `first` nearest anchors are scored first, then more for candidates whose bound at the next distance allows
    a better score above NOTHING. An entity is never its own anchor.
    """
    best, which = np.zeros(len(rows)), np.full(len(rows), -1)
    anchors = anchors[worth[anchors] > 0.0]
    if not len(anchors) or not len(rows):
        return best, which
    top = float(worth[anchors].max())
    radius = _radius(boxes, rows, 2)
    widest = float(_radius(boxes, anchors, 2).max())
    open_rows = np.arange(len(rows))
    count = len(anchors) if len(rows) * len(anchors) <= BRUTE else min(first, len(anchors))
    tree = None if count == len(anchors) else cKDTree(boxes.take(anchors).center[:, :2])
    while len(open_rows):
        step = max(1, _CHUNK // count)
        farthest = np.zeros(len(open_rows))
        for start in range(0, len(open_rows), step):
            part = open_rows[start : start + step]
            if tree is None or count == len(anchors):
                tried = np.repeat(anchors[None], len(part), axis=0)
            else:
                away, nearest = tree.query(boxes.take(rows[part]).center[:, :2], k=count)
                farthest[start : start + step] = away.reshape(len(part), count)[:, -1]
                tried = anchors[nearest.reshape(len(part), count)]
            pairs = score(rows[part], tried) * worth[tried]
            pairs = np.where(rows[part][:, None] == tried, 0.0, pairs)
            place = pairs.argmax(axis=1)
            line = np.arange(len(part))
            best[part] = pairs[line, place]
            which[part] = np.where(best[part] > 0.0, tried[line, place], -1)
        if count == len(anchors):
            break
        beyond = top * bound(farthest - radius[open_rows] - widest)
        open_rows = open_rows[(best[open_rows] < beyond) & (beyond > NOTHING)]
        count = min(count * 4, len(anchors))
    return best, which


def _radius(boxes: Boxes, which: np.ndarray, axes: int) -> np.ndarray:
    """Return half the diagonal of the boxes with indices `which`, metres: in plan for 2 axes, 3-D for 3."""
    some = boxes.take(which)
    return np.linalg.norm((some.high - some.low)[:, :axes], axis=1) / 2.0


def best_pairs(
    rows: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    score: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
    boxes: Boxes,
    limit: int = 40_000_000,
    nearest: int = 12,
) -> tuple[np.ndarray, np.ndarray]:
    """Return (R,) the maximum over pairs of anchors and (R, 2) the pair, -1 if the maximum is 0.

    rows: (R,) candidates; first, second: the anchors, all as entity indices. score(rows (r,), first (r, A),
    second (r, B)) -> (r, A, B). Above `limit` triples only the `nearest` anchors of each candidate are
    paired, and the maximum is over those.
    """
    best, which = np.zeros(len(rows)), np.full((len(rows), 2), -1)
    if not len(first) or not len(second):
        return best, which
    whole = len(rows) * len(first) * len(second) <= limit
    sizes = [len(f) if whole else min(nearest, len(f)) for f in (first, second)]
    trees = [None if whole else cKDTree(boxes.take(f).center[:, :2]) for f in (first, second)]
    step = max(1, _CHUNK // (sizes[0] * sizes[1]))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        tried = []
        for found, size, tree in zip((first, second), sizes, trees):
            if tree is None:
                tried.append(np.repeat(found[None], len(part), axis=0))
            else:
                _, near = tree.query(boxes.take(part).center[:, :2], k=size)
                tried.append(found[near.reshape(len(part), size)])
        one, two = tried[0][:, :, None], tried[1][:, None]
        this = part[:, None, None]
        triples = score(part, *tried)
        same = (one == two) | (one == this) | (two == this)
        triples = np.where(same, 0.0, triples).reshape(len(part), -1)
        place = triples.argmax(axis=1)
        line = np.arange(len(part))
        best[start : start + step] = triples[line, place]
        held = triples[line, place] > 0.0
        which[start : start + step, 0] = np.where(held, tried[0][line, place // sizes[1]], -1)
        which[start : start + step, 1] = np.where(held, tried[1][line, place % sizes[1]], -1)
    return best, which


def nearest_distance(
    rows: np.ndarray, anchors: np.ndarray, boxes: Boxes, center_share: float, first: int
) -> np.ndarray:
    """Return (R,) the distance of each candidate to the nearest anchor other than itself, inf if there is
    none.

    rows: (R,) candidates, anchors: (A,), both as entity indices. The distance is from the candidate's centre
    to the anchor's box, so that candidates touching the same anchor differ; it is blended with `center_share`
    of the distance between centres.
    """
    best = np.full(len(rows), np.inf)
    if not len(anchors) or not len(rows):
        return best
    widest = float(_radius(boxes, anchors, 3).max())
    open_rows = np.arange(len(rows))
    count = len(anchors) if len(rows) * len(anchors) <= BRUTE else min(first, len(anchors))
    tree = None if count == len(anchors) else cKDTree(boxes.take(anchors).center)
    while len(open_rows):
        farthest = np.zeros(len(open_rows))
        step = max(1, _CHUNK // count)
        for start in range(0, len(open_rows), step):
            part = open_rows[start : start + step]
            if tree is None or count == len(anchors):
                tried = np.repeat(anchors[None], len(part), axis=0)
            else:
                away, near = tree.query(boxes.take(rows[part]).center, k=count)
                farthest[start : start + step] = away.reshape(len(part), count)[:, -1]
                tried = anchors[near.reshape(len(part), count)]
            apart = _to_boxes(boxes.take(rows[part]).rows(), boxes.take(tried), center_share)
            apart = np.where(rows[part][:, None] == tried, np.inf, apart)
            best[part] = apart.min(axis=1)
        if count == len(anchors):
            break
        reached = farthest - (1.0 - center_share) * widest
        open_rows = open_rows[best[open_rows] > reached]
        count = min(count * 4, len(anchors))
    return best


def mean_distance(rows: np.ndarray, anchors: np.ndarray, boxes: Boxes, center_share: float) -> np.ndarray:
    """Return (R,) the mean distance, as in `nearest_distance`, of each candidate to all anchors other than
    itself.
    """
    mean = np.full(len(rows), np.inf)
    step = max(1, _CHUNK // max(len(anchors), 1))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        tried = np.repeat(anchors[None], len(part), axis=0)
        apart = _to_boxes(boxes.take(part).rows(), boxes.take(tried), center_share)
        others = part[:, None] != tried
        counted = others.sum(axis=1)
        total = np.where(others, apart, 0.0).sum(axis=1)
        mean[start : start + step] = np.where(counted > 0, total / np.maximum(counted, 1), np.inf)
    return mean


def _to_boxes(a: Boxes, b: Boxes, center_share: float) -> np.ndarray:
    """Return the distances of the centres of a from the boxes b, blended with those between centres."""
    outside = np.maximum(np.maximum(b.low - a.center, a.center - b.high), 0.0)
    apart = np.linalg.norm(outside, axis=-1)
    if center_share:
        apart = (1.0 - center_share) * apart + center_share * np.linalg.norm(a.center - b.center, axis=-1)
    return apart
