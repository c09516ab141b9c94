"""Tests of pointing at the map: the search goes there, or the open question is answered; nothing else moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import ACCEPT, World, entity, explore, exploring, find, find_many
from test_ambiguity import world_of

from lodestar.agent.errands.commands import Choice, SendGoal
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.loop.pointing import PointingError, PointingRefused
from lodestar.worldmodel.corrections import Surroundings, correction_of

BESIDE = np.array([0.9, 0.0, 0.0])  # m, offset beside an object
STOOL = entity(9, 7.0, 7.0, "blue stool")
CHAIR = entity(4, 7.0, 3.0, "grey chair")  # a chair that does not match the query


def searching(*things, directive=None, **changes) -> World:
    """Return a world whose experts only explore, while it searches for a red chair."""
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0))}, **changes)
    world.mirror.put(*(things or (STOOL, CHAIR)))
    world.targets.scores.update({4: ACCEPT - 0.2})
    world.loop.start(directive or find(), 0.0)
    world.run(2.0)
    assert world.result is None and world.of(SendGoal)
    return world


def refused(world: World, *point: float) -> PointingRefused:
    with pytest.raises(PointingRefused) as told:
        world.loop.point_out(np.array(point), world.now)
    return told.value


@pytest.mark.parametrize(
    ("point", "identity", "correction"),
    [
        ((7.0, 7.0, 0.4), 9, "that is a chair"),  # of another category, so its label is corrected
        ((6.9, 3.3, 0.0), 4, ""),  # of the right category, though it does not match the query
        ((6.4, 3.7, 0.0), 4, ""),  # the point is not on the object, but near and of its category
    ],
)
def test_a_search_goes_where_a_person_points_and_claims_what_it_sees_there(point, identity, correction):
    world = searching()
    pointed = world.loop.point_out(np.array(point), world.now)
    assert (pointed.entity_id, pointed.correction, pointed.question_id) == (identity, correction, "")
    assert "for the red chair" in pointed.report
    world.run()
    assert world.result.success and world.result.entity_ids == (identity,)
    assert "was pointed out as the red chair" in world.result.report


def test_the_correction_is_one_that_the_world_model_understands():
    world = searching()
    words = world.loop.point_out(np.array([7.0, 7.0, 0.0]), world.now).correction
    around = Surroundings([STOOL], None, None, lambda point, reach: None)
    amendment = correction_of(words, 9, around)
    assert (amendment.change.name, amendment.entity_id, amendment.label) == ("RELABEL", 9, "chair")


def test_a_person_beats_a_target_that_the_map_knows():
    world = searching(STOOL, entity(3, 2.0, 8.5))
    world.targets.scores[3] = 0.9
    world.loop.point_out(np.array([7.0, 7.0, 0.0]), world.now)
    world.run()
    assert world.result.entity_ids == (9,)


def test_what_is_not_seen_on_arrival_is_not_claimed_whatever_was_said():
    world = searching(sees=False)
    world.loop.point_out(np.array([7.0, 7.0, 0.0]), world.now)
    world.run(200.0)
    assert world.result is None or not world.result.success


@pytest.mark.parametrize("point", [(5.0, 5.0, 0.0), (2.0, 9.0, 0.0)])
def test_nothing_near_is_said_with_what_is_nearest_and_the_search_goes_on(point):
    world = searching()
    told = refused(world, *point)
    assert told.code is PointingError.NOTHING_NEAR
    assert "the nearest is a" in str(told) and "click on its box" in str(told)
    assert world.loop.directive is not None and world.loop._context.run.errand.pointed == 0


def test_an_empty_map_says_so_and_a_thing_that_is_gone_is_not_meant():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0))})
    world.loop.start(find(), 0.0)
    world.run(1.0)
    assert "I know nothing" in str(refused(world, 7.0, 7.0, 0.0))
    world.mirror.put(replace(STOOL, state=type(STOOL.state).ARCHIVED))
    assert refused(world, 7.0, 7.0, 0.0).code is PointingError.NOTHING_NEAR


def test_a_point_without_a_directive_moves_nothing():
    world = World()
    world.mirror.put(STOOL)
    told = refused(world, 7.0, 7.0, 0.0)
    assert told.code is PointingError.NOTHING_ASKED and "say first what to find" in str(told)
    world.run(2.0)
    assert not world.loop.motion_allowed and not world.of(SendGoal)


def test_a_point_while_the_robot_explores_says_what_it_does():
    world = searching(directive=explore())
    told = refused(world, 7.0, 7.0, 0.0)
    assert told.code is PointingError.NOTHING_ASKED and "explore until nothing is left" in str(told)


@pytest.mark.parametrize("point", [(np.nan, 1.0, 0.0), (np.inf, 0.0, 0.0), (1.0, 2.0)])
def test_a_point_that_is_none_is_refused(point):
    assert refused(searching(), *point).code is PointingError.BAD_POINT


def test_the_thing_on_the_table_is_meant_and_not_the_table():
    table = replace(entity(5, 7.0, 7.0, "wooden table"), box_min=np.array([6.0, 6.0, 0.0]))
    table = replace(table, box_max=np.array([8.0, 8.0, 0.8]))
    mug = replace(entity(6, 7.0, 7.0, "white cup"), box_min=np.array([6.9, 6.9, 0.8]))
    mug = replace(mug, box_max=np.array([7.1, 7.1, 0.9]))
    world = searching(table, mug)
    assert world.loop.point_out(np.array([7.0, 7.0, 0.9]), world.now).entity_id == 6
    assert world.loop.point_out(np.array([6.1, 6.1, 0.8]), world.now).entity_id == 5


def test_what_was_found_already_is_not_found_again():
    both = find_many(find(), 2)
    world = searching(entity(3, 2.0, 4.0), STOOL, directive=both)
    world.targets.scores[3] = 0.9
    world.loop.point_out(np.array([2.0, 4.0, 0.0]), world.now)
    world.run(until=lambda: world.loop._context.run.errand.found_here == 1)
    assert "already" in str(refused(world, 2.0, 4.0, 0.0))
    world.loop.point_out(np.array([7.0, 7.0, 0.0]), world.now)
    world.run()
    assert world.result.success and world.result.entity_ids == (3, 9)


# --- questions -----------------------------------------------------------------------------------------


def asked() -> World:
    """Return a world whose robot could not distinguish entities 3 and 7."""
    world = world_of({3: 0.70, 7: 0.71})
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.error_code is ErrorCode.AMBIGUOUS
    world.commands.clear()
    return world


@pytest.mark.parametrize("identity", [3, 7])
def test_a_point_near_a_choice_answers_the_question_and_the_answer_is_followed(identity):
    world = asked()
    place = world.mirror.entities[identity].mean + np.array([0.5, 0.0, 0.0])
    pointed = world.loop.point_out(place, world.now)
    assert pointed.entity_id == identity and pointed.correction == ""
    world.run(1.0)
    assert not world.of(SendGoal) and not world.loop.motion_allowed, "a point alone begins nothing"
    world.loop.answer(pointed.question_id, pointed.choice, world.now)
    world.run()
    assert world.result.success and world.result.entity_ids == (identity,)


def test_a_point_far_from_every_choice_or_between_two_answers_nothing():
    world = asked()
    assert refused(world, 500.0, 500.0, 0.0).code is PointingError.NOTHING_NEAR
    first, second = (world.mirror.entities[i] for i in (3, 7))
    beside = replace(
        second, mean=first.mean + BESIDE, box_min=first.box_min + BESIDE, box_max=first.box_max + BESIDE
    )
    world.mirror.put(beside)
    told = refused(world, *(first.mean + BESIDE / 2.0))
    assert told.code is PointingError.UNCLEAR and "click on one" in str(told)


def test_an_older_question_is_not_answered_by_a_point_once_another_directive_has_begun():
    world = asked()
    world.loop.start(explore(), world.now)
    world.loop.cancel(world.now)
    assert refused(world, *world.mirror.entities[3].mean).code is PointingError.NOTHING_ASKED


def test_a_question_that_has_expired_is_not_answered():
    world = asked()
    world.now += 601.0
    assert refused(world, *world.mirror.entities[3].mean).code is PointingError.NOTHING_ASKED


def test_a_question_about_words_is_answered_by_number():
    world = World()
    world.mirror.put(STOOL)
    world.loop.ask("Do you mean a or b?", (Choice("a", find()), Choice("b", find())), 0.0)
    assert "by the number of a choice" in str(refused(world, 7.0, 7.0, 0.0))
