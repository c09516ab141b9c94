"""SnapMem's Algorithm 1 as printed, a rival of the robot's clusters of entities."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lodestar.memory.snapshots.clusters import Clusters, Sights, images_of

_ROUNDS = 20  # of 2-means at most


def covisibility_clusters(places: Mapping[int, np.ndarray], sights: Sights) -> Clusters:
    """Return SnapMem's Algorithm 1 as printed: the largest cluster gets an image that shows all of it, or is split in
    two by 2-means.

    places: (2,) of each entity in plan, metres. Entities that no image shows are left out. F is the number of entities
    in an image, then the sum of their scores, then the smaller id.
    """
    shown = images_of(places, sights)
    clusters = [sorted(shown)] if shown else []
    found: dict[int, set[int]] = {}
    while clusters:
        largest = max(range(len(clusters)), key=lambda i: len(clusters[i]))
        cluster = clusters.pop(largest)
        capable = set.intersection(*(shown[entity] for entity in cluster))
        if capable:
            best = max(capable, key=lambda image: (len(sights[image]), sum(sights[image].values()), -image))
            found.setdefault(best, set()).update(cluster)  # two clusters of one image are one snapshot
        else:
            second = _second_of_two(np.array([places[entity] for entity in cluster], np.float64))
            clusters += [[e for e, is_in in zip(cluster, second) if is_in == side] for side in (False, True)]
    return {image: frozenset(entities) for image, entities in found.items()}


def _second_of_two(places: np.ndarray) -> np.ndarray:
    """Return which of the places (N, 2), N > 1, are in the second of two clusters, (N,) bool; none is empty."""
    first = places[((places - places.mean(axis=0)) ** 2).sum(axis=1).argmax()]
    middles = np.stack([first, places[((places - first) ** 2).sum(axis=1).argmax()]])
    second: np.ndarray = np.zeros(len(places), bool)
    for _ in range(_ROUNDS):
        away = ((places[:, None] - middles) ** 2).sum(axis=2)
        second, before = away[:, 0] > away[:, 1], second
        if second.all() or not second.any():
            return np.asarray(
                np.arange(len(places)) >= len(places) // 2
            )  # all in one place: K-Means cannot split
        if (second == before).all():
            break
        middles = np.stack([places[~second].mean(axis=0), places[second].mean(axis=0)])
    return second
