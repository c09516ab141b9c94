"""Tests of a fence, from the configuration to the driven path."""

from __future__ import annotations

import numpy as np
import pytest
from embedders import LetterEmbedder

from lodestar.assembly.config import changed
from lodestar.grid.config import FenceConfig
from lodestar.models.phrases import PhraseBook
from lodestar_eval.episode import Episode, selector_of
from lodestar_eval.settings import NOISES, EpisodeSettings, robot_config
from lodestar_sim.tasks import Task
from lodestar_sim.worlds import world_from_spec

REACH = 2.0  # m from the start to each side of the fence


@pytest.mark.parametrize("fenced", [True, False])
def test_the_robot_explores_within_the_fence_alone(fenced):
    """Without the fence, the same exploration goes farther in this time."""
    world = world_from_spec("apartment", 4)
    x, y = world.start[:2]
    corners = (x - REACH, y - REACH, x + REACH, y - REACH, x + REACH, y + REACH, x - REACH, y + REACH)
    robot = robot_config(NOISES["none"])
    if fenced:
        robot = changed(robot, shared__fence=FenceConfig(corners))
    settings = EpisodeSettings(time_limit=55.0, thinking=0.05, robot=robot)
    task = Task("explore the building", (), world.start)
    episode = Episode(world, task, 4, settings, PhraseBook(LetterEmbedder()), selector_of(settings))
    farthest = 0.0
    # the test fails as soon as the robot is beyond the fence
    while episode.result is None and farthest <= REACH:
        episode.step()
        farthest = max(farthest, np.abs(episode.simulator.true_pose[:2] - np.array([x, y])).max())
    assert bool(farthest <= REACH) is fenced
    if fenced:
        assert farthest > 0.5, "it drives within"
