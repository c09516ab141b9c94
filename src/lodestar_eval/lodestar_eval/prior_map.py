"""Map of a building that the robot has toured before."""

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
    """Return the map after a tour of the building, made by the robot's own classes; many episodes may continue it."""
    guide = Tour(world, seed, tour)
    robot = SimulatedRobot(guide.simulator, settings, phrases, np.random.default_rng((seed, 3)))
    for frame in guide.frames():
        robot.turn()
        robot.see(frame.image)
    return robot.headless.map.saved()
