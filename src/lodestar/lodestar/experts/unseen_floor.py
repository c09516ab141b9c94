"""The part of the grid that one expert's camera has not looked at, for the current step."""

from __future__ import annotations

import math

import numpy as np

from lodestar.experts.coverage import LookedAt
from lodestar.experts.heights import Lens, view_heading
from lodestar.experts.protocol import ProposalRequest
from lodestar.experts.rooms import rooms_mask
from lodestar.geometry.camera import PinholeCamera
from lodestar.grid.config import LookConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.scene.mirror import SceneMirror


class UnseenFloor:
    """Record of one camera's observations of the floor, and of the floor not looked at. fov: radians,
    horizontal, initial value before the first view.
    """

    def __init__(self, limits: LookConfig, camera_height: float, fov: float) -> None:
        self.looked = LookedAt(limits, camera_height=camera_height)
        self.fov = fov
        self._limits, self._camera_height = limits, camera_height
        self._newest = -math.inf  # stamp of the newest request, seconds

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

    def wanted(
        self, request: ProposalRequest, grid: OccupancyGrid2D, mirror: SceneMirror
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return `LookedAt.wanted` for a request, restricted to its scope's rooms and without outdated
        observations.
        """
        if request.stamp < self._newest - self._limits.interval:  # the clock restarted
            self.looked.clear()
        self._newest = request.stamp
        self.looked.count_from(request.looks_since)
        self.looked.set_entities(mirror.entities.values())
        unseen, closest = self.looked.wanted(self._limits.range)
        inside = rooms_mask(request.step.scope, grid, mirror)
        return (unseen if inside is None else unseen & inside), closest
