"""Records of the voxel map: instances, observations and deltas."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lodestar.perception.frames import ImageBox


@dataclass(frozen=True)
class CaptionVote:
    """Weight of one label and caption among the observations of an instance."""

    label: str
    caption: str
    weight: float


@dataclass(frozen=True)
class Instance:
    """One object in the voxel map, in `map`, metres.

    centroid: (3,). covariance: (3, 3), of its points, m^2. box_min, box_max: (3,), of its points.
    """

    id: int
    voxel_count: int
    centroid: np.ndarray
    covariance: np.ndarray
    box_min: np.ndarray
    box_max: np.ndarray
    votes: tuple[CaptionVote, ...]
    occupancy_probability: float
    observation_count: int
    confirmed: bool
    first_seen: float
    last_seen: float


@dataclass(frozen=True)
class Observation:
    """One associated detection. odom_from_camera: (4, 4), which corrections of the map do not change."""

    instance_id: int
    stamp: float
    odom_from_camera: np.ndarray
    box: ImageBox
    pixel_count: int
    label: str
    caption: str
    score: float
    distance: float
    feature: np.ndarray | None = None
    feature_model: str = ""  # features of two models are not comparable


@dataclass(frozen=True)
class Merge:
    """`loser` is the same object as `winner`."""

    loser: int
    winner: int


@dataclass(frozen=True)
class Absence:
    """A clear look through the place of an instance: `free_share` of its voxels were seen empty."""

    instance_id: int
    stamp: float
    free_share: float


@dataclass(frozen=True)
class Miss:
    """A frame showed the place of an instance in clear view, and no mask of the frame was that instance.

    clear_share: [0, 1], share of its voxels whose pixels measure a depth at or beyond them; voxels behind
    its own surface are left out, voxels outside the image and behind other objects count against it.
    pixels: of the image on which those voxels fall.
    """

    instance_id: int
    stamp: float
    clear_share: float
    pixels: int


@dataclass(frozen=True)
class InstanceDelta:
    """Change of the instance map. A receiver at another revision than `previous_revision` has a gap.

    removed: ids of false instances. A confirmed instance that left its place is not among
    them: its last absence was reported, and it may return elsewhere as the winner of a merge.
    """

    stamp: float
    revision: int
    previous_revision: int
    updated: tuple[Instance, ...] = ()
    observations: tuple[Observation, ...] = ()
    merges: tuple[Merge, ...] = ()
    absences: tuple[Absence, ...] = ()
    misses: tuple[Miss, ...] = ()
    removed: tuple[int, ...] = ()
    map_from_odom: np.ndarray = field(default_factory=lambda: np.eye(4))
    map_id: int = 1
    session_id: str = ""
