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
    """Detection that was associated with an instance.

    odom_from_camera: (4, 4), unaffected by corrections of the map.
    """

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
    feature_model: str = ""  # name of the model; features of different models cannot be compared


@dataclass(frozen=True)
class Merge:
    """Merge of two instances: `loser` is the same object as `winner`."""

    loser: int
    winner: int


@dataclass(frozen=True)
class Absence:
    """A clear view through the place of an instance. free_share: share of its voxels that were seen empty."""

    instance_id: int
    stamp: float
    free_share: float


@dataclass(frozen=True)
class Miss:
    """A frame that shows the place of an instance in clear view, but has no mask for it.

    clear_share: share, [0, 1], of its voxels whose pixels measure a depth at or beyond them. Voxels behind
    its own surface do not count; voxels outside the image or behind other objects are not clear. pixels:
    number of image pixels that the clear voxels cover, as in an image 640 wide.
    """

    instance_id: int
    stamp: float
    clear_share: float
    pixels: int


@dataclass(frozen=True)
class InstanceDelta:
    """Change of the instance map. A receiver whose revision is not `previous_revision` has missed a delta.

    removed: ids of false instances. A confirmed instance that left its place is not listed there: its last
    absence is reported, and it may return elsewhere as the winner of a merge.
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
