"""The route of a long tour: laps through all stops, the second against the direction of the first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lodestar_eval.tour import Tour, TourConfig, plan_stops
from lodestar_sim.worlds.world import World

_LAPS = 6  # more than the time allows

#: 25 minutes: two laps through the largest of the buildings.
LONG_TOUR = TourConfig(limit=1500.0, most_stops=200, frame_interval=0.5)


@dataclass(frozen=True)
class Timeline:
    """Poses of a tour without images. stamps: (T,) seconds; poses: (T, 3) x, y, yaw."""

    stamps: np.ndarray
    poses: np.ndarray


def laps(world: World, config: TourConfig) -> np.ndarray:
    """Return stops (N, 2): there and back through the building, so that every place is visited again."""
    stops = plan_stops(world, config)
    return np.concatenate([stops[::-1] if lap % 2 else stops for lap in range(_LAPS)]).reshape(-1, 2)


def timeline(world: World, seed: int, config: TourConfig) -> Timeline:
    """Return where the robot will be, from the tour without its images. It steers by the true pose: events that
    stand in no way change nothing.
    """
    tour = Tour(world, seed, config, laps(world, config))
    stamps, poses = [], []
    for _ in tour.moments():
        stamps.append(tour.simulator.time)
        poses.append(tour.simulator.true_pose.copy())
    return Timeline(np.array(stamps), np.array(poses))
