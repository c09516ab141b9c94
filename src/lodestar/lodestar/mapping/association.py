"""Association of masks with instances: configuration, input and output of every rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lodestar.mapping.samples import Samples
from lodestar.mapping.sights import SightMemory
from lodestar.mapping.tracks import Track, Tracks
from lodestar.mapping.voxel_store import VoxelStore
from lodestar.perception.frames import Detection


@dataclass(frozen=True)
class Match:
    """A mask, the instance that it shows (0 = none known), and the instances that it covers.

    stranger: it lies on the instance's voxels, but is another thing, as the books on a shelf: the instance has a mask
    of its own kind in the same frame.
    """

    mask: int
    instance_id: int
    score: float = 0.0
    covered: tuple[int, ...] = ()
    stranger: bool = False


@dataclass(frozen=True)
class Split:
    """`moved_mask` shows another object than `instance_id`, which `kept_mask` still shows.

    inside: the moved mask is a stranger on the other, and takes the voxels that it covers; otherwise they share the
    instance by distance.
    """

    instance_id: int
    kept_mask: int
    moved_mask: int
    inside: bool = False


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

    def differ(self, a: Track, b: Track) -> bool:
        """Return whether the features of two instances tell that they are two things."""
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
