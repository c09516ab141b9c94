"""Fit of a detector's noise model to measured sights (`detector_sights.Sight`) of objects."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from lodestar_eval.detector_sights import Sight, Sights

SIZES = (0.0, 32.0, 64.0, 128.0, 256.0)  # pixels, lower edges of the bins of size
DISTANCES = (0.0, 1.5, 2.5)  # metres, lower edges of the bins of distance
_PRIOR = 20.0  # weight, in sights, that draws a bin towards its row and a row towards the mean; chosen
_CLASS_SIGHTS = 20  # least sights of a class that gets its own offset; chosen
_FAR = 4.0  # s, least time between two sights of an object whose correlation is taken as permanent; chosen
_NEAR = 0.5  # s, greatest time between two successive sights; chosen
_QUANTILES = np.linspace(0.02, 0.98, 25)
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(24)


@dataclass(frozen=True)
class Fitted:
    """Fitted noise. record: parameters for `MeasuredNoise`. sights, hits: numbers of views of objects, and of
    those with a right detection, per bin, (sizes, distances).
    """

    record: dict[str, Any]
    sights: np.ndarray
    hits: np.ndarray


def fit(levels: Sights, strays: Sights, kinds: dict[str, str], source: str) -> Fitted:
    """Return the noise fitted to measured sights.

    levels: sights for misses, labels, boxes and scores. strays: sights for false detections. kinds: simulator
    labels -> detector classes; objects without a class are left out, because they cannot be detected.
    """
    things = [sight for sight in levels.things if sight.kind]
    right = np.array([sight.found == sight.kind for sight in things], bool)
    rows = np.searchsorted(SIZES, [sight.size for sight in things], side="right") - 1
    columns = np.searchsorted(DISTANCES, [sight.distance for sight in things], side="right") - 1
    shape = len(SIZES), len(DISTANCES)
    # Classes have equal weight in the pooled numbers, because they also serve for classes that were not measured.
    often = Counter(sight.kind for sight in things)
    weights = np.array([len(things) / len(often) / often[sight.kind] for sight in things])
    seen, hit = np.zeros(shape), np.zeros(shape)
    np.add.at(seen, (rows, columns), weights)
    np.add.at(hit, (rows, columns), weights * right)
    recall = _smoothed(seen, hit)
    pooled = recall[rows, columns]
    classes = np.array([sight.kind for sight in things])
    offsets = {
        kind: _offset(pooled[classes == kind], right[classes == kind])
        for kind in sorted(often)
        if often[kind] >= _CLASS_SIGHTS
    }
    own = expit(logit(np.clip(pooled, 1e-3, 0.999)) + [offsets.get(kind, 0.0) for kind in classes])
    lasting, memory = _flicker(things, own, right)
    found = [sight for sight in things if sight.score > 0.0]
    wrong = Counter(sight.found for sight in found if sight.found != sight.kind)
    edges = np.array([sight.edges for sight in found if sight.found == sight.kind]).ravel()
    raw_seen, raw_hit = np.zeros(shape, int), np.zeros(shape, int)
    np.add.at(raw_seen, (rows, columns), 1)
    np.add.at(raw_hit, (rows, columns), right.astype(int))
    record = {
        "source": source,
        "sizes": list(SIZES),
        "distances": list(DISTANCES),
        "recall": recall.round(3).tolist(),
        "lasting": round(lasting, 3),
        "memory": round(memory, 2),
        "wrong": round(sum(wrong.values()) / max(len(found), 1), 3),
        "edges": np.quantile(edges, _QUANTILES).round(3).tolist(),
        "scores": np.quantile([sight.score for sight in found], _QUANTILES).round(3).tolist(),
        "strays": round(len(strays.strays) / strays.frames, 3),
        "stray_sizes": np.quantile([one.size for one in strays.strays] or [1.0], _QUANTILES)
        .round(1)
        .tolist(),
        "kinds": dict(sorted(kinds.items())),
        "offsets": {kind: round(value, 2) for kind, value in offsets.items()},
        "wrong_labels": dict(wrong.most_common()),
        "stray_labels": dict(Counter(one.found for one in strays.strays).most_common()),
    }
    return Fitted(record, raw_seen, raw_hit)


def _smoothed(seen: np.ndarray, hit: np.ndarray) -> np.ndarray:
    """Return the recall per bin, shrunk towards that of the bin's size, itself shrunk towards the total."""
    all_ = hit.sum() / seen.sum()
    row = (hit.sum(axis=1) + _PRIOR * all_) / (seen.sum(axis=1) + _PRIOR)
    return (hit + _PRIOR * row[:, None]) / (seen + _PRIOR)


def _offset(pooled: np.ndarray, right: np.ndarray) -> float:
    """Return by how much a class's logit of detection lies above that pooled over all classes.

    pooled: (N,) pooled chances of detection. right: (N,) bool. Newton's method, with a prior at 0.
    """
    base, value = logit(np.clip(pooled, 1e-3, 0.999)), 0.0
    for _ in range(50):
        chance = expit(base + value)
        slope = (chance * (1.0 - chance)).sum() + 1.0
        value += ((right - chance).sum() - value) / slope
    return float(value)


def _flicker(things: Sequence[Sight], chance: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    """Return (lasting, memory) of the correlation between right detections of one object over time.

    lasting: correlation after a long time. memory: time constant, s, with which the rest decays.
    """
    tracks: dict[str, list[int]] = defaultdict(list)
    for index, sight in enumerate(things):
        tracks[sight.thing].append(index)
    far: list[tuple[int, int]] = []
    near: list[tuple[int, int]] = []
    gaps = []
    for indices in tracks.values():
        indices.sort(key=lambda i: things[i].stamp)
        for place, a in enumerate(indices):
            for b in indices[place + 1 :]:
                apart = things[b].stamp - things[a].stamp
                if apart >= _FAR:
                    far.append((a, b))
                elif b == indices[place + 1] and apart <= _NEAR:
                    near.append((a, b))
                    gaps.append(apart)
    lasting = correlation(chance, right, far)
    both = correlation(chance, right, near)
    passing = np.clip((both - lasting) / max(1.0 - lasting, 1e-6), 0.01, 0.99)
    return lasting, float(-np.mean(gaps or [1.0]) / np.log(passing))


def correlation(chance: np.ndarray, right: np.ndarray, pairs: Sequence[tuple[int, int]]) -> float:
    """Return the correlation of two sights' latent normal variables that fits how often both are detected.

    chance: (N,) chance of detection per sight. right: (N,) bool. pairs: indices of sights; without any, 0.
    """
    if not pairs:
        return 0.0
    a, b = np.array(pairs).T
    level_a, level_b = ndtri(np.clip(chance[a], 1e-3, 0.999)), ndtri(np.clip(chance[b], 1e-3, 0.999))
    wanted = float((right[a] & right[b]).mean())
    low, high = 0.0, 0.98
    for _ in range(25):
        middle = (low + high) / 2.0
        rest, shared = np.sqrt(1.0 - middle), np.sqrt(middle)
        both = sum(
            weight * ndtr((level_a - shared * node) / rest) * ndtr((level_b - shared * node) / rest)
            for node, weight in zip(_NODES, _WEIGHTS)
        ) / np.sqrt(2.0 * np.pi)
        low, high = (middle, high) if float(np.mean(both)) < wanted else (low, middle)
    return (low + high) / 2.0
