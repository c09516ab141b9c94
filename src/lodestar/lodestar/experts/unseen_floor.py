"""The part of the grid on which one expert's camera may have missed the target, for the current step."""

from __future__ import annotations

import math

import numpy as np

from lodestar.experts.coverage import TRIAL_EDGES, LookedAt
from lodestar.experts.heights import Lens, view_heading
from lodestar.experts.protocol import ProposalRequest
from lodestar.experts.rooms import rooms_mask
from lodestar.geometry.camera import PinholeCamera
from lodestar.grid.config import LookConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Step
from lodestar.models.category_priors import prior_of
from lodestar.perception.eyes import EYES_RATE, Eyes, eyes_of
from lodestar.scene.mirror import SceneMirror


class UnseenFloor:
    """Record of one camera's observations of the floor, and of the floor not looked at. fov: radians,
    horizontal, initial value before the first view.
    """

    def __init__(self, limits: LookConfig, camera_height: float, fov: float) -> None:
        self.looked = LookedAt(limits, camera_height=camera_height)
        self.fov = fov
        self._eyes = eyes_of(limits.eyes)
        self._limits, self._camera_height = limits, camera_height
        self.newest = -math.inf  # stamp of the newest request, seconds

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        """Set the grid."""
        self.looked.set_grid(grid)

    def add_view(self, map_from_camera: np.ndarray, camera: PinholeCamera, stamp: float) -> None:
        """Record a view from this (4, 4) pose (optical frame): its cells count as looked at."""
        heading = view_heading(map_from_camera)
        if heading is None:
            return
        floor = float(map_from_camera[2, 3]) - self._camera_height
        lens = Lens.of(map_from_camera, camera, floor)
        self.fov = lens.fov
        self.looked.look(map_from_camera[:2, 3], heading, lens.fov, lens, floor, stamp)

    def begin(self, request: ProposalRequest, mirror: SceneMirror | None) -> None:
        """Take over the request's stamps, leaving out outdated observations, and the scene's furniture."""
        if request.stamp < self.newest - self._limits.interval:  # the clock restarted
            self.looked.clear()
        self.newest = request.stamp
        self.looked.count_from(request.looks_since)
        if mirror is not None:
            self.looked.set_entities(mirror.entities.values())

    def left(
        self, request: ProposalRequest, grid: OccupancyGrid2D, mirror: SceneMirror | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return `LookedAt.missed` for the request that was begun, restricted to its scope's rooms; and the chances
        (`view_chances`) by which it was computed.
        """
        chances = self.chances(request)
        left, closest = self.looked.missed(self._limits.range, chances)
        inside = rooms_mask(request.step.scope, grid, mirror)
        return (left if inside is None else np.where(inside, left, np.float32(0.0))), closest, chances

    def chances(self, request: ProposalRequest) -> np.ndarray:
        """Return `view_chances` for a request."""
        return view_chances(self._eyes, request.step, self._limits.range)


def view_chances(eyes: Eyes, step: Step, reach: float) -> np.ndarray:
    """Return the chances (cases, bins) that a view from each distance (`TRIAL_EDGES`) shows the thing of a step.

    reach: metres, the largest distance of a view.
    """
    if not step.graphs:  # nothing to be detected: the floor itself is explored
        return np.full((1, len(TRIAL_EDGES)), EYES_RATE)
    kind = step.graphs[0].target.category
    size, edges = prior_of(kind).size, np.minimum(TRIAL_EDGES, reach)
    middles = (edges + np.concatenate([[0.5], edges[:-1]])) / 2.0
    return eyes.cases(kind, size, middles.tolist())


def view_values(chances: np.ndarray) -> np.ndarray:
    """Return the values (bins,) of a view from each distance beside the best one, for chances (cases, bins)."""
    mean = chances.mean(axis=0)
    return np.asarray(mean / mean.max())
