"""Snapshots of real buildings: how few images show all objects, and whether the image of what is meant is found."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from lodestar.memory.config import SnapshotConfig
from lodestar.memory.snapshots.cluster_upkeep import ClusterUpkeep
from lodestar.memory.snapshots.clusters import Clusters, Sights, cover_clusters
from lodestar.memory.snapshots.prefilter import Described, Prefilter
from lodestar.memory.snapshots.sights import sight_score
from lodestar.memory.snapshots.text import snapshot_text
from lodestar.models.phrases import PhraseBook
from lodestar_eval.covisibility import covisibility_clusters
from lodestar_eval.reverie import Building

RECALLS = (1, 5, 10)
RULES = ("ours", "incremental", "algorithm_1", "greedy")


@dataclass(frozen=True)
class Kept:
    """The images that a rule keeps. quality: mean score of the objects in their image, [0, 1]."""

    clusters: Clusters
    covered: float
    quality: float


def greedy_cover(sights: Sights) -> Clusters:
    """Return a greedy set cover: the image with the most objects without an image yet, the smallest id of equals."""
    left = {entity for scores in sights.values() for entity in scores}
    found: Clusters = {}
    while left:
        best = max(sights, key=lambda image: (len(left & sights[image].keys()), -image))
        found[best] = frozenset(left & sights[best].keys())
        left -= found[best]
    return found


def sights_of(building: Building, config: SnapshotConfig) -> dict[int, dict[int, float]]:
    """Return the score of every object in every image that shows it. The data has no object beyond about 3 m."""
    scored = {
        image: {thing: sight_score(box, building.camera, config) for thing, box in boxes.items()}
        for image, boxes in building.boxes.items()
    }
    return {
        image: {thing: score for thing, score in scores.items() if score} for image, scores in scored.items()
    }


def kept_images(building: Building, config: SnapshotConfig) -> dict[str, Kept]:
    """Return what each rule of RULES keeps of a building."""
    sights = sights_of(building, config)
    visible = {thing for scores in sights.values() for thing in scores}
    found = {
        "ours": cover_clusters(visible, sights, config.quality_weight),
        "incremental": _incremental(building, sights, config),
        "algorithm_1": covisibility_clusters(building.places, sights),
        "greedy": greedy_cover(sights),
    }
    return {rule: _kept(clusters, sights, visible) for rule, clusters in found.items()}


def _kept(clusters: Clusters, sights: Sights, visible: Collection[int]) -> Kept:
    """Measure, and do not trust, what the clusters say: an object counts where the image shows it."""
    scores = {
        thing: sights[image][thing]
        for image, members in clusters.items()
        for thing in members
        if thing in sights[image]
    }
    covered = len(scores.keys() & set(visible)) / len(visible)
    return Kept(clusters, covered, float(np.mean(list(scores.values()))))


def _incremental(building: Building, sights: Sights, config: SnapshotConfig) -> Clusters:
    """Return the snapshots after the images have come one by one, in the order of the tour."""
    upkeep, known = ClusterUpkeep(config), dict[int, dict[int, float]]()
    for viewpoint in building.tour:
        for image in building.images_at(viewpoint):
            for thing, score in sights[image].items():
                known.setdefault(thing, {})[image] = score
            upkeep.update(set(sights[image]), known.__getitem__)
    return {
        keyframe: frozenset(upkeep.entities[identity]) for keyframe, identity in upkeep.of_keyframe.items()
    }


def described(building: Building, clusters: Clusters, sights: Sights) -> dict[int, Described]:
    """Return what the retrieval sees of each image: labels and relations, the image's own objects first."""
    found = {}
    for image, members in clusters.items():
        scores = sights[image]
        order = sorted(scores, key=lambda thing: (thing not in members, -scores[thing], thing))
        items = [(building.names[thing], building.boxes[image][thing]) for thing in order]
        found[image] = Described(tuple(label for label, _ in items), snapshot_text(items))
    return found


def recalls(
    building: Building,
    clusters: Clusters,
    config: SnapshotConfig,
    book: PhraseBook,
    progress: Callable[[str], None] = lambda line: None,
) -> list[list[float]]:
    """Return a row per instruction: whether one of the first 1, 5 and 10 images shows its object, by our ranking and by
    the cosine of the captions alone, the expected value of one image by chance, and of the prefilter the share of
    images that it keeps and whether one of them shows the object.
    """
    sights = sights_of(building, config)
    snapshots, chooser = described(building, clusters, sights), Prefilter(config, book)
    texts = [instruction.text for instruction in building.instructions]
    wanted = dict.fromkeys(phrase for text in texts for phrase in chooser.wanted(text, snapshots))
    progress(f"{building.name}: {len(texts)} instructions, {len(wanted)} phrases")
    book.vectors(list(wanted))
    ids = list(snapshots)
    captions = book.vectors([snapshots[image].text for image in ids])
    rows = []
    for instruction in building.instructions:
        shows = {image for image in ids if instruction.target in sights[image]}
        ranked = chooser.choose(instruction.text, snapshots)
        order = np.argsort(-(captions @ book.vectors([instruction.text])[0]), kind="stable")
        plain = [ids[int(k)] for k in order]
        row = [float(not shows.isdisjoint(way[:k])) for way in (ranked, plain) for k in RECALLS]
        row += [
            len(shows) / len(ids), len(ranked) / len(ids), float(not shows.isdisjoint(ranked)),
        ]  # fmt: skip
        rows.append(row)
    return rows
