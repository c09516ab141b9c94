"""Tests of short episodes without a search: the robot's claim and ground truth agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from embedders import LetterEmbedder

from lodestar.agent.facts.errors import ErrorCode
from lodestar.language.directive import ROBOT_FRAME, Directive, Item, Pose, Scope, Step, StepKind
from lodestar.language.query_graph import QueryGraph, QueryVariable
from lodestar.models.phrases import PhraseBook
from lodestar.perception.ground_truth import NoiseConfig
from lodestar_eval.episode import Episode, EpisodeRunner
from lodestar_eval.episode_run import EpisodeRun
from lodestar_eval.settings import EpisodeSettings, robot_config
from lodestar_sim.step_judge import judge_steps
from lodestar_sim.tasks import Task
from lodestar_sim.worlds import Room, Wall, World, WorldObject
from lodestar_sim.worlds.elements import Slab


def thing(identity, category, color, size, shape, x, y, yaw=0.0) -> WorldObject:
    caption = f"{color} {category}"
    return WorldObject(identity, category, caption, color, "wood", size, f"param:{shape}", (x, y, 0.0, yaw))


def flat() -> World:
    """Return a study and a bedroom of 4 x 4 m with a door of 1 m between them."""
    walls = (
        Wall(-4.1, -2.1, 4.1, -2.0, 0.0, 2.5), Wall(-4.1, 2.0, 4.1, 2.1, 0.0, 2.5),
        Wall(-4.1, -2.0, -4.0, 2.0, 0.0, 2.5), Wall(4.0, -2.0, 4.1, 2.0, 0.0, 2.5),
        Wall(-0.05, -2.0, 0.05, -0.5, 0.0, 2.5), Wall(-0.05, 0.5, 0.05, 2.0, 0.0, 2.5),
    )  # fmt: skip
    bounds = (-4.1, -2.1, 4.1, 2.1)
    slabs = (Slab(*bounds, 0.0, "beige", "wood"), Slab(*bounds, 2.5, "white", "plaster", ceiling=True))
    things = (
        thing(1, "desk", "brown", (0.6, 1.2, 0.75), "desk", -3.6, 0.9),
        thing(2, "bookshelf", "black", (0.32, 0.93, 1.6), "shelf?boards=5", -3.8, -1.2),
        thing(3, "bed", "gray", (2.0, 1.4, 0.9), "bed?pillows=2", 2.9, 1.2),
        thing(4, "nightstand", "black", (0.42, 0.46, 0.56), "cabinet/drawers?drawers=2", 3.7, -0.2, np.pi),
        thing(5, "plant", "green", (0.5, 0.5, 1.0), "plant/palm", -0.6, 1.6),
        thing(6, "plant", "green", (0.5, 0.5, 1.0), "plant/palm", 3.5, -1.6),
    )
    rooms = (
        Room(1, "study", ((-4.0, -2.0), (0.0, -2.0), (0.0, 2.0), (-4.0, 2.0))),
        Room(2, "bedroom", ((0.0, -2.0), (4.0, -2.0), (4.0, 2.0), (0.0, 2.0))),
    )
    return World("flat", "apartment", 0, bounds, (-2.0, -0.5, 0.0), rooms, walls, slabs, things, (), ())


WORLD = flat()


def item(words: str) -> Item:
    return Item(((QueryGraph((QueryVariable(words, words),)),),))


def episode(*steps: Step, seconds: float = 120.0, **changes) -> EpisodeRun:
    """Run an episode of these steps without perception noise; return it."""
    directive = Directive("of records", steps, **changes)
    settings = EpisodeSettings(time_limit=seconds, thinking=0.05, robot=robot_config(NoiseConfig()))
    runner = EpisodeRunner(PhraseBook(LetterEmbedder()), settings)
    task = Task(directive.text, (), WORLD.start)
    begun = Episode(WORLD, task, 1, settings, runner.phrases, runner.policy, directive=directive)
    return runner.follow(begun)


BEDROOM = item("bedroom")


@pytest.fixture(scope="module")
def gone() -> EpisodeRun:
    return episode(Step(StepKind.GO, BEDROOM), Step(StepKind.WAIT, seconds=5.0), Step(StepKind.RETURN))


def test_it_goes_into_the_room_waits_there_and_comes_back(gone):
    assert gone.outcome.success, gone.outcome.failure or gone.verdict.message
    assert "I am in the bedroom." in gone.result.report and "Waited for 5 s." in gone.result.report
    assert np.hypot(*(gone.path[-1, 1:3] - WORLD.start[:2])) < 0.6


def test_ground_truth_does_not_believe_what_was_not_done(gone):
    path = gone.path
    outside = path[path[:, 1] < -0.3]
    for steps, why in (
        ((Step(StepKind.GO, item("kitchen")),), "never came into the kitchen"),
        ((Step(StepKind.WAIT, seconds=60.0),), "not for 60 s"),
        ((Step(StepKind.GO, pose=Pose(3.0, -9.0)),), "came no nearer"),
        ((Step(StepKind.COUNT, item("plant")),), "0 of 2"),
        ((Step(StepKind.PATROL, stops=(BEDROOM, item("study"), BEDROOM)),), "never came into the bedroom"),
    ):
        verdict = judge_steps(WORLD, Directive("t", steps), path)
        assert not verdict.success and why in verdict.message
    assert not judge_steps(WORLD, Directive("t", (Step(StepKind.GO, BEDROOM),)), outside).success


def test_it_counts_what_there_is():
    run = episode(Step(StepKind.COUNT, item("plant")))
    assert run.outcome.success, f"{run.verdict.message} {run.result.report}"
    assert "There are 2 plants." in run.result.report


def test_it_lists_what_a_room_has_and_leaves_the_other_out():
    run = episode(Step(StepKind.LIST, scope=Scope(BEDROOM.graphs)))
    assert run.outcome.success, f"{run.verdict.message} {run.result.report}"
    assert "desk" not in run.result.report.replace("bedroom", "")


def test_it_patrols_the_rooms_twice():
    patrol = Step(StepKind.PATROL, stops=(BEDROOM, item("study")), times=2)
    run = episode(patrol, seconds=200.0)
    assert run.outcome.success, run.outcome.failure or run.verdict.message
    truth = judge_steps(WORLD, Directive("t", (replace(patrol, times=3),)), run.path)
    assert not truth.success, "a third round was never driven"


def test_a_room_that_the_building_does_not_have_is_not_claimed():
    run = episode(Step(StepKind.GO, item("garage")))
    assert not run.outcome.claimed and run.result.error_code is ErrorCode.TARGET_NOT_FOUND


def test_the_judge_wants_the_robot_at_the_end_of_the_way_back():
    """A robot that has never left the start does not count as returned."""
    away = np.column_stack([np.arange(50.0), np.linspace(1.0, 8.0, 50), np.full(50, 1.0), np.zeros(50)])
    directive = Directive("explore and come back", (Step(StepKind.EXPLORE), Step(StepKind.RETURN)))
    assert not judge_steps(flat(), directive, away).success
    back = away[::-1].copy()
    back[:, 0] = 50.0 + np.arange(50.0)
    assert judge_steps(flat(), directive, np.vstack([away, back])).success


def test_the_judge_reads_a_pose_from_where_the_robot_stands():
    """The pose two metres forward of a robot that faces along y."""
    way = np.column_stack(
        [np.arange(20.0), np.full(20, 4.0), np.linspace(1.0, 3.0, 20), np.full(20, np.pi / 2)]
    )
    step = Step(StepKind.GO, pose=Pose(2.0, 0.0, None, ROBOT_FRAME))
    assert judge_steps(flat(), Directive("go 2 m forward", (step,)), way).success
    assert not judge_steps(flat(), Directive("go 2 m forward", (step,)), way[:5]).success
