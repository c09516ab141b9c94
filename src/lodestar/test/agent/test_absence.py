"""Tests of the probability that an object is absent, and of CHECK steps that report it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import ACCEPT, TARGET, World, camera_at, entity, exploring, room, thing, towards_target
from hypothesis import given
from hypothesis import strategies as st

from lodestar.agent.errands.commands import SendGoal, State
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.facts.newest import Facts, Odometer
from lodestar.experts.absence import AbsenceJudge
from lodestar.experts.absence_bounds import ABSENCE_UNSURE, AbsenceConfig
from lodestar.experts.protocol import Rejection, RejectionReason
from lodestar.experts.searched_floor import SearchedFloor
from lodestar.floors.records import UNKNOWN, Building, Floor
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Directive, Step, StepKind
from lodestar.language.query_graph import Predicate
from lodestar.models.category_priors import CategoryPriors

CHECK = Step(StepKind.CHECK, thing("red chair"), question="is there a red chair")
MIDDLE = (5.0, 5.0)
#: Places from which the whole room is looked at from near.
EVERYWHERE = tuple((float(x), float(y)) for x in (2.0, 5.0, 8.0) for y in (2.0, 5.0, 8.0))
JUDGE = AbsenceJudge(CategoryPriors())


def looked_from(places, grid=None, mirror=None):
    """Return facts and the floor after a turn at each of the places."""
    grid = room() if grid is None else grid
    facts, searched, stamp = Facts(Odometer(LoopConfig())), SearchedFloor(), 0.0
    facts.grid, facts.mirror = grid, mirror
    facts.pose = np.array([*places[0], 0.0])
    for x, y in places:
        for heading in np.linspace(-math.pi, math.pi, 8, endpoint=False):
            stamp += 1.0
            pose = np.array([x, y, heading])
            searched.note(camera_at(pose), pose, stamp, grid)
    return facts, searched


def believed(words, places, grid=None, mirror=None):
    return JUDGE.belief(Step(StepKind.FIND, thing(words)), *looked_from(places, grid, mirror))


def ended(world, *steps, **options):
    world.loop.start(Directive("do it", steps), world.now, **options)
    world.run(700.0)
    return world.result


# --- the belief ------------------------------------------------------------------------------------------------------


def test_without_a_look_nothing_is_believed():
    facts, _ = looked_from((MIDDLE,))
    assert JUDGE.belief(Step(StepKind.FIND, thing("chair")), facts, SearchedFloor()) is None


def test_the_belief_follows_bayes_rule():
    belief = believed("chair", (MIDDLE,))
    assert belief.present == pytest.approx(belief.missed / (belief.missed + 1.0))
    assert believed("chair", ((5.0, 5.0), (5.01, 5.0))).missed == pytest.approx(belief.missed, abs=0.01)
    assert believed("chair", EVERYWHERE).missed < 0.01, "views from several sides are trials of their own"


def test_the_more_was_looked_at_the_less_is_it_there():
    beliefs = [believed("chair", EVERYWHERE[:n]).present for n in (1, 3, 9)]
    assert beliefs[0] > beliefs[1] > beliefs[2]


def test_a_small_thing_is_missed_more_often_from_afar():
    assert believed("mug", (MIDDLE,)).missed > believed("chair", (MIDDLE,)).missed + 0.05


def test_what_stands_on_tables_is_looked_for_around_tables():
    world = World()
    table = entity(3, 8.5, 8.5, "table")
    world.mirror.put(replace(table, box_max=np.array([9.0, 9.0, 0.75])))
    far = ((2.0, 2.0),)
    assert believed("laptop", far, mirror=world.mirror).missed > believed("laptop", far).missed + 0.1, (
        "the only table was not looked at"
    )
    assert believed("ladder", far, mirror=world.mirror).missed == pytest.approx(
        believed("ladder", far).missed
    )


def cut_room(at=4.0, opening=False):
    """Return the room with a wall across it at y = `at`; beyond it free floor, or unknown space behind an opening."""
    cells = room().cells.copy()
    row = round(at * 10)
    cells[row] = 100
    if opening:
        cells[row:] = -1
        cells[row, 30:70] = 0
    return OccupancyGrid2D(cells, 0.1, (0.0, 0.0))


def test_floor_without_a_way_and_space_behind_open_edges_were_not_looked_at():
    near = tuple(place for place in EVERYWHERE if place[1] < 3.0)
    barred = believed("chair", near, cut_room())
    assert barred.barred_area > 30.0 and barred.share > 0.95
    assert barred.present > ABSENCE_UNSURE and "that no way leads to" in barred.in_words()
    edge = believed("chair", near, cut_room(opening=True))
    assert edge.open_area > 5.0 and "behind open edges" in edge.in_words()
    assert edge.present > believed("chair", EVERYWHERE).present + 0.05


def test_a_look_that_shows_much_and_is_near_keeps_the_search_going(monkeypatch):
    step = Step(StepKind.FIND, thing("chair"))
    facts, searched = looked_from(EVERYWHERE[:3])
    unseen, seen = np.array([8.0, 6.5, 0.0]), np.array([2.0, 2.0, 0.0])

    def is_worth(goals):
        return JUDGE.weigh(step, facts, searched, goals)[1]

    assert is_worth([unseen]) and not is_worth([seen]) and is_worth([seen, unseen])
    monkeypatch.setattr("lodestar.experts.absence.ABSENCE_ANSWER_WORTH", 20.0)
    assert not is_worth([unseen])


def test_no_answer_before_it_is_unlikely_to_be_there_or_no_look_was_worth_it_for_long(monkeypatch):
    for module in ("searches", "asking"):
        monkeypatch.setattr(f"lodestar.agent.activities.{module}.ABSENCE_UNSURE", 1.0)
    for bound, patience in ((0.0, 10.0), (1.0, 0.0)):
        monkeypatch.setattr("lodestar.agent.activities.searches.ABSENCE_BARREN_TIME", patience)
        config = LoopConfig(absence=AbsenceConfig(bound=bound))
        world = turning(World(config=config, answers={"frontier": exploring(*corner())}))
        result = ended(world, CHECK)
        assert result.success and result.report.startswith("No.")
        assert result.duration >= patience, "the first look is not worth it, and there were more"


def corner():
    """Return places so close together that no look is worth its seconds."""
    return ((x, y, 0.0) for x in np.arange(1.0, 3.0, 0.6) for y in np.arange(1.0, 3.0, 0.6))


# --- in the loop -----------------------------------------------------------------------------------------------------


def tour(*more):
    """Return an explorer that leads through the room, then for ever to small remains at its ends."""
    crumbs = tuple((x, 5.0, 0.0) for x in np.arange(0.6, 9.5, 0.6))
    return exploring(*((x, y, 0.0) for x, y in EVERYWHERE), *more, *crumbs)


def turning(world):
    """Make a fake world's camera look in all directions."""
    world.mirror.put(*(entity(20 + k, x, y, "green plant") for k, (x, y) in enumerate(EVERYWHERE)))
    heading = [0.0]
    advance = world.advance

    def advanced():
        if world.targets.scores.get(7, 0.0) >= ACCEPT:
            return advance()
        heading[0] += 0.7
        world.pose[2] = math.remainder(heading[0], 2.0 * math.pi)
        advance()

    world.advance = advanced
    return world


