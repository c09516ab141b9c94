"""Defaults of the scene dictionary."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SceneConfig:
    """Life cycle, views and links of entities. Distances between entities are those of their means."""

    max_views: int = 5  # k of FARM 2.2
    priors_file: str = field(
        default="", metadata={"shared": "priors_file"}
    )  # of what moves; see SharedConfig
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
    # metres to a region's cell, for entities on unassigned cells; chosen
    region_reach: float = field(default=1.0, metadata={"shared": "region_reach"})
    # s without a sight after which a person or an animal is no entity any more
    mover_life: float = field(default=5.0, metadata={"shared": "movers.life"})
    static_motion: float = 0.5  # metres of motion over its life from which an entity is not static; chosen


@dataclass(frozen=True)
class ChangeConfig:
    """Comparison of two sessions of one map (VLM-DEWM 3.2.2, A.5.2, B.1). Chosen on development scenes of `changes`."""

    # squared Mahalanobis distance from which a thing is not in its place any more: 99.9 % of chi-square, 3 dimensions
    gate: float = 16.3
    # metres per axis of the error of a place: a part that is fixed, and one that grows with the thing's extent; chosen
    place_error: float = 0.05
    extent_error: float = 0.1  # per metre of extent
    nudge: float = 0.03  # metres per axis by which things that were surely moved at all are nudged; A.7
    detected: float = 0.97  # chance that a thing in view is in the session's map; chosen
    mislabelled: float = 0.05  # chance that a session has a wrong label for a thing; chosen
    leaves: float = 0.35  # share of things moved that left the places that were seen; chosen
    arrivals: float = 0.1  # new things per thing of the map; chosen
    candidates: int = 12  # things of its kind, the nearest, that one may have moved to; chosen
    least_volume: float = 20.0  # cubic metres in which things may come to lie, at least; chosen
    landing_share: float = 0.8  # chance that a thing comes to lie near a place where things lie; chosen
    landing_spread: float = 0.15  # metres per axis from such a place; chosen
    called_otherwise: float = 0.05  # chance of another word for the same kind, such as mug and cup; chosen
    unseen_twin: float = 0.35  # things of a label that are counted besides those that were seen; chosen
    least_moves: float = 0.05  # chance at least that a thing of any kind was moved; chosen
    looks_agree: float = 3.0  # likelihood ratio of captions of which one says what the other does; chosen
    looks_differ: float = 0.3  # of captions that contradict each other; chosen
    size_spread: float = 0.3  # standard deviation of ln(size) of one thing between two sessions; chosen
    kind_spread: float = 0.6  # of two things of a kind; chosen
    appearance_level: float = 0.8  # cosine of two appearance vectors that says nothing; chosen
    appearance_slope: float = 8.0  # logarithm of the likelihood ratio per unit of cosine; chosen
    same_id: float = 20.0  # likelihood ratio of an id that the mapping kept over a load; chosen
    least_odds: float = 0.7  # of one thing against two, from which two sights are paired; best F1 of moved
    elapsed: float = 86_400.0  # seconds between sessions where nobody knows; chosen: a day
    sure: float = 0.5  # probability from which a change is told; else it is not known
