"""Selection of an entity's views: few, near and from different sides (FARM D.1 step 6)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from lodestar.mapping.instances.records import Observation
from lodestar.scene.records import View

SCENE_MAX_VIEWS = 5  # views of one entity, k of FARM 2.2
# radians between the viewing directions of kept views (FARM D.1 step 6)
SCENE_VIEW_SEPARATION = math.radians(30.0)
# share of the nearest kept distance below which a view replaces a kept one of the same direction; chosen
SCENE_VIEW_CLOSER = 0.75

ALIKE_SHIFT = 0.2  # largest shift between cameras of similar views, as a share of the distance to the object
ALIKE_COSINE = math.cos(math.radians(15.0))  # least cosine between the optical axes of similar views
FULL_PIXELS = 150.0**2  # pixels; segments of this size or larger have full quality


@dataclass(frozen=True)
class KeptView:
    """A view with the data for its selection. direction: (3,) unit, entity -> camera. distance: metres."""

    view: View
    direction: np.ndarray
    distance: float


def view_quality(observation: Observation) -> float:
    """Return the quality of a detection, in [0, 1], from its size, the filled share of its box and its score."""
    area = max(observation.box.width * observation.box.height, 1)
    fill = min(observation.pixel_count / area, 1.0)
    size = math.sqrt(min(observation.pixel_count / FULL_PIXELS, 1.0))
    return float(np.clip(size * (0.5 + 0.5 * fill) * observation.score, 0.0, 1.0))


def keep_view(
    views: tuple[KeptView, ...], observation: Observation, map_from_odom: np.ndarray, mean: np.ndarray
) -> tuple[KeptView, ...]:
    """Return the kept views after one more observation, oldest first, at most SCENE_MAX_VIEWS.

    A view from a new direction is added. A view from the direction of kept ones replaces them if it is
    sufficiently closer, or as close and of better quality. Beyond the limit, views are dropped as by
    `most_diverse`.
    """
    map_from_camera = map_from_odom @ observation.odom_from_camera
    offset = map_from_camera[:3, 3] - mean
    distance = float(np.linalg.norm(offset))
    if not math.isfinite(distance) or distance < 1e-3:
        return views
    quality = view_quality(observation)
    view = View(observation.stamp, map_from_camera, replace(observation.box, outline=()), 0, quality)
    new = KeptView(view, offset / distance, distance)
    limit = math.cos(SCENE_VIEW_SEPARATION)
    similar = [i for i, kept in enumerate(views) if float(kept.direction @ new.direction) > limit]
    if similar:
        nearest = min(views[i].distance for i in similar)
        best = max(views[i].view.quality for i in similar)
        closer = distance < SCENE_VIEW_CLOSER * nearest and quality >= 0.5 * best
        better = distance < 1.1 * nearest and quality > 1.2 * best
        if not (closer or better):
            return views
        return (*(kept for i, kept in enumerate(views) if i not in similar), new)
    if len(views) < SCENE_MAX_VIEWS:
        return (*views, new)
    return most_diverse((*views, new), SCENE_MAX_VIEWS)


def looks_alike(kept: KeptView, map_from_camera: np.ndarray) -> bool:
    """Return whether a camera pose (4, 4) is similar to that of a kept view.

    Its distance must be small relative to that of the object, and its optical axis similar.
    """
    own = kept.view.map_from_camera
    shift = float(np.linalg.norm(np.asarray(map_from_camera)[:3, 3] - own[:3, 3]))
    return shift <= ALIKE_SHIFT * kept.distance and float(map_from_camera[:3, 2] @ own[:3, 2]) >= ALIKE_COSINE


def most_diverse(views: tuple[KeptView, ...], limit: int) -> tuple[KeptView, ...]:
    """Return at most `limit` of the views, in order; views are dropped one by one, the smallest loss first.

    The loss of a view is the angle to the nearest other view times its quality.
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
    """Return the views to keep of two merged entities, oldest first, at most `limit`."""
    return most_diverse(tuple(sorted((*first, *second), key=lambda kept: kept.view.stamp)), limit)
