"""What a robot knows of a building that it has been shown round before."""

from __future__ import annotations

import numpy as np

from lodestar.models.phrases import PhraseBook
from lodestar.scene.saved import SavedMap
from lodestar_eval.pipeline import Pipeline
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.stages import StageClock
from lodestar_eval.tour import Tour, TourConfig
from lodestar_sim.worlds.world import World

#: Every room is stood in and looked round in; 0.6 s between frames see a thing twice in a turn.
ROUND = TourConfig(frame_interval=0.6, turn_rate=0.8)


def explored(
    world: World, seed: int, settings: EpisodeSettings, phrases: PhraseBook, tour: TourConfig = ROUND
) -> SavedMap:
    """The map after a tour of the building, made by the classes that run later; many episodes may go on from it."""
    pipeline = Pipeline(settings, phrases, np.random.default_rng((seed, 3)), StageClock())
    guide = Tour(world, seed, tour)
    for frame in guide.frames():
        pipeline.take(guide.simulator.scan(), frame.image, guide.simulator.map_from_base)
    return pipeline.saved()
