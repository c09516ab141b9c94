"""Tests that the headless robot passes a directive's words to its detector, and reports unknown ones."""

from __future__ import annotations

import pytest

from lodestar.agent.errands.commands import Finish
from lodestar.assembly import parts
from lodestar.assembly.config import PerceptionConfig, RobotConfig, changed
from lodestar.assembly.robot import HeadlessRobot
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import Vocabulary


class Eyes:
    """Detector that keeps the words it is given."""

    name = "eyes"

    def __init__(self, *names):
        self.vocabulary = Vocabulary(names, is_open=not names)
        self.words = ()

    def look_for(self, words):
        self.words = words


@pytest.fixture
def robot():
    robot = HeadlessRobot(changed(RobotConfig(), mapping__source="scan"), PhraseBook())
    yield robot
    robot.close()


@pytest.mark.parametrize(
    ("text", "nouns"),
    [
        ("find the fire extinguisher", ("fire extinguisher",)),
        ("find the red chair next to the desk but stay away from the plants", ("chair", "desk", "plant")),
        ("go to the kitchen and find the mugs", ("mug",)),
        (
            "find the defibrillator or the first aid kit, avoid the kitchen",
            ("defibrillator", "first aid kit"),
        ),
        ("patrol the kitchen, the sofa and the front door", ("sofa", "front door")),
        ("go between the two tables", ("table",)),
        ("find the thing on the table", ("table",)),
        ("how many chairs are in the office?", ("chair",)),
        ("explore", ()),
    ],
)
def test_the_nouns_of_a_directive_are_things_in_the_singular(text, nouns):
    assert parts.directive_parser()(text).nouns == nouns


def test_an_open_detector_has_the_words_while_the_directive_runs(robot):
    eyes = Eyes()
    robot.use_detector(eyes)
    standing = eyes.words
    assert len(standing) > 200, "the packaged words"
    robot.start("find the hookah", 1.0)
    robot.tick(1.1)
    assert eyes.words == ("hookah", *standing) and robot.loop.words.is_acknowledged
    assert robot.loop.feedback().unseen == ""
    robot.loop.cancel(2.0)
    robot.tick(2.1)
    assert eyes.words == standing and robot.loop.words.is_acknowledged


def test_what_a_closed_detector_cannot_see_is_told_from_the_first_feedback_to_the_result(robot):
    robot.use_detector(Eyes("chair", "bottle"))
    robot.start("find the fire extinguisher", 1.0)
    assert 'no "fire extinguisher"' in robot.loop.feedback().unseen, "before any tick"
    robot.tick(1.1)
    assert 'no "fire extinguisher"' in robot.loop.feedback().unseen
    robot.loop.cancel(2.0)
    (end,) = [command.result for command in robot.tick(2.1) if isinstance(command, Finish)]
    assert 'no "fire extinguisher"' in end.unseen and end.unseen in end.report
    assert robot.loop.feedback().unseen == ""


def test_each_adapter_says_what_it_can_name():
    assert parts.ground_truth_detector(PerceptionConfig()).vocabulary.is_open
    assert parts.geometric_segmenter().vocabulary == Vocabulary()
    captioned = parts.geometric_segmenter(PerceptionConfig(captioned=True))
    assert captioned.vocabulary.is_open, "a vision model names shapes later, in any words"
