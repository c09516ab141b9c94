"""Tests that a decision waits a limited time for a model's answer about its own view, and uses no other."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from expert_worlds import Block, furnished, photograph, red_chair, request

from lodestar.experts.egocentric import EgocentricConfig, EgocentricExpert
from lodestar.experts.protocol import Proposal, Thinking
from lodestar.experts.view_judge import STANDING_ANGLE, STANDING_DISTANCE
from lodestar.geometry.poses import apart
from lodestar.language.reasoner import OfflineReasoner
from lodestar.language.views import ViewAnswer
from lodestar.models.phrases import PhraseBook

POSE = (2.0, 4.0, 0.0)
OTHER_HEADING = (2.0, 4.0, math.radians(75.0))
CHAIR, PLANT = Block(5.0, 4.0, "chair", "red chair"), Block(5.0, 4.0, "plant", "green plant")


class Model(OfflineReasoner):
    """Answers about the newest image only, `seconds` after the first question about it."""

    name, waits = "model", True

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds, self.now, self.asked = seconds, 10.0, []

    def judge_view(self, question):
        if not self.asked or self.asked[-1][0] != question.name:
            self.asked.append((question.name, self.now))
        if self.now - self.asked[-1][1] < self.seconds:
            return None
        number = question.points[-1].number
        return ViewAnswer(question, {number: 0.9}, "GO", "A hall.", "it is open there", self.name)


class Stage:
    """Egocentric expert with a camera and a common clock."""

    def __init__(self, seconds: float, *blocks: Block) -> None:
        self.model, self.blocks = Model(seconds), blocks
        self.expert = EgocentricExpert(EgocentricConfig(), PhraseBook(), self.model)
        self.expert.set_grid(furnished())

    def look(self, pose, stamp: float) -> None:
        """Take an image with a camera 0.3 m ahead of the robot."""
        x, y, yaw = pose
        camera = (x + 0.3 * math.cos(yaw), y + 0.3 * math.sin(yaw), yaw)
        frame, segmented = photograph(camera, *self.blocks, background=3.0, stamp=stamp)
        self.expert.set_view(frame, segmented)

    def ask(self, pose, stamp: float, now: float | None = None, **changes):
        self.model.now = stamp if now is None else now
        asked = replace(request(pose, red_chair()), stamp=stamp, epoch=round(100 * stamp), **changes)
        return self.expert.propose(asked)

    def decide(self, pose, stamp: float, deadline: float = 3.5, roll: float = 0.0):
        """Return the answer, and the seconds waited for it, as in the decision loop, with an image every 0.1 s.

        roll: radians that the robot still turns after the request, whose pose stays that of the request.
        """
        now, wait = stamp, True
        while True:
            self.look(rolled(pose, roll, now - stamp), now)
            answer = self.ask(pose, stamp, now, deadline=stamp + deadline, may_wait=wait)
            if not isinstance(answer, Thinking):
                return answer, now - stamp
            assert wait, "it was told not to wait"
            wait, now = now < answer.until, now + 0.1


def rolled(pose, roll: float, seconds: float):
    """Return the pose of a robot that turns on for `seconds`, at most half a second."""
    return (*pose[:2], pose[2] + roll * min(seconds / 0.5, 1.0))


def test_it_stands_for_the_answer_about_the_view_from_here():
    stage = Stage(2.0, PLANT)
    answer, stood = stage.decide(POSE, 10.0)
    assert isinstance(answer, Proposal) and answer.view == 10.0 and "open there" in answer.rationale
    assert 2.0 <= stood < 2.2 and len(stage.model.asked) == 1


def test_who_knows_where_to_go_does_not_stand():
    stage = Stage(2.0, CHAIR)
    answer, stood = stage.decide(POSE, 10.0)
    assert stood == 0.0 and answer.view == 0.0 and "I see a red chair" in answer.rationale
    assert [name for name, _ in stage.model.asked] == ["10.000"], "the model is asked all the same"
    stage.look(POSE, 12.5)
    assert stage.ask(POSE, 12.5).view == 10.0, "and its word counts when it is there"


@pytest.mark.parametrize("deadline, most", [(3.5, 3.0), (10.0, 3.0), (1.0, 1.0), (0.0, 0.2)])
def test_a_model_that_never_answers_is_stood_for_once(deadline, most):
    stage, poses = Stage(math.inf, PLANT), (POSE, OTHER_HEADING)
    answer, stood = stage.decide(POSE, 10.0, deadline)
    assert stood <= most and answer.view == 0.0 and "has not answered" in str(answer)
    for i, stamp in enumerate(np.arange(14.0, 39.0, 4.0)):
        answer, stood = stage.decide(poses[i % 2], float(stamp), deadline)
        assert stood == 0.0
    answer, stood = stage.decide(POSE, 45.0, 3.5)
    assert 2.5 < stood <= 3.0, "once more after a rest"
    assert stage.decide(OTHER_HEADING, 100.0, 3.5)[1] == 0.0, "and then a longer one"
    stage.model.seconds = 0.0
    assert stage.decide(OTHER_HEADING, 104.0, 3.5)[0].view == 100.0, "of before, from the same place"
    stage.model.seconds = 1.0
    assert stage.decide(POSE, 108.0, 3.5)[1] >= 1.0, "who answers again is stood for again"


def test_the_view_before_is_not_asked_about_and_not_used():
    stage = Stage(0.0, PLANT)
    stage.look(POSE, 9.9)
    assert isinstance(stage.ask(OTHER_HEADING, 10.0), Thinking), "no image of this heading has come"
    assert stage.model.asked == []
    stage.look(OTHER_HEADING, 10.1)
    assert stage.ask(OTHER_HEADING, 10.0).view == 10.1


def test_who_has_left_the_view_waits_no_longer():
    stage = Stage(2.0, PLANT)
    stage.look(POSE, 9.9)
    assert isinstance(stage.ask(POSE, 10.0), Thinking)
    stage.look(OTHER_HEADING, 11.0)
    answer = stage.ask(POSE, 10.0, 11.0)
    assert not isinstance(answer, Thinking) and "has left the view" in str(answer)


def test_a_view_is_asked_about_once():
    stage = Stage(1.0, PLANT)
    for stamp in (10.0, 14.0, 18.0):
        assert stage.decide(POSE, stamp)[0].view == 10.0
    assert len(stage.model.asked) == 1
    assert stage.decide(OTHER_HEADING, 22.0)[0].view == 22.0
    assert stage.decide(POSE, 60.0)[0].view == 60.0, "the old image is too old"


def test_a_word_about_an_image_from_the_end_of_a_turn_is_not_used_where_the_turn_went_on():
    """Eight degrees from the image to the question and eight after it are sixteen: another view."""
    stage, step = Stage(1.0), math.radians(8.0)
    stage.look(POSE, 10.0)
    asked = (POSE[0], POSE[1], step)
    assert isinstance(stage.ask(asked, 10.0, deadline=14.0, may_wait=True), Thinking)
    there = (POSE[0], POSE[1], 2.0 * step)
    answer = stage.ask(there, 10.0, 11.5, deadline=14.0, may_wait=False)
    assert getattr(answer, "view", 0.0) == 0.0


def test_who_turns_on_while_a_decision_stands_has_a_word_about_where_the_turn_ended():
    """The request keeps its pose, and the newest image has the pose at the end of the turn."""
    stage, step = Stage(1.0), math.radians(8.0)
    stage.look(POSE, 10.0)
    answer, stood = stage.decide(rolled(POSE, step, 1.0), 10.0, roll=step)
    ended = (*POSE[:2], 2.0 * step)
    assert isinstance(answer, Proposal) and stood < 3.0
    _, turned = apart(rolled(rolled(POSE, step, 1.0), step, answer.view - 10.0), ended)
    assert turned <= STANDING_ANGLE


def test_another_task_asks_anew():
    stage = Stage(0.5, PLANT)
    stage.decide(POSE, 10.0)
    stage.look(POSE, 12.0)
    other = replace(request(POSE, red_chair("NextTo")), stamp=12.0)
    assert isinstance(stage.expert.propose(other), Thinking)
    assert len(stage.model.asked) == 2


@pytest.mark.parametrize("seed", range(30))
def test_whatever_the_way_and_the_model_s_pace_every_used_word_is_about_the_view_it_is_used_for(seed):
    rng = random.Random(seed)
    stage, stamp, taken = Stage(0.0, *rng.choice([(), (PLANT,), (CHAIR,)])), 10.0, {}
    pose = POSE
    for _ in range(12):
        if rng.random() < 0.7:
            yaw = pose[2] + rng.choice(
                [math.radians(75.0), -math.radians(75.0), math.pi, rng.gauss(0.0, 0.3)]
            )
            pose = (
                (rng.uniform(1.5, 3.5), rng.uniform(2.0, 6.0), yaw)
                if rng.random() < 0.5
                else (*pose[:2], yaw)
            )
        stage.model.seconds = rng.choice([0.0, 0.5, 2.0, 4.0, math.inf])
        deadline = rng.choice([1.0, 3.5])
        before = stamp
        roll = rng.choice([0.0, rng.gauss(0.0, 0.2)])
        answer, stood = stage.decide(pose, stamp, deadline, roll)
        for image in np.arange(before, before + stood + 0.05, 0.1):
            taken[round(float(image), 3)] = rolled(pose, roll, image - before)
        pose = rolled(pose, roll, stood)
        assert stood <= min(3.0, deadline)
        if isinstance(answer, Proposal) and answer.view:
            metres, turned = apart(taken[round(answer.view, 3)], pose)
            assert metres <= STANDING_DISTANCE and turned <= STANDING_ANGLE
        stamp = round(stamp + stood + rng.uniform(0.5, 8.0), 1)


def test_a_clock_that_begins_anew_ends_the_rest_after_a_vain_wait():
    stage = Stage(math.inf, PLANT)
    assert stage.decide(POSE, 1000.0)[1] > 2.0, "it stood in vain, and rests"
    assert stage.decide(POSE, 1001.0)[1] == 0.0
    assert stage.decide(POSE, 5.0)[1] > 2.0
