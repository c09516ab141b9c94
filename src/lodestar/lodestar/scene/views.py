"""Which views of an entity are kept: few, from different sides, near (FARM D.1 step 6)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lodestar.mapping.records import Observation
from lodestar.scene.config import SceneConfig
from lodestar.scene.records import View

ALIKE_SHIFT = 0.2  # of the distance to the thing, by which cameras of like views stand apart
ALIKE_COSINE = math.cos(math.radians(15.0))  # between their axes
FULL_PIXELS = 150.0**2  # a segment of so many pixels fills its view well


@dataclass(frozen=True)
class KeptView:
    """A view with what its choice hangs on. direction: (3,) unit, entity -> camera. distance: metres."""

    view: View
    direction: np.ndarray
    distance: float


def view_quality(observation: Observation) -> float:
    """How well a detection shows its thing, in [0, 1]: its size, the share of its box that it fills, its score."""
    area = max(observation.box.width * observation.box.height, 1)
    fill = min(observation.pixel_count / area, 1.0)
    size = math.sqrt(min(observation.pixel_count / FULL_PIXELS, 1.0))
    return float(np.clip(size * (0.5 + 0.5 * fill) * observation.score, 0.0, 1.0))


def keep_view(
    views: tuple[KeptView, ...],
    observation: Observation,
    map_from_odom: np.ndarray,
    mean: np.ndarray,
    config: SceneConfig,
) -> tuple[KeptView, ...]:
    """The views after one more observation, oldest first, at most `max_views`.

    A new direction is added; one like a kept view's replaces it where it is sufficiently closer,
    or as close and better. Where there is no room, see `most_diverse`.
    """
    map_from_camera = map_from_odom @ observation.odom_from_camera
    offset = map_from_camera[:3, 3] - mean
    distance = float(np.linalg.norm(offset))
    if not math.isfinite(distance) or distance < 1e-3:
        return views
    quality = view_quality(observation)
    view = View(observation.stamp, map_from_camera, observation.box, 0, quality)
    new = KeptView(view, offset / distance, distance)
    limit = math.cos(config.view_separation)
    similar = [i for i, kept in enumerate(views) if float(kept.direction @ new.direction) > limit]
    if similar:
        nearest = min(views[i].distance for i in similar)
        best = max(views[i].view.quality for i in similar)
        closer = distance < config.view_closer * nearest and quality >= 0.5 * best
        better = distance < 1.1 * nearest and quality > 1.2 * best
        if not (closer or better):
            return views
        return (*(kept for i, kept in enumerate(views) if i not in similar), new)
    if len(views) < config.max_views:
        return (*views, new)
    return most_diverse((*views, new), config.max_views)


def looks_alike(kept: KeptView, map_from_camera: np.ndarray) -> bool:
    """Whether a camera pose (4, 4) shows about what the view does: near for the distance, and turned alike."""
    own = kept.view.map_from_camera
    shift = float(np.linalg.norm(np.asarray(map_from_camera)[:3, 3] - own[:3, 3]))
    return shift <= ALIKE_SHIFT * kept.distance and float(map_from_camera[:3, 2] @ own[:3, 2]) >= ALIKE_COSINE


def most_diverse(views: tuple[KeptView, ...], limit: int) -> tuple[KeptView, ...]:
    """At most `limit` of the views, in their order: one after the other the view goes whose loss costs least.

    The loss of a view is the angle to the next of the others, which nothing shows any more then, times its quality.
    """
    kept = list(views)
    while len(kept) > limit:
        directions = np.array([each.direction for each in kept])
        cosines = directions @ directions.T
        np.fill_diagonal(cosines, -1.0)
        angles = np.round(np.arccos(np.clip(cosines.max(axis=1), -1.0, 1.0)), 6)
        losses = [float(angle) * (each.view.quality + 1e-3) for angle, each in zip(angles, kept)]
        del kept[int(np.argmin(losses))]
    return views if len(kept) == len(views) else tuple(kept)


def join_views(first: tuple[KeptView, ...], second: tuple[KeptView, ...], limit: int) -> tuple[KeptView, ...]:
    """The most telling views of two entities that are one, oldest first."""
    return most_diverse(tuple(sorted((*first, *second), key=lambda kept: kept.view.stamp)), limit)
