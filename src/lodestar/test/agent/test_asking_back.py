"""Tests of questions back: an ambiguous search ends with a question, and the answer continues it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import entity, find, thing
from test_ambiguity import FAR, NEAR, world_of

from lodestar.agent.errands.commands import Choice, OpenQuestions
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import ErrorCode, QuestionUnknown
from lodestar.agent.loop.pointing import PointingRefused
from lodestar.language.directive import (
    AmbiguousDirective,
    CannotObey,
    Constraint,
    ConstraintKind,
    Directive,
    Step,
    StepKind,
)
from lodestar.language.directive_parsers import AskingDirectives
from lodestar.query.ambiguity import choices_in_words
from lodestar.scene.records import Region


def asked(**changes):
    """Return a world whose robot could not distinguish entities 3 and 7, and its result."""
    world = world_of({3: 0.70, 7: 0.71})
    world.loop.start(find(**changes), 0.0)
    world.run()
    result = world.result
    assert result.error_code is ErrorCode.AMBIGUOUS
    world.commands.clear()
    return world, result.question


def choice_for(question, identity: int) -> int:
    return next(i for i, c in enumerate(question.choices, start=1) if identity not in c.excluded)


@pytest.mark.parametrize("identity", [3, 7])
def test_the_chosen_one_is_claimed(identity):
    world, question = asked()
    assert question.text.startswith("Which red chair: ") and len(question.choices) == 2
    begun = world.loop.answer(question.id, choice_for(question, identity), world.now)
    assert begun.text == "find the red chair"
    world.run()
    assert world.result.success and world.result.entity_ids == (identity,)


def test_a_question_is_answered_once_and_a_wrong_answer_leaves_it_open():
    world, question = asked()
    for identity, choice, why in (
        ("nonsense", 1, "no question"),
        (question.id, 0, "none of the choices 1 to 2"),
        (question.id, 3, "none of the choices 1 to 2"),
    ):
        with pytest.raises(QuestionUnknown, match=why):
            world.loop.answer(identity, choice, world.now)
    assert world.loop.directive is None
    world.loop.answer(question.id, 1, world.now)
    world.loop.cancel(world.now)
    world.run(0.2)
    with pytest.raises(QuestionUnknown, match="no question"):
        world.loop.answer(question.id, 1, world.now)


def test_a_question_expires():
    world, question = asked()
    with pytest.raises(QuestionUnknown, match="may have changed"):
        world.loop.answer(question.id, 1, world.now + 601.0)


def test_a_question_does_not_outlive_the_clock():
    world, question = asked()
    world.loop.restart_clock(0.0)
    with pytest.raises(QuestionUnknown, match="no question"):
        world.loop.answer(question.id, 1, 1.0)
    with pytest.raises(PointingRefused):
        world.loop.point_out(world.mirror.entities[3].mean, 2.0)


def test_open_questions_are_bounded_and_their_ids_are_those_of_this_process(monkeypatch):
    monkeypatch.setattr("lodestar.agent.errands.commands.LOOP_OPEN_QUESTIONS", 2)
    questions = OpenQuestions(LoopConfig(), "ab12")
    choice = (Choice("yes", find()),)
    first, second, third = (questions.ask("?", choice, 0.0) for _ in range(3))
    assert third.id == "ab12-3" and questions.answered(second.id, 1, 1.0).words == "yes"
    with pytest.raises(QuestionUnknown):
        questions.answered(first.id, 1, 1.0)


def test_the_answer_goes_on_from_the_step_that_asked():
    dog, cat, sofa = (
        Constraint(ConstraintKind.KEEP_AWAY, find(word).steps[0].item, until=until)
        for word, until in (("dog", 0), ("cat", 1), ("sofa", None))
    )
    steps = (Step(StepKind.EXPLORE), find().steps[0], Step(StepKind.RETURN))
    rest = Directive("t", steps, (dog, cat, sofa), times=3).from_step(1)
    assert [step.kind.name for step in rest.steps] == ["FIND", "RETURN"] and rest.times == 1
    assert rest.constraints == (replace(cat, until=0), sofa)


def test_choices_are_told_apart_as_a_person_would():
    regions = {i: Region(i, name, 1.0, 9.0, np.zeros(2)) for i, name in ((1, "hall"), (2, "kitchen"))}
    by_desk, in_hall = entity(1, 1.0, 1.0, region_id=2), entity(2, 8.0, 8.0, region_id=1)
    desk = entity(9, 1.5, 1.0, "wooden desk", region_id=2)
    scene = {1: by_desk, 2: in_hall, 9: desk}
    words = choices_in_words([by_desk, in_hall], scene, regions)
    assert words == ("the red chair by the desk", "the red chair in the hall")
    assert choices_in_words([NEAR, replace(FAR, caption="blue chair")], {}, {}) == (
        "the red chair",
        "the blue chair",
    )
    alike = [entity(1, 1.0, 1.0), entity(2, 8.0, 8.0)]
    assert choices_in_words(alike, {}, {}) == ("the red chair at (1.0, 1.0)", "the red chair at (8.0, 8.0)")


@pytest.mark.parametrize("gone", [True, False])
def test_the_question_is_of_the_failure_that_is_told(gone):
    """The first stop of a patrol is ambiguous; at the second, nothing is found, or it is ambiguous too."""
    world = world_of({3: 0.70, 7: 0.71})
    stops = thing("red chair"), thing("green table")
    world.loop.start(Directive("look", (Step(StepKind.PATROL, stops=stops),)), 0.0)
    world.run(until=lambda: world.loop._context.run.errand.number == 1)
    if gone:
        world.targets.scores.clear()
        world.mirror.revision += 1
    world.run()
    result = world.result
    if gone:
        assert result.error_code is ErrorCode.TARGET_NOT_FOUND and result.question is None
    else:
        assert result.error_code is ErrorCode.AMBIGUOUS and "green table" in result.question.text


@pytest.mark.parametrize("manner", ["without moving", "slowly", "quietly", "backwards"])
@pytest.mark.parametrize(
    "words", ["nip into the pantry and wait", "make for the lab with no detour through the kitchen"]
)
def test_an_answer_begins_nothing_that_the_same_words_would_not_begin(manner, words):
    """A reading that was asked back passes the checks of every directive when it is chosen."""
    with pytest.raises(AmbiguousDirective) as doubt:
        AskingDirectives().parse(f"{manner}, {words}")
    world = world_of({3: 0.70})
    choices = tuple(Choice(said, directive) for said, directive in doubt.value.readings)
    question = world.loop.ask(str(doubt.value), choices, 0.0)
    with pytest.raises(CannotObey, match=manner):
        world.loop.answer(question.id, 1, 0.0)
    assert world.loop.directive is None
