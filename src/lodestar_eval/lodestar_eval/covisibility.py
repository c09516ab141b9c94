"""SnapMem's Algorithm 1 as printed; a baseline for the robot's clusters of entities."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lodestar.memory.snapshots.clusters import Clusters, Sights, images_of

_ROUNDS = 20  # most iterations of 2-means


def covisibility_clusters(places: Mapping[int, np.ndarray], sights: Sights) -> Clusters:
    """Return the clusters by SnapMem's Algorithm 1 as printed: the largest cluster gets an image that shows all of
    its entities, or is split in two by 2-means.

    places: (2,) x, y of each entity, metres. Entities that no image shows are left out. Images are ranked by
    the number of entities they show, then the sum of the scores, then the smaller id.
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
            # two clusters with the same image become one snapshot
            found.setdefault(best, set()).update(cluster)
        else:
            second = _second_of_two(np.array([places[entity] for entity in cluster], np.float64))
            clusters += [[e for e, is_in in zip(cluster, second) if is_in == side] for side in (False, True)]
    return {image: frozenset(entities) for image, entities in found.items()}


def _second_of_two(places: np.ndarray) -> np.ndarray:
    """Split places (N, 2), N > 1, by 2-means; return the mask (N,) of the second cluster.

    Neither cluster is empty.
    """
    first = places[((places - places.mean(axis=0)) ** 2).sum(axis=1).argmax()]
    middles = np.stack([first, places[((places - first) ** 2).sum(axis=1).argmax()]])
    second: np.ndarray = np.zeros(len(places), bool)
    for _ in range(_ROUNDS):
        away = ((places[:, None] - middles) ** 2).sum(axis=2)
        second, before = away[:, 0] > away[:, 1], second
        if second.all() or not second.any():
            # identical places: K-Means cannot split them
            return np.asarray(np.arange(len(places)) >= len(places) // 2)
        if (second == before).all():
            break
        middles = np.stack([places[~second].mean(axis=0), places[second].mean(axis=0)])
    return second