def test_a_check_says_no_before_the_explorer_has_seen_every_crumb():
    world = turning(World(answers={"frontier": tour()}))
    result = ended(world, CHECK)
    assert result.success and result.report.startswith("No. No 'red chair' was found.")
    (answer,) = result.answers
    assert answer.value.yes is False and answer.confidence > 0.85 and answer.coverage > 0.9
    assert "% of the floor that I can come to" in result.report and "% sure of it" in result.report
    assert len(world.of(SendGoal)) < 15, "the crumbs are not driven to"


def test_a_search_goes_on_where_a_check_would_answer():
    world = turning(World(answers={"frontier": tour()}))
    ended(world, Step(StepKind.FIND, thing("red chair")))
    assert len(world.of(SendGoal)) > 20


def test_a_thing_that_is_seen_late_is_still_found():
    def late(request):
        known = math.dist(request.robot_pose[:2], (5.0, 8.0)) < 1.5 or 7 in world.mirror.entities
        if known and 7 not in world.mirror.entities:
            world.mirror.put(TARGET)
            world.targets.scores[7] = 0.9
        return towards_target(request) if known else None

    world = turning(World(answers={"frontier": tour(), "semantic_map": late}))
    result = ended(world, CHECK)
    assert result.success and "Yes. Found a red chair (entity 7)" in result.report


def test_what_may_be_it_is_looked_at_first():
    world = turning(World(answers={"frontier": tour(), "semantic_map": towards_target}))
    world.mirror.put(TARGET)
    world.targets.scores[7] = 0.5  # below the acceptance threshold
    result = ended(world, CHECK)
    assert result.success and result.report.startswith("No.")
    assert any(goal.entity_id == 7 for goal in world.of(SendGoal))


