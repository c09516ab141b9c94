"""Tests of questions to a robot that looked around an apartment: by a directive, and later from its files."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from lodestar.agent.errands.commands import Finish, SendGoal
from lodestar.agent.facts.errors import ErrorCode
from lodestar.language.question_reader import read_question
from lodestar.memory.config import StoreConfig
from lodestar.memory.store import MemoryStore
from lodestar_eval.demo import ask
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.simulated_robot import SimulatedRobot
from lodestar_sim.simulator import Simulator
from lodestar_sim.worlds import world_from_spec

SETTINGS = EpisodeSettings(width=160, height=120)


class Home:
    """Robot with a memory that turns on the spot, and follows directives without a navigator."""

    def __init__(self, folder):
        simulator = Simulator(world_from_spec("apartment", 1), SETTINGS.simulator, 1)
        config = StoreConfig(folder=str(folder / "memory"), flush_interval=0.05)
        self.store = MemoryStore.open(config, phrase_book().vectors)
        self.robot = SimulatedRobot(
            simulator, SETTINGS, phrase_book(), np.random.default_rng(1), memory=self.store
        )
        self.headless, self.folder = self.robot.headless, folder

    def turn(self, steps=40):
        simulator = self.robot.simulator
        for _ in range(steps):
            simulator.set_command(0.0, 0.0, 0.8)
            for _ in range(3):
                simulator.step(0.1)
                self.headless.take_pose(self.robot.pose, simulator.time)
            self.robot.look()

    def told(self, directive, seconds=5.0):
        """Return the outcome of a directive, and its commands."""
        now, commands = self.robot.simulator.time, []
        self.headless.start(directive, now)
        while not any(isinstance(c, Finish) for c in commands) and seconds > 0.0:
            now, seconds = now + 0.1, seconds - 0.1
            self.headless.take_pose(self.robot.pose, now)
            commands += self.headless.tick(now)
        return next((c.result for c in commands if isinstance(c, Finish)), None), commands

    @property
    def thing(self):
        """Return a label that exactly one entity of the scene has."""
        labels = [entity.label for entity in self.robot.mirror.entities.values()]
        return next(label for label in sorted(set(labels)) if labels.count(label) == 1 and label != "door")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = Home(tmp_path_factory.mktemp("home"))
    home.turn()
    yield home
    home.store.close()


def test_a_question_in_a_directive_is_answered_in_process(home):
    result, commands = home.told(f"when did you last see the {home.thing}?")
    assert result is not None and result.success, result
    assert result.answers[0].value.times and home.thing in result.report
    assert not any(isinstance(command, SendGoal) for command in commands)


def test_a_thing_that_was_never_seen_moves_nothing(home):
    result, commands = home.told("go to where you last saw the forklift")
    assert result.error_code is ErrorCode.CANNOT_ANSWER and "forklift" in result.error_msg
    assert not any(isinstance(command, SendGoal) for command in commands)


def test_the_place_where_a_thing_was_seen_is_driven_to(home):
    result, commands = home.told(f"go to where you last saw the {home.thing}", 3.0)
    (sent,) = [command for command in commands if isinstance(command, SendGoal)]
    assert result is None, "there is no navigator here"
    entity = next(e for e in home.robot.mirror.entities.values() if e.label == home.thing)
    assert np.hypot(*(sent.goal[:2] - entity.mean[:2])) < 3.0
    home.headless.loop.cancel(home.robot.simulator.time + 4.0)
    home.headless.tick(home.robot.simulator.time + 4.1)


def test_a_robot_without_a_memory_says_so():
    simulator = Simulator(world_from_spec("apartment", 1), SETTINGS.simulator, 1)
    bare = SimulatedRobot(simulator, SETTINGS, phrase_book(), np.random.default_rng(1))
    bare.look()
    bare.headless.take_pose(bare.pose, 1.0)
    bare.headless.start("what did you do?", 1.0)
    commands = [c for step in range(5) for c in bare.headless.tick(1.1 + 0.1 * step)]
    (finish,) = [c for c in commands if isinstance(c, Finish)]
    assert finish.result.error_code is ErrorCode.CANNOT_ANSWER and "has no memory" in finish.result.error_msg


@pytest.fixture(scope="module")
def left(tmp_path_factory):
    """Return the folders of a run's memory and of its map."""
    home = Home(tmp_path_factory.mktemp("left"))
    home.turn()
    thing = home.thing
    home.headless.memory.close()
    home.headless.map.saved().write(home.folder / "map")
    home.store.close()
    return SimpleNamespace(memory=home.folder / "memory", map=home.folder / "map", thing=thing)


def test_afterwards_the_saved_map_gives_scene_floor_and_viewpoints(left):
    answer, _ = ask.answered(read_question(f"is there a {left.thing}?"), left.memory, left.map)
    assert answer.value.yes is True
    number, _ = ask.answered(read_question(f"how many {left.thing}s are there?"), left.memory, left.map)
    assert number.value.number == 1.0 and 0.0 < number.coverage <= 1.0
    place, _ = ask.answered(read_question(f"where is the {left.thing}?"), left.memory, left.map)
    assert place.value.places[0].viewpoint is not None
    nothing, _ = ask.answered(read_question("is there an elephant?"), left.memory, left.map)
    assert nothing.coverage is not None


def test_without_the_map_the_memory_alone_answers(left, capsys):
    answer, _ = ask.answered(read_question(f"how many {left.thing}s are there?"), left.memory)
    assert answer.coverage is None
    (left.map / "CURRENT").write_text("nonsense")
    answer, _ = ask.answered(read_question(f"where is the {left.thing}?"), left.memory, left.map)
    assert answer.value.places and answer.value.places[0].viewpoint is None
    assert "left out" in capsys.readouterr().err
