"""Fit of a detector's noise model to measured sights (`detector_sights.Sight`) of objects."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtr, ndtri

from lodestar.geometry.poses import wrap_angle
from lodestar.perception.measured_noise import EVIDENCE_LEAST, Evidence
from lodestar_eval.detector_sights import Sight, Sights, Stray

SIZES = (0.0, 32.0, 64.0, 128.0, 256.0)  # pixels, lower edges of the bins of size
DISTANCES = (0.0, 1.5, 2.5)  # metres, lower edges of the bins of distance
_PRIOR = 20.0  # weight, in sights, that draws a bin towards its row and a row towards the mean; chosen
_CLASS_SIGHTS = 20  # least sights of a class that gets its own offset; chosen
_FAR = 0.2  # change of viewpoint from which the correlation of two sights of an object is taken as permanent; chosen
_STEPS = np.arange(0.0, 0.2, 0.02)  # changes of viewpoint between which correlations are pooled; chosen
_FEW = 50  # pairs of sights, below which a step is left out; chosen
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
    cells, shape = rows * len(DISTANCES) + columns, (len(SIZES), len(DISTANCES))
    # Classes have equal weight in the pooled numbers, because they also serve for classes that were not measured.
    often = Counter(sight.kind for sight in things)
    weights = np.array([len(things) / len(often) / often[sight.kind] for sight in things])
    seen, hit, raw_seen, raw_hit = (
        np.bincount(cells, each, len(SIZES) * len(DISTANCES)).reshape(shape)
        for each in (weights, weights * right, None, right)
    )
    recall = _smoothed(seen, hit)
    pooled = recall[rows, columns]
    classes = np.array([sight.kind for sight in things])
    offsets = {
        kind: _offset(pooled[classes == kind], right[classes == kind])
        for kind in sorted(often)
        if often[kind] >= _CLASS_SIGHTS
    }
    own = expit(logit(np.clip(pooled, 1e-3, 0.999)) + [offsets.get(kind, 0.0) for kind in classes])
    lasting, shift = _flicker(things, own, right)
    found = [sight for sight in things if sight.score > 0.0]
    wrong = Counter(sight.found for sight in found if sight.found != sight.kind)
    pairs: dict[str, Counter[str]] = defaultdict(Counter)
    for sight in (*found, *(one for one in strays.things if one.kind and one.score > 0.0)):
        if sight.found != sight.kind:
            pairs[sight.kind][sight.found] += 1
    edges = np.array([sight.edges for sight in found if sight.found == sight.kind]).ravel()
    record = {
        "source": source,
        "sizes": list(SIZES),
        "distances": list(DISTANCES),
        "recall": recall.round(3).tolist(),
        "lasting": round(lasting, 3),
        "memory": 0.0,
        "shift": round(shift, 3),
        "wrong": round(sum(wrong.values()) / max(len(found), 1), 3),
        "edges": np.quantile(edges, _QUANTILES).round(3).tolist(),
        "scores": np.quantile([sight.score for sight in found], _QUANTILES).round(3).tolist(),
        "strays": round(len(strays.strays) / strays.frames, 3),
        "stray_shift": round(_stray_shift(strays.strays), 3),
        "stray_sizes": np.quantile([one.size for one in strays.strays] or [1.0], _QUANTILES)
        .round(1)
        .tolist(),
        "kinds": dict(sorted(kinds.items())),
        "offsets": {kind: round(value, 2) for kind, value in offsets.items()},
        "pairs": {kind: dict(pairs[kind].most_common()) for kind in sorted(pairs)},
        "wrong_labels": dict(wrong.most_common()),
        "stray_labels": dict(Counter(one.found for one in strays.strays).most_common()),
    }
    return Fitted(record, raw_seen, raw_hit.astype(int))


def fit_evidence(judged: Sequence[tuple[str, float, bool]], threshold: float) -> Evidence:
    """Return the evidence of a network fitted to label, score and truth of its detections.

    Logistic regression on the logit of the score, with an offset per label, normal around 0. threshold: the network's
    own; there, a label without an offset is as likely true as not. Raises ValueError if none is true, or all are.
    """
    right = np.array([true for *_, true in judged], float)
    if not len(right) or not 0.0 < right.mean() < 1.0:
        raise ValueError("evidence needs true and false detections")
    labels, own = [label for label, *_ in judged], sorted({label for label, *_ in judged})
    scores = np.clip([score for _, score, _ in judged], EVIDENCE_LEAST, 1.0 - EVIDENCE_LEAST)
    design = np.array([[label == one for one in own] for label in labels], float)
    design = np.hstack([(logit(scores) - logit(threshold))[:, None], design])

    def loss(values: np.ndarray) -> float:
        logits = design @ values
        return float((np.logaddexp(0.0, logits) - right * logits).sum() + 0.5 * (values[1:] ** 2).sum())

    values = minimize(loss, np.eye(len(own) + 1)[0]).x.round(3).tolist()
    level, prior = (round(float(one), 3) for one in (-values[0] * logit(threshold), logit(right.mean())))
    seen = sorted({label for label, _, true in judged if true})
    return Evidence(level, values[0], prior, dict(zip(own, values[1:])), seen)


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
    """Return (lasting, shift) of the correlation between right detections of one object over viewpoints.

    lasting: correlation between far viewpoints. shift: change of viewpoint with which the rest decays, as
    exp(-d^2 / 2 shift^2); least squares over steps of change.
    """
    tracks: dict[str, list[int]] = defaultdict(list)
    for index, sight in enumerate(things):
        tracks[sight.thing].append(index)
    pairs, changes = [np.empty((0, 2), np.int64)], [np.empty(0)]
    for track in tracks.values():
        first, second = np.triu_indices(len(track), 1)
        indices, views = np.array(track), np.array([things[i].view for i in track])
        turned = np.abs(wrap_angle(views[first, 0] - views[second, 0]))
        changes.append(np.hypot(turned, views[first, 1] - views[second, 1]))
        pairs.append(np.stack([indices[first], indices[second]], axis=1))
    both, change = np.concatenate(pairs), np.concatenate(changes)
    lasting = correlation(chance, right, both[change >= _FAR])
    at, found, weights = [], [], []
    for low, high in itertools.pairwise(_STEPS):
        chosen = both[(change >= low) & (change < high)]
        if len(chosen) >= _FEW:
            at.append((low + high) / 2.0)
            found.append(correlation(chance, right, chosen))
            weights.append(len(chosen))
    widths = np.geomspace(0.02, 1.0, 80)
    curves = lasting + (1.0 - lasting) * np.exp(-0.5 * (np.array(at) / widths[:, None]) ** 2)
    errors = ((curves - np.array(found)) ** 2 * np.array(weights)).sum(axis=1)
    return lasting, float(widths[errors.argmin()])


def _stray_shift(strays: Sequence[Stray]) -> float:
    """Return the change of viewpoint over which a false detection stays, so that as many stay as were seen to."""
    changes = np.array([one.change for one in strays if np.isfinite(one.change)])
    again = sum(one.again for one in strays)
    if not len(changes) or not again:
        return 0.0
    widths = np.geomspace(0.005, 5.0, 200)
    stay = np.exp(-changes / widths[:, None]).sum(axis=1)
    return float(widths[np.abs(stay - again).argmin()])


def correlation(chance: np.ndarray, right: np.ndarray, pairs: np.ndarray) -> float:
    """Return the correlation of two sights' latent normal variables that fits how often both are detected.

    chance: (N,) chance of detection per sight. right: (N,) bool. pairs: (P, 2) indices of sights; without any, 0.
    """
    if not len(pairs):
        return 0.0
    a, b = pairs.T
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
