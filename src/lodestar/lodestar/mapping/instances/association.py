"""Records of the association of masks with instances: its input and its results."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lodestar.mapping.instances.samples import Samples
from lodestar.mapping.instances.sights import SightMemory
from lodestar.mapping.instances.tracks import Track
from lodestar.perception.frames import Detection


@dataclass(frozen=True)
class Match:
    """A mask, the instance that it shows (0 = none known), and the instances whose voxels it covers.

    stranger: the mask lies on the instance's voxels but shows another object, such as books on a shelf: the instance
    has a mask of its own kind in the same frame.
    """

    mask: int
    instance_id: int
    score: float = 0.0
    covered: tuple[int, ...] = ()
    stranger: bool = False


@dataclass(frozen=True)
class Split:
    """Decision to split an instance: `moved_mask` shows another object, `kept_mask` still shows the instance.

    inside: the moved mask is a stranger (see `Match`) and takes the voxels that it covers; otherwise each
    voxel of the instance goes to the nearer mask.
    """

    instance_id: int
    kept_mask: int
    moved_mask: int
    inside: bool = False


@dataclass(frozen=True)
class Masks:
    """Masks of a frame's D detections with their points, and the camera views stored before the frame.

    usable: (D,) bool, whether a mask has enough points and a high enough score.
    """

    samples: Samples
    usable: np.ndarray
    detections: tuple[Detection, ...]
    sights: SightMemory

    def points(self, mask: int) -> np.ndarray:
        """Return the points (N, 3) of a mask."""
        return self.samples.points[self.samples.of(mask)]


def loser_and_winner(a: Track, b: Track) -> tuple[int, int]:
    """Return the ids (loser, winner) of a merge of two instances.

    The winner is the one with more observations or, with equal counts, the older one.
    """
    stays = min((a, b), key=lambda track: (-track.observation_count, track.id))
    goes = b if stays is a else a
    return goes.id, stays.id
