"""Defaults of the scene dictionary."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class SceneConfig:
    """Life cycle, views and links of entities. Distances between entities are those of their means."""

    max_views: int = 5  # k of FARM 2.2
    # radians between the viewing directions of kept views (FARM D.1 step 6)
    view_separation: float = math.radians(30.0)
    # share of the nearest kept distance below which a view replaces a kept one of the same direction; chosen
    view_closer: float = 0.75
    attribute_share: float = 0.35  # of the votes, 0..1, from which an attribute counts; chosen
    clear_look: float = 0.6  # free share, 0..1, of an absence that counts as a clear look; chosen
    clear_looks: int = 3  # after which an entity is archived; chosen
    absence_decay: float = 0.5  # factor of the confidence per clear look; chosen
    # lambda of VLM-DEWM eq. B.17, per scan with a clear view of the entity's place and no detection
    decay: float = 0.95
    uncertain_below: float = 0.6  # confidence, 0..1 (VLM-DEWM B.6)
    archive_below: float = 0.1  # confidence, 0..1 (VLM-DEWM B.6)
    scan_interval: float = 1.0  # seconds between two scans that count for the decay; chosen
    # metres from an archived entity of the same kind within which a new one continues it; chosen
    restore_distance: float = 0.5
    covisible_gain: float = 0.2  # share of the missing weight gained per joint sighting; chosen
    covisible_half_life: float = 600.0  # seconds in which the weight of an edge halves; chosen
    covisible_distance: float = 4.0  # metres beyond which joint sightings do not count; chosen
    max_covisible: int = 12  # edges per entity; chosen
    max_neighbors: int = 8  # Hellinger neighbours per entity; chosen
    neighbor_radius: float = 3.0  # metres within which Hellinger neighbours are searched; chosen
    neighbor_motion: float = 0.1  # metres of motion after which the neighbours are recomputed; chosen
    max_captions: int = 16  # per entity, with their visibilities; chosen
    max_archived: int = 10_000  # entities; the first archived are pruned first; chosen
    max_delta: int = 256  # entities per delta, the others follow in the next ones; chosen
    region_reach: float = 1.0  # metres to a region's cell, for entities on unassigned cells; chosen
    static_motion: float = 0.5  # metres of motion over its life from which an entity is not static; chosen
