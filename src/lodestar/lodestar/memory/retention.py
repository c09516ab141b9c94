"""Thinning of old memories by redundancy: same place, same objects, similar text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

STORE_SAME_PLACE = 2.0  # metres, side of the grid cells; only memories in one cell are compared; chosen
STORE_SAME_VECTOR = 0.9  # cosine from which texts say the same; chosen
STORE_SAME_ENTITIES = 0.5  # Jaccard index from which records show the same things, 0..1; chosen

# Per stage: factor of the cell size, and values to add to the cosine and the Jaccard index, until few enough are left.
_STAGES = ((1.0, 0.0, 0.0), (2.0, -0.1, -0.2), (4.0, -0.2, -0.35), (4.0, -0.35, -0.5))
_MOST_KEPT = 512  # newest representatives of a cell with which a memory is compared


@dataclass(frozen=True)
class Candidates:
    """Memories that may be dropped, oldest first.

    rows: (N,) ids. group: (N,) map, floor, source and event as one number. place: (N, 2) metres. entities:
    one set of ids per memory. vectors(indices): returns (K, D) float32 for K of the memories, zero for one
    without a vector.
    """

    rows: np.ndarray
    group: np.ndarray
    place: np.ndarray
    entities: list[frozenset[int]]
    vectors: Callable[[np.ndarray], np.ndarray]


def thinned(candidates: Candidates, surplus: int) -> np.ndarray:
    """Return the ids of memories to drop: redundant ones, in ever coarser stages, until `surplus` are found.

    If these are too few, the oldest of the rest follow. Of similar memories the newest is kept.
    """
    gone = np.zeros(len(candidates.rows), bool)
    for factor, cosine, jaccard in _STAGES:
        if gone.sum() >= surplus:
            break
        cells = np.floor(candidates.place / (factor * STORE_SAME_PLACE)).astype(np.int64)
        keys = np.column_stack([candidates.group, cells])
        left = np.flatnonzero(~gone)
        _, cell = np.unique(keys[left], axis=0, return_inverse=True)
        order = np.argsort(cell.ravel(), kind="stable")
        bounds = np.flatnonzero(np.diff(cell.ravel()[order])) + 1
        for members in np.split(left[order], bounds):
            if len(members) > 1:
                redundant = _redundant(
                    members[::-1], candidates, STORE_SAME_VECTOR + cosine, STORE_SAME_ENTITIES + jaccard
                )
                gone[redundant] = True
    missing = surplus - int(gone.sum())
    if missing > 0:
        gone[np.flatnonzero(~gone)[:missing]] = True
    return candidates.rows[gone]


def _redundant(members: np.ndarray, candidates: Candidates, cosine: float, jaccard: float) -> list[int]:
    """Return the members of a group (newest first) that are redundant to a newer member that is kept.

    cosine, jaccard: least similarity of the texts and of the entity sets of redundant memories.
    """
    vectors = candidates.vectors(members)
    kept = np.zeros((min(len(members), _MOST_KEPT), vectors.shape[1]), np.float32)
    owners: list[int] = []
    lost = []
    for member, vector in zip(members, vectors):
        alike = np.flatnonzero(kept[: len(owners)] @ vector >= cosine)
        mine = candidates.entities[member]
        if any(_overlap(mine, candidates.entities[owners[k]]) >= jaccard for k in alike):
            lost.append(int(member))
        elif len(owners) < len(kept):
            kept[len(owners)] = vector
            owners.append(int(member))
    return lost


def _overlap(first: frozenset[int], second: frozenset[int]) -> float:
    union = len(first | second)
    return len(first & second) / union if union else 1.0
