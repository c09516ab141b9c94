"""Fusion of one object's vectors from many views, weighted by visibility (FARM D.1 step 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class FusedVector:
    """Weighted mean of unit vectors of one object. total: (D,) float32, the weighted sum of the vectors."""

    total: np.ndarray
    weight: float

    @staticmethod
    def of(vector: np.ndarray, weight: float) -> FusedVector | None:
        """Return the fused vector of a single view; None if it is zero, not finite or without weight."""
        vector = np.asarray(vector, np.float32).reshape(-1)
        norm = float(np.linalg.norm(vector))
        if not np.isfinite(norm) or norm < 1e-9 or not weight > 0.0:
            return None
        return FusedVector(vector / norm * np.float32(weight), float(weight))

    @staticmethod
    def join(first: FusedVector | None, second: FusedVector | None) -> FusedVector | None:
        """Return the sum of two fused vectors.

        If their lengths differ, because they are of two models, the one with the greater weight is returned.
        """
        if first is None or second is None:
            return second if first is None else first
        if first.total.shape != second.total.shape:
            return first if first.weight >= second.weight else second
        return FusedVector(first.total + second.total, first.weight + second.weight)

    @property
    def unit(self) -> np.ndarray:
        """Return the mean, (D,) float32, of unit length."""
        norm = float(np.linalg.norm(self.total))
        return self.total / np.float32(norm) if norm > 1e-9 else self.total


def add_weight(weights: dict[str, float], text: str, weight: float, limit: int) -> None:
    """Add to the weight of a text; if there are more than `limit` texts, the lightest is dropped."""
    if not text or not weight > 0.0:
        return
    weights[text] = weights.get(text, 0.0) + weight
    if len(weights) > limit:
        del weights[min(weights, key=lambda key: (weights[key], key))]


def fuse_captions(weights: Mapping[str, float], vectors: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Return the weighted mean, of unit length (D,) float32, of the vectors of captions; None without any."""
    fused = None
    for caption, weight in weights.items():
        if caption in vectors:
            fused = FusedVector.join(fused, FusedVector.of(vectors[caption], weight))
    return None if fused is None else fused.unit
