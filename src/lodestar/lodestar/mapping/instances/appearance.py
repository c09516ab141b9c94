"""Comparison of appearance features, calibrated on the map's own observations of same and different objects."""

from __future__ import annotations

import math

import numpy as np

from lodestar.mapping.instances.tracks import Track
from lodestar.models.kinship import same_kind
from lodestar.perception.frames import Detection

# least pairs of features of one object, and of two objects of a kind, before features have an effect; chosen
APPEARANCE_SAMPLES = 40
APPEARANCE_DISTINCT = 0.1  # probability of "same object" below which two instances do not merge; chosen

_BINS = 45  # bins for the angle between two features, 2 degrees each
_MOST = 4000.0  # samples per kind, above which the counts are halved, so that old ones fade
UNKNOWN = 0.5


class AppearanceCalibration:
    """Probability that two features show the same object, from the angle between them, without a threshold per model.

    It counts the angles between a mask's feature and two kinds of instances: the one whose voxels the mask lies on
    (same), and others of the same kind in the same frame (different). The share of "same" at an angle, made monotone
    by isotonic regression, is the probability at equal priors. Where all objects look alike it is 1/2, and features
    have no effect.
    """

    def __init__(self) -> None:
        self._model = ""
        self._counts = np.zeros((2, _BINS))  # samples per bin; row 0: same object, row 1: different objects
        self._table: np.ndarray | None = None

    def likeness(self, track: Track, feature: np.ndarray | None, model: str) -> float:
        """Return the probability that a feature (D,) shows the instance, from appearance alone; UNKNOWN = 1/2."""
        cosine = track.cosine(feature, model)
        if cosine is None or model != self._model or self._counts.sum(axis=1).min() < APPEARANCE_SAMPLES:
            return UNKNOWN
        if self._table is None:
            self._table = _posterior(self._counts)
        return float(self._table[_bin(cosine)])

    def evidence(self, track: Track, detection: Detection) -> float:
        """Return the features' evidence in [-1, 1]: > 0 for the same object, < 0 for different ones."""
        return 2.0 * self.likeness(track, detection.feature, detection.feature_model) - 1.0

    def differ(self, a: Track, b: Track) -> bool:
        """Return whether the features of two instances show that they are different objects."""
        if b.appearance is None:
            return False
        return self.likeness(a, b.appearance, b.appearance_model) < APPEARANCE_DISTINCT

    def learn(self, shown: list[tuple[Detection, Track]]) -> None:
        """Count the angles between the features of a frame's masks and instances.

        shown: pairs of a mask's detection and the instance that it certainly shows.
        """
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
    """Return the probability of "same" per bin, (_BINS,), which never increases with the angle."""
    totals = counts.sum(axis=1)
    prior = 0.5 / totals.min()  # half a sample of each kind, spread over the bins
    same, other = counts / totals[:, None] + prior
    # [probability of "same", weight, number of bins] of pooled neighbouring bins
    blocks: list[list[float]] = []
    for hit, weight in zip(same, same + other):
        blocks.append([hit, weight, 1])
        while len(blocks) > 1 and blocks[-1][0] * blocks[-2][1] > blocks[-2][0] * blocks[-1][1]:
            last = blocks.pop()
            blocks[-1] = [x + y for x, y in zip(blocks[-1], last)]
    return np.repeat([hit / weight for hit, weight, _ in blocks], [int(n) for _, _, n in blocks])
