"""Tests of steps that query the memory: ASK, CHECK, COUNT and GO to an object's last seen place."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import FACING, TARGET, World, entity, exploring, thing

from lodestar.agent.errands.commands import AskMemory, RequestProposals, SendGoal, State, WithdrawQuery
from lodestar.agent.facts.errors import ErrorCode
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Directive, Scope, Step, StepKind
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar.language.question import AnswerType, QuestionKind
from lodestar.memory.answer import (
    Answer,
    AnswerCode,
    AnswerOutcome,
    AnswerPlace,
    AnswerValue,
    Proof,
    ProofKind,
)
from lodestar.scene.records import Region
from lodestar.scene.regions import RegionMap

ASK = Step(StepKind.ASK, thing("red mug"), question="where did you last see the red mug")
HOME = Step(StepKind.RETURN)
LAST_SEEN = Step(StepKind.GO, thing("red chair"), question="where did you last see the red chair")
CHECK = Step(StepKind.CHECK, thing("red chair"), question="is there a red chair")
KITCHEN = Scope((QueryGraph((QueryVariable("kitchen", "kitchen"),)),))


def do(*steps, **fields):
    return Directive("do it", steps, **fields)


def answering(sentence="It is on the desk.", verified=0.0, coverage=None, **value):
    """Return a memory that gives the same answer to every question."""

    def say(question):
        found = AnswerValue(question.answer, **value)
        proof = (Proof(ProofKind.ENTITY, 7, 1.0, np.array([8.0, 5.0, 0.2]), "red chair"),)
        answer = Answer(question, sentence, found, 0.9, proof, verified, coverage)
        return AnswerOutcome(AnswerCode.NONE, answer)

    return say


def refusing(code, why):
    return lambda question: AnswerOutcome(code, why=why)


def at(x, y, viewpoint=None):
    return (AnswerPlace(np.array([x, y, 0.2]), viewpoint),)


def ended(world, directive):
    world.loop.start(directive, world.now)
    world.run()
    return world.result


# --- ASK -------------------------------------------------------------------------------------------------------------


def test_an_answer_comes_with_its_proof_and_places_and_moves_nothing():
    world = World(memory=answering(places=at(4.0, 4.0)))
    result = ended(world, do(ASK))
    assert result.success and result.entity_ids == (7,)
    assert "It is on the desk." in result.report and "place: (4.0, 4.0, 0.2) m" in result.report
    assert "thing 7" in result.report
    (answer,) = result.answers
    assert answer.question.kind is QuestionKind.WHERE and answer.question.answer is AnswerType.PLACE
    assert not world.of(SendGoal) and not world.of(RequestProposals)


def test_the_robot_stands_while_it_waits_for_an_answer_and_a_cancel_withdraws_the_question():
    world = World(memory=lambda question: None)
    world.loop.start(do(ASK), 0.0)
    world.run(2.0)
    assert world.loop.state is State.WAITING and not world.loop.motion_allowed
    assert "Asking my memory" in world.loop.feedback().text
    (asked,) = world.of(AskMemory)
    world.loop.cancel(world.now)
    world.advance()
    assert world.result.error_code is ErrorCode.CANCELLED
    assert [c.ticket for c in world.of(WithdrawQuery)] == [asked.ticket]


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        (None, "the memory node is not up"),
        (lambda question: None, "did not answer within 30 s"),
        (
            refusing(AnswerCode.STORE_UNAVAILABLE, "the folder is locked"),
            "(STORE_UNAVAILABLE): the folder is locked",
        ),
        (refusing(AnswerCode.NOT_UNDERSTOOD, "say it in English"), "(NOT_UNDERSTOOD): say it in English"),
        (refusing(AnswerCode.NO_MEMORY, "I remember nothing yet"), "(NO_MEMORY): I remember nothing yet"),
    ],
)
def test_a_question_without_an_answer_has_a_code_and_the_next_step_is_done(memory, said, known_target):
    known_target.memory = memory
    result = ended(known_target, do(ASK, Step(StepKind.FIND, thing("red chair"))))
    assert result.error_code is ErrorCode.CANNOT_ANSWER and not result.success
    assert said in result.error_msg and "red mug" in result.error_msg
    assert result.entity_ids == (7,) and math.dist(known_target.pose[:2], FACING[:2]) < 1.0


def test_a_late_answer_to_an_older_question_is_dropped():
    world = World(memory=lambda question: None)
    world.loop.start(do(ASK, ASK), 0.0)
    world.run(until=lambda: len(world.of(AskMemory)) == 2)
    first, second = world.of(AskMemory)
    assert [c.ticket for c in world.of(WithdrawQuery)] == [first.ticket]
    world.loop.on_memory(first.ticket, answering("too late", places=at(1.0, 1.0))(first.question))
    world.run(1.0)
    assert world.result is None
    world.loop.on_memory(second.ticket, answering("in time", places=at(1.0, 1.0))(second.question))
    world.run(1.0)
    assert "in time" in world.result.report and "too late" not in world.result.report


# --- GO to a remembered place ----------------------------------------------------------------------------------------


def test_the_viewpoint_of_the_place_is_driven_to_whatever_stands_there_now():
    world = World(memory=answering("I saw it by the wall.", places=at(8.0, 5.0, (7.0, 5.0, 0.0))))
    result = ended(world, do(LAST_SEEN))
    assert result.success and world.pose == pytest.approx([7.0, 5.0, 0.0])
    assert "I saw it by the wall." in result.report
    (asked,) = world.of(AskMemory)
    assert asked.question.kind is QuestionKind.WHERE and asked.question.past


def test_a_place_without_a_viewpoint_of_the_memory_is_faced_from_one_of_the_loops_own():
    world = World(memory=answering(places=at(8.0, 5.0)))
    assert ended(world, do(LAST_SEEN)).success
    assert 0.3 < math.dist(world.pose[:2], (8.0, 5.0)) < 2.0


def test_a_viewpoint_that_cannot_be_come_to_on_this_grid_is_not_driven_to():
    world = World(memory=answering(places=at(8.0, 5.0, (20.0, 5.0, 0.0))))
    assert ended(world, do(LAST_SEEN)).success
    assert math.dist(world.pose[:2], (8.0, 5.0)) < 2.0


def test_an_unknown_thing_moves_nothing_and_has_a_code():
    world = World(memory=refusing(AnswerCode.NO_EVIDENCE, "I do not know: I have not seen any red chair."))
    result = ended(world, do(LAST_SEEN, Step(StepKind.FIND, thing("red chair"))))
    assert result.error_code is ErrorCode.CANNOT_ANSWER and "not seen any red chair" in result.error_msg
    assert not world.of(SendGoal)


def test_a_place_behind_a_wall_is_unreachable_and_the_robot_still_comes_back():
    world = World(memory=answering(places=at(30.0, 30.0)))
    result = ended(world, do(LAST_SEEN, HOME))
    assert result.error_code is ErrorCode.TARGET_UNREACHABLE and "(30.0, 30.0)" in result.error_msg


# --- CHECK -----------------------------------------------------------------------------------------------------------


def test_fresh_proof_answers_a_check_without_motion(known_target):
    known_target.memory = answering("Yes, it is there.", verified=-20.0, yes=True)
    result = ended(known_target, do(CHECK))
    assert result.success and "Yes, it is there." in result.report and not known_target.of(SendGoal)


@pytest.mark.parametrize("memory", [None, answering("Yes, it is there.", verified=-500.0, yes=True)])
def test_without_fresh_proof_the_robot_goes_there_and_says_what_it_sees(memory, known_target):
    known_target.memory = memory
    result = ended(known_target, do(CHECK, HOME))
    assert result.success and result.entity_ids == (7,)
    assert "Yes. Found a red chair (entity 7)" in result.report
    assert result.answers[0].value.yes is True
    assert math.dist(known_target.pose[:2], (2.0, 2.0)) < 0.1, "the next step is done"


def test_a_thing_that_is_nowhere_is_no_and_no_failure():
    corners = [(1.0, 1.0, 0.8), (9.0, 1.0, 2.4), (9.0, 9.0, -2.4), (1.0, 9.0, -0.8)]
    sides = [(5.0, 1.0, 1.6), (9.0, 5.0, 3.1), (5.0, 9.0, -1.6), (1.0, 5.0, 0.0)]
    world = World(answers={"frontier": exploring(*corners, *sides)})
    world.mirror.put(entity(3, 5, 5, "green plant"))
    result = ended(world, do(CHECK))
    assert result.success and result.report.startswith("No. ") and result.answers[0].value.yes is False


def asked_whether(value):
    predicate = Predicate("HasAttribute", (0,), value)
    return replace(CHECK, asked=(predicate,), question=f"is the red chair {value}")


def test_what_nobody_can_see_ends_with_a_code_after_going_there(known_target):
    result = ended(known_target, do(asked_whether("off")))
    assert result.error_code is ErrorCode.CANNOT_ANSWER
    assert "cannot see whether it is off" in result.error_msg
    assert math.dist(known_target.pose[:2], FACING[:2]) < 1.0


def in_turn(*outcomes):
    """Return a memory that gives each outcome once, and the last one from then on."""
    left = list(outcomes)
    return lambda question: (left.pop(0) if len(left) > 1 else left[0])(question)


NOTHING = refusing(AnswerCode.NO_EVIDENCE, "I have not seen it")


def test_what_it_cannot_see_of_the_thing_before_it_the_memory_is_asked_which_may_have_a_picture(known_target):
    known_target.mirror.put(replace(TARGET, attributes=("red",)))
    known_target.memory = in_turn(NOTHING, answering("It is of metal.", verified=0.0, yes=False))
    result = ended(known_target, do(asked_whether("fabric")))
    assert result.success and "It is of metal." in result.report and result.answers[0].value.yes is False
    assert len(known_target.of(AskMemory)) == 2
    assert math.dist(known_target.pose[:2], FACING[:2]) < 1.0


@pytest.mark.parametrize("again", [NOTHING, answering("Of metal.", verified=-5000.0, yes=False), None])
def test_without_a_fresh_answer_it_says_that_it_cannot_see_it(known_target, again):
    known_target.mirror.put(replace(TARGET, attributes=("red",)))
    known_target.memory = None if again is None else in_turn(NOTHING, again)
    result = ended(known_target, do(asked_whether("fabric")))
    assert result.error_code is ErrorCode.CANNOT_ANSWER
    assert "cannot see whether it is fabric" in result.error_msg


def test_what_shows_is_answered_on_the_spot(known_target):
    known_target.mirror.put(replace(TARGET, attributes=("red",)))
    result = ended(known_target, do(asked_whether("red")))
    assert result.success and "Yes: a red chair (entity 7) is as you ask." in result.report


def test_a_check_in_a_room_ends_with_the_first_sight():
    world = World(answers={"frontier": exploring((2.0, 4.0, 0.0), (2.0, 9.0, 0.0))})
    cells = np.ones((100, 100), np.int16)
    rooms = RegionMap(0.5)
    rooms.set_mask(cells, (0.0, 0.0), 0.1)
    world.mirror.regions = {1: Region(1, "kitchen", 0.9, 100.0, np.zeros(2))}
    world.mirror.rooms = rooms
    world.mirror.put(entity(5, 2, 6, "tall person", region_id=1))
    world.targets.scores[5] = 0.9
    step = Step(StepKind.CHECK, thing("person"), scope=KITCHEN, question="is there a person in the kitchen")
    result = ended(world, do(step))
    assert result.success and "Yes. I see a tall person (entity 5)." in result.report
    assert result.entity_ids == (5,) and world.pose[1] < 5.0, "the rest of the room is not explored"


def test_a_room_that_is_nowhere_answers_nothing_about_who_is_in_it():
    step = Step(StepKind.CHECK, thing("person"), scope=KITCHEN, question="is there a person in the kitchen")
    result = ended(World(answers={"frontier": exploring((2.0, 4.0, 0.0))}), do(step))
    assert result.error_code is ErrorCode.CANNOT_ANSWER and "no kitchen was found" in result.error_msg


# --- COUNT -----------------------------------------------------------------------------------------------------------

COUNT = Step(StepKind.COUNT, thing("red chair"))


def test_a_count_is_the_memorys_where_the_floor_was_looked_at_of_late():
    world = World(memory=answering("I know of 2 red chairs.", verified=-30.0, coverage=0.99, number=2.0))
    world.answers = {"frontier": exploring((2.0, 8.0, 0.0))}
    result = ended(world, do(COUNT))
    assert result.success and "I know of 2 red chairs." in result.report and not world.of(SendGoal)
    assert result.answers[0].value.number == 2.0


@pytest.mark.parametrize(
    "memory",
    [
        None,
        answering(verified=-30.0, coverage=0.6, number=2.0),
        answering(verified=-3000.0, coverage=0.99, number=2.0),
        answering(verified=-30.0, number=2.0),
    ],
)
def test_else_the_robot_counts_by_looking(memory, known_target):
    known_target.memory = memory
    result = ended(known_target, do(COUNT))
    assert result.success and "There is 1 red chair." in result.report and not result.answers
    assert known_target.of(SendGoal)


def test_where_floor_is_unknown_the_memory_is_not_asked_to_count():
    world = World(memory=answering(verified=0.0, coverage=1.0, number=2.0))
    cells = np.full((100, 100), -1, np.int8)
    cells[10:60, 10:60] = 0
    world.loop.on_grid(OccupancyGrid2D(cells, 0.1, (0.0, 0.0)))
    world.answers = {"frontier": exploring((3.0, 4.0, 0.0))}
    result = ended(world, do(COUNT))
    assert result.success and not world.of(AskMemory) and world.of(SendGoal)
