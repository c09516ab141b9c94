"""Predicted area of viewpoints against the area that they show in the true building."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import ndimage

from lodestar.experts.frontier import FrontierExpert
from lodestar.experts.reach import Reach
from lodestar.experts.viewpoint_survey import Survey
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.visibility import visible_mask
from lodestar_eval.exploration import ExpertExplorer, GridSensor
from lodestar_eval.floorplans import Floor, make_floor
from lodestar_sim.worlds.truth import truth_of
from lodestar_sim.worlds.world import World

_AROUND = 5  # cells of the true grid between a place where the robot fits and a wall
_FULL = 2.0 * math.pi


@dataclass(frozen=True)
class Shown:
    """A viewpoint. area: m^2 of unknown cells predicted in view by turning. shown: m^2 of unknown floor that comes into
    view there. question: number of the decision whose candidate it is.
    """

    question: int
    area: float
    shown: float


def world_floor(world: World, clearance: float) -> Floor:
    """Return the floor that the robot can see from where it can go, at 0.1 m, in the world's frame."""
    truth = truth_of(world)
    grid = truth.grid
    reached = np.isfinite(truth.lengths(world.start[:2]))
    inside = ndimage.binary_dilation(reached, iterations=_AROUND) & grid.free
    rows, columns = (size // 2 for size in grid.cells.shape)
    free = inside[: 2 * rows, : 2 * columns].reshape(rows, 2, columns, 2).all(axis=(1, 3))
    step = 2.0 * grid.resolution
    floor = make_floor(world.name, free, step, clearance)
    shift = np.asarray(grid.origin) - step  # the plan was padded by one cell
    moved = OccupancyGrid2D(floor.grid.cells, step, (float(shift[0]), float(shift[1])))
    return replace(floor, grid=moved, places=floor.places + shift)


class GainProbe:
    """An explorer that records, at every `every`-th decision, what candidates promise and what they would show."""

    reviews = True

    def __init__(
        self,
        inner: ExpertExplorer,
        floor: Floor,
        sensor: GridSensor,
        rng: np.random.Generator,
        every: int = 4,
    ) -> None:
        self.name, self.shown = inner.name, list[Shown]()
        self._inner, self._floor, self._sensor, self._rng, self._every = inner, floor, sensor, rng, every
        self._asked = 0

    def next_goal(
        self, grid: OccupancyGrid2D, pose: np.ndarray, excluded: tuple[tuple[float, float, float], ...]
    ) -> np.ndarray | None:
        """Return the explorer's goal."""
        goal = self._inner.next_goal(grid, pose, excluded)
        self._asked += 1
        if self._asked % self._every == 0:
            self._probe(self._inner.expert, grid, pose)
        return goal

    def _probe(self, expert: FrontierExpert, grid: OccupancyGrid2D, pose: np.ndarray, most: int = 14) -> None:
        config = expert.config
        lengths = Reach(grid, pose, config.reach).easy
        unseen, closest = expert.looked.wanted(config.look_ranges[0])
        none = np.zeros((0, 3))
        survey = Survey(
            grid, expert.looked, lengths, unseen, closest, config.gain_range, self._sensor.fov, None, none,
            config.stops, config.reach.pace,
        )  # fmt: skip
        points = grid.points_of(survey.lattice())
        points = points[self._rng.permutation(len(points))[:most]]
        if len(points) < 3:
            return
        areas = survey.shown(points)[:, 0]
        for point, area in zip(points, areas):
            seen = visible_mask(self._floor.grid, point, survey.view, _FULL, 0.0)
            shown = seen & self._floor.grid.free & unseen
            self.shown.append(Shown(self._asked, float(area), float(shown.sum()) * grid.resolution**2))
