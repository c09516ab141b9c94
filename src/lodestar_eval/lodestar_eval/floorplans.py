"""Grids of real buildings' floors, with start poses for a robot."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import ndimage

from lodestar.grid.inflation import distance_to
from lodestar.grid.occupancy import FREE, OCCUPIED, OccupancyGrid2D
from lodestar_sim.worlds.floorplan import read_arrays
from lodestar_sim.worlds.plan import CELL


@dataclass(frozen=True)
class Floor:
    """Floor of a building. grid: ground truth, without unknown cells. reachable: (rows, columns) bool, free
    cells connected with `places`. places: (N, 2) metres, centres of the N cells on which the robot fits.
    """

    name: str
    grid: OccupancyGrid2D
    reachable: np.ndarray
    places: np.ndarray

    @property
    def area(self) -> float:
        """Return the reachable floor in m^2."""
        return float(self.reachable.sum()) * self.grid.resolution**2

    def starts(self, count: int, seed: int) -> np.ndarray:
        """Return uniformly random poses (count, 3) x, y, yaw; reproducible by seed."""
        rng = np.random.default_rng(seed)
        chosen = self.places[rng.integers(0, len(self.places), count)]
        return np.column_stack([chosen, rng.uniform(-np.pi, np.pi, count)])


def make_floor(name: str, free: np.ndarray, resolution: float, clearance: float) -> Floor:
    """Return the largest connected part of a floor plan where a robot with this clearance, metres, can drive.

    free: (rows, columns) bool. Raises ValueError if the robot fits nowhere.
    """
    padded = np.pad(free, 1)
    clear = distance_to(~padded, resolution) >= clearance
    parts, count = ndimage.label(clear)
    if count == 0:
        raise ValueError(f"{name}: nowhere {clearance} m from the walls")
    part = parts == 1 + int(np.bincount(parts.ravel())[1:].argmax())
    cells = np.where(padded, FREE, OCCUPIED).astype(np.int8)
    grid = OccupancyGrid2D(cells, resolution, (0.0, 0.0))
    reachable = ndimage.binary_propagation(part, mask=padded)
    return Floor(name, grid, reachable, grid.points_of(np.argwhere(part)))


def load_floors(folder: Path, clearance: float) -> list[Floor]:
    """Return the floors in folder `floorplans_kth`, by name. Raises FileNotFoundError if there are none."""
    plans = sorted(file.parent for file in folder.glob("*/occ_map.npy"))
    if not plans:
        raise FileNotFoundError(f"no floor plans in {folder}")
    return [make_floor(plan.name, read_arrays(plan).free, CELL, clearance) for plan in plans]
