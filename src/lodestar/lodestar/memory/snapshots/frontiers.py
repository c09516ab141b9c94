"""Images of frontiers: the keyframe of each, and when it is replaced (SnapMem 3.2.1 and App. 8)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from lodestar.geometry.poses import wrap_angle
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.visibility import line_of_sight

FRONTIER_SNAPSHOT_IMAGES = 500  # keyframes kept as images of frontiers; chosen
# IoU of a frontier's cells with its cells when its image was chosen, below which it gets a new image
FRONTIER_SNAPSHOT_SAME_OVERLAP = 0.95
FRONTIER_SNAPSHOT_IMAGE_RANGE = 6.0  # metres from which an image may show a frontier; chosen


class FrontierImages:
    """Poses of keyframes, searchable for the keyframe that shows a place."""

    def __init__(self) -> None:
        self._poses: dict[
            int, tuple[float, float, float, float]
        ] = {}  # x, y, heading, half the field of view

    def add(self, keyframe_id: int, x: float, y: float, heading: float, fov: float) -> None:
        """Add a keyframe's pose; a known keyframe gets the new pose, and the oldest ones are dropped."""
        self._poses.pop(keyframe_id, None)
        self._poses[keyframe_id] = (x, y, heading, fov / 2.0)
        while len(self._poses) > FRONTIER_SNAPSHOT_IMAGES:
            del self._poses[next(iter(self._poses))]

    @property
    def ids(self) -> tuple[int, ...]:
        """Return the keyframes whose poses are known, oldest first."""
        return tuple(self._poses)

    def drop(self, keyframe_id: int) -> None:
        """Drop a keyframe that the store deleted."""
        self._poses.pop(keyframe_id, None)

    def showing(self, grid: OccupancyGrid2D, place: np.ndarray) -> int:
        """Return the id of the keyframe nearest to `place` (2,) that had it in view; 0 = none."""
        if not self._poses:
            return 0
        ids, poses = list(self._poses), np.array(list(self._poses.values()))
        away = place - poses[:, :2]
        distance = np.hypot(*away.T)
        turned = np.abs(wrap_angle(np.arctan2(away[:, 1], away[:, 0]) - poses[:, 2]))
        fits = np.flatnonzero((distance <= FRONTIER_SNAPSHOT_IMAGE_RANGE) & (turned <= poses[:, 3]))
        if len(fits) == 0:
            return 0
        fits = fits[np.argsort(distance[fits], kind="stable")]
        seen = line_of_sight(grid, place, poses[fits, :2], ignore_last=grid.resolution)
        return ids[int(fits[seen][0])] if seen.any() else 0


@dataclass(frozen=True)
class _Shown:
    cells: np.ndarray  # sorted keys of the frontier's cells when its image was chosen
    keyframe_id: int
    updated: float


class FrontierImageChoice:
    """The keyframe chosen for each frontier, and the time of the choice."""

    def __init__(self) -> None:
        self.images = FrontierImages()
        self._shown: dict[int, _Shown] = {}

    def refresh(
        self, frontier_id: int, cells: np.ndarray, grid: OccupancyGrid2D, place: np.ndarray
    ) -> tuple[int, float]:
        """Return the keyframe of a frontier (0 = none) and the time of its choice, seconds.

        A keyframe is chosen if there is none, or if the frontier's cells overlap those at the last choice by
        less than FRONTIER_SNAPSHOT_SAME_OVERLAP. cells: sorted int64 keys of the cells. place: (2,) in the
        frontier, metres.
        """
        before = self._shown.get(frontier_id)
        if (
            before is not None
            and before.keyframe_id
            and overlap(cells, before.cells) >= FRONTIER_SNAPSHOT_SAME_OVERLAP
        ):
            shown = _Shown(cells, before.keyframe_id, before.updated)
        else:
            shown = _Shown(cells, self.images.showing(grid, place), grid.stamp)
        self._shown[frontier_id] = shown
        return shown.keyframe_id, shown.updated

    def keep(self, frontier_ids: Collection[int]) -> None:
        """Drop all frontiers except these; the others have been explored."""
        self._shown = {i: shown for i, shown in self._shown.items() if i in frontier_ids}

    def keep_stored(self, keyframe_ids: Collection[int], next_id: int) -> None:
        """Drop the keyframes that are not in the store. keyframe_ids: ids of those in it.

        Keyframes from `next_id` on are newer than the list and stay.
        """
        stored = set(keyframe_ids)
        known = {*self.images.ids, *(shown.keyframe_id for shown in self._shown.values())}
        for keyframe_id in known - stored:
            if 0 < keyframe_id < next_id:
                self.drop_keyframe(keyframe_id)

    def drop_keyframe(self, keyframe_id: int) -> None:
        """Drop a keyframe that the store deleted; its frontiers get another image at the next refresh."""
        self.images.drop(keyframe_id)
        for frontier_id, shown in self._shown.items():
            if shown.keyframe_id == keyframe_id:
                self._shown[frontier_id] = _Shown(shown.cells, 0, shown.updated)


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    """Return the intersection over union of two sets of unique keys."""
    shared = len(np.intersect1d(a, b, assume_unique=True))
    union = len(a) + len(b) - shared
    return shared / union if union else 0.0
