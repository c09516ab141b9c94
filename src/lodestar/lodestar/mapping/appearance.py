"""Comparison of appearance features, calibrated by what the map itself sees of same and different things."""

from __future__ import annotations

import math

import numpy as np

from lodestar.mapping.config import AppearanceConfig
from lodestar.mapping.tracks import Track
from lodestar.models.kinship import same_kind
from lodestar.perception.frames import Detection

_BINS = 45  # of the angle between two features, 2 degrees each
_MOST = 4000.0  # samples of a kind, from which older ones count half
UNKNOWN = 0.5


class AppearanceCalibration:
    """Probability that two features show one thing, from the angle between them, without a threshold per model.

    The angles of masks to the instance whose voxels they lie on, and to other instances of the same kind in the same
    frame, are counted. The share of the former at an angle, made monotone (isotonic regression), is the probability at
    equal priors: where all things look the same it is 1/2 everywhere, and the features have no effect.
    """

    def __init__(self, config: AppearanceConfig):
        self._config = config
        self._model = ""
        self._counts = np.zeros((2, _BINS))  # of the same thing, of others
        self._table: np.ndarray | None = None

    def likeness(self, track: Track, feature: np.ndarray | None, model: str) -> float:
        """Return the probability that a feature (D,) shows the instance, before labels and places; UNKNOWN = 1/2."""
        cosine = track.cosine(feature, model)
        if cosine is None or model != self._model or self._counts.sum(axis=1).min() < self._config.samples:
            return UNKNOWN
        if self._table is None:
            self._table = _posterior(self._counts)
        return float(self._table[_bin(cosine)])

    def evidence(self, track: Track, detection: Detection) -> float:
        """Return what the features say: from -1, another thing, to 1, the same; 0 where they say nothing."""
        likeness = self.likeness(track, detection.feature, detection.feature_model)
        return self._config.weight * (2.0 * likeness - 1.0)

    def differ(self, a: Track, b: Track) -> bool:
        """Return whether the features of two instances tell that they are two things."""
        if self._config.weight <= 0.0 or b.appearance is None:
            return False
        return self.likeness(a, b.appearance, b.appearance_model) < self._config.distinct

    def learn(self, shown: list[tuple[Detection, Track]]) -> None:
        """Count the angles of a frame's masks, each with the instance that it lies on beyond doubt."""
        for detection, own in shown:
            if detection.feature is None:
                continue
            if detection.feature_model != self._model:
                self._model = detection.feature_model
                self._counts[:] = 0.0
            for _, track in shown:
                cosine = track.cosine(detection.feature, detection.feature_model)
                if cosine is not None and (track is own or same_kind(track.label, own.label)):
                    self._counts[int(track is not own), _bin(cosine)] += 1.0
                    self._table = None
        full = self._counts.sum(axis=1) > _MOST
        self._counts[full] *= 0.5


def _bin(cosine: float) -> int:
    angle = math.acos(min(max(cosine, 0.0), 1.0))
    return min(int(angle / (math.pi / 2.0) * _BINS), _BINS - 1)


def _posterior(counts: np.ndarray) -> np.ndarray:
    """Return the probability of "same" by bin, (_BINS,), which does not rise with the angle."""
    totals = counts.sum(axis=1)
    prior = 0.5 / totals.min()  # half a sample of either kind in each bin
    same, other = counts / totals[:, None] + prior
    blocks: list[list[float]] = []  # same, weight, bins of pooled neighbours
    for hit, weight in zip(same, same + other):
        blocks.append([hit, weight, 1])
        while len(blocks) > 1 and blocks[-1][0] * blocks[-2][1] > blocks[-2][0] * blocks[-1][1]:
            last = blocks.pop()
            blocks[-1] = [x + y for x, y in zip(blocks[-1], last)]
    return np.repeat([hit / weight for hit, weight, _ in blocks], [int(n) for _, _, n in blocks])
