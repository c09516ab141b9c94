"""Similarity fields over the plan and the count of similar things (RoboAtlas eq. 3, 4, 12, 13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from lodestar.mapping.pillars import PillarMap

#: tau_1 < tau_2 < tau_3 of RoboAtlas eq. 3, on scores in [0, 1].
TIERS = (0.4, 0.6, 0.8)


def similarity_field(pillars: PillarMap, entity_scores: Mapping[int, float]) -> np.ndarray:
    """The best score among each pillar's instances (eq. 12), 0 where none has one. (rows, columns) float32."""
    ids = pillars.ids
    if ids.size == 0:
        return np.zeros(ids.shape[1:], np.float32)
    table = np.zeros(int(ids.max()) + 1, np.float32)
    for identity, score in entity_scores.items():
        if 0 < identity < len(table):
            table[identity] = max(table[identity], score)
    return table[ids].max(axis=0)


def best_of(scores: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """Per entity its best score among several phrases: the inner maximum of eq. 13."""
    best: dict[int, float] = {}
    for mapping in scores:
        for identity, score in mapping.items():
            best[identity] = max(best.get(identity, 0.0), float(score))
    return best


def tier_counts(scores: Iterable[float], tiers: tuple[float, float, float] = TIERS) -> tuple[int, int, int]:
    """N_k: how many scores reach each tier (eq. 3). Raises ValueError for tiers that do not rise in (0, 1]."""
    low, middle, high = tiers
    if not 0.0 < low < middle < high <= 1.0:
        raise ValueError(f"tiers must rise within (0, 1], not {tiers}")
    values = np.fromiter((float(s) for s in scores), float)
    counts = [int((values >= tau).sum()) for tau in tiers]
    return counts[0], counts[1], counts[2]


def similarity_count(scores: Iterable[float], tiers: tuple[float, float, float] = TIERS) -> float:
    """V_sim: tier counts weighted by their tiers (eq. 4)."""
    return float(sum(tau * count for tau, count in zip(tiers, tier_counts(scores, tiers))))
