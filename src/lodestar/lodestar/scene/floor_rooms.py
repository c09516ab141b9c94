"""Rooms of each floor of a building; those of one floor are in use, the others are stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from lodestar.geometry.map_correction import MapCorrection
from lodestar.grid.regions import RegionTracker
from lodestar.scene.region_names import RegionNames
from lodestar.scene.regions import RegionMap

#: Returns which of the points (N, 3), metres in map, lie on a floor: (N,) bool.
OnFloor = Callable[[np.ndarray], np.ndarray]


@dataclass
class FloorRooms:
    """Rooms of one floor, the names that operators gave them, and the tracker that keeps their ids."""

    rooms: RegionMap
    names: RegionNames = field(default_factory=RegionNames)
    tracker: RegionTracker = field(default_factory=RegionTracker)

    def move(self, correction: MapCorrection) -> None:
        """Apply a correction of the map."""
        self.rooms.move(correction)
        self.names.move(correction)
        if correction.is_rigid:
            self.tracker.move(correction.jump)
