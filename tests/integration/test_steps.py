"""Tests of structured directives over DDS: places, waits, refusals with error codes, and questions back."""

from __future__ import annotations

import pytest

from integration.surroundings import TIMES, World
from lodestar_interfaces import msg
from lodestar_interfaces.action import FollowDirective

Result, Subtask = FollowDirective.Result, msg.Subtask


@pytest.fixture(scope="module")
def world(bed, processes, tmp_path_factory):
    log = tmp_path_factory.mktemp("decisions") / "decisions.jsonl"
    world = World(bed, processes, log)
    processes.start("goal_selector", "motion_gate", parameters={"goal_selector": TIMES})
    bed.next("goal_selector/heartbeat")
    world.robot.publish_grid()
    return world


@pytest.fixture(autouse=True)
def clean(world):
    world.reset()
    yield
    world.processes.assert_alive(besides=("goal_selector",))


def goal(*steps, **fields):
    return FollowDirective.Goal(directive=msg.Directive(text="by steps", subtasks=list(steps), **fields))


def go(x, y):
    return Subtask(kind=Subtask.KIND_GO, pose=[msg.PlanarPose(x=x, y=y, heading=0.0)])


def wait(seconds):
    return Subtask(kind=Subtask.KIND_WAIT, seconds=seconds)


def item(word):
    graph = msg.QueryGraph(variables=[msg.QueryVariable(phrase=word, category=word)], weight=1.0)
    return msg.Item(alternatives=[msg.Alternative(readings=[graph])])


def test_it_goes_to_numbers_waits_there_and_goes_on(world):
    world.nav.mode = "arrive"  # the robot is already there
    result = world.follow.result(goal(go(0.1, 0.0), wait(1.0), go(0.0, 0.1)))
    assert result.success and result.error_code == Result.NONE, result.error_msg
    assert "I stand at (0.1, 0.0)." in result.report and "Waited for 1 s." in result.report


def test_a_navigator_that_stops_short_of_the_numbers_is_not_believed(world):
    world.nav.mode = "arrive"
    result = world.follow.result(goal(go(3.0, 0.0)))
    assert result.error_code == Result.NAVIGATION_FAILED and "3.0 m from (3.0, 0.0)" in result.error_msg


def test_nothing_moves_the_robot_while_it_waits_and_a_cancel_ends_it_at_once(world):
    sent = world.follow.send(goal(wait(-1.0)))
    beat = world.beat(lambda beat: beat.state == "WAITING")
    assert not beat.motion_allowed
    moment = world.now()
    sent.cancel()
    assert sent.result().error_code == Result.CANCELLED
    world.assert_soon(moment)
    world.beat(lambda beat: beat.state == "IDLE")


@pytest.mark.parametrize(
    ("step", "code", "why"),
    [
        (Subtask(kind=Subtask.KIND_ASK, question="who was here?"), Result.CANNOT_ANSWER, "who was here"),
        (
            Subtask(kind=Subtask.KIND_EXPLORE, scope=msg.Scope(on_level=True, level=3)),
            Result.OTHER_FLOOR,
            "fourth floor",
        ),
        (Subtask(kind=Subtask.KIND_GO), Result.NOT_UNDERSTOOD, "needs where to go"),
        (wait(1e9), Result.NOT_UNDERSTOOD, "cannot be kept"),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_code(world, step, code, why):
    result = world.follow.result(goal(step))
    assert result.error_code == code and why in result.error_msg
    assert not result.success and not world.nav.driving


def test_a_path_that_cannot_be_told_and_a_manner_are_refused_and_not_dropped(world):
    path = msg.Constraint(item=item("path"))
    for fields in ({"constraints": [path]}, {"manners": [msg.Manner(kind="speed", said="slowly")]}):
        result = world.follow.result(goal(go(1.0, 0.0), **fields))
        assert result.error_code == Result.CONSTRAINT_VIOLATED, result.error_msg
    assert not world.nav.driving


def test_what_the_robot_cannot_do_is_said_after_the_rest(world):
    world.nav.mode = "arrive"
    step = go(0.1, 0.0)
    step.unable = ["wipe the mirror"]
    result = world.follow.result(goal(step))
    assert result.error_code == Result.UNABLE and not result.success
    assert result.error_msg == "I cannot wipe the mirror." and "I stand at" in result.report


def test_an_answer_to_a_question_that_is_not_open_is_refused(world):
    result = world.follow.result(FollowDirective.Goal(question_id="0-1", choice=1))
    assert result.error_code == Result.QUESTION_UNKNOWN and "say anew" in result.error_msg
    assert result.question == "" and not result.choices
