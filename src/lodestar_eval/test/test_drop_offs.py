"""Tests of the drop-off benchmark: its tasks, its checks, and one run by the command's function."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("open3d", reason="open3d is not installed (pip install lodestar_sim)")

from embedders import LetterEmbedder

from lodestar.assembly.config import changed
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.models.phrases import PhraseBook
from lodestar_eval.drop_tasks import PLACES, drop_task, opening_box
from lodestar_eval.episode import Episode, EpisodeRunner, selector_of
from lodestar_eval.settings import EpisodeSettings, robot_config
from lodestar_eval.studies.drop_offs import BENCHMARK, FloorWatch, kind_of
from lodestar_sim.worlds import WorldError, world_from_spec
from lodestar_sim.worlds.truth import truth_of

SEED = 3
ON = changed(robot_config(), mapping__octomap__floor__enabled=True)


@pytest.fixture(scope="module")
def world():
    return world_from_spec("apartment?stairs=1", SEED)


@pytest.mark.parametrize("place", PLACES)
def test_a_target_lies_beside_or_beyond_the_stairs_and_a_way_leads_around(world, place):
    task = drop_task(world, SEED, place)
    low, high = opening_box(world)
    thing = world.object(task.target_ids[0])
    assert np.isfinite(truth_of(world).shortest_path(task.start[:2], thing))
    if place == "beyond":
        line = np.linspace(task.start[:2], thing.xy, 200)
        assert ((line > low) & (line < high)).all(axis=1).any()
    else:
        first, last = world.box(thing)
        assert np.hypot(*np.maximum(np.maximum(first[:2] - high, low - last[:2]), 0.0)) <= 1.5


def test_a_seed_keeps_its_building_and_its_place_when_it_is_asked_for_alone():
    assert kind_of(303) == ("apartment?hole=1", "beside")


def test_a_level_building_has_no_such_task():
    with pytest.raises(WorldError, match="stairs=1"):
        opening_box(world_from_spec("apartment", SEED))


def test_a_fall_ends_the_episode_and_the_bar_is_missed(world):
    """The test drives the robot over the edge, as the loop would not."""
    low, high = opening_box(world)
    task = drop_task(world, SEED, "beside")
    settings = EpisodeSettings(time_limit=20.0, robot=ON, thinking=0.0)
    phrases = PhraseBook(LetterEmbedder())
    episode = Episode(world, task, SEED, settings, phrases, selector_of(settings))
    episode.simulator.robot.pose = np.array([*(low + high) / 2.0, 0.0])
    episode.simulator.set_command(0.1, 0.0, 0.0)
    for _ in range(3):
        if episode.result is None:
            episode.step()
    run = episode.finish(5.0, 1.0, 0.0)
    assert (run.outcome.falls, run.outcome.success) == (1, False)
    assert "fell" in run.outcome.failure
    row = run.outcome.row() | {"free_near": 0, "free_anywhere": 0, "_spl": 0.0}
    bars = {bar.name: bar.holds for bar in BENCHMARK.result([row]).bars}
    assert not bars["falls"]


def test_it_walks_near_the_stairs_and_no_cell_over_the_edge_is_free(world):
    """Runs the first part of a search beyond the stairs; the benchmark runs complete ones."""
    task = drop_task(world, SEED, "beyond")
    settings = EpisodeSettings(time_limit=40.0, robot=ON, thinking=0.05)
    watch = FloorWatch(world)
    run = EpisodeRunner(PhraseBook(LetterEmbedder()), settings, observer=watch.observe).run(world, task, SEED)
    assert run.outcome.falls == 0
    assert watch.near == 0
    assert run.outcome.path_length > 2.0


def test_the_watch_counts_free_cells_over_the_edge_near_the_robot_and_anywhere(world):
    low, high = opening_box(world)
    middle = (low + high) / 2.0
    free = OccupancyGrid2D(np.zeros((4, 4), np.int8), 0.1, tuple(middle - 0.2))
    for away, near in ((0.0, 16), (5.0, 0)):
        watch = FloorWatch(world)
        simulator = SimpleNamespace(time=1.0, true_pose=np.array([middle[0] + away, middle[1], 0.0]))
        watch.observe(SimpleNamespace(simulator=simulator, robot=SimpleNamespace(grid=free)))
        assert (watch.near, watch.anywhere) == (near, 16)
