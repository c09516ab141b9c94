"""Tests of real directives of every kind, run headless one after the other in one building."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from embedders import LetterEmbedder
from quick_episodes import QUICK

from lodestar.agent.facts.errors import ErrorCode
from lodestar.grid.energy import EnergyBudget
from lodestar.models.phrases import PhraseBook
from lodestar_eval.episode import Episode, selector_of
from lodestar_sim.judge import judge_find, shortest_path_length
from lodestar_sim.tasks import Task, default_task
from lodestar_sim.worlds import World, world_from_spec

pytestmark = pytest.mark.slow

SEED = 3


@pytest.fixture(scope="module")
def world() -> World:
    return world_from_spec("apartment", SEED)


@pytest.fixture(scope="module")
def task(world) -> Task:
    return default_task(world, SEED)


def episode_of(world: World, task: Task) -> Episode:
    settings = replace(QUICK, time_limit=300.0)
    return Episode(world, task, SEED, settings, PhraseBook(LetterEmbedder()), selector_of(settings))


def follow(episode: Episode, text: str = "") -> None:
    """Run the current directive, or the given one, to its end."""
    if text:
        episode.result = None
        episode.robot.headless.start(text, episode.simulator.time, 300.0)
    while episode.result is None:
        episode.step()


def test_there_and_back_and_there_again_by_memory(world, task):
    episode = episode_of(world, Task(f"{task.directive} and come back", task.target_ids, task.start))
    follow(episode)
    assert episode.result.success, episode.result.error_msg
    assert np.hypot(*(episode.simulator.true_pose[:2] - np.asarray(task.start)[:2])) < 0.5
    assert "Found" in episode.result.report and "Back where I started" in episode.result.report
    explored, goals = episode.simulator.path_length, []
    shortest = shortest_path_length(world, episode.simulator.true_pose, task.target_ids)
    carry_out = episode._carry_out
    episode._carry_out = lambda command, now: (goals.append(command), carry_out(command, now))
    follow(episode, task.directive)
    assert episode.result.success, episode.result.error_msg
    assert judge_find(world, episode.simulator.true_pose, task.target_ids).success
    sent = [command for command in goals if hasattr(command, "entity_id")]
    assert sent[0].entity_id, "what is remembered is gone to at once"
    assert episode.simulator.path_length - explored < 1.25 * shortest + 0.5


def test_a_battery_that_runs_low_brings_it_back(world, task):
    episode = episode_of(world, Task("find the submarine", (), task.start))
    episode.loop.on_energy(EnergyBudget(range_left=16.0, reserve=3.0))
    follow(episode)
    assert episode.result.error_code is ErrorCode.ENERGY, episode.result.error_msg
    assert np.hypot(*(episode.simulator.true_pose[:2] - np.asarray(task.start)[:2])) < 0.7
    assert 5.0 < episode.simulator.path_length < 16.0
