"""Clusters of entities that one image shows together: as SnapMem Algorithm 1, with fewer images."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

#: Image id -> entity id -> score of the entity's view, in (0, 1].
Sights = Mapping[int, Mapping[int, float]]
#: Image id -> the entities that it represents. Every entity has at most one image.
Clusters = dict[int, frozenset[int]]


def cover_clusters(
    entities: Iterable[int],
    sights: Sights,
    quality_weight: float,
    held: Collection[int] = (),
    keep_bonus: float = 1.0,
) -> Clusters:
    """Return few images that together show all entities well: image id -> the entities that it represents.

    Images are chosen greedily by worth, then redundant ones are dropped, then each entity goes to the chosen
    image that shows it best. The worth of an image is the sum over entities without an image of (1 - w) + w *
    score, with w = `quality_weight`; that of the preferred images `held` is multiplied by `keep_bonus`.
    Entities in no image are left out.
    """
    shown = images_of(entities, sights)
    worth: dict[int, float] = {}
    for entity, images in shown.items():
        for image in images:
            worth[image] = worth.get(image, 0.0) + _worth(sights[image][entity], quality_weight)
    held, left, chosen = set(held), set(shown), []
    while left:
        best = max(worth, key=lambda i: (worth[i] * (keep_bonus if i in held else 1.0), i in held, -i))
        del worth[best]
        chosen.append(best)
        for entity in left & sights[best].keys():
            left.discard(entity)
            for image in shown[entity] - {best}:
                if image in worth:
                    worth[image] -= _worth(sights[image][entity], quality_weight)
    return _assigned(shown, sights, _needed(chosen, shown, sights))


def images_of(entities: Iterable[int], sights: Sights) -> dict[int, set[int]]:
    """Return entity -> images that show it, for the entities that any image shows."""
    wanted = set(entities)
    shown: dict[int, set[int]] = {}
    for image, scores in sights.items():
        for entity in wanted & scores.keys():
            shown.setdefault(entity, set()).add(image)
    return shown


def _worth(score: float, quality_weight: float) -> float:
    return 1.0 - quality_weight + quality_weight * score


def _needed(chosen: list[int], shown: Mapping[int, set[int]], sights: Sights) -> set[int]:
    """Return the chosen images without redundant ones, whose entities are all in other chosen images.

    The images chosen last are dropped first.
    """
    needed = set(chosen)
    count = {entity: len(images & needed) for entity, images in shown.items()}
    for image in reversed(chosen):
        own = count.keys() & sights[image].keys()
        if all(count[entity] > 1 for entity in own):
            needed.discard(image)
            for entity in own:
                count[entity] -= 1
    return needed


def _assigned(shown: Mapping[int, set[int]], sights: Sights, needed: set[int]) -> Clusters:
    found: dict[int, set[int]] = {}
    for entity, images in shown.items():
        best = max(images & needed, key=lambda image: (sights[image][entity], -image))
        found.setdefault(best, set()).add(entity)
    return {image: frozenset(found[image]) for image in sorted(found)}
