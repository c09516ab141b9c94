"""Map of a building from an earlier tour of the robot."""

from __future__ import annotations

import numpy as np

from lodestar.models.phrases import PhraseBook
from lodestar.storage.saved_map import SavedMap
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.simulated_robot import SimulatedRobot
from lodestar_eval.tour import Tour, TourConfig
from lodestar_sim.worlds.world import World

#: The tour stops and looks around in every room; 0.6 s between frames show an object twice in a turn.
ROUND = TourConfig(frame_interval=0.6, turn_rate=0.8)


def explored(
    world: World, seed: int, settings: EpisodeSettings, phrases: PhraseBook, tour: TourConfig = ROUND
) -> SavedMap:
    """Return the map that the robot's own classes make on a tour; several episodes may start from it."""
    guide = Tour(world, seed, tour)
    robot = SimulatedRobot(guide.simulator, settings, phrases, np.random.default_rng((seed, 3)))
    for frame in guide.frames():
        robot.turn()
        robot.see(frame.image)
    return robot.headless.map.saved()
