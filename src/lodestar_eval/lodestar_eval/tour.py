"""Scripted tour of a building: the robot stops all over the reachable floor and turns around at each stop."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from lodestar.grid.config import TravelConfig
from lodestar.grid.paths import path_lengths, plan_path
from lodestar_sim.robot import RobotConfig
from lodestar_sim.sensors import CameraFrame
from lodestar_sim.simulator import SimConfig, Simulator
from lodestar_sim.worlds.truth import INFLATION, truth_of
from lodestar_sim.worlds.world import World

TOUR_CLEARANCE = 0.45  # metres of a stop from obstacles; chosen
TOUR_CONTROL_INTERVAL = 0.1  # simulated seconds between steps; that of an episode

_TRAVEL = TravelConfig(clearance=INFLATION)
#: A narrow robot, which fits through every path, with the camera of the real one.
NARROW = RobotConfig(length=0.2, width=0.2, max_lateral=0.8)


@dataclass(frozen=True)
class TourConfig:
    """Stops, motion and images of a tour."""

    spacing: float = 3.0  # metres, largest distance of reachable floor from a stop; chosen
    speed: float = 0.5  # m/s; chosen
    turn_rate: float = 1.0  # rad/s at a stop; chosen
    frame_interval: float = 0.4  # simulated seconds between images; chosen
    most_stops: int = 18  # chosen
    pan: float = 0.0  # rad to each side at a stop, in place of a full turn; 0 = a full turn
    rounds: int = 1  # times that the stops are visited
    limit: float = 400.0  # simulated seconds after which the tour ends; chosen
    width: int = 320  # pixels; that of an episode
    height: int = 240  # pixels; that of an episode
    colored: bool = False  # render colours too
    simulator: SimConfig = field(default_factory=lambda: SimConfig(robot=NARROW))


@dataclass(frozen=True)
class TourFrame:
    """One image of a tour with its ground truth.

    image: sensor data. ids: (H, W) int32, the visible objects, 0 = none. depth: (H, W) float32, metres, exact,
    inf = no surface. world_from_camera: (4, 4), true. stops: number completed so far.
    """

    image: CameraFrame
    ids: np.ndarray
    depth: np.ndarray
    world_from_camera: np.ndarray
    stops: int


@dataclass(frozen=True)
class TourMoment:
    """Time at which an image is due. stops: number completed so far. turning: at a stop, else between stops."""

    stops: int
    turning: bool


class Tour:
    """One tour of a world, reproducible by seed.

    `stops`: (N, 2) metres, in the order of the visit, by default those of `plan_stops`.
    """

    def __init__(
        self, world: World, seed: int, config: TourConfig = TourConfig(), stops: np.ndarray | None = None
    ):
        self.config = config
        self.world = world
        self.stops = plan_stops(world, config) if stops is None else stops
        self.simulator = Simulator(world, config.simulator, seed)
        self._next_frame = 0.0

    def frames(self) -> Iterator[TourFrame]:
        """Yield the camera's frames until the stops or the time run out."""
        for moment in self.moments():
            yield self.look(moment)

    def moments(self) -> Iterator[TourMoment]:
        """Drive the tour, and yield whenever an image is due."""
        self._next_frame += self.config.frame_interval
        yield TourMoment(0, True)
        yield from self._turn(0)
        for done, stop in enumerate(np.tile(self.stops, (self.config.rounds, 1))):
            if self.simulator.time >= self.config.limit:
                return
            yield from self._go(stop, done)
            yield from self._turn(done + 1)

    def _go(self, stop: np.ndarray, done: int) -> Iterator[TourMoment]:
        """Drive along the planned path, looking ahead."""
        config, simulator = self.config, self.simulator
        path = plan_path(truth_of(self.world).grid, simulator.true_pose[:2], stop, _TRAVEL)
        marks = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
        along = 0.0
        while along < marks[-1] and simulator.time < config.limit:
            along += config.speed * TOUR_CONTROL_INTERVAL
            aim = np.array([np.interp(along, marks, path[:, a]) for a in range(2)])
            x, y, yaw = simulator.true_pose
            velocity = (aim - (x, y)) / TOUR_CONTROL_INTERVAL
            velocity *= min(1.0, config.speed / max(float(np.linalg.norm(velocity)), 1e-6))
            heading = math.atan2(velocity[1], velocity[0])
            error = math.remainder(heading - yaw, 2.0 * math.pi)
            c, s = math.cos(yaw), math.sin(yaw)
            body = (c * velocity[0] + s * velocity[1], -s * velocity[0] + c * velocity[1])
            rate = max(-config.turn_rate, min(config.turn_rate, 2.0 * error))
            yield from self._step(np.array([*body, rate]), TourMoment(done, False))
            along = min(along, float(marks[-1]))

    def _turn(self, done: int) -> Iterator[TourMoment]:
        """Turn round once; or, if `pan` is set, to one side, to the other, and back."""
        pan = self.config.pan
        for angle in (pan, -2.0 * pan, pan) if pan > 0.0 else (2.0 * math.pi,):
            yield from self._turn_by(angle, done)

    def _turn_by(self, angle: float, done: int) -> Iterator[TourMoment]:
        turned, rate = 0.0, math.copysign(self.config.turn_rate, angle)
        while turned < abs(angle) and self.simulator.time < self.config.limit:
            before = self.simulator.true_pose[2]
            yield from self._step(np.array([0.0, 0.0, rate]), TourMoment(done, True))
            change = abs(math.remainder(self.simulator.true_pose[2] - before, 2.0 * math.pi))
            # so that a blocked turn ends, too
            turned += max(change, 0.2 * self.config.turn_rate * TOUR_CONTROL_INTERVAL)

    def _step(self, command: np.ndarray, moment: TourMoment) -> Iterator[TourMoment]:
        self.simulator.set_command(*command)
        self.simulator.step(TOUR_CONTROL_INTERVAL)
        if self.simulator.time + 1e-9 >= self._next_frame:
            self._next_frame += self.config.frame_interval
            yield moment

    def look(self, moment: TourMoment) -> TourFrame:
        """Return the camera's current frame."""
        config = self.config
        image = self.simulator.render(config.colored, width=config.width, height=config.height)
        return TourFrame(image, *self.simulator.view_truth(config.width, config.height), moment.stops)


def plan_stops(world: World, config: TourConfig) -> np.ndarray:
    """Return stops (N, 2), spread evenly over the reachable floor, each the nearest to the one before."""
    grid, truth = truth_of(world).grid, truth_of(world)
    open_floor = np.isfinite(truth.lengths(world.start[:2])) & (truth.clearance >= TOUR_CLEARANCE)
    cells = np.argwhere(open_floor)
    if not len(cells):
        return np.zeros((0, 2))
    places = grid.points_of(cells)
    here = np.asarray(world.start[:2], np.float64)
    gap = np.linalg.norm(places - here, axis=1)
    chosen: list[int] = []
    while gap.max() > config.spacing:
        chosen.append(int(np.argmax(gap)))
        gap = np.minimum(gap, np.linalg.norm(places - places[chosen[-1]], axis=1))
    ordered = []
    while chosen:
        lengths = path_lengths(grid, here, _TRAVEL)
        nearest = min(chosen, key=lambda i: (float(lengths[tuple(cells[i])]), i))
        chosen.remove(nearest)
        here = places[nearest]
        ordered.append(here)
    return np.array(ordered[: config.most_stops]).reshape(-1, 2)