def test_what_is_seen_and_cannot_be_come_to_is_there():
    def barred(request):
        return Rejection("semantic_map", request.epoch, RejectionReason.NO_VIEWPOINT, "none is free")

    world = World(answers={"frontier": exploring((6.0, 5.0, 0.0)), "semantic_map": barred})
    world.mirror.put(TARGET)
    world.targets.scores[7] = 0.9
    result = ended(world, CHECK)
    assert result.success and result.report.startswith("Yes, I saw it from afar.")
    assert result.answers[0].value.yes is True and result.answers[0].confidence < 0.9


def test_a_building_of_which_half_cannot_be_reached_gives_no_answer():
    tour_of_the_half = exploring(*((x, 2.0, 0.0) for x in (2.0, 5.0, 8.0)))
    world = turning(World(grid=cut_room(), answers={"frontier": tour_of_the_half}))
    result = ended(world, CHECK)
    assert result.error_code is ErrorCode.CANNOT_ANSWER and not result.answers
    assert "m2 that no way leads to" in result.error_msg and "may be there all the same" in result.error_msg


def test_what_is_asked_about_a_thing_is_not_denied_with_it():
    asked = replace(CHECK, asked=(Predicate("HasAttribute", (0,), "off"),), question="is the red chair off")
    world = turning(World(answers={"frontier": tour()}))
    assert ended(world, asked).error_code is ErrorCode.CANNOT_ANSWER


@pytest.mark.parametrize(("stop", "code"), [("cancel", ErrorCode.CANCELLED), ("hold", ErrorCode.HELD)])
def test_a_check_that_is_cancelled_or_held_answers_nothing(stop, code):
    world = turning(World(answers={"frontier": tour()}))
    world.loop.start(Directive("do it", (CHECK,)), 0.0)
    world.run(until=lambda: world.loop.state is State.NAVIGATING and world.now > 5.0)
    world.loop.cancel(world.now) if stop == "cancel" else world.loop.hold(True, world.now)
    world.advance()
    assert world.result.error_code is code and not world.result.answers and not world.loop.motion_allowed


@pytest.mark.parametrize(("limit", "code"), [(60.0, ErrorCode.NONE), (9.0, ErrorCode.CANNOT_ANSWER)])
def test_a_check_answers_before_its_time_is_over(limit, code):
    slow = LoopConfig(absence=AbsenceConfig(bound=0.0))  # alone, the bound would make it go on looking
    world = turning(World(config=slow, answers={"frontier": tour()}))
    result = ended(world, CHECK, time_limit=limit)
    assert result.error_code is code and limit - 6.0 <= result.duration <= limit


def test_a_covered_camera_looks_at_nothing():
    world = turning(World(answers={"frontier": tour()}))
    world.looks = False  # images may come, but none enters the map
    result = ended(world, CHECK, time_limit=100.0)
    assert result.error_code is ErrorCode.CANNOT_ANSWER and not result.answers


def test_the_first_look_is_waited_for():
    """Wait as while a detector loads; the explorer has nothing to go to before it."""
    for late in (3.0, math.inf):
        world = World(looks=False, sees=False)
        world.mirror.put(entity(3, 5.0, 5.0, "green plant"))
        world.loop.start(Directive("find it", (Step(StepKind.FIND, thing("red chair")),)), world.now)
        world.run(late if late < math.inf else 60.0)
        assert (world.result is None) is (late < math.inf)
        world.looks = world.sees = True
        world.run(60.0)
        found = ErrorCode.TARGET_NOT_FOUND if late < math.inf else ErrorCode.NO_EXPERT
        assert world.result.error_code is found
        assert ("No image entered the map" in world.result.error_msg) is (late == math.inf)


def test_a_look_from_the_floor_before_or_from_between_two_is_not_of_this_floor():
    world = World(looks=False)
    world.loop.on_grid(room())
    world.run(1.0)
    floors = Floor(1, 0, 0.0), Floor(2, 1, 3.0)
    for building in (Building(floors, active=2, since=world.now), Building(floors, active=UNKNOWN)):
        world.loop.on_building(building)
        world.loop.on_look(camera_at(world.pose), world.now - 1.0)
        assert not world.loop._context.searched.has_looks
    world.loop.on_building(Building(floors, active=2, since=world.now))
    world.loop.on_look(camera_at(world.pose), world.now + 1.0)
    assert world.loop._context.searched.has_looks


@given(st.floats(0.0, 500.0))
def test_what_a_map_lacks_of_another_floors_size_is_hidden(typical):
    step, known = Step(StepKind.FIND, thing("a chair")), looked_from([(2.0, 2.0)])
    alone, told = (JUDGE.left(step, *known, [known[0].pose], *more) for more in ((), (typical,)))
    assert told.area == pytest.approx(max(alone.area, typical))
    assert told.hidden - alone.hidden == pytest.approx(told.area - alone.area)
    assert told.shown == pytest.approx(alone.shown)
