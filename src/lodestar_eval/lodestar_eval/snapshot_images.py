"""Snapshots of real buildings: number of images that show all objects, and the quality of the views."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from lodestar.memory.snapshots.cluster_upkeep import SNAPSHOT_QUALITY_WEIGHT, ClusterUpkeep
from lodestar.memory.snapshots.clusters import Clusters, Sights, cover_clusters
from lodestar.memory.snapshots.sights import sight_score
from lodestar_eval.covisibility import covisibility_clusters
from lodestar_eval.reverie import Building

RULES = ("ours", "incremental", "algorithm_1", "greedy")


@dataclass(frozen=True)
class Kept:
    """Images that a rule keeps. quality: mean score of the objects in their image, [0, 1]."""

    clusters: Clusters
    covered: float
    quality: float


def greedy_cover(sights: Sights) -> Clusters:
    """Return a greedy set cover: repeatedly the image with the most uncovered objects, then the smallest id."""
    left = {entity for scores in sights.values() for entity in scores}
    found: Clusters = {}
    while left:
        best = max(sights, key=lambda image: (len(left & sights[image].keys()), -image))
        found[best] = frozenset(left & sights[best].keys())
        left -= found[best]
    return found


def sights_of(building: Building) -> dict[int, dict[int, float]]:
    """Return the score of every object in every image that shows it. The data has no object beyond about 3 m."""
    scored = {
        image: {thing: sight_score(box, building.camera) for thing, box in boxes.items()}
        for image, boxes in building.boxes.items()
    }
    return {
        image: {thing: score for thing, score in scores.items() if score} for image, scores in scored.items()
    }


def kept_images(building: Building) -> dict[str, Kept]:
    """Return the images that each rule of RULES keeps of a building."""
    sights = sights_of(building)
    visible = {thing for scores in sights.values() for thing in scores}
    found = {
        "ours": cover_clusters(visible, sights, SNAPSHOT_QUALITY_WEIGHT),
        "incremental": _incremental(building, sights),
        "algorithm_1": covisibility_clusters(building.places, sights),
        "greedy": greedy_cover(sights),
    }
    return {rule: _kept(clusters, sights, visible) for rule, clusters in found.items()}


def _kept(clusters: Clusters, sights: Sights, visible: Collection[int]) -> Kept:
    """Return the kept images with their coverage and quality; an object counts only if its image shows it."""
    scores = {
        thing: sights[image][thing]
        for image, members in clusters.items()
        for thing in members
        if thing in sights[image]
    }
    covered = len(scores.keys() & set(visible)) / len(visible)
    return Kept(clusters, covered, float(np.mean(list(scores.values()))))


def _incremental(building: Building, sights: Sights) -> Clusters:
    """Return the snapshots after adding the images one by one, in the order of the tour."""
    upkeep, known = ClusterUpkeep(), dict[int, dict[int, float]]()
    for viewpoint in building.tour:
        for image in building.images_at(viewpoint):
            for thing, score in sights[image].items():
                known.setdefault(thing, {})[image] = score
            upkeep.update(set(sights[image]), known.__getitem__)
    return {
        keyframe: frozenset(upkeep.entities[identity]) for keyframe, identity in upkeep.of_keyframe.items()
    }
