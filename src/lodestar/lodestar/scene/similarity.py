"""Soft counts of similar entities (RoboAtlas eq. 3, 4)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

#: tau_1 < tau_2 < tau_3 of RoboAtlas eq. 3, on scores in [0, 1].
TIERS = (0.4, 0.6, 0.8)


def tier_counts(scores: Iterable[float], tiers: tuple[float, float, float] = TIERS) -> tuple[int, int, int]:
    """Return N_k, the number of scores that reach each threshold in `tiers` (eq. 3).

    Raises ValueError unless the tiers rise in (0, 1].
    """
    low, middle, high = tiers
    if not 0.0 < low < middle < high <= 1.0:
        raise ValueError(f"tiers must rise within (0, 1], not {tiers}")
    values = np.fromiter((float(s) for s in scores), float)
    counts = [int((values >= tau).sum()) for tau in tiers]
    return counts[0], counts[1], counts[2]


def similarity_count(scores: Iterable[float], tiers: tuple[float, float, float] = TIERS) -> float:
    """Return V_sim, the counts per threshold in `tiers`, weighted by the thresholds (eq. 4)."""
    return float(sum(tau * count for tau, count in zip(tiers, tier_counts(scores, tiers))))
