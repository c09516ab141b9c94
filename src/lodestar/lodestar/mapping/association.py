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
    """A mask shows the instance of the highest geometric_weight x posterior mass + caption_weight x cosine.

    Posterior mass: mean over the mask's voxels. accept: score from which it does (RoboAtlas IV-B, OpenVox).
    """

    accept: float = 0.4
    geometric_weight: float = 0.8
    caption_weight: float = 0.2


@dataclass(frozen=True)
class FarmConfig:
    """Instances that look alike and lie near are one thing (FARM D.1 steps 3 to 5).

    similar: cosine of features from which a mask may show an instance. budget: Hellinger distance of their
    Gaussians up to which it does. reach: metres around a mask's box within which instances are compared.
    """

    similar: float = 0.5
    budget: float = 0.7
    reach: float = 0.5


@dataclass(frozen=True)
class AssociationConfig:
    """rule: lodestar, openvox or farm; `openvox` and `farm` set those up, the rest is the rule lodestar's.

    A mask shows an instance where geometric_weight x geometry + label_weight x agreement >= accept.
    Agreement is that of kinds (`models.kinship`): sofa and couch agree, chair and table do not.
    Geometry is the share of the mask's points in voxels of the instance or, where the labels agree,
    `containment_weight` times the share within the instance's box grown by `box_margin` metres. A second mask
    of a frame shows the same instance only with at least `second_share` of it in its voxels.
    `covered_share`: of an instance's points in a frame (`covered_points` at least) that lie in one mask, from
    which on the mask covers it; a mask that covers two alike speaks for their being one.
    `contained_share`: of the smaller box inside the larger, from which on two instances of a kind may be one.
    merge_evidence: frames that say so, more than say the opposite. near: metres between boxes that may be one.
    Faces of one thing (`FaceEvidence`): of face_observations each, together at most face_growth times as long as
    the longer one plus face_slack metres, of heights that share face_height, between which at most face_empty of
    the room was ever seen empty and at least face_hidden was in view, and which at most face_apart of the frames
    showed as two.
    """

    rule: str = "lodestar"
    accept: float = 0.4
    geometric_weight: float = 0.8
    label_weight: float = 0.2
    containment_weight: float = 0.75
    box_margin: float = 0.05
    second_share: float = 0.5
    covered_share: float = 0.6
    covered_points: int = 8
    contained_share: float = 0.6
    merge_evidence: int = 3
    near: float = 0.5
    face_observations: int = 2
    face_growth: float = 1.15
    face_slack: float = 0.1
    face_height: float = 0.6
    face_empty: float = 0.15
    face_hidden: float = 0.5
    face_apart: float = 0.15
    openvox: OpenVoxConfig = field(default_factory=OpenVoxConfig)
    farm: FarmConfig = field(default_factory=FarmConfig)


@dataclass(frozen=True)
class Match:
    """A mask, the instance that it shows (0 = none known), and the instances that it lies on."""

    mask: int
    instance_id: int
    score: float = 0.0
    covered: tuple[int, ...] = ()


@dataclass(frozen=True)
class Split:
    """`moved_mask` shows another thing than `instance_id`, which `kept_mask` still shows."""

    instance_id: int
    kept_mask: int
    moved_mask: int


@dataclass(frozen=True)
class Masks:
    """What a frame shows, and what was seen before it. usable: (D,) bool, of the detections."""

    samples: Samples
    usable: np.ndarray
    detections: tuple[Detection, ...]
    sights: SightMemory

    def points(self, mask: int) -> np.ndarray:
        """(N, 3), the points of a mask."""
        return self.samples.points[self.samples.of(mask)]


class Rule(Protocol):
    """Decides what a frame's masks show, which instances are one and which are two."""

    def associate(self, masks: Masks, store: VoxelStore, tracks: Tracks) -> list[Match]:
        """One match per usable mask."""
        ...

    def split(self, masks: Masks, matches: list[Match], tracks: Tracks) -> list[Split]:
        """Instances that the frame, after those before it, shows to be two things."""
        ...

    def merge(self, masks: Masks, matches: list[Match], tracks: Tracks) -> list[tuple[int, int]]:
        """Pairs of instances, (loser, winner), that are one thing; matches have their final ids."""
        ...

    def forget(self, instance: int) -> None:
        """The instance is gone: nothing about it is kept."""
        ...

    def set_apart(self, a: int, b: int) -> None:
        """These have just been split: they are two until much says the opposite."""
        ...


def loser_and_winner(a: Track, b: Track) -> tuple[int, int]:
    """Which of two instances that are one goes and which stays: the one observed more often, then the older."""
    stays = min((a, b), key=lambda track: (-track.observation_count, track.id))
    goes = b if stays is a else a
    return goes.id, stays.id
