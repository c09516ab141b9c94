"""Defaults of the scene dictionary."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class SceneConfig:
    """Lengths in metres, angles in radians, times in seconds."""

    max_views: int = 5  # k of FARM 2.2
    view_separation: float = math.radians(30.0)  # between viewing directions of kept views, FARM D.1 step 6
    view_closer: float = 0.75  # a view from less than this share of the nearest kept distance is kept anyway
    attribute_share: float = 0.35  # of the votes, from which an attribute counts
    clear_look: float = 0.6  # free share of an absence that counts as a clear look
    clear_looks: int = 3  # that archive an entity
    absence_decay: float = 0.5  # of the confidence per clear look
    decay: float = (
        0.95  # lambda of VLM-DEWM eq. B.17, per scan that shows the entity's place clearly and misses it
    )
    uncertain_below: float = 0.6  # VLM-DEWM B.6
    archive_below: float = 0.1  # VLM-DEWM B.6
    scan_interval: float = 1.0  # between two scans that count for the decay
    restore_distance: float = 0.5  # from an archived entity of the same kind: it is that one again
    covisible_gain: float = 0.2  # share of the missing weight gained per joint sighting
    covisible_half_life: float = 600.0
    covisible_distance: float = 4.0  # of the means, beyond which joint sightings do not count
    max_covisible: int = 12
    max_neighbors: int = 8
    neighbor_radius: float = 3.0  # of the means, within which Hellinger neighbours are looked for
    neighbor_motion: float = 0.1  # of the mean, from which neighbours are computed anew
    max_captions: int = 16  # kept per entity with the visibility under which they were given
    max_archived: int = 10_000  # entities; the ones seen longest ago are pruned first
    max_delta: int = 256  # entities per delta; the others follow in the next ones
    region_reach: float = 1.0  # from a cell of the region, for entities on unassigned cells
    static_motion: float = 0.5  # of the mean over its life, from which an entity is not static
