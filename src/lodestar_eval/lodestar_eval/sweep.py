"""Views that sweep a simulated building: from stops all over its floor, all around."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lodestar.assembly import parts
from lodestar.assembly.config import PerceptionConfig
from lodestar.geometry.poses import planar_transform
from lodestar.perception.frames import RgbdFrame, SegmentedFrame
from lodestar.perception.ground_truth import NoiseConfig
from lodestar_sim.simulator import Simulator
from lodestar_sim.worlds.world import World


@dataclass(frozen=True)
class SweepConfig:
    """spacing: metres between stops at most. clearance: metres from a stop to obstacles. views: per stop.

    interval: seconds of stamps between views. width, height: pixels.
    """

    spacing: float = 3.0
    clearance: float = 0.45
    views: int = 6
    interval: float = 0.25
    width: int = 640
    height: int = 480


_DEFAULTS, _NO_NOISE = SweepConfig(), NoiseConfig()


class Sweep:
    """Frames of a world with true poses, the sensors' noise and mildly wrong segments; the same for one seed."""

    def __init__(
        self, world: World, seed: int, config: SweepConfig = _DEFAULTS, noise: NoiseConfig = _NO_NOISE
    ):
        self.config = config
        self.stops = plan_stops(world, config)
        self._simulator = Simulator(world, seed=seed)
        self._detector = parts.ground_truth_detector(PerceptionConfig(noise=noise, seed=seed))

    def __len__(self) -> int:
        """Frames at most."""
        return len(self.stops) * self.config.views

    def frames(self) -> Iterator[tuple[RgbdFrame, SegmentedFrame]]:
        """A depth frame without colour and its segments, stop by stop."""
        config, robot = self.config, self._simulator.robot
        base_from_optical = self._simulator.config.sensors.camera.base_from_optical
        number = 0
        for x, y in self.stops:
            for view in range(config.views):
                number += 1
                yaw = 2.0 * math.pi * view / config.views
                robot.pose = np.array([x, y, yaw])
                image = self._simulator.render(rgb=False, width=config.width, height=config.height)
                if not (image.depth > 0.0).any():
                    continue  # the camera, ahead of the robot, is too near to a wall
                stamp = number * config.interval
                pose = planar_transform(x, y, yaw) @ base_from_optical
                frame = RgbdFrame(stamp, image.camera, image.depth, pose)
                yield frame, self._detector.segment(stamp, image.labels, image.label_table)


def plan_stops(world: World, config: SweepConfig) -> np.ndarray:
    """Stops (N, 2), metres, from which no reachable floor is farther than `spacing`; each near the one before."""
    grid, truth = world.truth.grid, world.truth
    reachable = np.isfinite(truth.lengths(world.start[:2])) & (truth.clearance >= config.clearance)
    places = grid.points_of(np.argwhere(reachable))
    gap = np.linalg.norm(places - np.asarray(world.start[:2]), axis=1)
    chosen = [int(np.argmin(gap))]
    gap = np.linalg.norm(places - places[chosen[0]], axis=1)
    while gap.max() > config.spacing:
        chosen.append(int(np.argmax(gap)))
        gap = np.minimum(gap, np.linalg.norm(places - places[chosen[-1]], axis=1))
    left, ordered = places[chosen], [places[chosen[0]]]
    left = left[1:]
    while len(left):
        nearest = int(np.argmin(np.linalg.norm(left - ordered[-1], axis=1)))
        ordered.append(left[nearest])
        left = np.delete(left, nearest, axis=0)
    return np.array(ordered)
