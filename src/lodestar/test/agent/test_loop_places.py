"""Tests of steps that end at a place, wait, patrol, or get no answer."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import FACING, TARGET, World, entity, exploring, find, thing, towards_target

from lodestar.agent.errands.commands import FollowConstraints, SendGoal, State
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import ErrorCode, OtherFloor
from lodestar.floors.config import FloorsConfig
from lodestar.language.directive import (
    EVERY,
    ROBOT_FRAME,
    Constraint,
    ConstraintKind,
    Directive,
    Item,
    Pose,
    Scope,
    Step,
    StepKind,
)
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar.models.phrases import PhraseBook
from lodestar.query.targets import SceneTargets
from lodestar.scene.records import Region
from lodestar.scene.regions import RegionMap

KITCHEN, BEDROOM = thing("kitchen"), thing("bedroom")


def do(*steps: Step, **changes) -> Directive:
    return Directive("t", steps, **changes)


def know_rooms(world: World, left: str = "kitchen", right: str = "bedroom") -> None:
    """Name the halves of the room, left and right of x = 5 m, as regions 1 and 2."""
    cells = np.ones((100, 100), np.uint16)
    cells[:, 50:] = 2
    rooms = RegionMap(0.5)
    rooms.set_mask(cells, (0.0, 0.0), 0.1)
    regions = [Region(i, label, 0.8, 50.0, np.zeros(2)) for i, label in ((1, left), (2, right))]
    world.mirror.regions, world.mirror.rooms = {region.id: region for region in regions}, rooms


def ended(world: World, directive: Directive, seconds: float = 300.0):
    world.loop.start(directive, world.now)
    world.run(seconds)
    return world.result


def test_going_to_a_room_ends_inside_it():
    world = World()
    know_rooms(world)
    result = ended(world, do(Step(StepKind.GO, BEDROOM)))
    assert result.success and "I am in the bedroom." in result.report
    assert world.pose[0] > 5.4


def test_a_room_that_is_not_known_yet_is_explored_for_and_gone_to_when_it_is():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0), (8.0, 8.0, 0.0))})
    know_rooms(world, right="")
    world.loop.start(do(Step(StepKind.GO, BEDROOM)), 0.0)
    world.run(until=lambda: world.pose[1] > 6.0)
    know_rooms(world)
    world.run()
    assert world.result.success and world.pose[0] > 5.4
    assert world.of(SendGoal)[-1].expert == "place"


def test_a_room_that_is_nowhere_is_said_with_those_there_are():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0))})
    know_rooms(world)
    result = ended(world, do(Step(StepKind.GO, thing("garage"))))
    assert result.error_code is ErrorCode.TARGET_NOT_FOUND
    assert "no garage was found; rooms: bedroom, kitchen" in result.error_msg


def test_an_operator_s_word_is_a_room_too():
    world = World()
    know_rooms(world, right="Lab 3")
    assert (
        ended(world, do(Step(StepKind.GO, thing("Lab 3")))).error_code is not ErrorCode.NONE
    )  # identified by the last word of its text
    named = Item(((QueryGraph((QueryVariable("Lab 3", "Lab 3"),)),),))
    world = World()
    know_rooms(world, right="Lab 3")
    assert ended(world, do(Step(StepKind.GO, named))).success and world.pose[0] > 5.4


def test_going_to_numbers_ends_there_with_the_heading_that_was_asked_for():
    world = World()
    result = ended(world, do(Step(StepKind.GO, pose=Pose(7.0, 3.0, math.pi / 2))))
    assert result.success and tuple(world.pose) == pytest.approx((7.0, 3.0, math.pi / 2))
    assert "I stand at (7.0, 3.0)." in result.report


def test_numbers_that_the_navigator_cannot_come_to_are_said():
    world = World()
    world.abort_with = (204, "no path")
    result = ended(world, do(Step(StepKind.GO, pose=Pose(70.0, 3.0))))
    assert result.error_code is ErrorCode.NAVIGATION_FAILED and "(70.0, 3.0)" in result.error_msg


def test_going_to_a_thing_is_as_finding_it(known_target):
    result = ended(known_target, do(Step(StepKind.GO, thing("red chair"))))
    assert result.success and result.entity_ids == (7,)


def spot(relation: str) -> Step:
    variables = (QueryVariable("spot", "spot"), QueryVariable("red chair", "chair"))
    return Step(StepKind.GO, Item(((QueryGraph(variables, (Predicate(relation, (0, 1)),)),),)))


def test_a_spot_is_where_its_relation_holds():
    world = World()
    world.loop._context.targets = SceneTargets(PhraseBook())
    world.mirror.put(entity(1, 8.0, 5.0))
    result = ended(world, do(spot("NextTo")))
    assert result.success, result.error_msg
    assert 0.2 < math.dist(world.pose[:2], (8.0, 5.0)) < 1.8


def test_a_spot_beside_what_is_not_there_is_not_found():
    world = World()
    world.loop._context.targets = SceneTargets(PhraseBook())
    result = ended(world, do(spot("NextTo")))
    assert result.error_code is ErrorCode.TARGET_NOT_FOUND and "red chair" in result.error_msg


def test_a_wait_ends_by_the_clock_and_forbids_motion_meanwhile():
    world = World()
    world.loop.start(do(Step(StepKind.WAIT, seconds=20.0), Step(StepKind.STOP)), 0.0, time_limit=5.0)
    world.run(until=lambda: world.loop.state is State.WAITING)
    assert not world.loop.motion_allowed
    world.run(10.0)
    assert world.result is None
    world.run(20.0)
    assert world.result.success and world.now == pytest.approx(20.0, abs=1.0)
    assert "Waited for 20 s." in world.result.report


def test_a_wait_without_an_end_ends_at_once_when_cancelled():
    world = World()
    world.loop.start(do(Step(StepKind.WAIT)), 0.0)
    world.run(3000.0)
    assert world.result is None and world.loop.state is State.WAITING
    world.loop.cancel(world.now)
    world.run(0.2)
    assert world.result.error_code is ErrorCode.CANCELLED


def test_counting_says_how_many_there_are():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0))})
    world.mirror.put(entity(1, 5, 5), entity(2, 6, 6), entity(3, 7, 7, "green plant"))
    world.targets.scores = {1: 0.9, 2: 0.8}
    result = ended(world, do(Step(StepKind.COUNT, thing("chair"))))
    assert result.success and "There are 2 chairs." in result.report and set(result.entity_ids) == {1, 2}
    world = World()
    assert "There are no chairs." in ended(world, do(Step(StepKind.COUNT, thing("chair")))).report


def test_a_list_of_a_room_goes_into_it_and_leaves_the_others_out():
    world = World(answers={"frontier": exploring((8.0, 8.0, 0.0))})
    know_rooms(world)
    world.mirror.put(entity(1, 3, 5, region_id=1), entity(2, 8, 6, region_id=2))
    step = Step(StepKind.LIST, scope=Scope(BEDROOM.graphs))
    result = ended(world, do(step))
    assert result.success and result.entity_ids == (2,)
    assert world.of(SendGoal)[0].expert == "place" and "Explored the bedroom" in result.report


def test_exploring_a_room_that_is_nowhere_fails_with_a_reason():
    world = World(answers={"frontier": exploring((8.0, 8.0, 0.0))})
    result = ended(world, do(Step(StepKind.EXPLORE, scope=Scope(BEDROOM.graphs))))
    assert result.error_code is ErrorCode.TARGET_NOT_FOUND and "no bedroom" in result.error_msg


def test_every_one_is_found_until_nothing_is_left(known_target):
    item = replace(thing("red chair"), count=EVERY)
    result = ended(known_target, do(Step(StepKind.FIND, item)))
    assert result.success and result.entity_ids == (7,) and "Found 1 red chair" in result.report


def test_fewer_than_were_asked_for_is_a_failure_that_says_how_many(known_target):
    item = replace(thing("red chair"), count=2)
    result = ended(known_target, do(Step(StepKind.FIND, item)))
    assert result.error_code is ErrorCode.TARGET_NOT_FOUND and "Found 1 of 2" in result.error_msg


def test_what_is_excluded_is_not_claimed():
    world = World(answers={"semantic_map": towards_target})
    world.loop._context.targets = SceneTargets(PhraseBook())
    world.mirror.put(TARGET)
    red = QueryGraph((QueryVariable("red chair", "chair"),), (Predicate("HasAttribute", (0,), "red"),))
    item = replace(thing("chair"), excluded=(red,))
    result = ended(world, do(Step(StepKind.FIND, item)))
    assert result.error_code is ErrorCode.TARGET_NOT_FOUND and result.entity_ids == ()


@pytest.mark.parametrize(("x", "y"), [(1.5, 0.0), (-1.0, 0.0), (0.0, 1.0), (1.0, -1.0)])
def test_a_point_said_from_the_robot_is_so_from_where_the_step_begins(x, y):
    world = World()
    know_rooms(world)
    world.pose[2] = math.pi / 3
    start = np.array(world.pose, float)
    result = ended(world, do(Step(StepKind.GO, pose=Pose(x, y, frame=ROBOT_FRAME))))
    assert result.success
    turn = np.array([[math.cos(start[2]), -math.sin(start[2])], [math.sin(start[2]), math.cos(start[2])]])
    assert np.allclose(world.pose[:2], start[:2] + turn @ [x, y], atol=0.3)


def test_a_patrol_goes_round_so_often():
    world = World()
    know_rooms(world)
    result = ended(world, do(Step(StepKind.PATROL, stops=(BEDROOM, KITCHEN), times=2)))
    assert result.success
    assert result.report.count("I am in the bedroom.") == 2 == result.report.count("I am in the kitchen.")


def test_a_patrol_goes_on_past_a_stop_that_it_cannot_find_and_says_so():
    world = World()
    know_rooms(world)
    stops = (thing("garage"), BEDROOM)
    result = ended(world, do(Step(StepKind.PATROL, stops=stops)))
    assert result.error_code is ErrorCode.TARGET_NOT_FOUND and "garage" in result.error_msg
    assert "I am in the bedroom." in result.report
    world = World()
    know_rooms(world)
    endless = do(Step(StepKind.PATROL, stops=(thing("garage"), thing("attic")), times=0))
    assert ended(world, endless).error_code is ErrorCode.TARGET_NOT_FOUND, "it came to none of its stops"


def test_a_patrol_without_stops_is_of_every_room():
    world = World()
    know_rooms(world)
    result = ended(world, do(Step(StepKind.PATROL)))
    assert result.success and "the kitchen" in result.report and "the bedroom" in result.report


def failing_in(world: World, fails) -> None:
    """Make the navigator fail on every path to a goal (3,) for which `fails` is true."""
    carry_out = world._carry_out

    def carried_out(command):
        if isinstance(command, SendGoal):
            world.abort_with = (208, "no valid path") if fails(command.goal) else None
        carry_out(command)

    world._carry_out = carried_out


def test_a_patrol_of_rooms_leaves_out_the_one_that_the_navigator_fails_to_come_into(monkeypatch):
    """Six failed drives into one room do not exclude the others."""
    monkeypatch.setattr("lodestar.agent.loop.diagnosing.RECOVERY_PERSON_PATIENCE", 1.0)
    world = World()
    know_rooms(world)
    cells = np.ones((100, 100), np.uint16)
    cells[:, 35:65], cells[:, 65:] = 2, 3
    world.mirror.rooms.set_mask(cells, (0.0, 0.0), 0.1)
    world.mirror.regions[3] = Region(3, "office", 0.8, 30.0, np.zeros(2))
    failing_in(world, lambda goal: 3.5 <= goal[0] < 6.5)
    result = ended(world, do(Step(StepKind.PATROL)))
    assert result.error_code is ErrorCode.TARGET_UNREACHABLE
    assert "I could not come into the bedroom" in result.error_msg and "the office" in result.error_msg
    assert "I left out the bedroom: the navigator aborted it: no valid path" in result.report
    assert world.pose[0] > 6.5, "it was in the office"


def test_a_patrol_of_rooms_ends_where_the_navigator_comes_nowhere():
    world = World(answers={"frontier": exploring(*((x, 8.0, 0.0) for x in range(2, 9)))})
    know_rooms(world)
    failing_in(world, lambda goal: True)
    result = ended(world, do(Step(StepKind.PATROL)))
    assert result.error_code is ErrorCode.NAVIGATION_FAILED and "the bedroom" in result.report


@pytest.mark.parametrize("first", [BEDROOM, "red chair"], ids=["a room", "a thing"])
def test_a_patrol_goes_on_past_a_stop_that_the_navigator_fails_to_come_to(first):
    world = World(answers={"semantic_map": lambda request: towards_target(request)})
    know_rooms(world)
    world.mirror.put(TARGET)
    world.targets.scores[TARGET.id] = 0.9
    failing_in(world, lambda goal: goal[0] > 5.0)
    stops = (thing(first) if isinstance(first, str) else first, KITCHEN)
    world.pose = np.array([6.0, 2.0, 0.0])
    world.loop.on_pose(world.pose, 0.01)
    result = ended(world, do(Step(StepKind.PATROL, stops=stops), Step(StepKind.PATROL, stops=stops[::-1])))
    told = result.report
    assert not result.success and "I am in the kitchen." in told, told


def test_a_patrol_of_rooms_of_a_kind_leaves_the_others_out():
    world = World()
    know_rooms(world)
    rooms = Scope((QueryGraph((QueryVariable("bedroom", "bedroom"),)),))
    result = ended(world, do(Step(StepKind.PATROL, scope=rooms)))
    assert result.success and "the bedroom" in result.report and "kitchen" not in result.report
    assert world.pose[0] > 5.0


def test_a_patrol_of_rooms_of_which_there_are_none_says_so():
    world = World()
    know_rooms(world)
    rooms = Scope((QueryGraph((QueryVariable("lab", "lab"),)),))
    result = ended(world, do(Step(StepKind.PATROL, scope=rooms)))
    assert result.error_code is ErrorCode.TARGET_NOT_FOUND and "found no lab" in result.error_msg


def test_a_patrol_explores_where_no_room_is_known_and_visits_those_that_become_known():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0))})
    world.loop.start(do(Step(StepKind.PATROL)), 0.0)
    world.run(until=lambda: world.pose[1] > 6.0)
    know_rooms(world)
    been: list[float] = []
    world.run(until=lambda: been.append(world.pose[0]))
    assert world.result.success and max(been) > 5.0  # the robot was in the bedroom too
    assert "the kitchen" in world.result.report and "the bedroom" in world.result.report


def test_a_patrol_of_a_building_without_rooms_says_so():
    result = ended(World(), do(Step(StepKind.PATROL)))
    assert result.error_code is ErrorCode.TARGET_NOT_FOUND and "made out no rooms" in result.error_msg


def test_of_a_visited_room_that_is_then_split_the_part_where_the_robot_was_not_is_left():
    world = World()
    know_rooms(world)
    world.loop.start(do(Step(StepKind.PATROL)), 0.0)
    world.run(until=lambda: world.pose[0] > 5.4)
    cells = np.full((100, 100), 2, np.uint16)  # the bedroom's id changed, and the kitchen became smaller
    cells[:, 50:] = 1
    cells[60:, :50] = 3
    rooms = RegionMap(0.5)
    rooms.set_mask(cells, (0.0, 0.0), 0.1)
    labels = {1: "bedroom", 2: "kitchen", 3: "pantry"}
    world.mirror.regions = {i: Region(i, label, 0.8, 30.0, np.zeros(2)) for i, label in labels.items()}
    world.mirror.rooms = rooms
    world.run()
    assert world.result.success and world.pose[0] < 5.0 and world.pose[1] > 6.0
    assert all(f"the {label}" in world.result.report for label in labels.values())


def test_what_cannot_be_done_is_said_and_no_success(known_target):
    step = replace(find().steps[0], unable=("wipe it",))
    result = ended(known_target, do(step, Step(StepKind.RETURN)))
    assert result.error_code is ErrorCode.UNABLE and not result.success
    assert result.error_msg == "I cannot wipe it." and result.entity_ids == (7,)
    assert math.dist(known_target.pose[:2], (2.0, 2.0)) < 0.1, "what follows is still done"


def test_another_floor_is_refused_with_a_reason():
    step = Step(StepKind.EXPLORE, scope=Scope(level=2))
    with pytest.raises(OtherFloor, match="the third floor, and the robot is on the first floor"):
        World().loop.start(do(step), 0.0)
    World(config=LoopConfig(floors=FloorsConfig(level=2))).loop.start(do(step), 0.0)


def test_a_constraint_ends_with_its_step(known_target):
    dog = Constraint(ConstraintKind.KEEP_AWAY, thing("dog"), until=0)
    sofa = Constraint(ConstraintKind.KEEP_AWAY, thing("sofa"))
    directive = do(find().steps[0], Step(StepKind.RETURN), constraints=(dog, sofa))
    result = ended(known_target, directive)
    (told,) = known_target.of(FollowConstraints)
    assert result.success and told.directive.constraints == (sofa,)
    assert math.dist(known_target.pose[:2], FACING[:2]) > 1.0


def test_a_place_in_words_says_what_it_does():
    world = World()
    know_rooms(world)
    world.loop.start(do(Step(StepKind.GO, BEDROOM)), 0.0)
    world.run(2.0)
    feedback = world.loop.feedback()
    assert feedback.phase == "APPROACHING" and feedback.text == "Going into the bedroom."
