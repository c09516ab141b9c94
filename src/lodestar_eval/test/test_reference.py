"""Tests of the reference searcher, and of the parts of a search's path."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from lodestar.scene.mirror import SceneMirror
from lodestar_eval.path_split import Sight, WayWatcher
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.reference import ReferenceConfig, ReferenceSearcher
from lodestar_eval.settings import EpisodeSettings
from lodestar_sim.tasks import default_task
from lodestar_sim.worlds import world_from_spec
from lodestar_sim.worlds.truth import truth_of

pytestmark = pytest.mark.slow

SEED = 3


@pytest.fixture(scope="module")
def world():
    return world_from_spec("apartment", SEED)


@pytest.fixture(scope="module")
def task(world):
    return default_task(world, SEED)


def test_the_reference_finds_the_target_and_repeats_itself(world, task):
    first, second = (ReferenceSearcher(world, task, 5).run() for _ in range(2))
    assert first.success and first.path_length > 0.0
    assert first.path_length >= first.shortest - 0.5 and first.goals >= 1
    assert first.path_length == second.path_length


def test_the_reference_gives_up_at_its_time_limit(world, task):
    found = ReferenceSearcher(world, task, 5, ReferenceConfig(time_limit=1.0)).run()
    assert not found.success and found.duration <= 1.5


def test_sight_has_a_direction_a_range_and_walls(world, task):
    thing = next(t for t in world.objects if t.id == task.target_ids[0])
    view = truth_of(world).views(thing, 0.2)[0]
    assert Sight(world).share(thing, view) >= 0.1
    assert Sight(world).share(thing, view + np.array([0.0, 0.0, np.pi])) == 0.0
    assert Sight(world, reach=0.2).share(thing, view) == 0.0
    assert Sight(world).share(thing, np.array(task.start)) == 0.0


def test_a_goal_beside_what_has_not_shown_yet_is_no_approach(world, task):
    thing = next(t for t in world.objects if t.id == task.target_ids[0])
    view = truth_of(world).views(thing, 0.2)[0]
    away = view + np.array([0.0, 0.0, np.pi])
    episode = SimpleNamespace(
        world_now=world, task=task, settings=EpisodeSettings(), phrases=phrase_book(), path_length=0.0, frames=0,
        simulator=SimpleNamespace(true_pose=away, time=0.0), robot=SimpleNamespace(mirror=SceneMirror()),
        loop=SimpleNamespace(directive=None, feedback=lambda: SimpleNamespace(goal=view, phase="EXPLORING")),
    )  # fmt: skip
    watcher = WayWatcher(episode)
    for way, pose in ((1.0, away), (2.0, view), (3.5, view)):
        episode.frames, episode.path_length, episode.simulator.true_pose = episode.frames + 1, way, pose
        episode.simulator.time = 10.0 * way
        watcher.observe(episode)
    way = watcher.split(episode)
    assert watcher.seen_at == 20.0
    assert way.unseen == 2.0  # the goal was beside the target from the first metre on
    assert way.unseen + way.unmapped + way.unknown + way.elsewhere + way.approach == 3.5
