"""Thinning of old memories by redundancy: same place, same things, near-same words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lodestar.memory.config import StoreConfig

# Factors of the side of a cell, and cosines and Jaccard indices to add, stage by stage, until few enough are left.
_STAGES = ((1.0, 0.0, 0.0), (2.0, -0.1, -0.2), (4.0, -0.2, -0.35), (4.0, -0.35, -0.5))
_MOST_KEPT = 512  # representatives of a cell that a memory is compared with, the newest


@dataclass(frozen=True)
class Candidates:
    """Memories that may go, oldest first.

    rows: (N,) ids. group: (N,) map, floor, source and event as one number. place: (N, 2) metres. entities: a set per
    memory. vectors: returns (K, D) float32 of K of them, zero without one.
    """

    rows: np.ndarray
    group: np.ndarray
    place: np.ndarray
    entities: list[frozenset[int]]
    vectors: Callable[[np.ndarray], np.ndarray]


def thinned(candidates: Candidates, surplus: int, config: StoreConfig) -> np.ndarray:
    """Return the ids to drop: redundant ones by ever coarser stages until at least `surplus` are found.

    Where that is not enough, the oldest of the rest follow. The newest of those that are alike stays.
    """
    gone = np.zeros(len(candidates.rows), bool)
    for factor, cosine, jaccard in _STAGES:
        if gone.sum() >= surplus:
            break
        cells = np.floor(candidates.place / (factor * config.same_place)).astype(np.int64)
        keys = np.column_stack([candidates.group, cells])
        left = np.flatnonzero(~gone)
        _, cell = np.unique(keys[left], axis=0, return_inverse=True)
        order = np.argsort(cell.ravel(), kind="stable")
        bounds = np.flatnonzero(np.diff(cell.ravel()[order])) + 1
        for members in np.split(left[order], bounds):
            if len(members) > 1:
                redundant = _redundant(
                    members[::-1], candidates, config.same_vector + cosine, config.same_entities + jaccard
                )
                gone[redundant] = True
    missing = surplus - int(gone.sum())
    if missing > 0:
        gone[np.flatnonzero(~gone)[:missing]] = True
    return candidates.rows[gone]


def _redundant(members: np.ndarray, candidates: Candidates, cosine: float, jaccard: float) -> list[int]:
    """Return those of a cell's members (newest first) that a newer one that stays stands for."""
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
