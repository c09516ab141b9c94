"""Association of masks with instances: configuration, input and output of every rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from lodestar.mapping.samples import Samples
from lodestar.mapping.sights import SightMemory
from lodestar.mapping.tracks import Track, Tracks
from lodestar.mapping.voxel_store import VoxelStore
from lodestar.perception.frames import Detection


@dataclass(frozen=True)
class OpenVoxConfig:
    """A mask shows the instance with the largest score geometric_weight x posterior mass + caption_weight x cosine.

    The posterior mass is the mean over the mask's voxels (RoboAtlas IV-B, OpenVox).
    """

    accept: float = 0.4  # least score; DESIGN section 4
    geometric_weight: float = 0.8  # DESIGN section 4
    caption_weight: float = 0.2  # DESIGN section 4


@dataclass(frozen=True)
class FarmConfig:
    """Instances that look alike and lie near each other are one (FARM D.1 steps 3 to 5)."""

    similar: float = 0.5  # cosine of features from which a mask may show an instance; chosen
    budget: float = 0.7  # largest Hellinger distance of their Gaussians, 0..1; chosen
    reach: float = 0.5  # metres around a mask's box within which instances are compared; chosen


@dataclass(frozen=True)
class AssociationConfig:
    """`openvox` and `farm` configure those rules; all other fields belong to the rule lodestar.

    A mask shows an instance if geometric_weight x geometry + label_weight x agreement >= accept.
    Agreement is that of kinds (`models.kinship`): sofa and couch agree, chair and table do not.
    Geometry is the share of the mask's points in voxels of the instance or, if the labels agree,
    `containment_weight` times the share within the instance's box grown by `box_margin`.
    """

    rule: str = "lodestar"  # lodestar, openvox or farm; chosen
    accept: float = 0.4  # least score; DESIGN section 4
    geometric_weight: float = 0.8  # DESIGN section 4
    label_weight: float = 0.2  # DESIGN section 4
    containment_weight: float = 0.75  # factor of the share within the box; chosen
    box_margin: float = 0.05  # metres; chosen
    # share of a mask's points in an instance's voxels from which it may be a second mask of that instance; chosen
    second_share: float = 0.5
    # A mask covers an instance if it contains this share and number of the instance's points in the frame. A mask
    # that covers two alike instances is evidence for a merge; chosen.
    covered_share: float = 0.6
    covered_points: int = 8
    contained_share: float = (
        0.6  # of the smaller box in the larger, from which two of a kind may be one; chosen
    )
    merge_evidence: int = 3  # frames for a merge, less those against it; chosen
    near: float = 0.5  # metres between boxes of instances that may be one; chosen
    # Faces of one object (`FaceEvidence`); all chosen:
    face_observations: int = 2  # of each face
    face_growth: float = 1.15  # length of both together over that of the longer one ...
    face_slack: float = 0.1  # ... plus metres
    face_height: float = 0.6  # share of their heights in common
    face_empty: float = 0.15  # largest share of the space between them that was ever seen empty
    face_hidden: float = 0.5  # least share of that space that was in view
    face_apart: float = 0.15  # largest share of the frames that showed two objects
    openvox: OpenVoxConfig = field(default_factory=OpenVoxConfig)
    farm: FarmConfig = field(default_factory=FarmConfig)


@dataclass(frozen=True)
class Match:
    """A mask, the instance that it shows (0 = none known), and the instances that it covers."""

    mask: int
    instance_id: int
    score: float = 0.0
    covered: tuple[int, ...] = ()


@dataclass(frozen=True)
class Split:
    """`moved_mask` shows another object than `instance_id`, which `kept_mask` still shows."""

    instance_id: int
    kept_mask: int
    moved_mask: int


@dataclass(frozen=True)
class Masks:
    """Masks of a frame, and the views before it. usable: (D,) bool, of the detections."""

    samples: Samples
    usable: np.ndarray
    detections: tuple[Detection, ...]
    sights: SightMemory

    def points(self, mask: int) -> np.ndarray:
        """Return the points (N, 3) of a mask."""
        return self.samples.points[self.samples.of(mask)]


class Rule(Protocol):
    """Decides which instances a frame's masks show, and which instances merge or split."""

    def associate(self, masks: Masks, store: VoxelStore, tracks: Tracks) -> list[Match]:
        """Return one match per usable mask."""
        ...

    def split(self, masks: Masks, matches: list[Match], tracks: Tracks) -> list[Split]:
        """Return the instances that the frames so far show to be two objects."""
        ...

    def merge(self, masks: Masks, matches: list[Match], tracks: Tracks) -> list[tuple[int, int]]:
        """Return pairs of instances, (loser, winner), that are one object; matches have their final ids."""
        ...

    def forget(self, instance: int) -> None:
        """Drop all evidence about a removed instance."""
        ...

    def set_apart(self, a: int, b: int) -> None:
        """Start two instances that were just split with strong evidence against a merge."""
        ...


def loser_and_winner(a: Track, b: Track) -> tuple[int, int]:
    """Return the loser and the winner of a merge; the winner was observed more often or, with equal counts, is
    older.
    """
    stays = min((a, b), key=lambda track: (-track.observation_count, track.id))
    goes = b if stays is a else a
    return goes.id, stays.id
