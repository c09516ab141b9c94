"""Route of a long tour: laps through all stops, every second one in reverse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lodestar_eval.tour import Tour, TourConfig, plan_stops
from lodestar_sim.worlds.world import World

_LAPS = 6  # more than the time limit allows

#: 25 minutes, which is two laps through the largest of the buildings.
LONG_TOUR = TourConfig(limit=1500.0, most_stops=200, frame_interval=0.5)


@dataclass(frozen=True)
class Timeline:
    """Poses of a tour without its images. stamps: (T,) seconds; poses: (T, 3) x, y, yaw."""

    stamps: np.ndarray
    poses: np.ndarray


def laps(world: World, config: TourConfig) -> np.ndarray:
    """Return stops (N, 2), to and fro through the building, so that every place is visited again."""
    stops = plan_stops(world, config)
    return np.concatenate([stops[::-1] if lap % 2 else stops for lap in range(_LAPS)]).reshape(-1, 2)


def timeline(world: World, seed: int, config: TourConfig) -> Timeline:
    """Return the robot's future poses, from the tour simulated without images.

    The robot steers by its true pose, so events beside the path do not change it.
    """
    tour = Tour(world, seed, config, laps(world, config))
    stamps, poses = [], []
    for _ in tour.moments():
        stamps.append(tour.simulator.time)
        poses.append(tour.simulator.true_pose.copy())
    return Timeline(np.array(stamps), np.array(poses))
