"""Views that cover a simulated building, all around from stops all over its floor."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lodestar.assembly import parts
from lodestar.assembly.config import PerceptionConfig
from lodestar.geometry.poses import planar_transform
from lodestar.perception.config import NoiseConfig
from lodestar.perception.frames import RgbdFrame, SegmentedFrame
from lodestar_sim.simulator import Simulator
from lodestar_sim.worlds.truth import truth_of
from lodestar_sim.worlds.world import World


@dataclass(frozen=True)
class SweepConfig:
    """Stops and images of a sweep."""

    spacing: float = 3.0  # metres between stops at most; chosen
    clearance: float = 0.45  # metres of a stop from obstacles; chosen
    views: int = 6  # per stop; chosen
    interval: float = 0.25  # seconds of stamps between views; chosen
    width: int = 640  # pixels; DESIGN section 6
    height: int = 480  # pixels; DESIGN section 6


_DEFAULTS, _NO_NOISE = SweepConfig(), NoiseConfig()


class Sweep:
    """Frames of a world with true poses, sensor noise and mild segmentation errors; the same for one seed."""

    def __init__(
        self, world: World, seed: int, config: SweepConfig = _DEFAULTS, noise: NoiseConfig = _NO_NOISE
    ):
        self.config = config
        self.stops = plan_stops(world, config)
        self._simulator = Simulator(world, seed=seed)
        self._detector = parts.ground_truth_detector(PerceptionConfig(noise=noise, seed=seed))

    def __len__(self) -> int:
        """Return the largest number of frames."""
        return len(self.stops) * self.config.views

    def frames(self) -> Iterator[tuple[RgbdFrame, SegmentedFrame]]:
        """Yield depth frames without colour and their segments, stop by stop."""
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
                    continue  # the camera is too near a wall
                stamp = number * config.interval
                pose = planar_transform(x, y, yaw) @ base_from_optical
                frame = RgbdFrame(stamp, image.camera, image.depth, pose)
                yield frame, self._detector.segment(stamp, image.labels, image.label_table)


def plan_stops(world: World, config: SweepConfig) -> np.ndarray:
    """Return stops (N, 2), metres, with all reachable floor within `spacing`; each near the one before."""
    grid, truth = truth_of(world).grid, truth_of(world)
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
