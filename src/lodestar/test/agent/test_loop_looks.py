"""Tests of looks with dates: a search looks again, a count reuses recent looks and reports it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import World, entity, find, room, thing

from lodestar.agent.errands.commands import Finish, SendGoal
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.experts.frontier import FrontierExpert
from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.grid.config import LookConfig
from lodestar.language.directive import Directive, Step, StepKind

CAMERA = PinholeCamera(640, 480, 380.0, 380.0, 319.5, 239.5)
SIDE = 7.0  # m, side of the room


class LookingWorld(World):
    """World with the real explorer and a camera at the robot's pose."""

    def __post_init__(self) -> None:
        self.grid = room(SIDE)
        self.expert = FrontierExpert()
        self.expert.set_grid(self.grid)
        self.answers = {"frontier": self.expert.propose}
        super().__post_init__()
        self.look()

    def advance(self) -> None:
        super().advance()
        self.look()

    def look(self) -> None:
        """Take an image with the camera."""
        optical = np.eye(4)
        optical[:3, :3], optical[:3, 3] = BODY_FROM_OPTICAL[:3, :3], (0.3, 0.0, 0.45)
        self.expert.add_view(planar_transform(*self.pose) @ optical, CAMERA, self.now)

    def follow(self, directive, seconds=400.0):
        """Return the result of a directive, and the number of its goals."""
        ended, goals = len(self.of(Finish)), len(self.of(SendGoal))
        self.loop.start(directive, self.now)
        end = self.now + seconds
        while len(self.of(Finish)) == ended and self.now < end:
            self.advance()
        assert len(self.of(Finish)) > ended
        return self.of(Finish)[-1].result, len(self.of(SendGoal)) - goals


def one(kind: StepKind, words: str) -> Directive:
    return Directive(f"{kind.name} {words}", (Step(kind, thing(words)),))


@pytest.fixture
def world():
    world = LookingWorld(step=0.5, speed=2.0)
    world.mirror.put(entity(7, 5.5, 6.0, "red chair", last_seen=-math.inf))
    world.targets.scores[7] = 0.9
    return world


def test_a_search_after_a_search_looks_again(world):
    _, before = world.follow(one(StepKind.LIST, "red mug"))
    _, goals = world.follow(find("green bottle"))
    assert before > 2 and goals > 2


def test_a_second_count_takes_what_it_saw_from_memory_and_says_so(world):
    first, goals = world.follow(one(StepKind.COUNT, "red chair"))
    assert goals > 2 and "from memory" not in first.report
    second, goals = world.follow(one(StepKind.COUNT, "red chair"))
    assert second.error_code is ErrorCode.NONE and goals <= 1
    assert "There is 1 red chair" in second.report and "from memory" in second.report
    assert second.searched_share > 0.9


def test_a_count_looks_again_where_the_looks_are_too_old():
    looks = LookConfig(age=120.0)
    world = LookingWorld(step=0.5, speed=2.0, config=replace(LoopConfig(), look_limits=looks))
    world.follow(one(StepKind.COUNT, "red chair"))
    world.follow(Directive("wait", (Step(StepKind.WAIT, seconds=130.0),)))
    second, goals = world.follow(one(StepKind.COUNT, "red chair"))
    assert goals > 2 and "from memory" not in second.report


def test_a_count_does_not_take_a_thing_that_it_sees_anew_from_memory(world):
    world.follow(one(StepKind.COUNT, "red chair"))
    world.pose = np.array([5.5, 4.5, math.pi / 2.0])  # a pose in front of the chair, which is in view
    second, _ = world.follow(one(StepKind.COUNT, "red chair"))
    assert "from memory" in second.report and "of the 1 " not in second.report
    world.pose = np.array([1.0, 1.0, math.pi])
    for _ in range(20):
        world.advance()
    third, _ = world.follow(one(StepKind.COUNT, "red chair"))
    assert "with 1 of the 1, from memory" in third.report


def test_after_the_clock_went_back_nothing_was_looked_at(world):
    world.follow(one(StepKind.COUNT, "red chair"))
    world.now = 0.0
    world.loop.restart_clock(0.0)
    result, goals = world.follow(one(StepKind.COUNT, "red chair"))
    assert goals > 2 and "from memory" not in result.report
